//! Random numbers that depend upon a seed and a place alone, on every machine the same up to the rounding of logarithm and cosine.

/// Philox4x32-10: four random words for a counter and a key (Salmon, Moraes, Dror and Shaw, SC 2011).
fn philox(mut counter: [u32; 4], seed: u64) -> [u32; 4] {
    let half = |x: u64| [x & 0xffff_ffff, x >> 32].map(|x| u32::try_from(x).unwrap_or(0));
    let mut key = half(seed);
    for _ in 0..10 {
        let [low_0, high_0] = half(u64::from(counter[0]) * 0xd251_1f53);
        let [low_1, high_1] = half(u64::from(counter[2]) * 0xcd9e_8d57);
        counter = [high_1 ^ counter[1] ^ key[0], low_1, high_0 ^ counter[3] ^ key[1], low_0];
        key = [key[0].wrapping_add(0x9e37_79b9), key[1].wrapping_add(0xbb67_ae85)];
    }
    counter
}

/// The entry at that row and column of a matrix of independent standard normals, by Box and Muller.
pub(in crate::ops) fn normal(row: u32, column: u32, seed: u64) -> f64 {
    let [a, b, c, d] = philox([row, column, 0, 0], seed);
    let unit = |high: u32, low: u32| {
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let bits = (((u64::from(high) << 32) | u64::from(low)) >> 11) as f64;
        (bits + 0.5) / (1_u64 << 53) as f64
    };
    (-2.0 * unit(a, b).ln()).sqrt() * (std::f64::consts::TAU * unit(c, d)).cos()
}

/// Four independent numbers uniform on [-1, 1), of that row and quadruple of columns.
pub(in crate::ops) fn uniforms(row: u32, quadruple: u32, seed: u64) -> [f64; 4] {
    philox([row, quadruple, 1, 0], seed).map(|word| f64::from(word.cast_signed()) / f64::from(1_u32 << 31))
}

#[cfg(test)]
mod tests {
    use super::{normal, philox, uniforms};

    /// The vectors of the authors' Random123 1.09, `kat_vectors`.
    #[test]
    fn philox_is_the_published_one() {
        assert_eq!(philox([0; 4], 0), [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        assert_eq!(philox([u32::MAX; 4], u64::MAX), [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        let pi = [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344];
        assert_eq!(philox(pi, 0x299f_31d0_a409_3822), [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]);
    }

    /// Mean 0 and variance 1 of 100,000: standard errors 0.003 and 0.0045, five of each allowed.
    #[test]
    fn normals_are_normal() {
        let all: Vec<f64> = (0..100_000).map(|i| normal(i % 1000, i / 1000, 7)).collect();
        let mean = all.iter().sum::<f64>() / 1e5;
        let variance = all.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.016 && (variance - 1.0).abs() < 0.023, "{mean}, {variance}");
    }

    /// Mean 0 and variance 1/3 of 100,000: standard errors 0.0018 and 0.00094, five of each allowed; quarters equally full.
    #[test]
    fn uniforms_are_uniform() {
        let all: Vec<f64> = (0..25_000).flat_map(|i| uniforms(i % 500, i / 500, 7)).collect();
        let mean = all.iter().sum::<f64>() / 1e5;
        let square = all.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.0092 && (square - 1.0 / 3.0).abs() < 0.0047, "{mean}, {square}");
        for quarter in 0..4 {
            let low = f64::from(quarter) / 2.0 - 1.0;
            let count = all.iter().filter(|&&x| x >= low && x < low + 0.5).count();
            // 25,000 with a standard deviation of 137.
            assert!(count.abs_diff(25_000) < 690, "{count} from {low}");
        }
    }
}
