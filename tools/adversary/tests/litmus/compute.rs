//! Pipelines, bind groups and dispatches, through plain wgpu.

use super::host::{Opened, each_pace, open, open_as};
use std::num::NonZero;
use wgpu::BufferUsages;
use wgpu_adversary::{Adversary, Profile};

const DOUBLE: &str = "
@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(8)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&y) { y[id.x] = 2 * x[id.x]; }
}";

const ADD: &str = "
override amount: u32 = 1;
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@compute @workgroup_size(4)
fn main(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&y) { y[id.x] += amount; }
}";

fn assert_clean(opened: &Opened) {
    assert!(opened.adversary.report().is_clean(), "{}", opened.adversary.report());
}

#[test]
fn pipelines_run_in_the_order_of_their_submission() {
    each_pace(|opened| {
        let words: Vec<u32> = (0..21).collect();
        let (x, y) = (opened.storage(&words), opened.storage(&[0; 21]));
        let double = opened.pipeline(DOUBLE);
        let constants = [("amount", 5.0)];
        let options = wgpu::PipelineCompilationOptions { constants: &constants, ..Default::default() };
        let add = opened.pipeline_with(ADD, None, options);
        opened.dispatch(&double, &opened.group(&double, &[&x, &y]), 3);
        opened.dispatch(&add, &opened.group(&add, &[&y]), 6);
        opened.queue.write_buffer(&x, 0, &[0; 4]);
        assert_eq!(opened.read(&y), words.iter().map(|x| 2 * x + 5).collect::<Vec<_>>());
        assert_clean(&opened);
    });
}

#[test]
fn dynamic_offsets_select_a_part() {
    let opened = open();
    let entry = |binding, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    };
    let entries = [
        entry(0, wgpu::BufferBindingType::Uniform, true),
        entry(1, wgpu::BufferBindingType::Storage { read_only: false }, true),
    ];
    let layout =
        opened.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label: None, entries: &entries });
    let pipeline_layout = opened.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: None,
        bind_group_layouts: &[Some(&layout)],
        immediate_size: 0,
    });
    let wgsl = "
    struct Settings { value: u32, more: u32 }
    @group(0) @binding(0) var<uniform> settings: Settings;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(1) fn main() { y[1] = settings.value + arrayLength(&y); }";
    let pipeline = opened.pipeline_with(wgsl, Some(&pipeline_layout), Default::default());
    let uniforms = opened.buffer(1024, BufferUsages::UNIFORM | BufferUsages::COPY_DST);
    opened.queue.write_buffer(&uniforms, 512, bytemuck::bytes_of(&[100_u32, 0]));
    let y = opened.storage(&[0; 192]);
    let bound = |buffer, size| {
        wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer, offset: 0, size: NonZero::new(size) })
    };
    let group = opened.device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: None,
        layout: &layout,
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: bound(&uniforms, 8) },
            wgpu::BindGroupEntry { binding: 1, resource: bound(&y, 16) },
        ],
    });
    let run = |offsets: &[u32]| {
        let mut encoder = opened.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        pass.set_pipeline(&pipeline);
        pass.set_bind_group(0, &group, offsets);
        pass.dispatch_workgroups(1, 1, 1);
        drop(pass);
        opened.queue.submit([encoder.finish()]);
    };
    opened.valid(|| run(&[512, 256]));
    opened.assert_invalid("no multiple of", || run(&[8, 256]));
    opened.assert_invalid("it ends at", || run(&[1024, 256]));
    let found = opened.read(&y);
    assert_eq!((found[1], found[65]), (0, 104));
    assert_clean(&opened);
}

#[test]
fn indirect_dispatches_read_their_size() {
    each_pace(|opened| {
        let usage = BufferUsages::INDIRECT | BufferUsages::COPY_DST;
        let sizes = opened.buffer(32, usage);
        opened.queue.write_buffer(&sizes, 0, bytemuck::bytes_of(&[9_u32, 2, 1, 1, 65_536, 1, 1, 0]));
        let (pipeline, y) = (opened.pipeline(ADD), opened.storage(&[0; 12]));
        let group = opened.group(&pipeline, &[&y]);
        let run = |offset| {
            let mut encoder = opened.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(&pipeline);
            pass.set_bind_group(0, &group, &[]);
            pass.dispatch_workgroups_indirect(&sizes, offset);
            drop(pass);
            opened.queue.submit([encoder.finish()]);
        };
        opened.valid(|| run(4));
        opened.valid(|| run(16));
        opened.assert_invalid("not all in buffer", || run(24));
        assert_eq!(opened.read(&y), [1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0]);
    });
}

#[test]
fn naga_modules_are_executed() {
    let opened = open();
    let module = naga::front::wgsl::parse_str(ADD).expect("the shader is right");
    let source = wgpu::ShaderSource::Naga(std::borrow::Cow::Owned(module));
    let module = &opened.device.create_shader_module(wgpu::ShaderModuleDescriptor { label: None, source });
    let pipeline = opened.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
        label: None,
        layout: None,
        module,
        entry_point: Some("main"),
        compilation_options: Default::default(),
        cache: None,
    });
    let y = opened.storage(&[1, 2, 3]);
    opened.dispatch(&pipeline, &opened.group(&pipeline, &[&y]), 1);
    assert_eq!(opened.read(&y), [2, 3, 4]);
}

#[test]
fn findings_name_the_kernel() {
    let opened = open();
    let race = "
    @group(0) @binding(0) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) { y[0] = i; }";
    let pipeline = opened.pipeline(race);
    opened.dispatch(&pipeline, &opened.group(&pipeline, &[&opened.storage(&[0])]), 1);
    let _ = opened.device.poll(wgpu::PollType::wait_indefinitely());
    let findings = opened.adversary.report().take();
    assert!(findings.iter().any(|finding| finding.kernel == "a kernel"), "{findings:?}");
    assert!(!opened.adversary.coverage().is_empty());
}

#[test]
fn workgroup_memory_is_zero_only_where_it_is_asked_for() {
    let wgsl = "
    var<workgroup> w: u32;
    @group(0) @binding(0) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(1) fn main() { y[0] = w; }";
    for (zero_initialize_workgroup_memory, clean) in [(true, true), (false, false)] {
        let opened = open();
        let options = wgpu::PipelineCompilationOptions { zero_initialize_workgroup_memory, ..Default::default() };
        let pipeline = opened.pipeline_with(wgsl, None, options);
        let y = opened.storage(&[7]);
        opened.dispatch(&pipeline, &opened.group(&pipeline, &[&y]), 1);
        assert_eq!(opened.read(&y)[0] == 0, clean);
        assert_eq!(opened.adversary.report().is_clean(), clean);
    }
}

#[test]
fn a_declared_word_makes_memory_undefined() {
    let word = 0x7149_f2ca;
    let opened = open_as(Adversary::new(Profile::with_subgroups(8), 3).undefined_word(word));
    let (pipeline, y) = (opened.pipeline(ADD), opened.storage(&[1; 4]));
    let group = opened.group(&pipeline, &[&y]);
    opened.queue.write_buffer(&y, 0, bytemuck::bytes_of(&[word, 0]));
    opened.dispatch(&pipeline, &group, 1);
    let _ = opened.device.poll(wgpu::PollType::wait_indefinitely());
    assert_clean(&opened);
    opened.queue.write_buffer(&y, 0, bytemuck::bytes_of(&[word; 4]));
    opened.dispatch(&pipeline, &group, 1);
    let _ = opened.device.poll(wgpu::PollType::wait_indefinitely());
    assert!(!opened.adversary.report().is_clean());
}
