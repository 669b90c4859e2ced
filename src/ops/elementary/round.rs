//! Rounding to 16 bits.

/// The roundings of one precision.
pub trait Narrow {
    /// Rounds to the nearest binary16, ties to even.
    #[must_use]
    fn to_f16(self) -> Self;
    /// Rounds to the nearest bfloat16, ties to even.
    #[must_use]
    fn to_bf16(self) -> Self;
}

impl Narrow for f32 {
    // A loop over this compiles to SIMD instructions, which the conversions of a library do not.
    #[inline(always)]
    fn to_f16(self) -> Self {
        let bits = self.to_bits();
        let size = bits & 0x7fff_ffff;
        let normal = (size + 0xfff + ((size >> 13) & 1)) & !0x1fff;
        // Below 2^-14, binary16 has the spacing of f32 near 0.75, which is 2^-24.
        let small = ((Self::from_bits(size) + 0.75) - 0.75).to_bits();
        let rounded = if size < 0x3880_0000 { small } else { normal };
        let rounded = if size >= 0x477f_f000 { 0x7f80_0000 } else { rounded };
        let rounded = if size > 0x7f80_0000 { 0x7fc0_0000 } else { rounded };
        Self::from_bits(bits & 0x8000_0000 | rounded)
    }

    #[inline(always)]
    fn to_bf16(self) -> Self {
        let bits = self.to_bits();
        let size = bits & 0x7fff_ffff;
        let rounded = (size + 0x7fff + ((size >> 16) & 1)) & 0xffff_0000;
        let rounded = if size > 0x7f80_0000 { 0x7fc0_0000 } else { rounded };
        Self::from_bits(bits & 0x8000_0000 | rounded)
    }
}

impl Narrow for f64 {
    fn to_f16(self) -> Self {
        half::f16::from_f64(self).to_f64()
    }

    fn to_bf16(self) -> Self {
        half::bf16::from_f64(self).to_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::Narrow as _;
    use half::{bf16, f16};

    /// Every number of 16 bits, every middle between two neighbors, and the numbers of f32 around both.
    #[test]
    fn rounding_is_that_of_half() {
        let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
        for bits in 0..=u16::MAX {
            let places = [f16::from_bits(bits).to_f32(), bf16::from_bits(bits).to_f32()];
            let nexts = [f16::from_bits(bits.wrapping_add(1)).to_f32(), bf16::from_bits(bits.wrapping_add(1)).to_f32()];
            for (place, next) in places.into_iter().zip(nexts) {
                for middle in [place, place / 2.0 + next / 2.0] {
                    for off in [-1_i32, 0, 1] {
                        let x = f32::from_bits(middle.to_bits().wrapping_add_signed(off));
                        assert!(same(x.to_f16(), f16::from_f32(x).to_f32()), "f16 of {x:e}: {:e}", x.to_f16());
                        assert!(same(x.to_bf16(), bf16::from_f32(x).to_f32()), "bf16 of {x:e}: {:e}", x.to_bf16());
                    }
                }
            }
        }
    }
}
