//! Gradients on the device: products, and between them the kernels that find tie groups and divide.

use super::kernels::{Columns, Core, Grouping, Groups, Outer, Sides, Skew, Triangles, WIDTH, variant_of};
use super::{GradientCertificate, Rule, Seen};
use crate::array::{Array, Real, Storage};
use crate::context::Context;
use crate::device::{Buffer, Gpu, Shared};
use crate::error::Result;
use crate::ops::matmul::Gemm;
use crate::policy::Backend;
use crate::shape::{Shape, to_u32};
use std::sync::Arc;

/// The certificates of a batch, on the host, or on the device as the reports of its kernels.
#[derive(Clone, Debug)]
pub(super) struct GradientCertificates(Place);

#[derive(Clone, Debug)]
enum Place {
    Host(Arc<Vec<GradientCertificate>>),
    Device { n: usize, reports: Shared<[u32; 4]>, outer: Option<Shared<[u32; 2]>> },
}

impl GradientCertificates {
    pub(super) fn host(certificates: Vec<GradientCertificate>) -> Self {
        Self(Place::Host(Arc::new(certificates)))
    }

    /// Returns these certificates, or, of matrices without elements, which divide by nothing, as many of that.
    pub(super) fn or_nothing(self, shape: Shape) -> Self {
        if !shape.is_empty() {
            return self;
        }
        Self::host(vec![GradientCertificate { defined: true, ..Default::default() }; shape.batch])
    }

    /// Returns the certificates; waits for the device.
    pub(super) fn wait<T: Real>(&self, ctx: &Context) -> Result<Vec<GradientCertificate>> {
        let (n, reports, outer) = match &self.0 {
            Place::Host(certificates) => return Ok(certificates.to_vec()),
            Place::Device { n, reports, outer } => (*n, reports, outer),
        };
        let gpu = ctx.gpu_of(reports)?;
        let outer = outer.as_ref().map(|outer| gpu.read(outer)).transpose()?;
        let reports = gpu.read(reports)?.wait()?;
        let outer = outer.map(crate::device::Read::wait).transpose()?.unwrap_or_default();
        // The largest bits are those of a NaN if there is one, unlike the largest number.
        let largest = |bits: &mut dyn Iterator<Item = u32>| f64::from(f32::from_bits(bits.max().unwrap_or(0)));
        let of = |(matrix, own): (usize, &[[u32; 4]])| {
            let column = |report: usize, word: usize| {
                largest(&mut own.iter().skip(report).step_by(2).map(|report| report[word]))
            };
            let of_outer = |word: usize| largest(&mut outer.iter().skip(matrix * n).take(n).map(|report| report[word]));
            let [parts, all] = [[column(0, 0), of_outer(0)], [column(0, 1), of_outer(1)]];
            let [difference, cotangent, norm, steep] = [column(0, 2), column(0, 3), column(1, 0), column(1, 1)];
            let poison = all.iter().chain(&[cotangent, norm]).map(|x| 0.0 * x).sum();
            let (undefined, largest) = (parts[0].max(parts[1]), all[0].max(all[1]));
            Seen { undefined, largest, difference, cotangent, norm, steep, poison }.judged::<T>()
        };
        Ok(reports.chunks_exact(2 * n).enumerate().map(of).collect())
    }
}

/// Arrays of a call on the device, and what is computed from them there.
struct Batch<'a> {
    gpu: &'a Gpu,
    /// A context that multiplies on the device.
    ctx: Context,
    /// The number of values of a matrix, and the number of matrices.
    n: usize,
    count: usize,
    rule: Rule,
}

type Made<T> = (Storage<T>, GradientCertificates);
/// The derivatives of the parts of a decomposition in a direction.
type Tangents<T, const N: usize> = ([Storage<T>; N], GradientCertificates);

/// Returns the buffer of an array that is on the device.
fn buffer(batch: &Batch<'_>, array: &Array<f32>) -> Result<Shared<f32>> {
    array.storage().on_device(&batch.ctx, batch.gpu)
}

impl Batch<'_> {
    /// Returns an operand on the device, seen as f32, which is the only precision there; zeros if there is none.
    fn given<T: Real>(&self, storage: Option<&Storage<T>>, shape: Shape) -> Result<Array<f32>> {
        match storage {
            Some(storage) => Ok(Array::from_storage(shape, Storage::Device(storage.on_device(&self.ctx, self.gpu)?))),
            None => Array::from_vec(shape, vec![0.0; shape.len()])?.to_device(&self.ctx),
        }
    }

    /// Computes op(A) op(B) for each matrix.
    fn product(&self, a: &Array<f32>, b: &Array<f32>, [turn_a, turn_b]: [bool; 2]) -> Result<Array<f32>> {
        Gemm::new().transpose_a(turn_a).transpose_b(turn_b).run(&self.ctx, a, b)
    }

    fn groups(&self, values: &Buffer<f32>, singular: bool) -> Result<Buffer<u32>> {
        let (n, len) = (to_u32(self.n), to_u32(self.n * self.count));
        let mut rec = self.gpu.record();
        let mut groups = rec.array::<u32>(len as usize)?;
        for range in rec.ranges(len.div_ceil(WIDTH), f64::from(10 * WIDTH)) {
            #[expect(clippy::cast_possible_truncation, reason = "the kernels' precision")]
            let tolerance = self.rule.tolerance as f32;
            let singular = u32::from(singular);
            let params = Grouping { first: range.first * WIDTH, n, len, singular, tolerance };
            let kernel = Groups { params, values, groups: &mut groups };
            rec.dispatch(&kernel, &[], range.grid(), range.flops)?;
        }
        Ok(groups)
    }

    /// Returns G, and the reports about its columns. `p` and `q` are `None` if they are 0.
    fn core(
        &self,
        [values, values_bar]: [&Buffer<f32>; 2],
        groups: &Buffer<u32>,
        [p, q]: [Option<&Buffer<f32>>; 2],
        (singular, rectangular): (bool, bool),
    ) -> Result<(Array<f32>, Buffer<[u32; 4]>)> {
        let (n, columns) = (to_u32(self.n), to_u32(self.n * self.count));
        let mut rec = self.gpu.record();
        let mut g = rec.array::<f32>(self.n * self.n * self.count)?;
        let mut reports = rec.array::<[u32; 4]>(2 * columns as usize)?;
        for range in rec.ranges(columns, 20.0 * f64::from(n)) {
            #[expect(clippy::cast_possible_truncation, reason = "the kernels' precision")]
            let width = self.rule.width as f32;
            let (vectors, rectangular) = (u32::from(p.is_some()), u32::from(rectangular));
            let params = Columns { first: range.first, n, vectors, rectangular, width };
            // A kernel without vectors does not read them.
            let (p, q) = (p.unwrap_or(values), q.or(p).unwrap_or(values));
            let (g, reports) = (&mut g, &mut reports);
            let kernel = Core { params, values, values_bar, groups, p, q, g, reports };
            rec.dispatch(&kernel, &variant_of(singular), range.grid(), range.flops)?;
        }
        Ok((self.square(g), reports))
    }

    /// Returns skew matrices of the elements above and below the diagonal of P, times factors, and the diagonal.
    /// Without `singular`, there is no second matrix.
    fn skew(&self, p: &Array<f32>, singular: bool, [above, below]: [f32; 2]) -> Result<[Buffer<f32>; 3]> {
        let (n, len) = (to_u32(self.n), to_u32(p.shape().len()));
        let p = &*buffer(self, p)?;
        let mut rec = self.gpu.record();
        let mut x = rec.array::<f32>(len as usize)?;
        let mut y = rec.array::<f32>(if singular { len as usize } else { 1 })?;
        let mut diagonal = rec.array::<f32>(self.n * self.count)?;
        for range in rec.ranges(len.div_ceil(WIDTH), f64::from(8 * WIDTH)) {
            let params = Triangles { first: range.first * WIDTH, n, len, above, below };
            let kernel = Skew { params, p, x: &mut x, y: &mut y, diagonal: &mut diagonal };
            rec.dispatch(&kernel, &variant_of(singular), range.grid(), range.flops)?;
        }
        Ok([x, y, diagonal])
    }

    /// Returns an array of these elements, in the shape of a square matrix for each of the batch.
    fn square(&self, buffer: Buffer<f32>) -> Array<f32> {
        Array::from_storage(Shape::new(self.n, self.n, self.count), Storage::device(buffer))
    }

    /// Divides the vectors outside of the computed ones, which are columns or rows of `outer`, by the singular values.
    /// Also returns the reports about them.
    fn outer(
        &self,
        values: &Buffer<f32>,
        groups: &Buffer<u32>,
        outer: &Array<f32>,
        columns: bool,
    ) -> Result<(Array<f32>, Buffer<[u32; 2]>)> {
        let (n, vectors, shape) = (to_u32(self.n), to_u32(self.n * self.count), outer.shape());
        let (len, step) = if columns { (to_u32(shape.rows), 1) } else { (to_u32(shape.cols), n) };
        let from = buffer(self, outer)?;
        let mut rec = self.gpu.record();
        let mut divided = rec.array::<f32>(shape.len())?;
        let mut reports = rec.array::<[u32; 2]>(vectors as usize)?;
        for range in rec.ranges(vectors, 5.0 * f64::from(len)) {
            let params = Sides { first: range.first, n, len, step };
            let kernel = Outer { params, values, groups, outer: &from, divided: &mut divided, reports: &mut reports };
            rec.dispatch(&kernel, &[], range.grid(), range.flops)?;
        }
        Ok((Array::from_storage(shape, Storage::device(divided)), reports))
    }
}

/// Returns the gradients of eigenpairs. The operands are the values, the vectors, and their cotangents.
pub(super) fn eigh<T: Real>(
    ctx: &Context,
    gpu: &Gpu,
    shape: Shape,
    [values, v, values_bar, v_bar]: [Option<&Storage<T>>; 4],
    rule: Rule,
) -> Result<Made<T>> {
    let n = shape.rows;
    let batch = Batch { gpu, ctx: ctx.with_backend(Backend::Gpu), n, count: shape.batch, rule };
    let of_values = Shape::new(n, 1, shape.batch);
    let given = |storage, shape| batch.given(storage, shape);
    let (values, values_bar) = (given(values, of_values)?, given(values_bar, of_values)?);
    let v = given(v, shape)?;
    let (values, values_bar) = (buffer(&batch, &values)?, buffer(&batch, &values_bar)?);
    let p = match v_bar {
        Some(_) => Some(buffer(&batch, &batch.product(&v, &given(v_bar, shape)?, [true, false])?)?),
        None => None,
    };
    let groups = batch.groups(&values, false)?;
    let (g, reports) = batch.core([&values, &values_bar], &groups, [p.as_deref(), None], (false, false))?;
    let made = batch.product(&batch.product(&v, &g, [false, false])?, &v, [false, true])?;
    let certificates = GradientCertificates(Place::Device { n, reports: reports.share(), outer: None });
    Ok((Storage::Device(buffer(&batch, &made)?), certificates))
}

/// Returns the gradients of singular value decompositions. The operands are U, s and V', and their cotangents.
pub(super) fn svd<T: Real>(
    ctx: &Context,
    gpu: &Gpu,
    shape: Shape,
    [u, s, vh, u_bar, s_bar, vh_bar]: [Option<&Storage<T>>; 6],
    rule: Rule,
) -> Result<Made<T>> {
    let Shape { rows, cols, batch: count } = shape;
    let n = rows.min(cols);
    let batch = Batch { gpu, ctx: ctx.with_backend(Backend::Gpu), n, count, rule };
    let vectors = u_bar.is_some() || vh_bar.is_some();
    let given = |storage, shape| batch.given(storage, shape);
    let (of_u, of_s, of_vh) = (Shape::new(rows, n, count), Shape::new(n, 1, count), Shape::new(n, cols, count));
    let (u, vh) = (given(u, of_u)?, given(vh, of_vh)?);
    let (s, s_bar) = (given(s, of_s)?, given(s_bar, of_s)?);
    let (s, s_bar) = (buffer(&batch, &s)?, buffer(&batch, &s_bar)?);
    let groups = batch.groups(&s, true)?;
    let (mut p, mut q, mut outer) = (None, None, None);
    if vectors {
        let (u_bar, vh_bar) = (given(u_bar, of_u)?, given(vh_bar, of_vh)?);
        let of_p = batch.product(&u, &u_bar, [true, false])?;
        let of_q = batch.product(&vh, &vh_bar, [false, true])?;
        if rows > cols {
            outer = Some(Gemm::new().alpha(-1.0).add(1.0, &u_bar).run(&batch.ctx, &u, &of_p)?);
        } else if cols > rows {
            let inner = Gemm::new().alpha(-1.0).add(1.0, &vh_bar).transpose_a(true);
            outer = Some(inner.run(&batch.ctx, &of_q, &vh)?);
        }
        (p, q) = (Some(buffer(&batch, &of_p)?), Some(buffer(&batch, &of_q)?));
    }
    let (g, reports) = batch.core([&s, &s_bar], &groups, [p.as_deref(), q.as_deref()], (true, rows != cols))?;
    let (mut whole, mut of_outer) = (Gemm::new(), None);
    if let Some(outer) = outer {
        let (divided, reports) = batch.outer(&s, &groups, &outer, rows > cols)?;
        (whole, of_outer) = (whole.add(1.0, &divided), Some(reports.share()));
    }
    let made = if rows >= cols {
        batch.product(&whole.run(&batch.ctx, &u, &g)?, &vh, [false, false])?
    } else {
        batch.product(&u, &whole.run(&batch.ctx, &g, &vh)?, [false, false])?
    };
    let certificates = GradientCertificates(Place::Device { n, reports: reports.share(), outer: of_outer });
    Ok((Storage::Device(buffer(&batch, &made)?), certificates))
}

/// Returns the derivatives of eigenpairs in a direction. The operands are the values, the vectors and the direction.
pub(super) fn eigh_jvp<T: Real>(
    ctx: &Context,
    gpu: &Gpu,
    shape: Shape,
    [values, v, a_dot]: [&Storage<T>; 3],
    rule: Rule,
) -> Result<Tangents<T, 2>> {
    let Shape { rows: n, batch: count, .. } = shape;
    let batch = Batch { gpu, ctx: ctx.with_backend(Backend::Gpu), n, count, rule };
    let of_values = Shape::new(n, 1, count);
    let values = buffer(&batch, &batch.given(Some(values), of_values)?)?;
    let (v, a_dot) = (batch.given(Some(v), shape)?, batch.given(Some(a_dot), shape)?);
    let none = buffer(&batch, &batch.given::<T>(None, of_values)?)?;
    let p = batch.product(&v, &batch.product(&a_dot, &v, [false, false])?, [true, false])?;
    let [turns, _, values_dot] = batch.skew(&p, false, [1.0; 2])?;
    let groups = batch.groups(&values, false)?;
    let (g, reports) = batch.core([&values, &none], &groups, [Some(&turns), None], (false, false))?;
    let [turns, ..] = batch.skew(&g, false, [1.0; 2])?;
    let v_dot = batch.product(&v, &batch.square(turns), [false, false])?;
    let certificates = GradientCertificates(Place::Device { n, reports: reports.share(), outer: None });
    Ok(([Storage::device(values_dot), Storage::Device(buffer(&batch, &v_dot)?)], certificates))
}

/// Returns the derivatives of singular value decompositions in a direction. The operands are U, s, V' and the
/// direction.
pub(super) fn svd_jvp<T: Real>(
    ctx: &Context,
    gpu: &Gpu,
    shape: Shape,
    [u, s, vh, a_dot]: [&Storage<T>; 4],
    rule: Rule,
) -> Result<Tangents<T, 3>> {
    let Shape { rows, cols, batch: count } = shape;
    let n = rows.min(cols);
    let batch = Batch { gpu, ctx: ctx.with_backend(Backend::Gpu), n, count, rule };
    let of_s = Shape::new(n, 1, count);
    let s = buffer(&batch, &batch.given(Some(s), of_s)?)?;
    let none = buffer(&batch, &batch.given::<T>(None, of_s)?)?;
    let u = batch.given(Some(u), Shape::new(rows, n, count))?;
    let vh = batch.given(Some(vh), Shape::new(n, cols, count))?;
    let a_dot = batch.given(Some(a_dot), shape)?;
    // The longer side times Adot, in which what is outside of the computed vectors stays.
    let tall = rows >= cols;
    let (p, outer) = if tall {
        let long = batch.product(&a_dot, &vh, [false, true])?;
        let p = batch.product(&u, &long, [true, false])?;
        let outer = Gemm::new().alpha(-1.0).add(1.0, &long).run(&batch.ctx, &u, &p)?;
        (p, outer)
    } else {
        let long = batch.product(&u, &a_dot, [true, false])?;
        let p = batch.product(&long, &vh, [false, true])?;
        let outer = Gemm::new().alpha(-1.0).add(1.0, &long).run(&batch.ctx, &p, &vh)?;
        (p, outer)
    };
    let groups = batch.groups(&s, true)?;
    // The kernel adds and subtracts the skew parts of P and Q before it divides them.
    let [sums, differences, s_dot] = batch.skew(&p, true, [0.5; 2])?;
    let operands = [Some(&sums), Some(&differences)];
    let (g, reports) = batch.core([&s, &none], &groups, operands, (true, rows != cols))?;
    let [u_turns, v_turns, _] = batch.skew(&g, true, [1.0, -1.0])?;
    let (mut of_u, mut of_vh, mut of_outer) = (Gemm::new(), Gemm::new(), None);
    if rows != cols {
        let (divided, reports) = batch.outer(&s, &groups, &outer, tall)?;
        of_outer = Some(reports.share());
        if tall {
            of_u = of_u.add(1.0, &divided);
        } else {
            of_vh = of_vh.add(1.0, &divided);
        }
    }
    let u_dot = of_u.run(&batch.ctx, &u, &batch.square(u_turns))?;
    let vh_dot = of_vh.run(&batch.ctx, &batch.square(v_turns), &vh)?;
    let certificates = GradientCertificates(Place::Device { n, reports: reports.share(), outer: of_outer });
    let parts =
        [Storage::Device(buffer(&batch, &u_dot)?), Storage::device(s_dot), Storage::Device(buffer(&batch, &vh_dot)?)];
    Ok((parts, certificates))
}
