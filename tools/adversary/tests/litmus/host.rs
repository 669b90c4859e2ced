//! What the tests share.
#![allow(dead_code, reason = "each suite uses a part")]

use std::sync::{Arc, Mutex};
use wgpu::BufferUsages;
use wgpu_adversary::{Adversary, Pace, Profile};

/// A device of an adversary, and its queue.
pub struct Opened {
    pub adversary: Adversary,
    pub device: wgpu::Device,
    pub queue: wgpu::Queue,
}

/// Opens a device with exact results.
pub fn open() -> Opened {
    open_as(Adversary::new(Profile::with_subgroups(8).exact(), 1))
}

pub fn open_as(adversary: Adversary) -> Opened {
    let (_, device, queue) = adversary.open();
    Opened { adversary, device, queue }
}

/// Runs the test with every pace and some seeds.
pub fn each_pace(test: impl Fn(Opened)) {
    for seed in 0..6 {
        for pace in [Pace::Late, Pace::Concurrent] {
            test(open_as(Adversary::new(Profile::with_subgroups(8).exact(), seed).pace(pace)));
        }
    }
}

impl Opened {
    pub fn buffer(&self, size: u64, usage: BufferUsages) -> wgpu::Buffer {
        let descriptor = wgpu::BufferDescriptor { label: Some("a buffer"), size, usage, mapped_at_creation: false };
        self.device.create_buffer(&descriptor)
    }

    /// Returns a storage buffer with these words.
    pub fn storage(&self, words: &[u32]) -> wgpu::Buffer {
        let usage = BufferUsages::STORAGE | BufferUsages::COPY_SRC | BufferUsages::COPY_DST;
        let buffer = self.buffer(4 * words.len() as u64, usage);
        self.queue.write_buffer(&buffer, 0, bytemuck::cast_slice(words));
        buffer
    }

    /// Returns the words of a buffer.
    pub fn read(&self, buffer: &wgpu::Buffer) -> Vec<u32> {
        let staging = self.buffer(buffer.size(), BufferUsages::MAP_READ | BufferUsages::COPY_DST);
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(buffer, 0, &staging, 0, buffer.size());
        self.queue.submit([encoder.finish()]);
        self.map(&staging, wgpu::MapMode::Read).expect("the buffer can be mapped");
        bytemuck::pod_collect_to_vec(&staging.slice(..).get_mapped_range().expect("it is mapped"))
    }

    /// Maps a buffer, and waits until it is.
    pub fn map(&self, buffer: &wgpu::Buffer, mode: wgpu::MapMode) -> Result<(), wgpu::BufferAsyncError> {
        let result = begin_map(buffer, mode);
        self.device.poll(wgpu::PollType::wait_indefinitely()).expect("no timeout was set");
        let result = result.lock().expect("no panic").take();
        result.expect("after a wait, the callback has been called")
    }

    pub fn pipeline(&self, wgsl: &str) -> wgpu::ComputePipeline {
        self.pipeline_with(wgsl, None, wgpu::PipelineCompilationOptions::default())
    }

    pub fn pipeline_with(
        &self,
        wgsl: &str,
        layout: Option<&wgpu::PipelineLayout>,
        compilation_options: wgpu::PipelineCompilationOptions<'_>,
    ) -> wgpu::ComputePipeline {
        let source = wgpu::ShaderSource::Wgsl(wgsl.into());
        let module =
            &self.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some("a kernel"), source });
        self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: Some("a kernel"),
            layout,
            module,
            entry_point: None,
            compilation_options,
            cache: None,
        })
    }

    /// Makes the bind group 0 of a pipeline, of whole buffers.
    pub fn group(&self, pipeline: &wgpu::ComputePipeline, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        self.group_of(&pipeline.get_bind_group_layout(0), buffers)
    }

    pub fn group_of(&self, layout: &wgpu::BindGroupLayout, buffers: &[&wgpu::Buffer]) -> wgpu::BindGroup {
        let entries: Vec<_> = (0..)
            .zip(buffers)
            .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
            .collect();
        let descriptor = wgpu::BindGroupDescriptor { label: Some("a group"), layout, entries: &entries };
        self.device.create_bind_group(&descriptor)
    }

    /// Submits a dispatch.
    pub fn dispatch(&self, pipeline: &wgpu::ComputePipeline, group: &wgpu::BindGroup, workgroups: u32) {
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(pipeline);
        pass.set_bind_group(0, group, &[]);
        pass.dispatch_workgroups(workgroups, 1, 1);
        drop(pass);
        self.queue.submit([encoder.finish()]);
    }

    /// Runs `work`, and returns the validation error that it causes.
    pub fn invalid<T>(&self, work: impl FnOnce() -> T) -> Option<String> {
        let scope = self.device.push_error_scope(wgpu::ErrorFilter::Validation);
        work();
        pollster::block_on(scope.pop()).map(|error| error.to_string())
    }

    /// Asserts that `work` causes a validation error that says this.
    pub fn assert_invalid<T>(&self, words: &str, work: impl FnOnce() -> T) {
        let error = self.invalid(work).unwrap_or_else(|| panic!("no error says `{words}`"));
        assert!(error.contains(words), "`{words}` is not in `{error}`");
    }

    /// Asserts that `work` causes no validation error.
    pub fn valid<T>(&self, work: impl FnOnce() -> T) -> T {
        let mut result = None;
        let error = self.invalid(|| result = Some(work()));
        assert_eq!(error, None);
        result.expect("the work was done")
    }
}

pub type MapResult = Arc<Mutex<Option<Result<(), wgpu::BufferAsyncError>>>>;

/// Begins to map a buffer, and returns where the result arrives.
pub fn begin_map(buffer: &wgpu::Buffer, mode: wgpu::MapMode) -> MapResult {
    let result = MapResult::default();
    let told = Arc::clone(&result);
    buffer.map_async(mode, .., move |mapped| *told.lock().expect("no panic") = Some(mapped));
    result
}
