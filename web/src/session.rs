//! An open session: the CPU, and the browser's adapter if it has one.

use crate::encoding::Encoding;
use crate::errors::{refused, thrown};
use crate::graphs::Graphs;
use crate::options::{self, EncodeOptions, OpenOptions};
use fiedler::policy::{self, Side};
use fiedler::{Backend, Cancel, Context, ErrorKind};
use js_sys::Function;
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::prelude::*;

/// A context of the library.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Fiedler {
    ctx: Context,
}

/// What `info` returns.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Info {
    version: &'static str,
    adapter: Option<AdapterInfo>,
    without_adapter: Option<String>,
}

#[derive(Serialize)]
struct AdapterInfo {
    name: String,
    backend: String,
    driver: String,
    class: &'static str,
    software: bool,
}

/// Where a call runs, and why.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Choice {
    side: &'static str,
    sentence: String,
    cpu_seconds: f64,
    gpu_seconds: Option<f64>,
}

impl Choice {
    pub(crate) fn of(choice: &policy::Choice) -> Self {
        let (side, place) = if choice.side == Side::Cpu { ("cpu", "CPU") } else { ("gpu", "GPU") };
        Self {
            side,
            sentence: format!("on the {place} ({})", choice.reason),
            cpu_seconds: choice.cpu_seconds,
            gpu_seconds: Some(choice.gpu_seconds).filter(|seconds| seconds.is_finite()),
        }
    }

    pub(crate) fn into_js(self) -> JsValue {
        plain(&self)
    }
}

/// Returns a plain object, in which what is missing is null.
fn plain(value: &impl Serialize) -> JsValue {
    // Numbers, texts and truth values always have an equivalent in JavaScript.
    value.serialize(&Serializer::new().serialize_missing_as_null(true)).unwrap_or(JsValue::NULL)
}

/// Opens the browser's adapter, unless the options say otherwise, and returns a session.
///
/// # Errors
/// `no-adapter` if a GPU is required and there is none; `device` if it cannot be opened; unknown options.
#[wasm_bindgen(unchecked_return_type = "Fiedler")]
pub async fn open(
    #[wasm_bindgen(unchecked_optional_param_type = "OpenOptions")] options: JsValue,
) -> Result<Fiedler, JsValue> {
    let options: OpenOptions = options::read(options)?;
    let backend = options::backend(options.backend.as_deref())?;
    if let Some(found) = options.memory_budget.filter(|&bytes| !(bytes >= 1.0 && bytes.is_finite())) {
        return Err(refused(&format!("memoryBudget: expected a number of bytes of 1 or more, found {found}")));
    }
    let builder = || {
        let builder = Context::builder().backend(backend).cancel(Cancel::new());
        match options.memory_budget {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a number of bytes")]
            Some(bytes) => builder.memory_budget(bytes as u64),
            None => builder,
        }
    };
    // Any name contains the empty text, and an adapter that is named may be software.
    let named = options.software && backend != Backend::Cpu;
    let opened = if named { builder().adapter("").build_async().await } else { builder().build_async().await };
    let ctx = match opened {
        Err(error) if named && backend == Backend::Auto && matches!(error.kind(), ErrorKind::NoAdapter { .. }) => {
            builder().build_async().await
        }
        other => other,
    };
    Ok(Fiedler { ctx: ctx.map_err(thrown)?.with_backend(Backend::Auto) })
}

impl Fiedler {
    /// Returns the context for a call with this backend.
    pub(crate) fn context(&self, backend: Option<&str>) -> Result<Context, JsValue> {
        Ok(self.ctx.with_backend(options::backend(backend)?))
    }

    /// Clears an earlier request to stop, when a call begins.
    pub(crate) fn begin(&self) {
        self.ctx.cancel().reset();
    }
}

#[wasm_bindgen]
impl Fiedler {
    /// The version, and the adapter or the reason why there is none.
    #[wasm_bindgen(unchecked_return_type = "Info")]
    pub fn info(&self) -> JsValue {
        let adapter = self.ctx.adapter().map(|adapter| AdapterInfo {
            name: adapter.name.clone(),
            backend: adapter.backend.clone(),
            driver: adapter.driver.clone(),
            class: adapter.class,
            software: adapter.software,
        });
        let without_adapter = self.ctx.without_adapter_because().map(ToOwned::to_owned);
        plain(&Info { version: env!("CARGO_PKG_VERSION"), adapter, without_adapter })
    }

    /// Where `encode` would run, and why. A call that asks for the GPU is said to run there, even if `encode` then
    /// refuses it.
    ///
    /// # Errors
    /// Unknown options.
    #[wasm_bindgen(unchecked_return_type = "Choice")]
    pub fn explain(
        &self,
        graphs: &Graphs,
        #[wasm_bindgen(unchecked_optional_param_type = "EncodeOptions")] options: JsValue,
    ) -> Result<JsValue, JsValue> {
        let options: EncodeOptions = options::read(options)?;
        let ctx = self.context(options.backend.as_deref())?;
        Ok(Choice::of(&options.encoder(graphs.first())?.choose(&ctx, graphs.batch())).into_js())
    }

    /// Encodes every graph. `progress` is called with the number of graphs that are done, and of all graphs. If it
    /// returns false before all are done, the call ends with the error `cancelled`.
    ///
    /// # Errors
    /// Those of the library's `SpectralEncoder::encode`; `cancelled` after `cancel`; unknown options.
    pub async fn encode(
        &self,
        graphs: &Graphs,
        #[wasm_bindgen(unchecked_optional_param_type = "EncodeOptions")] options: JsValue,
        #[wasm_bindgen(unchecked_optional_param_type = "(done: number, total: number) => boolean | void")]
        progress: JsValue,
    ) -> Result<Encoding, JsValue> {
        self.begin();
        let options: EncodeOptions = options::read(options)?;
        let ctx = self.context(options.backend.as_deref())?;
        let encoder = options.encoder(graphs.first())?;
        let tell = |at: fiedler::encode::Progress| {
            if let Some(progress) = progress.dyn_ref::<Function>() {
                // An error of the caller's function is the caller's.
                let said = progress.call2(&JsValue::NULL, &at.done.into(), &at.total.into());
                if said.is_ok_and(|said| said == JsValue::FALSE) {
                    self.cancel();
                }
            }
        };
        let found = encoder.encode_async(&ctx, graphs.batch(), tell).await.map_err(thrown)?;
        Ok(Encoding::new(found, graphs.batch(), graphs.ids(), options.normalization()?))
    }

    /// Ends the running calls with the error `cancelled`, as soon as they wait for the GPU or start another step. A
    /// call begins to run a moment after it returns its promise. Await what was cancelled before you make another
    /// call, which clears the request.
    pub fn cancel(&self) {
        self.ctx.cancel().cancel();
    }
}
