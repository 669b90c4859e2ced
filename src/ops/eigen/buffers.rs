//! The buffers of one decomposition on the device.

use crate::device::Buffer;

/// The buffers that the kernels of one decomposition read and write.
pub(super) struct Buffers<'a> {
    pub(super) table: &'a Buffer<[u32; 4]>,
    pub(super) a: &'a Buffer<f32>,
    pub(super) w: &'a mut Buffer<f32>,
    pub(super) state: &'a mut Buffer<[u32; 4]>,
    pub(super) values: &'a mut Buffer<f32>,
    pub(super) certificates: &'a mut Buffer<[f32; 4]>,
}
