//! The ceilings of the CPU, measured with all threads.

use super::{Ceilings, best};
use crate::error::Result;
use crate::lanes::{SimdScalar, Task, Vector};
use crate::parallel;

/// The number of elements that a thread copies at a time.
const CHUNK: usize = 1 << 16;
/// The number of multiply-adds in a chain.
const TURNS: usize = 1 << 18;
/// The number of independent chains, each of which is computed in one vector. A core with two units for fused
/// multiply-adds, each with a latency of four cycles, needs eight chains to keep both units busy.
const CHAINS: usize = 8;

/// The task that repeats x = a x + b in registers, and returns the number of floating-point operations.
struct Chains;

impl Task<f32> for Chains {
    type Output = f64;
    #[inline(always)]
    fn run<V: Vector<Scalar = f32>>(self, token: V::Token) -> f64 {
        V::with_instructions(
            token,
            #[inline(always)]
            || {
                let number = |x: f32| V::splat(token, std::hint::black_box(x));
                let (a, b) = (number(0.999), number(1e-3));
                let mut x: [V; CHAINS] = std::array::from_fn(|i| number([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8][i]));
                for _ in 0..TURNS {
                    for x in &mut x {
                        *x = x.mul_add(a, b);
                    }
                }
                std::hint::black_box(x.into_iter().fold(b, |sum, x| sum + x).sum());
                (2 * V::LANES * CHAINS * TURNS) as f64
            },
        )
    }
}

pub(super) fn ceilings(bytes: u64, rounds: usize) -> Result<Ceilings> {
    let numbers = usize::try_from(bytes / 4).unwrap_or(usize::MAX);
    let given = vec![1.0_f32; numbers];
    let mut made = vec![0.0_f32; numbers];
    let copied = best(rounds, || {
        parallel::for_each(made.chunks_mut(CHUNK).zip(given.chunks(CHUNK)), |_, (to, from)| to.copy_from_slice(from));
        std::hint::black_box(&made);
        Ok(())
    })?;
    let threads = parallel::threads();
    let call = best(rounds, || {
        parallel::each(threads, &|i| {
            std::hint::black_box(i);
        });
        Ok(())
    })?;
    let mut flops = 0.0;
    let computed = best(rounds, || {
        flops = parallel::map(0..threads, |_, _| f32::in_lanes(Chains)).into_iter().sum();
        Ok(())
    })?;
    Ok(Ceilings { copy: 2.0 * bytes as f64 / copied, fma: flops / computed, call })
}
