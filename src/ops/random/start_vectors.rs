//! Start vectors for the iterations of this crate: random numbers as a function of a seed and of a position in a
//! matrix. On different machines, the numbers differ at most by the rounding of the logarithm and the cosine.

use super::philox::philox;

/// Returns the two words of a seed, the lower word first.
#[expect(clippy::cast_possible_truncation, reason = "halves of 64 bits")]
fn key(seed: u64) -> [u32; 2] {
    [seed as u32, (seed >> 32) as u32]
}

/// Returns the entry at the given row and column of a matrix of independent standard normals, by the Box-Muller
/// transform.
pub(in crate::ops) fn normal_at(row: u32, column: u32, seed: u64) -> f64 {
    let [a, b, c, d] = philox([row, column, 0, 0], key(seed));
    let unit = |high: u32, low: u32| {
        #[expect(clippy::cast_precision_loss, reason = "53 bits")]
        let bits = (((u64::from(high) << 32) | u64::from(low)) >> 11) as f64;
        (bits + 0.5) / (1_u64 << 53) as f64
    };
    (-2.0 * unit(a, b).ln()).sqrt() * (std::f64::consts::TAU * unit(c, d)).cos()
}

/// Returns four independent numbers that are uniform on [-1, 1), for the given row and the given group of four columns.
pub(in crate::ops) fn uniforms(row: u32, quadruple: u32, seed: u64) -> [f64; 4] {
    philox([row, quadruple, 1, 0], key(seed)).map(|word| f64::from(word.cast_signed()) / f64::from(1_u32 << 31))
}

#[cfg(test)]
mod tests {
    use super::{normal_at, uniforms};

    /// Solvers start from these numbers. The numbers must not change, because stored results and expectations depend on
    /// them.
    #[test]
    fn the_numbers_stay_what_they_were() {
        assert_eq!(
            uniforms(3, 4, 5).map(f64::to_bits),
            [0xbfe7_92f2_d440_0000, 0xbfe9_4b78_c340_0000, 0x3fda_3571_4e00_0000, 0xbfd6_d883_2900_0000]
        );
        assert!((normal_at(3, 4, 5) - 0.639_409_050_873_171_1).abs() < 1e-15);
    }

    /// Checks that 100,000 numbers have mean 0 and variance 1. The standard errors of the mean and of the variance are
    /// 0.003 and 0.0045, and five standard errors are allowed.
    #[test]
    fn normals_are_normal() {
        let all: Vec<f64> = (0..100_000).map(|i| normal_at(i % 1000, i / 1000, 7)).collect();
        let mean = all.iter().sum::<f64>() / 1e5;
        let variance = all.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.016 && (variance - 1.0).abs() < 0.023, "{mean}, {variance}");
    }

    /// Checks that 100,000 numbers have mean 0 and variance 1/3, and that the four quarters of the range are equally
    /// full. The standard errors of the mean and of the variance are 0.0018 and 0.00094, and five standard errors are
    /// allowed.
    #[test]
    fn uniforms_are_uniform() {
        let all: Vec<f64> = (0..25_000).flat_map(|i| uniforms(i % 500, i / 500, 7)).collect();
        let mean = all.iter().sum::<f64>() / 1e5;
        let square = all.iter().map(|x| x * x).sum::<f64>() / 1e5;
        assert!(mean.abs() < 0.0092 && (square - 1.0 / 3.0).abs() < 0.0047, "{mean}, {square}");
        for quarter in 0..4 {
            let low = f64::from(quarter) / 2.0 - 1.0;
            let count = all.iter().filter(|&&x| x >= low && x < low + 0.5).count();
            // The expected count is 25,000, with a standard deviation of 137.
            assert!(count.abs_diff(25_000) < 690, "{count} from {low}");
        }
    }
}
