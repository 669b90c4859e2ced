//! The machine's speed: `cargo test --release --test litmus speed -- --ignored --nocapture`.

use super::common::{Litmus, garbage, words};
use std::time::Instant;
use wgpu_adversary::{Bound, Profile};

const MATMUL: &str = "
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
const N = 128u;
var<workgroup> left: array<f32, 256>;
var<workgroup> right: array<f32, 256>;
@compute @workgroup_size(16, 16)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_id) id: vec3<u32>) {
    var sum = 0.0;
    let row = group.y * 16u + id.y;
    let column = group.x * 16u + id.x;
    for (var k = 0u; k < N; k += 16u) {
        left[id.y * 16u + id.x] = a[row * N + k + id.x];
        right[id.y * 16u + id.x] = b[(k + id.y) * N + column];
        workgroupBarrier();
        for (var i = 0u; i < 16u; i++) { sum += left[id.y * 16u + i] * right[i * 16u + id.x]; }
        workgroupBarrier();
    }
    c[row * N + column] = sum;
}";

const CHAIN: &str = "
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@compute @workgroup_size(256) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    var x = a[id.x]; var y = 0.5; var n = id.x;
    for (var i = 0u; i < 200u; i++) { x = x * y + 0.25; y = y - x * 0.01; n = (n ^ i) * 5u + (n >> 3u); }
    c[id.x] = x + y + f32(n & 1u);
}";

#[test]
#[ignore = "a measurement"]
fn operations_a_second() {
    for (name, source, groups) in [("matmul", MATMUL, [8, 8, 1]), ("chain", CHAIN, [64, 1, 1])] {
        for size in [4, 32, 128] {
            for accuracy in ["exact", "typical"] {
                let profile = Profile::with_subgroups(size);
                let profile = if accuracy == "exact" { profile.exact() } else { profile };
                let data = vec![1f32.to_bits(); 128 * 128];
                let litmus = Litmus::new(source, profile, vec![words(&data), words(&data), garbage(128 * 128)]);
                let bound: Vec<Bound> = litmus
                    .buffers
                    .iter()
                    .zip(0..)
                    .map(|(memory, binding)| {
                        let (memory, size) = (memory.clone(), memory.len());
                        Bound { group: 0, binding, memory, offset: 0, size }
                    })
                    .collect();
                let mut speeds = Vec::new();
                for seed in 0..8 {
                    let setup = wgpu_adversary::Setup { seed, order: seed, ..litmus.setup.clone() };
                    let began = Instant::now();
                    let (findings, count) = litmus.program.dispatch_counted(groups, &bound, &setup);
                    assert!(findings.is_empty(), "{findings:#?}");
                    speeds.push((count as f64 / began.elapsed().as_secs_f64() / 1e6) as u64);
                }
                println!("{name}, subgroups of {size}, {accuracy}: {speeds:?} million operations a second");
            }
        }
    }
}

#[test]
#[ignore = "a measurement"]
fn workgroups_a_second() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<f32>;
var<workgroup> tile: array<f32, 1024>;
@compute @workgroup_size(64) fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) i: u32) {
    tile[i] = f32(i);
    workgroupBarrier();
    if i == 0u { out[group.x] = tile[5]; }
}";
    for size in [4, 32] {
        let mut litmus = Litmus::new(source, Profile::with_subgroups(size), vec![garbage(65535)]).groups(65535);
        let times = (0..8).map(|seed| {
            let began = Instant::now();
            assert!(litmus.run(seed).is_empty());
            (65535.0 / began.elapsed().as_secs_f64() / 1e3) as u64
        });
        println!("subgroups of {size}: {:?} thousand workgroups a second", times.collect::<Vec<_>>());
    }
}
