//! Transforms of lines that lie across rows, one line per SIMD lane. Adjacent elements of a row belong to adjacent
//! lines, so that lines need not be turned: a row is loaded as it is. Rows that do not fill the lanes are put together
//! with rows of the next matrices.

use super::Working;
use super::in_lanes::{Complexes, LANES, Memory, Scratch, memory};
use super::moves::Narrow;
use super::strided::Strip;
use crate::array::Real;
use crate::lanes::{Task, Vector};
use num_complex::Complex;

/// The transform of a strip.
pub(super) struct ComplexStrip<'a, 'b, F: Working> {
    pub(super) engine: &'a Complexes<F>,
    pub(super) strip: Strip<'a, 'b, Complex<F>, Complex<F>>,
    pub(super) scratch: &'a mut Scratch,
}

impl<F: Working> Task<F> for ComplexStrip<'_, '_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = F>>(self, token: V::Token) {
        let Self { engine: Complexes { plan, scale }, strip, scratch } = self;
        let swap = scale.is_some();
        let by = V::splat(token, scale.unwrap_or(<F as Real>::from_f64(1.0)));
        let Some(Memory { x, y, .. }) = memory::<V>(token, plan.n, scratch) else { return };
        let width = strip.width();
        let from: &[F] = bytemuck::cast_slice(&strip.from[strip.first..]);
        let mut room = [<F as Real>::from_f64(0.0); 2 * LANES];
        for first in (0..width).step_by(V::LANES) {
            let count = V::LANES.min(width - first);
            let scalars = 2 * count;
            for (e, x) in x[..plan.n].iter_mut().enumerate() {
                let mut row = &from[2 * (e * strip.inner + first)..];
                if count < V::LANES {
                    room[..scalars].copy_from_slice(&row[..scalars]);
                    row = &room;
                }
                let [re, im] = V::parted([V::load(token, row), V::load(token, &row[V::LANES..])]);
                *x = if swap { [im, re] } else { [re, im] };
            }
            plan.run(token, x, y);
            for (&[re, im], row) in x.iter().zip(strip.to.iter_mut()) {
                let [a, b] = V::mixed(if swap { [im * by, re * by] } else { [re, im] });
                let row: &mut [F] = bytemuck::cast_slice_mut(&mut row[first..]);
                if count < V::LANES {
                    a.store(&mut room);
                    b.store(&mut room[V::LANES..]);
                    row[..scalars].copy_from_slice(&room[..scalars]);
                } else {
                    a.store(row);
                    b.store(&mut row[V::LANES..]);
                }
            }
        }
    }
}

/// The transform of matrices whose rows have `inner` elements.
pub(super) struct ComplexMatrices<'a, F> {
    pub(super) engine: &'a Complexes<F>,
    pub(super) inner: usize,
    pub(super) from: &'a [Complex<F>],
    pub(super) to: &'a mut [Complex<F>],
    pub(super) scratch: &'a mut Scratch,
}

impl<F: Working> Task<F> for ComplexMatrices<'_, F> {
    type Output = ();

    #[inline(always)]
    fn run<V: Vector<Scalar = F>>(self, token: V::Token) {
        let Self { engine: Complexes { plan, scale }, inner, from, to, scratch } = self;
        let n = plan.n;
        let swap = scale.is_some();
        let by = V::splat(token, scale.unwrap_or(<F as Real>::from_f64(1.0)));
        let Some(Memory { x, y, .. }) = memory::<V>(token, n, scratch) else { return };
        let lines = from.len() / n;
        for first in (0..lines).step_by(V::LANES) {
            let narrow = Narrow::new(first, V::LANES.min(lines - first), inner, n);
            narrow.gather(token, from, &mut x[..n], swap);
            plan.run(token, x, y);
            narrow.scatter(x[..n].iter().map(|&[re, im]| if swap { [im * by, re * by] } else { [re, im] }), to);
        }
    }
}
