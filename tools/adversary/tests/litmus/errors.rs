//! Validation: each mistake is reported to the error scope, and none ends the program.

use super::host::{begin_map, open};
use std::num::NonZero;
use std::sync::{Arc, Mutex};
use wgpu::{BufferUsages, MapMode};
use wgpu_adversary::{Adversary, Profile};

const DOUBLE: &str = "
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&y) { y[id.x] = 2 * x[id.x]; }
}";

#[test]
fn buffers_are_validated() {
    let opened = open();
    let make = |size, usage, mapped_at_creation| {
        opened.device.create_buffer(&wgpu::BufferDescriptor { label: Some("b"), size, usage, mapped_at_creation })
    };
    opened.assert_invalid("needs a usage", || make(4, BufferUsages::empty(), false));
    opened.assert_invalid("excludes", || make(4, BufferUsages::MAP_READ | BufferUsages::STORAGE, false));
    opened.assert_invalid("max_buffer_size", || make(u64::MAX / 2, BufferUsages::STORAGE, false));
    opened.assert_invalid("no multiple of 4", || make(6, BufferUsages::COPY_SRC, true));
}

#[test]
fn copies_and_writes_are_validated() {
    let opened = open();
    let (a, b) = (opened.storage(&[0; 8]), opened.storage(&[0; 8]));
    let uniform = opened.buffer(32, BufferUsages::UNIFORM);
    let copy = |from: &wgpu::Buffer, from_offset, to: &wgpu::Buffer, to_offset, size: u64| {
        let mut encoder = opened.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        encoder.copy_buffer_to_buffer(from, from_offset, to, to_offset, size);
        encoder.finish()
    };
    opened.assert_invalid("multiples of 4", || copy(&a, 2, &b, 0, 4));
    opened.assert_invalid("multiples of 4", || copy(&a, 0, &b, 0, 3));
    opened.assert_invalid("not all in buffer", || copy(&a, 16, &b, 0, 32));
    opened.assert_invalid("not all in buffer", || copy(&a, 0, &b, u64::MAX - 3, 32));
    opened.assert_invalid("COPY_SRC", || copy(&uniform, 0, &b, 0, 4));
    opened.assert_invalid("to itself", || copy(&a, 0, &a, 16, 4));
    opened.assert_invalid("COPY_DST", || opened.queue.write_buffer(&uniform, 0, &[0; 4]));
    opened.assert_invalid("multiples of 4", || opened.queue.write_buffer(&a, 0, &[0; 3]));
    let wrong = opened.invalid(|| opened.queue.submit([copy(&a, 2, &b, 0, 4)]));
    assert!(wrong.is_some(), "a command buffer with a mistake is invalid");
    opened.valid(|| opened.queue.submit([copy(&a, 0, &b, 0, 32)]));
}

#[test]
fn mappings_are_validated() {
    let opened = open();
    let staging = opened.buffer(32, BufferUsages::MAP_READ | BufferUsages::COPY_DST);
    let fails = |words, mode, range: std::ops::Range<u64>| {
        let result = Arc::new(Mutex::new(None));
        let told = Arc::clone(&result);
        opened.assert_invalid(words, || {
            staging.map_async(mode, range, move |r| *told.lock().expect("no panic") = Some(r))
        });
        assert_eq!(*result.lock().expect("no panic"), Some(Err(wgpu::BufferAsyncError)));
        staging.unmap();
    };
    fails("MAP_WRITE", MapMode::Write, 0..32);
    fails("multiple of 8", MapMode::Read, 4..32);
    fails("cannot be mapped", MapMode::Read, 0..30);
    let pending = begin_map(&staging, MapMode::Read);
    opened.assert_invalid("pending mapping", || opened.queue.write_buffer(&staging, 0, &[0; 4]));
    let _ = opened.device.poll(wgpu::PollType::wait_indefinitely());
    assert_eq!(*pending.lock().expect("no panic"), Some(Ok(())));
    opened.assert_invalid("is mapped", || opened.queue.write_buffer(&staging, 0, &[0; 4]));
    staging.destroy();
    opened.assert_invalid("destroyed", || opened.queue.write_buffer(&staging, 0, &[0; 4]));
}

#[test]
fn shaders_are_validated() {
    let opened = open();
    let module = |wgsl: &str| {
        let source = wgpu::ShaderSource::Wgsl(wgsl.to_owned().into());
        opened.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some("broken"), source })
    };
    opened.assert_invalid("expected", || module("fn main( {"));
    opened.assert_invalid("broken", || module("fn f() -> u32 { return 1.5f; }"));
    let scope = opened.device.push_error_scope(wgpu::ErrorFilter::Validation);
    let broken = module("@compute @workgroup_size(1) fn main() { undeclared = 1; }");
    assert!(pollster::block_on(scope.pop()).is_some());
    let info = pollster::block_on(broken.get_compilation_info());
    assert_eq!(info.messages.len(), 1);
    assert_eq!(info.messages[0].location.map(|l| l.line_number), Some(1));
    opened.assert_invalid("a shader module is invalid", || {
        opened.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
            label: None,
            layout: None,
            module: &broken,
            entry_point: None,
            compilation_options: wgpu::PipelineCompilationOptions::default(),
            cache: None,
        })
    });
}

#[test]
fn pipelines_are_validated() {
    let opened = open();
    let constants = [("unknown", 1.0)];
    let options = wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
    opened.assert_invalid("no override `unknown`", || opened.pipeline_with(DOUBLE, None, options));
    let large = "@compute @workgroup_size(512) fn main() {}";
    opened.assert_invalid("exceeds the limit", || opened.pipeline(large));
    let memory = "var<workgroup> a: array<u32, 5000>; @compute @workgroup_size(1) fn main() { a[0] = 1; }";
    opened.assert_invalid("bytes of workgroup memory", || opened.pipeline(memory));
    let storage = |read_only, size| wgpu::BindGroupLayoutEntry {
        binding: 0,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Storage { read_only },
            has_dynamic_offset: false,
            min_binding_size: NonZero::new(size),
        },
        count: None,
    };
    let laid_out = |entries: &[wgpu::BindGroupLayoutEntry]| {
        let layout = opened.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries });
        opened.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
            label: None,
            bind_group_layouts: &[Some(&layout)],
            immediate_size: 0,
        })
    };
    let second = wgpu::BindGroupLayoutEntry { binding: 1, ..storage(false, 0) };
    for (words, entries) in [
        ("lacks `x`", vec![second]),
        ("in the layout", vec![storage(false, 0), second]),
        ("less than the 4", vec![storage(true, 2), second]),
    ] {
        let layout = laid_out(&entries);
        opened.assert_invalid(words, || opened.pipeline_with(DOUBLE, Some(&layout), Default::default()));
    }
}

#[test]
fn bind_groups_are_validated() {
    let opened = open();
    let pipeline = opened.pipeline(DOUBLE);
    let layout = pipeline.get_bind_group_layout(0);
    let (x, y) = (opened.storage(&[1; 128]), opened.storage(&[0; 128]));
    let group = |bound: &[(u32, &wgpu::Buffer, u64, u64)]| {
        let entries: Vec<_> = bound
            .iter()
            .map(|&(binding, buffer, offset, size)| wgpu::BindGroupEntry {
                binding,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset,
                    size: NonZero::new(size),
                }),
            })
            .collect();
        let descriptor = wgpu::BindGroupDescriptor { label: None, layout: &layout, entries: &entries };
        opened.device.create_bind_group(&descriptor)
    };
    let uniform = opened.buffer(64, BufferUsages::UNIFORM);
    opened.assert_invalid("1 bindings", || group(&[(0, &x, 0, 0)]));
    opened.assert_invalid("no binding 2", || group(&[(0, &x, 0, 0), (2, &y, 0, 0)]));
    opened.assert_invalid("there twice", || group(&[(0, &x, 0, 0), (0, &y, 0, 0)]));
    opened.assert_invalid("STORAGE", || group(&[(0, &uniform, 0, 0), (1, &y, 0, 0)]));
    opened.assert_invalid("no multiple of 256", || group(&[(0, &x, 128, 0), (1, &y, 0, 0)]));
    opened.assert_invalid("not all in buffer", || group(&[(0, &x, 256, 512), (1, &y, 0, 0)]));
    opened.assert_invalid("no multiple of 4", || group(&[(0, &x, 0, 6), (1, &y, 0, 0)]));
    opened.assert_invalid("no bytes", || group(&[(0, &x, 512, 0), (1, &y, 0, 0)]));
    opened.assert_invalid("to another device", || {
        let foreign = open().storage(&[1; 4]);
        group(&[(0, &foreign, 0, 0), (1, &y, 0, 0)])
    });
    opened.valid(|| group(&[(0, &x, 256, 256), (1, &y, 0, 0)]));
}

#[test]
fn dispatches_are_validated() {
    let opened = open();
    let (pipeline, other) = (opened.pipeline(DOUBLE), opened.pipeline(DOUBLE));
    let (x, y) = (opened.storage(&[1; 128]), opened.storage(&[0; 128]));
    let group = opened.group(&pipeline, &[&x, &y]);
    let same = opened.group(&pipeline, &[&x, &x]);
    let small = opened.group(&other, &[&x, &y]);
    opened.assert_invalid("to be read and to be written", || opened.dispatch(&pipeline, &same, 1));
    opened.assert_invalid("has another layout", || opened.dispatch(&pipeline, &small, 1));
    opened.assert_invalid("limit of a dimension", || opened.dispatch(&pipeline, &group, 65_536));
    let record = |record: &dyn Fn(&mut wgpu::ComputePass<'_>)| {
        let mut encoder = opened.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        record(&mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()));
        encoder.finish()
    };
    opened.assert_invalid("no pipeline is set", || record(&|pass| pass.dispatch_workgroups(1, 1, 1)));
    opened.assert_invalid("0 is not set", || {
        record(&|pass| {
            pass.set_pipeline(&pipeline);
            pass.dispatch_workgroups(1, 1, 1);
        })
    });
    opened.assert_invalid("1 dynamic offsets", || record(&|pass| pass.set_bind_group(0, &group, &[256])));
    let both_written = "
@group(0) @binding(0) var<storage, read_write> a: array<u32>;
@group(0) @binding(1) var<storage, read_write> b: array<u32>;
@compute @workgroup_size(1) fn main() { a[0] = 1; b[0] = 2; }";
    let writer = opened.pipeline(both_written);
    let aliased = opened.group(&writer, &[&x, &x]);
    opened.assert_invalid("write to the same bytes", || opened.dispatch(&writer, &aliased, 1));
    y.destroy();
    opened.assert_invalid("destroyed", || opened.dispatch(&pipeline, &group, 1));
}

#[test]
fn scopes_catch_their_kind_and_nest() {
    let opened = open();
    let mistake = || drop(opened.buffer(4, BufferUsages::empty()));
    let outer = opened.device.push_error_scope(wgpu::ErrorFilter::Validation);
    let inner = opened.device.push_error_scope(wgpu::ErrorFilter::OutOfMemory);
    mistake();
    assert!(pollster::block_on(inner.pop()).is_none());
    assert!(pollster::block_on(outer.pop()).is_some());
    let uncaught = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&uncaught);
    opened.device.on_uncaptured_error(Arc::new(move |error: wgpu::Error| {
        told.lock().expect("no panic").push(error.to_string());
    }));
    mistake();
    assert_eq!(uncaught.lock().expect("no panic").len(), 1);
    let scope = opened.device.push_error_scope(wgpu::ErrorFilter::Validation);
    std::thread::scope(|threads| threads.spawn(mistake).join().expect("no panic"));
    assert!(pollster::block_on(scope.pop()).is_none(), "a scope is of one thread");
    assert_eq!(uncaught.lock().expect("no panic").len(), 2);
}

#[test]
fn rendering_is_an_error() {
    let opened = open();
    opened.assert_invalid("no textures", || opened.device.create_sampler(&wgpu::SamplerDescriptor::default()));
    opened.assert_invalid("no textures", || {
        opened.device.create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d::default(),
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::R32Float,
            usage: wgpu::TextureUsages::COPY_DST,
            view_formats: &[],
        })
    });
}

#[test]
fn a_device_has_what_was_required() {
    let adversary = Adversary::new(Profile::minimum(), 0);
    let options = wgpu::RequestAdapterOptions::default();
    let adapter = pollster::block_on(adversary.instance().request_adapter(&options)).expect("the adversary");
    assert_eq!(adapter.get_info().name, "adversary, minimum");
    let ask = |descriptor: &wgpu::DeviceDescriptor<'_>| pollster::block_on(adapter.request_device(descriptor));
    let limits = adapter.limits();
    let plain = wgpu::DeviceDescriptor { required_limits: limits.clone(), ..Default::default() };
    let (device, _) = ask(&plain).expect("the adapter has these limits");
    assert!(device.features().is_empty());
    let more = wgpu::Features::SHADER_F16;
    assert!(ask(&wgpu::DeviceDescriptor { required_features: more, ..plain.clone() }).is_err());
    let beyond = wgpu::Limits { max_buffer_size: limits.max_buffer_size + 1, ..limits };
    let error = ask(&wgpu::DeviceDescriptor { required_limits: beyond, ..plain }).expect_err("too much");
    assert!(error.to_string().contains("max_buffer_size"), "{error}");
}
