//! The device.

use super::bind::{BindGroup, BindGroupLayout, PipelineLayout};
use super::buffer::Buffer;
use super::encoder::CommandEncoder;
use super::pipeline::ComputePipeline;
use super::query::QuerySet;
use super::shader::ShaderModule;
use super::shared::Shared;
use super::unsupported::Unsupported;
use std::future::ready;
use std::pin::Pin;
use std::sync::Arc;
use wgpu::custom::*;

/// What [`wgpu::Device`] holds.
#[derive(Debug)]
pub(crate) struct Device(pub(crate) Arc<Shared>);

impl Drop for Device {
    /// Ends the mappings that have not arrived: without a device, they cannot be polled for. Their callbacks may own
    /// their buffers, which would live forever.
    fn drop(&mut self) {
        for map in self.0.timeline.cancel_maps() {
            map.buffer.arrive(map.id, true);
            (map.callback)(Err(wgpu::BufferAsyncError));
        }
    }
}

impl DeviceInterface for Device {
    fn features(&self) -> wgpu::Features {
        self.0.features
    }

    fn limits(&self) -> wgpu::Limits {
        self.0.limits.clone()
    }

    fn adapter_info(&self) -> wgpu::AdapterInfo {
        self.0.settings.adapter_info()
    }

    fn create_shader_module(
        &self,
        desc: wgpu::ShaderModuleDescriptor<'_>,
        _: wgpu::ShaderRuntimeChecks,
    ) -> DispatchShaderModule {
        DispatchShaderModule::custom(ShaderModule::create(&self.0, desc))
    }

    #[expect(unsafe_code, reason = "the trait declares the method unsafe")]
    unsafe fn create_shader_module_passthrough(
        &self,
        _: &wgpu::ShaderModuleDescriptorPassthrough<'_>,
    ) -> DispatchShaderModule {
        self.0.unsupported("Device::create_shader_module_passthrough", "driver that reads other languages");
        DispatchShaderModule::custom(ShaderModule::invalid())
    }

    fn create_bind_group_layout(&self, desc: &wgpu::BindGroupLayoutDescriptor<'_>) -> DispatchBindGroupLayout {
        DispatchBindGroupLayout::custom(BindGroupLayout::create(&self.0, desc))
    }

    fn create_bind_group(&self, desc: &wgpu::BindGroupDescriptor<'_>) -> DispatchBindGroup {
        DispatchBindGroup::custom(BindGroup::create(&self.0, desc))
    }

    fn create_pipeline_layout(&self, desc: &wgpu::PipelineLayoutDescriptor<'_>) -> DispatchPipelineLayout {
        DispatchPipelineLayout::custom(PipelineLayout::create(&self.0, desc))
    }

    fn create_render_pipeline(&self, _: &wgpu::RenderPipelineDescriptor<'_>) -> DispatchRenderPipeline {
        self.0.unsupported("Device::create_render_pipeline", "rendering");
        DispatchRenderPipeline::custom(Unsupported)
    }

    fn create_mesh_pipeline(&self, _: &wgpu::MeshPipelineDescriptor<'_>) -> DispatchRenderPipeline {
        self.0.unsupported("Device::create_mesh_pipeline", "rendering");
        DispatchRenderPipeline::custom(Unsupported)
    }

    fn create_compute_pipeline(&self, desc: &wgpu::ComputePipelineDescriptor<'_>) -> DispatchComputePipeline {
        DispatchComputePipeline::custom(ComputePipeline::create(&self.0, desc))
    }

    #[expect(unsafe_code, reason = "the trait declares the method unsafe")]
    unsafe fn create_pipeline_cache(&self, _: &wgpu::PipelineCacheDescriptor<'_>) -> DispatchPipelineCache {
        self.0.unsupported("Device::create_pipeline_cache", "cache of pipelines");
        DispatchPipelineCache::custom(Unsupported)
    }

    fn create_buffer(&self, desc: &wgpu::BufferDescriptor<'_>) -> DispatchBuffer {
        DispatchBuffer::custom(Buffer::create(&self.0, desc))
    }

    fn create_texture(&self, _: &wgpu::TextureDescriptor<'_>) -> DispatchTexture {
        self.0.unsupported("Device::create_texture", "textures");
        DispatchTexture::custom(Unsupported)
    }

    fn create_external_texture(
        &self,
        _: &wgpu::ExternalTextureDescriptor<'_>,
        _: &[&wgpu::TextureView],
    ) -> DispatchExternalTexture {
        self.0.unsupported("Device::create_external_texture", "textures");
        DispatchExternalTexture::custom(Unsupported)
    }

    fn create_blas(
        &self,
        _: &wgpu::CreateBlasDescriptor<'_>,
        _: wgpu::BlasGeometrySizeDescriptors,
    ) -> (Option<u64>, DispatchBlas) {
        self.0.unsupported("Device::create_blas", "ray tracing");
        (None, DispatchBlas::custom(Unsupported))
    }

    fn create_tlas(&self, _: &wgpu::CreateTlasDescriptor<'_>) -> DispatchTlas {
        self.0.unsupported("Device::create_tlas", "ray tracing");
        DispatchTlas::custom(Unsupported)
    }

    fn create_sampler(&self, _: &wgpu::SamplerDescriptor<'_>) -> DispatchSampler {
        self.0.unsupported("Device::create_sampler", "textures");
        DispatchSampler::custom(Unsupported)
    }

    fn create_query_set(&self, desc: &wgpu::QuerySetDescriptor<'_>) -> DispatchQuerySet {
        DispatchQuerySet::custom(QuerySet::create(&self.0, desc))
    }

    fn create_command_encoder(&self, desc: &wgpu::CommandEncoderDescriptor<'_>) -> DispatchCommandEncoder {
        DispatchCommandEncoder::custom(CommandEncoder::create(&self.0, desc))
    }

    fn create_render_bundle_encoder(&self, _: &wgpu::RenderBundleEncoderDescriptor<'_>) -> DispatchRenderBundleEncoder {
        self.0.unsupported("Device::create_render_bundle_encoder", "rendering");
        DispatchRenderBundleEncoder::custom(Unsupported)
    }

    fn set_device_lost_callback(&self, device_lost_callback: BoxDeviceLostCallback) {
        self.0.on_loss(device_lost_callback);
    }

    fn on_uncaptured_error(&self, handler: Arc<dyn wgpu::UncapturedErrorHandler>) {
        self.0.errors.set_handler(handler);
    }

    fn push_error_scope(&self, filter: wgpu::ErrorFilter) -> u32 {
        self.0.errors.push(filter)
    }

    fn pop_error_scope(&self, index: u32) -> Pin<Box<dyn PopErrorScopeFuture>> {
        Box::pin(ready(self.0.errors.pop(index)))
    }

    #[expect(unsafe_code, reason = "the trait declares the method unsafe")]
    unsafe fn start_graphics_debugger_capture(&self) {}

    #[expect(unsafe_code, reason = "the trait declares the method unsafe")]
    unsafe fn stop_graphics_debugger_capture(&self) {}

    fn poll(&self, poll_type: wgpu::wgt::PollType<u64>) -> Result<wgpu::PollStatus, wgpu::PollError> {
        self.0.poll(&poll_type)
    }

    fn get_internal_counters(&self) -> wgpu::InternalCounters {
        wgpu::InternalCounters::default()
    }

    fn generate_allocator_report(&self) -> Option<wgpu::AllocatorReport> {
        None
    }

    fn destroy(&self) {
        self.0.lose(wgpu::DeviceLostReason::Destroyed, "the device was destroyed");
    }
}
