//! Batched matrices and signals. JavaScript passes matrices in row-major order, one after the other.

use crate::errors::{misshapen, thrown};
use crate::options::{self, FftOptions, LinearOptions, whole};
use crate::session::{Choice, Fiedler};
use fiedler::array::{Array, Scalar};
use fiedler::ops::{Certificate, Vectors, eigh_async, fft_async, ifft, svd_async};
use fiedler::policy;
use fiedler::{Axis, Context, Shape};
use js_sys::{Array as JsArray, Float32Array, Object, Reflect};
use num_complex::Complex;
use wasm_bindgen::prelude::*;

/// Returns an object with these properties.
fn object<const N: usize>(properties: [(&str, JsValue); N]) -> JsValue {
    let object = Object::new();
    for (name, value) in properties {
        // Setting a property of a new object does not fail.
        let _ = Reflect::set(&object, &name.into(), &value);
    }
    object.into()
}

fn floats(numbers: &[f32]) -> JsValue {
    Float32Array::from(numbers).into()
}

/// Returns the elements of an array that is on the host, in row-major order.
fn row_major(ctx: &Context, array: &Array) -> Result<JsValue, JsValue> {
    Ok(floats(&array.to_host(ctx).map_err(thrown)?.to_row_major()))
}

fn choice(choice: Option<&policy::Choice>) -> JsValue {
    choice.map_or(JsValue::NULL, |choice| Choice::of(choice).into_js())
}

/// Returns the statuses, the residuals and the departures from orthogonality.
fn certified(certificates: &[Certificate]) -> [(&'static str, JsValue); 3] {
    let status: JsArray = certificates.iter().map(|one| JsValue::from(format!("{:?}", one.status))).collect();
    #[expect(clippy::cast_possible_truncation, reason = "an error, of which a few digits count")]
    let numbers =
        |of: fn(&Certificate) -> f64| floats(&certificates.iter().map(|one| of(one) as f32).collect::<Vec<_>>());
    [
        ("status", status.into()),
        ("residual", numbers(|one| one.residual)),
        ("orthogonality", numbers(|one| one.orthogonality)),
    ]
}

/// Returns the number of matrices of `rows` x `cols` elements that `numbers` elements are.
fn batch(what: &str, numbers: usize, rows: usize, cols: usize) -> Result<usize, JsValue> {
    match rows.checked_mul(cols).filter(|&one| one > 0) {
        Some(one) if numbers.is_multiple_of(one) => Ok(numbers / one),
        _ => Err(misshapen(&format!("{what}: expected a multiple of {rows} x {cols} numbers, found {numbers}"))),
    }
}

#[wasm_bindgen]
impl Fiedler {
    /// Computes the eigenvalues and eigenvectors of symmetric matrices of this order.
    ///
    /// # Errors
    /// A number of elements that is not that of whole matrices; a size that is not a whole number; those of the
    /// library's `eigh`; unknown options.
    #[wasm_bindgen(unchecked_return_type = "Eigh")]
    pub async fn eigh(
        &self,
        matrices: Vec<f32>,
        order: f64,
        #[wasm_bindgen(unchecked_optional_param_type = "LinearOptions")] options: JsValue,
    ) -> Result<JsValue, JsValue> {
        self.begin();
        let options: LinearOptions = options::read(options)?;
        let ctx = self.context(options.backend.as_deref())?;
        let order = whole("order", order)?;
        let shape = Shape::new(order, order, batch("matrices", matrices.len(), order, order)?);
        let a = Array::from_row_major(shape, &matrices).map_err(thrown)?;
        let found = eigh_async(&ctx, &a).await.map_err(thrown)?;
        let [status, residual, orthogonality] = certified(&found.certificates(&ctx).map_err(thrown)?);
        Ok(object([
            ("values", row_major(&ctx, &found.values)?),
            ("vectors", row_major(&ctx, &found.vectors)?),
            status,
            residual,
            orthogonality,
            ("choice", choice(found.choice())),
        ]))
    }

    /// Computes the thin singular value decompositions of matrices of this shape.
    ///
    /// # Errors
    /// A number of elements that is not that of whole matrices; a size that is not a whole number; those of the
    /// library's `svd`; unknown options.
    #[wasm_bindgen(unchecked_return_type = "Svd")]
    pub async fn svd(
        &self,
        matrices: Vec<f32>,
        rows: f64,
        columns: f64,
        #[wasm_bindgen(unchecked_optional_param_type = "LinearOptions")] options: JsValue,
    ) -> Result<JsValue, JsValue> {
        self.begin();
        let options: LinearOptions = options::read(options)?;
        let ctx = self.context(options.backend.as_deref())?;
        let (rows, columns) = (whole("rows", rows)?, whole("columns", columns)?);
        let shape = Shape::new(rows, columns, batch("matrices", matrices.len(), rows, columns)?);
        let a = Array::from_row_major(shape, &matrices).map_err(thrown)?;
        let found = svd_async(&ctx, &a, Vectors::Thin).await.map_err(thrown)?;
        let [status, residual, orthogonality] = certified(&found.certificates(&ctx).map_err(thrown)?);
        Ok(object([
            ("u", row_major(&ctx, &found.u)?),
            ("s", row_major(&ctx, &found.s)?),
            ("vt", row_major(&ctx, &found.vh)?),
            status,
            residual,
            orthogonality,
            ("choice", choice(found.choice())),
        ]))
    }

    /// Transforms complex signals of this length, whose real and imaginary parts alternate.
    ///
    /// # Errors
    /// A number of elements that is not that of whole signals; a length that is not a whole number; those of the
    /// library's `fft`; unknown options.
    #[wasm_bindgen(unchecked_return_type = "Fft")]
    pub async fn fft(
        &self,
        signals: Vec<f32>,
        length: f64,
        #[wasm_bindgen(unchecked_optional_param_type = "FftOptions")] options: JsValue,
    ) -> Result<JsValue, JsValue> {
        self.begin();
        let options: FftOptions = options::read(options)?;
        let ctx = self.context(options.backend.as_deref())?;
        let length = whole("length", length)?;
        let count = batch("signals", signals.len(), 2, length)?;
        let (pairs, _) = signals.as_chunks::<2>();
        let numbers = pairs.iter().map(|&[re, im]| Complex::new(re, im)).collect();
        let a = Array::from_vec(Shape::new(length, count, 1), numbers).map_err(thrown)?;
        let found = if options.inverse {
            here(&ctx, &ifft(&ctx, &a, Axis::Rows).map_err(thrown)?).await?
        } else {
            fft_async(&ctx, &a, Axis::Rows).await.map_err(thrown)?
        };
        let host = found.to_host(&ctx).map_err(thrown)?;
        let values: Vec<f32> = host.as_slice().iter().flat_map(|x| [x.re, x.im]).collect();
        Ok(object([("values", floats(&values)), ("choice", choice(found.choice()))]))
    }
}

async fn here<T: Scalar>(ctx: &Context, array: &Array<T>) -> Result<Array<T>, JsValue> {
    Ok(array.to_host_async(ctx).await.map_err(thrown)?.into())
}
