//! Exact quantiles: order statistics by selection, and NumPy's linear interpolation between order statistics.

use super::describe::room;
use super::{Nan, View, count, reduced, select};
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::device::Gpu;
use crate::error::{Error, Result};
use crate::ops::operation::{Call, Operation, Precision};
use crate::order::ascending;
use crate::parallel;
use crate::policy::{Choice, Workload};
use crate::shape::Axis;
use crate::shape::Shape;
use bytemuck::allocation::cast_vec;
use bytemuck::cast_slice;

/// The approximate number of elements that a thread processes at a time.
const TASK: usize = 1 << 14;
/// The longest series that is sorted, which takes less time than selecting a few of its elements.
const SHORT: usize = 32;

/// Computes the quantiles `q` of every series. A quantile q of n sorted elements is at position `q (n - 1)`, and is
/// interpolated linearly between the two elements next to this position, as NumPy's `quantile` does by default.
///
/// Depending on `nan`, a NaN either makes the quantiles of its series NaN or is left out. The quantiles of an empty
/// series are NaN. Infinities are ordinary elements: if a position is between a finite element and an infinity, the
/// result is that infinity, and if it is between both infinities, the result is NaN. The CPU uses selection. The device
/// uses a radix selection on the bits of the elements, from the highest digit on, and finds the same elements. If NaNs
/// are left out, the call waits until the device has counted the other elements.
///
/// # Shapes
/// Any; the result has the shape of the input, [`reduced`](super::reduced) to `q.len()` values per series, in the order
/// of `q`.
///
/// # Examples
/// ```
/// use fiedler::array::Array;
/// use fiedler::ops::stats::{Nan, quantiles};
/// use fiedler::{Axis, Context, Shape};
///
/// let ctx = Context::cpu();
/// let x = Array::from_vec(Shape::new(4, 1, 1), vec![4.0_f32, 1.0, 3.0, 2.0])?;
/// let found = quantiles(&ctx, &x, Axis::Rows, &[0.0, 0.5, 1.0], Nan::Propagate)?.to_host(&ctx)?;
/// assert_eq!(found.as_slice(), [1.0, 2.5, 4.0]);
/// # Ok::<(), fiedler::Error>(())
/// ```
///
/// # Errors
/// [`crate::ErrorKind::Domain`] if a quantile is not between 0 and 1, or [`Backend::Gpu`](crate::Backend::Gpu) is set
/// and `T` is f64; [`crate::ErrorKind::Limit`] if the results exceed the memory budget, or `Backend::Gpu` is set and
/// the array does not fit the device; device errors.
pub fn quantiles<T: Real>(
    ctx: &Context,
    x: &Array<T>,
    axis: impl Into<Option<Axis>>,
    q: &[f64],
    nan: Nan,
) -> Result<Array<T>> {
    if let Some(wrong) = q.iter().find(|q| !(0.0..=1.0).contains(*q)) {
        return Err(Error::domain("quantiles", format!("expected quantiles within 0 and 1, found {wrong}")));
    }
    let axis = axis.into();
    let (shape, view) = (reduced(x.shape(), axis, q.len()), View::of(x.shape(), axis));
    room(ctx, "quantiles", x.shape(), (shape.len() as u64).saturating_mul(8))?;
    let (made, choice) = call::<T>(view, q.len(), x.is_resident()).run(
        ctx,
        || Ok(Storage::host(on_cpu(&x.storage().to_vec(ctx)?, view, q, nan))),
        |gpu| {
            select::fits(gpu, view, q.len(), ctx.device_budget())?;
            let x = x.storage().on_device(ctx, gpu)?;
            Ok(Storage::device(select::quantiles(gpu, &x, view, q, nan, ctx.device_budget())?))
        },
    )?;
    Ok(Array::from_storage(shape, made).chosen(&choice))
}

/// Returns where [`quantiles`] would compute `quantiles` quantiles of each series of an array of the given shape, and
/// why.
#[must_use]
pub fn choose_quantiles<T: Real>(
    ctx: &Context,
    shape: Shape,
    axis: impl Into<Option<Axis>>,
    quantiles: usize,
    resident: bool,
) -> Choice {
    call::<T>(View::of(shape, axis.into()), quantiles, resident).choose(ctx)
}

fn call<T: Real>(view: View, quantiles: usize, resident: bool) -> Call<impl Fn(&Gpu, u64) -> bool> {
    let numbers = count(view.len());
    let workload = Workload {
        cpu_flops: 40.0 * numbers,
        gpu_flops: 32.0 * numbers * count(quantiles),
        size: count(view.len),
        items: count(view.series()),
        dispatches: 8.0,
        ..Workload::default()
    }
    .transferring(resident, 4.0 * numbers, 4.0 * count(view.series()) * count(quantiles));
    let fits = move |gpu: &Gpu, budget| select::fits(gpu, view, quantiles, budget).is_ok();
    let empty = view.len() == 0 || quantiles == 0;
    Call { name: "quantiles", precision: Precision::of::<T>(), workload, empty, fits, waits: true }
}

fn on_cpu<T: Real>(x: &[T], view: View, q: &[f64], nan: Nan) -> Vec<T> {
    if T::ON_DEVICE {
        cast_vec(in_f32(cast_slice(x), view, q, nan))
    } else {
        cast_vec(in_f64(cast_slice(x), view, q, nan))
    }
}

/// Instantiates [`every`] here, once, instead of in every crate that calls it.
fn in_f32(x: &[f32], view: View, q: &[f64], nan: Nan) -> Vec<f32> {
    every(x, view, q, nan)
}

fn in_f64(x: &[f64], view: View, q: &[f64], nan: Nan) -> Vec<f64> {
    every(x, view, q, nan)
}

fn every<T: Real>(x: &[T], view: View, q: &[f64], nan: Nan) -> Vec<T> {
    let View { outer, len, inner } = view;
    // Quantiles are selected in ascending order, so the elements below a selected element need no further work.
    let order = ascending(q.iter().copied());
    let (series, run) = (outer * inner, (TASK / len.max(1)).max(1));
    let of_run = |_, first: usize| {
        let own_series = first..(first + run).min(series);
        let (mut own, mut found) = (Vec::with_capacity(len), Vec::with_capacity(own_series.len() * q.len()));
        for s in own_series {
            let base = s / inner * len * inner + s % inner;
            own.clear();
            own.extend((0..len).map(|i| x[base + i * inner]));
            of_series(&mut own, q, &order, nan, &mut found);
        }
        found
    };
    let found = parallel::map((0..series).step_by(run), of_run);
    let mut out = vec![T::from_f64(f64::NAN); series * q.len()];
    for (s, own) in found.iter().flat_map(|run| run.chunks_exact(q.len().max(1))).enumerate() {
        for (i, &value) in own.iter().enumerate() {
            out[(s / inner * q.len() + i) * inner + s % inner] = value;
        }
    }
    out
}

/// Appends the quantiles of one series, whose elements are moved, to `all`.
fn of_series<T: Real>(own: &mut Vec<T>, q: &[f64], order: &[usize], nan: Nan, all: &mut Vec<T>) {
    let before = own.len();
    own.retain(|x| !x.to_f64().is_nan());
    let first = all.len();
    all.resize(first + q.len(), T::from_f64(f64::NAN));
    if own.is_empty() || (nan == Nan::Propagate && own.len() < before) {
        return;
    }
    let by_value = |a: &T, b: &T| a.to_f64().total_cmp(&b.to_f64());
    // The elements before index `sorted` do not have to be moved again.
    let mut sorted = 0;
    if own.len() <= SHORT {
        own.sort_unstable_by(by_value);
        sorted = own.len();
    }
    for &i in order {
        let (low, part) = place(q[i], own.len());
        if low >= sorted {
            own[sorted..].select_nth_unstable_by(low - sorted, by_value);
            sorted = low + 1;
        }
        let below = own[low];
        let above = if part == 0.0 {
            below
        } else {
            if low + 1 >= sorted {
                own[sorted..].select_nth_unstable_by(0, by_value);
                sorted = low + 2;
            }
            own[low + 1]
        };
        all[first + i] = T::from_f64(between(below.to_f64(), above.to_f64(), part));
    }
}

/// Returns the position of a quantile among `n` sorted elements: the index of the element below the position, and the
/// fraction of the distance to the next element.
pub(super) fn place(q: f64, n: usize) -> (usize, f64) {
    let at = q * count(n - 1);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "within 0 and n - 1")]
    let low = (at.floor() as usize).min(n - 1);
    let part = at - count(low);
    (low, if low + 1 < n { part } else { 0.0 })
}

/// Interpolates linearly between two elements, starting from the nearer element, as NumPy does. Between a finite
/// element and an infinity the result is that infinity.
fn between(below: f64, above: f64, part: f64) -> f64 {
    if below == above || part == 0.0 {
        return below;
    }
    if below.is_infinite() || above.is_infinite() {
        return if below.is_infinite() && above.is_infinite() {
            f64::NAN
        } else if below.is_infinite() {
            below
        } else {
            above
        };
    }
    // The distance between elements of opposite signs may exceed the largest finite number.
    if below < 0.0 && above > 0.0 {
        return below * (1.0 - part) + above * part;
    }
    let away = above - below;
    if part < 0.5 { below + away * part } else { above - away * (1.0 - part) }
}

#[cfg(test)]
mod tests {
    use super::{Nan, on_cpu};
    use crate::ops::stats::View;

    #[test]
    fn what_numpy_says() {
        // np.quantile([7, 1, 3, 9, 5, 2], [0, .1, .25, .5, .9, 1, .3333]), and np.nanquantile of the same elements and
        // a NaN.
        let q = [0.0, 0.1, 0.25, 0.5, 0.9, 1.0, 0.3333];
        let want = [1.0, 1.5, 2.25, 4.0, 8.0, 9.0, 2.6665];
        let view = |len| View { outer: 1, len, inner: 1 };
        let close = |got: Vec<f64>| got.iter().zip(want).all(|(a, b)| (a - b).abs() < 1e-14);
        assert!(close(on_cpu(&[7.0, 1.0, 3.0, 9.0, 5.0, 2.0], view(6), &q, Nan::Propagate)));
        let with = [7.0, 1.0, f64::NAN, 3.0, 9.0, 5.0, 2.0];
        assert!(close(on_cpu(&with, view(7), &q, Nan::Omit)));
        assert!(on_cpu(&with, view(7), &q, Nan::Propagate).iter().all(|x| x.is_nan()));
        assert!(on_cpu::<f64>(&[], view(0), &[0.5], Nan::Omit)[0].is_nan());
    }
}
