//! The custom backend of wgpu.

pub(crate) mod adapter;
mod bind;
mod buffer;
mod command;
mod device;
mod encoder;
mod errors;
mod execute;
mod loss;
mod pass;
mod pipeline;
mod query;
mod queue;
mod shader;
mod shared;
mod timeline;
mod unsupported;
