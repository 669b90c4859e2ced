//! Subgroup operations.

use super::common::{Litmus, garbage};
use wgpu_adversary::{Kind, Profile, SubgroupMapping};

fn litmus(size: u32, body: &str) -> Litmus {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_size) size: u32,
    @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_id) id: u32, @builtin(num_subgroups) count: u32) {{
{body}
}}"
    );
    Litmus::new(&source, Profile::with_subgroups(size), vec![garbage(64)])
}

#[track_caller]
fn computes(body: &str, expected: impl Fn(u32, u32) -> u32) {
    for size in [4, 8, 16, 32, 64] {
        let found = litmus(size, body).finds(&[]).words(0);
        assert_eq!(found, (0..64).map(|i| expected(i, size)).collect::<Vec<_>>(), "{size}");
    }
}

#[test]
fn built_in_values() {
    computes("out[i] = size + 1000u * lane + 1000000u * id + 100000000u * count;", |i, size| {
        size + 1000 * (i % size) + 1_000_000 * (i / size) + 100_000_000 * (64 / size)
    });
}

#[test]
fn reductions_and_scans() {
    computes("out[i] = subgroupAdd(i);", |i, size| (0..size).map(|k| i / size * size + k).sum());
    computes("out[i] = subgroupMax(i ^ 21u);", |i, size| {
        (0..size).map(|k| (i / size * size + k) ^ 21).max().unwrap_or(0)
    });
    computes("out[i] = subgroupExclusiveAdd(i);", |i, size| (i / size * size..i).sum());
    computes("out[i] = subgroupInclusiveAdd(i);", |i, size| (i / size * size..=i).sum());
    computes("out[i] = u32(subgroupAny(i == 13u)) + 2u * u32(subgroupAll(i != 13u));", |i, size| {
        if i / size == 13 / size { 1 } else { 2 }
    });
    computes("out[i] = countOneBits(subgroupBallot(i % 3u == 0u).x);", |i, size| {
        let first = i / size * size;
        (first..first + size.min(32)).filter(|k| k % 3 == 0).count() as u32
    });
}

#[test]
fn shuffles() {
    computes("out[i] = subgroupShuffle(i, size - 1u - lane);", |i, size| i / size * size + size - 1 - i % size);
    computes("out[i] = subgroupShuffleXor(i, 3u);", |i, _| i ^ 3);
    computes("out[i] = subgroupBroadcast(i, 2u);", |i, size| i / size * size + 2);
    computes("out[i] = subgroupBroadcastFirst(i);", |i, size| i / size * size);
    computes("out[i] = u32(subgroupShuffle(vec2<f32>(f32(i), 1.0), 1u).x);", |i, size| i / size * size + 1);
}

#[test]
fn a_shuffle_past_the_end() {
    litmus(16, "out[i] = subgroupShuffleDown(i, 1u);").finds(&[Kind::InactiveLane]);
    litmus(16, "out[i] = subgroupShuffle(i, lane + 8u);").finds(&[Kind::InactiveLane]);
}

#[test]
fn an_operation_in_a_branch() {
    litmus(8, "var x = 0u; if i % 8u < 4u { x = subgroupAdd(i); } out[i] = x;").finds(&[Kind::NonUniformSubgroup]);
    // Uniform in each subgroup of 8, but not in those of 16.
    let body = "var x = 0u; if i < 8u { x = subgroupAdd(1u); } out[i] = x;";
    litmus(8, body).finds(&[]);
    litmus(16, body).finds(&[Kind::NonUniformSubgroup]);
}

#[test]
fn a_shuffle_from_an_inactive_lane() {
    litmus(8, "var x = 0u; if i % 8u < 4u { x = subgroupShuffle(i, 6u); } out[i] = x;")
        .finds(&[Kind::NonUniformSubgroup, Kind::InactiveLane]);
}

#[test]
fn a_distance_that_differs() {
    litmus(8, "out[i] = subgroupShuffleXor(i, i % 2u);").finds(&[Kind::NonUniformBroadcast]);
}

#[test]
fn lockstep_is_no_barrier() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> tile: array<u32, 64>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    tile[i] = i;
    let any = subgroupAny(true);
    out[i] = tile[i ^ 1u] + u32(any);
}";
    Litmus::new(source, Profile::with_subgroups(64), vec![garbage(64)]).finds(&[Kind::Race]);
}

#[test]
fn a_permuted_mapping_breaks_what_relies_on_the_linear_one() {
    let body = "out[i] = subgroupShuffleXor(i, 1u);";
    let mut litmus = litmus(16, body);
    litmus.setup.profile.mapping = SubgroupMapping::Permuted;
    litmus.run(5);
    assert_ne!(litmus.words(0), (0..64).map(|i| i ^ 1).collect::<Vec<_>>());
    let mut found = litmus.words(0);
    found.sort_unstable();
    assert_eq!(found, (0..64).collect::<Vec<_>>());
}

#[test]
fn a_profile_without_subgroups() {
    let source = "@compute @workgroup_size(1) fn main() { _ = subgroupAny(true); }";
    let module = naga::front::wgsl::parse_str(source).expect("valid WGSL");
    let constants = std::collections::HashMap::new();
    let error = wgpu_adversary::Program::compile(&module, "main", &constants, &Profile::minimum());
    assert!(matches!(error, Err(wgpu_adversary::CompileError::Limit(_))));
}
