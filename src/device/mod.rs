//! The device floor, which handles buffers, kernels, submissions and faults, and contains no mathematics. Only this
//! module uses wgpu and naga. The documentation of each file below describes how it works.
//!
//! | for | see |
//! |---|---|
//! | the interface to the floors above: an opened adapter | `gpu` |
//! | what an adapter can do, and which forms of kernels it prefers | `adapter` |
//! | kernels as structs that are compared with their WGSL | `kernel`, `shader` |
//! | overrides as constants, and the removal of code that can then never run | `fold` |
//! | compiled kernels | `pipelines` |
//! | arrays on the device, and the memory that they reuse | `buffer`, `pool` |
//! | recording, uploading and submitting work | `recorder`, `staging`, `submit` |
//! | reading results | `read` |
//! | the loss of the device, and errors that arrive later | `faults` |
//! | the time of each kernel | `timing` |
//!
//! In `cargo test`, `translate` translates every variant of every kernel with four back ends of naga, and `browser`
//! writes the WGSL that a browser receives for it. `mirror` compares the constants of Rust and WGSL.
//!
//! Within this module, `gpu` uses `recorder` and `read`, and `recorder` uses `staging` and `submit`. These five modules
//! use `core`. The type that `core` defines contains the types of `pool`, `pipelines`, `faults` and `timing`.
//! `pipelines` uses `kernel`, `kernel` uses `shader` and `buffer`, and `buffer` uses `pool`.

mod adapter;
#[cfg(feature = "testing")]
mod browser;
mod buffer;
mod core;
#[cfg(feature = "testing")]
mod fault_injection;
mod faults;
mod fold;
mod gpu;
mod kernel;
#[cfg(test)]
mod mirror;
#[cfg(test)]
mod mismatch;
mod pipelines;
mod pool;
mod read;
mod recorder;
mod shader;
mod staging;
mod submit;
mod timing;
#[cfg(test)]
mod translate;
#[cfg(test)]
pub(crate) mod trial;

pub(crate) use adapter::{AMD, NVIDIA};
pub use adapter::{Adapter, AdapterLimits, Slower, WgpuBuffer, WgpuDevice};
pub(crate) use buffer::{Bound, Buffer, Element, Shared};
pub(crate) use gpu::{Chosen, DeviceOptions, Gpu};
pub(crate) use kernel::{
    Budget, Declaration, Kernel, Shipped, Slot, Uniform, kernels, mirrors, read_kind, uniform, write_kind,
};
#[cfg(test)]
pub(crate) use mirror::{check_constant, constants};
pub use pool::PoolCounters;
pub(crate) use pool::size_class;
pub(crate) use read::Read;
pub(crate) use recorder::{Grid, Recorder};
pub(crate) use shader::{Overrides, Shader, VarKind};
#[cfg(test)]
pub(crate) use translate::check_kernel;

/// Whether a thread may wait for the device. A browser has one thread, and delivers nothing while it waits.
pub(crate) const MAY_WAIT: bool = cfg!(not(target_arch = "wasm32"));

/// Returns the error of a call that waits for the device where only a future can wait, in a browser.
#[cfg(target_arch = "wasm32")]
fn cannot_wait() -> crate::Error {
    let message = "a browser cannot wait for the device: await the async form of the call, such as `to_host_async`";
    crate::ErrorKind::Device { message: message.to_owned() }.into()
}
