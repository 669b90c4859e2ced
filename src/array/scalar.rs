//! The types that an array may contain, and the types in which the solvers compute.

use half::f16;
use num_complex::Complex;
use std::borrow::Cow;

mod private {
    /// The sealed set of types that an array may contain.
    pub trait Stored {}
    impl Stored for f32 {}
    impl Stored for f64 {}
    impl Stored for u32 {}
    impl Stored for half::f16 {}
    impl Stored for num_complex::Complex<f32> {}
    impl Stored for num_complex::Complex<f64> {}

    /// The trait bounds that the CPU solvers need, which are not part of the public interface.
    pub trait Sealed:
        crate::lanes::SimdScalar
        + faer::traits::RealField
        + std::ops::Add<Output = Self>
        + std::ops::Sub<Output = Self>
        + std::ops::Mul<Output = Self>
        + std::ops::Div<Output = Self>
        + std::ops::Neg<Output = Self>
        + std::ops::AddAssign
        + std::ops::SubAssign
        + std::ops::MulAssign
    {
    }
    impl Sealed for f32 {}
    impl Sealed for f64 {}
}

/// The types that an array may contain, which are f32, f64, complex numbers of these, f16 and u32. f16 is only for
/// storage, not for computation, and u32 is for random words.
pub trait Scalar: private::Stored + nalgebra::Scalar + bytemuck::Pod + Send + Sync {
    /// Whether the device's kernels support the type.
    const ON_DEVICE: bool;
    /// The type's name.
    const NAME: &'static str;
    /// Converts the 32-bit words that were read back from a device to elements. If two elements share a word, the
    /// result may have one element more than was sent.
    #[doc(hidden)]
    fn from_device(words: Vec<f32>) -> Vec<Self>;
    /// Converts elements to the 32-bit words that are sent to a device. The result is empty for types that stay on the
    /// host.
    #[doc(hidden)]
    fn for_device(data: &[Self]) -> Cow<'_, [f32]>;
    /// Returns the number of 32-bit words that `len` elements occupy.
    #[doc(hidden)]
    #[must_use]
    fn words(len: usize) -> usize;
}

/// Whether there is an instruction for fused multiply-add. WebAssembly has none, and emulates it some 50 times slower.
const FUSES: bool = cfg!(not(target_arch = "wasm32"));

/// The types of elements that a matrix may have: f32, f64, and complex numbers of them.
pub trait Field: Scalar {
    /// The type of real numbers, such as the eigenvalues of Hermitian matrices.
    type Real: Real;
    /// Whether the numbers are complex.
    const IS_COMPLEX: bool = false;
}

impl Field for f32 {
    type Real = Self;
}

impl Field for f64 {
    type Real = Self;
}

impl Field for Complex<f32> {
    type Real = f32;
    const IS_COMPLEX: bool = true;
}

impl Field for Complex<f64> {
    type Real = f64;
    const IS_COMPLEX: bool = true;
}

/// The types in which operations compute. f32 runs on the CPU and on every adapter. f64 runs only on the CPU and is
/// never narrowed to f32.
pub trait Real: Field<Real = Self> + private::Sealed {
    /// The distance from 1 to the next larger value, which LAPACK calls `ulp`.
    const EPSILON: f64;
    /// The smallest positive normal number.
    const SMALLEST: f64;
    /// Returns the value of this type that is nearest to `x`.
    #[must_use]
    fn from_f64(x: f64) -> Self;
    /// Returns the same value in f64.
    #[must_use]
    fn to_f64(self) -> f64;
    /// Returns `self * b + c`, rounded only once, except in WebAssembly. To be fast, it must be inlined into code that
    /// is compiled with a fused multiply-add instruction.
    #[doc(hidden)]
    #[must_use]
    fn fused(self, b: Self, c: Self) -> Self;
    /// Returns the values as f64. f64 input is borrowed, not copied.
    #[doc(hidden)]
    fn all_to_f64(data: &[Self]) -> Cow<'_, [f64]>;
    /// Converts f32 values to this type. If the type is f32, the values are borrowed, not copied.
    #[doc(hidden)]
    fn widened(data: &[f32]) -> Cow<'_, [Self]>;
    /// Rounds f64 values to this type. If the type is f64, the values are borrowed, not copied.
    #[doc(hidden)]
    fn rounded(data: &[f64]) -> Cow<'_, [Self]>;
}

impl Scalar for f32 {
    const ON_DEVICE: bool = true;
    const NAME: &'static str = "f32";
    fn from_device(words: Vec<Self>) -> Vec<Self> {
        words
    }
    fn for_device(data: &[Self]) -> Cow<'_, [Self]> {
        data.into()
    }
    fn words(len: usize) -> usize {
        len
    }
}

impl Scalar for u32 {
    const ON_DEVICE: bool = true;
    const NAME: &'static str = "u32";
    fn from_device(words: Vec<f32>) -> Vec<Self> {
        bytemuck::allocation::cast_vec(words)
    }
    fn for_device(data: &[Self]) -> Cow<'_, [f32]> {
        bytemuck::cast_slice(data).into()
    }
    fn words(len: usize) -> usize {
        len
    }
}

impl Scalar for Complex<f32> {
    const ON_DEVICE: bool = true;
    const NAME: &'static str = "complex f32";
    fn from_device(words: Vec<f32>) -> Vec<Self> {
        // The cast makes no copy unless the capacity of the vector is odd.
        bytemuck::allocation::try_cast_vec(words)
            .unwrap_or_else(|(_, words)| bytemuck::allocation::pod_collect_to_vec(&words))
    }
    fn for_device(data: &[Self]) -> Cow<'_, [f32]> {
        bytemuck::cast_slice(data).into()
    }
    fn words(len: usize) -> usize {
        len.saturating_mul(2)
    }
}

impl Scalar for f16 {
    const ON_DEVICE: bool = true;
    const NAME: &'static str = "f16";
    fn from_device(words: Vec<f32>) -> Vec<Self> {
        bytemuck::allocation::pod_collect_to_vec(&words)
    }
    /// Packs two elements into each word, the first in the lower half.
    fn for_device(data: &[Self]) -> Cow<'_, [f32]> {
        let (pairs, last) = data.as_chunks::<2>();
        let word = |pair: [Self; 2]| f32::from_bits(pair.iter().rev().fold(0, |w, x| w << 16 | u32::from(x.to_bits())));
        pairs.iter().copied().chain(last.iter().map(|&x| [x, Self::ZERO])).map(word).collect()
    }
    fn words(len: usize) -> usize {
        len.div_ceil(2)
    }
}

impl Scalar for f64 {
    const ON_DEVICE: bool = false;
    const NAME: &'static str = "f64";
    fn from_device(_: Vec<f32>) -> Vec<Self> {
        Vec::new()
    }
    fn for_device(_: &[Self]) -> Cow<'_, [f32]> {
        (&[]).into()
    }
    fn words(len: usize) -> usize {
        len.saturating_mul(2)
    }
}

impl Scalar for Complex<f64> {
    const ON_DEVICE: bool = false;
    const NAME: &'static str = "complex f64";
    fn from_device(_: Vec<f32>) -> Vec<Self> {
        Vec::new()
    }
    fn for_device(_: &[Self]) -> Cow<'_, [f32]> {
        (&[]).into()
    }
    fn words(len: usize) -> usize {
        len.saturating_mul(4)
    }
}

impl Real for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    const SMALLEST: f64 = f32::MIN_POSITIVE as f64;
    #[expect(clippy::cast_possible_truncation, reason = "rounding is what it is for")]
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x as Self
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }
    fn all_to_f64(data: &[Self]) -> Cow<'_, [f64]> {
        data.iter().map(|&x| x.into()).collect()
    }
    fn widened(data: &[f32]) -> Cow<'_, [Self]> {
        data.into()
    }
    fn rounded(data: &[f64]) -> Cow<'_, [Self]> {
        data.iter().map(|&x| Self::from_f64(x)).collect()
    }
    #[inline(always)]
    fn fused(self, b: Self, c: Self) -> Self {
        if FUSES { self.mul_add(b, c) } else { self * b + c }
    }
}

impl Real for f64 {
    const EPSILON: f64 = Self::EPSILON;
    const SMALLEST: f64 = Self::MIN_POSITIVE;
    #[inline(always)]
    fn from_f64(x: f64) -> Self {
        x
    }
    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }
    fn all_to_f64(data: &[Self]) -> Cow<'_, [f64]> {
        data.into()
    }
    fn widened(data: &[f32]) -> Cow<'_, [Self]> {
        data.iter().map(|&x| x.into()).collect()
    }
    fn rounded(data: &[f64]) -> Cow<'_, [Self]> {
        data.into()
    }
    #[inline(always)]
    fn fused(self, b: Self, c: Self) -> Self {
        if FUSES { self.mul_add(b, c) } else { self * b + c }
    }
}
