//! The library in a browser. JavaScript opens a [`Fiedler`](session::Fiedler), reads [`Graphs`](graphs::Graphs), and
//! encodes them. `types.d.ts` documents the interface. Everything that may wait for WebGPU returns a promise.

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
