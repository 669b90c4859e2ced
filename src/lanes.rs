//! SIMD vectors of reals. The CPU uses them to solve several small matrices together, one matrix in each lane of a
//! register. pulp detects at run time whether the machine has AVX-512, AVX2 with FMA, or NEON. On other machines,
//! vectors have one lane.
//!
//! No lane affects another, so the result of a lane has the same bits regardless of the contents of the other lanes.

use pulp::{Arch, Simd, WithSimd};
use std::fmt;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

/// A scalar type that can be the element of a vector.
pub trait SimdScalar: Copy + PartialOrd + Send + Sync + 'static {
    /// Runs `task` with the widest vectors of this machine.
    fn in_lanes<K: Task<Self>>(task: K) -> K::Output;
    /// Runs `task` with vectors of one lane, as a machine without SIMD does.
    #[cfg(test)]
    fn in_one_lane<K: Task<Self>>(task: K) -> K::Output;
    /// Runs `task` with the vectors of `simd`, which may be emulated.
    #[cfg(test)]
    fn in_lanes_of<S: Simd, K: Task<Self>>(simd: S, task: K) -> K::Output;
}

/// Work on vectors of any width. Every function that the task calls on vectors must be inlined into the task, because a
/// function that is not inlined is compiled without the SIMD instructions.
pub trait Task<T> {
    /// The result.
    type Output;
    /// Runs the task.
    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> Self::Output;
}

/// A vector with one value per lane.
pub trait Vector:
    Copy
    + fmt::Debug
    + Send
    + Sync
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + 'static
{
    /// The type of one value.
    type Scalar: Copy;
    /// Proof that the instructions are available.
    type Token: Copy + Send + Sync;
    /// A type with one truth value per lane.
    type Mask: Copy;
    /// The number of lanes.
    const LANES: usize;

    /// Returns a vector with the same value in every lane.
    fn splat(token: Self::Token, x: Self::Scalar) -> Self;
    /// Loads the first `LANES` values of a slice.
    ///
    /// # Panics
    /// If the slice has fewer values than there are lanes.
    fn load(token: Self::Token, from: &[Self::Scalar]) -> Self;
    /// Writes the values to the beginning of a slice.
    ///
    /// # Panics
    /// If the slice is shorter than a vector.
    fn store(self, to: &mut [Self::Scalar]);
    /// Returns the values, lane by lane.
    fn as_slice(&self) -> &[Self::Scalar];
    /// Returns the values for writing, lane by lane.
    fn as_mut_slice(&mut self) -> &mut [Self::Scalar];
    /// Returns `self * b + c`, rounded only once if the machine has fused multiply-add.
    #[must_use]
    fn mul_add(self, b: Self, c: Self) -> Self;
    /// Returns `c - self * b`, rounded only once if the machine has fused multiply-add.
    #[must_use]
    fn neg_mul_add(self, b: Self, c: Self) -> Self;
    /// Returns the square root.
    #[must_use]
    fn sqrt(self) -> Self;
    /// Returns the absolute value.
    #[must_use]
    fn abs(self) -> Self;
    /// Returns the larger of two values in each lane. The result is unspecified if either value is NaN.
    #[must_use]
    fn max(self, other: Self) -> Self;
    /// Returns the smaller of two values in each lane. The result is unspecified if either value is NaN.
    #[must_use]
    fn min(self, other: Self) -> Self;
    /// Returns a mask that is set in the lanes where `self < other`.
    fn lt(self, other: Self) -> Self::Mask;
    /// Returns a mask that is set in the lanes where `self <= other`.
    fn le(self, other: Self) -> Self::Mask;
    /// Returns a mask that is set in the lanes where both masks are set.
    fn and(self, a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Returns `a` in the lanes where the mask is set, and `b` in the other lanes.
    #[must_use]
    fn select(mask: Self::Mask, a: Self, b: Self) -> Self;
    /// Returns whether the mask is set in any lane.
    fn any(self, mask: Self::Mask) -> bool;
    /// Runs `f` on the current thread with the SIMD instructions of these vectors. `f` must be `#[inline(always)]`, or
    /// its body may be compiled without them.
    fn with_instructions<R>(token: Self::Token, f: impl FnMut() -> R) -> R;
    /// Separates the parts of `LANES` adjacent complex numbers, which two vectors hold: returns the real and the
    /// imaginary parts, each in the same order of lanes, which [`Vector::mixed`] reverts.
    #[must_use]
    fn parted(numbers: [Self; 2]) -> [Self; 2];
    /// Does the reverse of [`Vector::parted`].
    #[must_use]
    fn mixed(parts: [Self; 2]) -> [Self; 2];
    /// Separates the elements of `LANES` adjacent groups of four numbers, which four vectors hold: returns the first,
    /// the second, the third and the fourth elements, each in the same order of lanes, which
    /// [`Vector::mixed_by_four`] reverts.
    #[must_use]
    fn parted_by_four(groups: [Self; 4]) -> [Self; 4];
    /// Does the reverse of [`Vector::parted_by_four`].
    #[must_use]
    fn mixed_by_four(parts: [Self; 4]) -> [Self; 4];
    /// Returns the sum over the lanes. The order of the additions depends only on the number of lanes.
    fn sum(self) -> Self::Scalar;
}

/// A closure whose body is inlined, if it is marked so. `FnOnce::call_once` of a closure that moves nothing is a
/// function around it, which the compiler need not inline, and which is then compiled without the SIMD instructions.
struct Inlined<F>(F);

impl<R, F: FnMut() -> R> WithSimd for Inlined<F> {
    type Output = R;

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, _: S) -> R {
        (self.0)()
    }
}

/// Runs a closure, which must be `#[inline(always)]`, as compiled for the widest vectors of this machine.
pub(crate) fn in_widest<R>(f: impl FnMut() -> R) -> R {
    Arch::new().dispatch(Inlined(f))
}

/// A task that returns the number of lanes.
struct Width;

impl<T> Task<T> for Width {
    type Output = usize;
    fn run<V: Vector<Scalar = T>>(self, _: V::Token) -> usize {
        V::LANES
    }
}

/// Returns the number of lanes of the widest vectors of this machine.
pub(crate) fn width<T: SimdScalar>() -> usize {
    T::in_lanes(Width)
}

/// Returns element `i` of an array that is stored in vectors of adjacent elements.
#[inline(always)]
pub(crate) fn element<V: Vector>(x: &[V], i: usize) -> V::Scalar {
    x[i / V::LANES].as_slice()[i % V::LANES]
}

macro_rules! laned {
    ($scalar:ty, $Vector:ident, $numbers:ident, $mask:ident, $lanes:ident, $first_true:ident, $splat:ident, $add:ident, $sub:ident,
     $mul:ident, $div:ident, $neg:ident, $mul_add:ident, $neg_mul_add:ident, $sqrt:ident, $max:ident, $min:ident, $lt:ident, $le:ident,
     $and:ident, $select:ident, $sum:ident, $as_simd:ident, $as_mut_simd:ident, $parted:ident, $mixed:ident) => {
        #[derive(Clone, Copy)]
        struct $Vector<S: Simd> {
            simd: S,
            x: S::$numbers,
        }

        impl<S: Simd> $Vector<S> {
            #[inline(always)]
            fn with(self, x: S::$numbers) -> Self {
                Self { simd: self.simd, x }
            }
        }

        impl<S: Simd> fmt::Debug for $Vector<S> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                self.as_slice().fmt(f)
            }
        }

        impl<S: Simd> Add for $Vector<S> {
            type Output = Self;
            #[inline(always)]
            fn add(self, other: Self) -> Self {
                self.with(self.simd.$add(self.x, other.x))
            }
        }

        impl<S: Simd> Sub for $Vector<S> {
            type Output = Self;
            #[inline(always)]
            fn sub(self, other: Self) -> Self {
                self.with(self.simd.$sub(self.x, other.x))
            }
        }

        impl<S: Simd> Mul for $Vector<S> {
            type Output = Self;
            #[inline(always)]
            fn mul(self, other: Self) -> Self {
                self.with(self.simd.$mul(self.x, other.x))
            }
        }

        impl<S: Simd> Div for $Vector<S> {
            type Output = Self;
            #[inline(always)]
            fn div(self, other: Self) -> Self {
                self.with(self.simd.$div(self.x, other.x))
            }
        }

        impl<S: Simd> Neg for $Vector<S> {
            type Output = Self;
            #[inline(always)]
            fn neg(self) -> Self {
                self.with(self.simd.$neg(self.x))
            }
        }

        impl<S: Simd> AddAssign for $Vector<S> {
            #[inline(always)]
            fn add_assign(&mut self, other: Self) {
                *self = *self + other;
            }
        }

        impl<S: Simd> SubAssign for $Vector<S> {
            #[inline(always)]
            fn sub_assign(&mut self, other: Self) {
                *self = *self - other;
            }
        }

        impl<S: Simd> MulAssign for $Vector<S> {
            #[inline(always)]
            fn mul_assign(&mut self, other: Self) {
                *self = *self * other;
            }
        }

        impl<S: Simd> Vector for $Vector<S> {
            type Scalar = $scalar;
            type Token = S;
            type Mask = S::$mask;
            const LANES: usize = S::$lanes;

            #[inline(always)]
            fn splat(simd: S, x: $scalar) -> Self {
                Self { simd, x: simd.$splat(x) }
            }
            #[inline(always)]
            fn load(simd: S, from: &[$scalar]) -> Self {
                Self { simd, x: S::$as_simd(from).0[0] }
            }
            #[inline(always)]
            fn store(self, to: &mut [$scalar]) {
                S::$as_mut_simd(to).0[0] = self.x;
            }
            #[inline(always)]
            fn as_slice(&self) -> &[$scalar] {
                bytemuck::cast_slice(std::slice::from_ref(&self.x))
            }
            #[inline(always)]
            fn as_mut_slice(&mut self) -> &mut [$scalar] {
                bytemuck::cast_slice_mut(std::slice::from_mut(&mut self.x))
            }
            #[inline(always)]
            fn mul_add(self, b: Self, c: Self) -> Self {
                self.with(self.simd.$mul_add(self.x, b.x, c.x))
            }
            #[inline(always)]
            fn neg_mul_add(self, b: Self, c: Self) -> Self {
                self.with(self.simd.$neg_mul_add(self.x, b.x, c.x))
            }
            #[inline(always)]
            fn sqrt(self) -> Self {
                self.with(self.simd.$sqrt(self.x))
            }
            #[inline(always)]
            fn abs(self) -> Self {
                // With AVX-512, pulp's `abs` calls functions that are not inlined.
                self.max(-self)
            }
            #[inline(always)]
            fn max(self, other: Self) -> Self {
                self.with(self.simd.$max(self.x, other.x))
            }
            #[inline(always)]
            fn min(self, other: Self) -> Self {
                self.with(self.simd.$min(self.x, other.x))
            }
            #[inline(always)]
            fn lt(self, other: Self) -> Self::Mask {
                self.simd.$lt(self.x, other.x)
            }
            #[inline(always)]
            fn le(self, other: Self) -> Self::Mask {
                self.simd.$le(self.x, other.x)
            }
            #[inline(always)]
            fn and(self, a: Self::Mask, b: Self::Mask) -> Self::Mask {
                self.simd.$and(a, b)
            }
            #[inline(always)]
            fn select(mask: Self::Mask, a: Self, b: Self) -> Self {
                a.with(a.simd.$select(mask, a.x, b.x))
            }
            #[inline(always)]
            fn any(self, mask: Self::Mask) -> bool {
                self.simd.$first_true(mask) < Self::LANES
            }
            #[inline(always)]
            fn with_instructions<R>(simd: S, f: impl FnMut() -> R) -> R {
                simd.vectorize(Inlined(f))
            }
            #[inline(always)]
            fn parted([a, b]: [Self; 2]) -> [Self; 2] {
                a.simd.$parted([a.x, b.x]).map(|x| a.with(x))
            }
            #[inline(always)]
            fn mixed([a, b]: [Self; 2]) -> [Self; 2] {
                a.simd.$mixed([a.x, b.x]).map(|x| a.with(x))
            }
            #[inline(always)]
            fn parted_by_four(groups: [Self; 4]) -> [Self; 4] {
                let first = groups[0];
                first.simd.$parted(groups.map(|group| group.x)).map(|x| first.with(x))
            }
            #[inline(always)]
            fn mixed_by_four(parts: [Self; 4]) -> [Self; 4] {
                let first = parts[0];
                first.simd.$mixed(parts.map(|part| part.x)).map(|x| first.with(x))
            }
            #[inline(always)]
            fn sum(self) -> $scalar {
                self.simd.$sum(self.x)
            }
        }

        impl SimdScalar for $scalar {
            fn in_lanes<K: Task<Self>>(task: K) -> K::Output {
                struct Run<K>(K);
                impl<K: Task<$scalar>> WithSimd for Run<K> {
                    type Output = K::Output;
                    #[inline(always)]
                    fn with_simd<S: Simd>(self, simd: S) -> K::Output {
                        self.0.run::<$Vector<S>>(simd)
                    }
                }
                Arch::new().dispatch(Run(task))
            }

            #[cfg(test)]
            fn in_one_lane<K: Task<Self>>(task: K) -> K::Output {
                task.run::<$Vector<pulp::Scalar>>(pulp::Scalar::new())
            }

            #[cfg(test)]
            fn in_lanes_of<S: Simd, K: Task<Self>>(simd: S, task: K) -> K::Output {
                task.run::<$Vector<S>>(simd)
            }
        }
    };
}

laned!(
    f32,
    F32s,
    f32s,
    m32s,
    F32_LANES,
    first_true_m32s,
    splat_f32s,
    add_f32s,
    sub_f32s,
    mul_f32s,
    div_f32s,
    neg_f32s,
    mul_add_e_f32s,
    negate_mul_add_e_f32s,
    sqrt_f32s,
    max_f32s,
    min_f32s,
    less_than_f32s,
    less_than_or_equal_f32s,
    and_m32s,
    select_f32s,
    reduce_sum_f32s,
    as_simd_f32s,
    as_mut_simd_f32s,
    deinterleave_shfl_f32s,
    interleave_shfl_f32s
);
laned!(
    f64,
    F64s,
    f64s,
    m64s,
    F64_LANES,
    first_true_m64s,
    splat_f64s,
    add_f64s,
    sub_f64s,
    mul_f64s,
    div_f64s,
    neg_f64s,
    mul_add_e_f64s,
    negate_mul_add_e_f64s,
    sqrt_f64s,
    max_f64s,
    min_f64s,
    less_than_f64s,
    less_than_or_equal_f64s,
    and_m64s,
    select_f64s,
    reduce_sum_f64s,
    as_simd_f64s,
    as_mut_simd_f64s,
    deinterleave_shfl_f64s,
    interleave_shfl_f64s
);
