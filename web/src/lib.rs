//! The library in a browser. JavaScript opens a [`Fiedler`](session::Fiedler), reads [`Graphs`](graphs::Graphs), and
//! encodes them. `types.d.ts` documents the interface. Everything that may wait for WebGPU returns a promise.
//!
//! This crate is for JavaScript; `site` is the page. `site/worker.js` loads this module, and `site/client.js` is the
//! page's side of the worker. To stop, the page asks the worker first, and ends it if it does not answer because it
//! computes. Nothing in `site` knows how an encoding is computed.
//!
//! On `wasm32`, the library has one thread, which cannot wait for the device. The differences are in few places of its
//! sources:
//!
//! - `device/read` is woken by the callback of the mapping, and its `wait` returns an error. `device/staging` uploads
//!   through the queue instead of a ring of mapped buffers. `device/faults` opens no error scopes, because their
//!   results arrive later: errors reach the callback of uncaptured errors, before the data of any later read.
//! - `Operation::waits` (`ops/operation.rs`) says which calls read midway. `Operation::choose` keeps them on the CPU
//!   (`Reason::CannotWait`).
//! - `encode/run` is written once, as an async function. `encode` drives it without an executor, because all that it
//!   waits for blocks. `encode_async` lets the caller's executor await the device.
//! - `clock` replaces the clock of `std`. `parallel::in_eight` is one thread, and `parallel::needs_threads` refuses
//!   what starts threads of its own.

mod encoding;
mod errors;
mod graphs;
mod linear;
mod options;
mod samples;
mod session;

use wasm_bindgen::prelude::*;

/// The types of the interface that wasm-bindgen cannot derive.
#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(message: &str);
}

/// Shows panics, which are defects, on the console. Without this, they are only `unreachable`.
#[wasm_bindgen(start)]
fn start() {
    std::panic::set_hook(Box::new(|panic| console_error(&format!("fiedler: {panic}"))));
}
