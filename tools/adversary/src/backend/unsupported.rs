//! What a compute adapter does not have: textures, rendering, ray tracing, surfaces. A program that creates such an
//! object receives an error through the device, and an invalid object that does nothing.

use std::ops::Range;
use wgpu::custom::*;
use wgpu::{BufferAddress, BufferSize, DynamicOffset, IndexFormat};

/// An invalid object of any of these kinds.
#[derive(Debug)]
pub(crate) struct Unsupported;

impl Drop for Unsupported {
    // The interface of passes demands it.
    fn drop(&mut self) {}
}

impl TextureViewInterface for Unsupported {}
impl SamplerInterface for Unsupported {}
impl TlasInterface for Unsupported {}
impl RenderBundleInterface for Unsupported {}

impl TextureInterface for Unsupported {
    fn create_view(&self, _: &wgpu::TextureViewDescriptor<'_>) -> DispatchTextureView {
        DispatchTextureView::custom(Self)
    }

    fn destroy(&self) {}
}

impl ExternalTextureInterface for Unsupported {
    fn destroy(&self) {}
}

impl BlasInterface for Unsupported {
    fn prepare_compact_async(&self, callback: BlasCompactCallback) {
        callback(Err(wgpu::BlasAsyncError));
    }

    fn ready_for_compaction(&self) -> bool {
        false
    }
}

impl PipelineCacheInterface for Unsupported {
    fn get_data(&self) -> Option<Vec<u8>> {
        None
    }
}

impl RenderPipelineInterface for Unsupported {
    fn get_bind_group_layout(&self, _: u32) -> DispatchBindGroupLayout {
        DispatchBindGroupLayout::custom(super::bind::BindGroupLayout(None))
    }
}

impl SurfaceInterface for Unsupported {
    fn get_capabilities(&self, _: &DispatchAdapter) -> wgpu::SurfaceCapabilities {
        wgpu::SurfaceCapabilities::default()
    }

    fn configure(&self, _: &DispatchDevice, _: &wgpu::SurfaceConfiguration) {}

    fn get_current_texture(&self) -> (Option<DispatchTexture>, wgpu::SurfaceStatus, DispatchSurfaceOutputDetail) {
        (None, wgpu::SurfaceStatus::Lost, DispatchSurfaceOutputDetail::custom(Self))
    }
}

impl SurfaceOutputDetailInterface for Unsupported {
    fn texture_discard(&self) {}

    fn texture_release(&self) {}
}

impl RenderBundleEncoderInterface for Unsupported {
    fn set_pipeline(&mut self, _: &DispatchRenderPipeline) {}

    fn set_bind_group(&mut self, _: u32, _: Option<&DispatchBindGroup>, _: &[DynamicOffset]) {}

    fn set_index_buffer(&mut self, _: &DispatchBuffer, _: IndexFormat, _: BufferAddress, _: Option<BufferSize>) {}

    fn set_vertex_buffer(&mut self, _: u32, _: Option<&DispatchBuffer>, _: BufferAddress, _: Option<BufferSize>) {}

    fn set_immediates(&mut self, _: u32, _: &[u8]) {}

    fn draw(&mut self, _: Range<u32>, _: Range<u32>) {}

    fn draw_indexed(&mut self, _: Range<u32>, _: i32, _: Range<u32>) {}

    fn draw_indirect(&mut self, _: &DispatchBuffer, _: BufferAddress) {}

    fn draw_indexed_indirect(&mut self, _: &DispatchBuffer, _: BufferAddress) {}

    fn finish(self, _: &wgpu::RenderBundleDescriptor<'_>) -> DispatchRenderBundle {
        DispatchRenderBundle::custom(Self)
    }

    fn finish_boxed(self: Box<Self>, descriptor: &wgpu::RenderBundleDescriptor<'_>) -> DispatchRenderBundle {
        (*self).finish(descriptor)
    }
}

impl RenderPassInterface for Unsupported {
    fn set_pipeline(&mut self, _: &DispatchRenderPipeline) {}

    fn set_bind_group(&mut self, _: u32, _: Option<&DispatchBindGroup>, _: &[DynamicOffset]) {}

    fn set_index_buffer(&mut self, _: &DispatchBuffer, _: IndexFormat, _: BufferAddress, _: Option<BufferSize>) {}

    fn set_vertex_buffer(&mut self, _: u32, _: Option<&DispatchBuffer>, _: BufferAddress, _: Option<BufferSize>) {}

    fn set_immediates(&mut self, _: u32, _: &[u8]) {}

    fn set_blend_constant(&mut self, _: wgpu::Color) {}

    fn set_scissor_rect(&mut self, _: u32, _: u32, _: u32, _: u32) {}

    fn set_viewport(&mut self, _: f32, _: f32, _: f32, _: f32, _: f32, _: f32) {}

    fn set_stencil_reference(&mut self, _: u32) {}

    fn draw(&mut self, _: Range<u32>, _: Range<u32>) {}

    fn draw_indexed(&mut self, _: Range<u32>, _: i32, _: Range<u32>) {}

    fn draw_mesh_tasks(&mut self, _: u32, _: u32, _: u32) {}

    fn draw_indirect(&mut self, _: &DispatchBuffer, _: BufferAddress) {}

    fn draw_indexed_indirect(&mut self, _: &DispatchBuffer, _: BufferAddress) {}

    fn draw_mesh_tasks_indirect(&mut self, _: &DispatchBuffer, _: BufferAddress) {}

    fn multi_draw_indirect(&mut self, _: &DispatchBuffer, _: BufferAddress, _: u32) {}

    fn multi_draw_indexed_indirect(&mut self, _: &DispatchBuffer, _: BufferAddress, _: u32) {}

    fn multi_draw_indirect_count(
        &mut self,
        _: &DispatchBuffer,
        _: BufferAddress,
        _: &DispatchBuffer,
        _: BufferAddress,
        _: u32,
    ) {
    }

    fn multi_draw_mesh_tasks_indirect(&mut self, _: &DispatchBuffer, _: BufferAddress, _: u32) {}

    fn multi_draw_indexed_indirect_count(
        &mut self,
        _: &DispatchBuffer,
        _: BufferAddress,
        _: &DispatchBuffer,
        _: BufferAddress,
        _: u32,
    ) {
    }

    fn multi_draw_mesh_tasks_indirect_count(
        &mut self,
        _: &DispatchBuffer,
        _: BufferAddress,
        _: &DispatchBuffer,
        _: BufferAddress,
        _: u32,
    ) {
    }

    fn insert_debug_marker(&mut self, _: &str) {}

    fn push_debug_group(&mut self, _: &str) {}

    fn pop_debug_group(&mut self) {}

    fn write_timestamp(&mut self, _: &DispatchQuerySet, _: u32) {}

    fn begin_occlusion_query(&mut self, _: u32) {}

    fn end_occlusion_query(&mut self) {}

    fn begin_pipeline_statistics_query(&mut self, _: &DispatchQuerySet, _: u32) {}

    fn end_pipeline_statistics_query(&mut self) {}

    fn execute_bundles(&mut self, _: &mut dyn Iterator<Item = &DispatchRenderBundle>) {}
}
