//! Indices, bindings and limits.

use super::common::{Litmus, garbage, words};
use std::collections::HashMap;
use std::sync::Arc;
use wgpu_adversary::{Bound, CompileError, Kind, Profile, Program};

fn litmus(body: &str) -> Litmus {
    let source = format!(
        "struct Pair {{ a: vec3<f32>, b: array<u32, 3> }}
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> pairs: array<Pair>;
var<workgroup> tile: array<u32, 8>;
@compute @workgroup_size(8) fn main(@builtin(local_invocation_index) i: u32) {{
    var local = array<u32, 8>(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
    tile[i] = i;
    workgroupBarrier();
    {body}
}}"
    );
    Litmus::new(&source, Profile::with_subgroups(8), vec![garbage(8), words(&[7; 16])])
}

#[test]
fn indices_within_bounds() {
    let litmus = litmus("out[7u - i] = tile[i] + local[i] + pairs[i / 4u].b[i % 3u];").finds(&[]);
    assert_eq!(litmus.words(0), (0..8).rev().map(|i| 2 * i + 8).collect::<Vec<_>>());
}

#[test]
fn indices_out_of_bounds() {
    for (body, what) in [
        ("out[i + 1u] = i;", "out[8]"),
        ("out[i] = tile[i + 1u];", "tile[8]"),
        ("out[i] = tile[i32(i) - 1];", "tile[-1]"),
        ("out[i] = local[i + 1u];", "local[8]"),
        ("out[i] = pairs[i / 3u].b[0];", "pairs[2]"),
        ("out[i] = pairs[0].b[i / 2u];", "pairs[0].b[3]"),
        ("out[i] = u32(vec4(1.0)[i / 2u * u32(i != 7u) + u32(i == 7u) * 4u]);", "[4]"),
        ("tile[(i + 1u) * 8u] = 1u; out[i] = 0u;", "tile[8]"),
    ] {
        let mut litmus = litmus(body);
        for seed in 0..8 {
            let findings = litmus.run(seed);
            let found = findings.iter().find(|finding| finding.kind == Kind::OutOfBounds);
            let found = found.unwrap_or_else(|| panic!("{body} {findings:#?}"));
            assert_eq!(found.what, what, "{found}");
        }
    }
}

#[test]
fn what_is_out_of_bounds_is_clamped_or_nowhere() {
    for (body, lane, clamped) in [("local[i32(i) - 1]", 0, 1), ("local[i + 1u]", 7, 8)] {
        let mut litmus = litmus(&format!("out[i] = {body};"));
        let mut found: Vec<u32> = (0..16)
            .map(|seed| {
                litmus.run(seed);
                litmus.words(0)[lane]
            })
            .collect();
        found.sort_unstable();
        found.dedup();
        assert_eq!(found, [0, clamped], "{body}");
    }
    let mut litmus = litmus("local[i + 1u] = 50u; out[i] = local[7];");
    let mut last: Vec<u32> = (0..16)
        .map(|seed| {
            litmus.run(seed);
            litmus.words(0)[7]
        })
        .collect();
    last.sort_unstable();
    last.dedup();
    assert_eq!(last, [8, 50]);
}

#[test]
fn members_are_named() {
    let litmus_source = "out[i] = u32(pairs[1].a.z) + pairs[1].b[2];";
    let mut litmus = litmus(litmus_source);
    litmus.buffers[1] = garbage(16);
    let mut names: Vec<String> = litmus.run(0).into_iter().map(|finding| finding.what).collect();
    names.retain(|name| !name.is_empty());
    names.sort();
    assert_eq!(names, ["pairs[1].a.z", "pairs[1].b[2]"]);
}

fn bind(litmus: &Litmus, sizes: [u64; 2], same: bool) -> Vec<Kind> {
    let memory = |i: usize| Arc::clone(&litmus.buffers[if same { 0 } else { i }]);
    let bound = |i: usize| Bound { group: 0, binding: i as u32, memory: memory(i), offset: 0, size: sizes[i] };
    let findings = litmus.program.dispatch(litmus.groups, &[bound(0), bound(1)], &litmus.setup);
    findings.into_iter().map(|finding| finding.kind).collect()
}

#[test]
fn bindings_are_checked() {
    let mut litmus = litmus("out[i] = 1u;");
    litmus.program = super::common::compile(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@group(0) @binding(1) var<storage, read> input: array<vec4<u32>>;
@compute @workgroup_size(1) fn main() { out[0] = input[0].x; }",
        &litmus.setup.profile,
    );
    assert_eq!(bind(&litmus, [32, 64], false), []);
    assert_eq!(bind(&litmus, [32, 12], false), [Kind::Binding]);
    assert_eq!(bind(&litmus, [36, 64], false), [Kind::Binding]);
    assert_eq!(bind(&litmus, [32, 32], true), [Kind::Aliasing]);
    litmus.setup.profile.limits.max_storage_buffer_binding_size = 32;
    assert_eq!(bind(&litmus, [32, 64], false), [Kind::Limit]);
    litmus.groups = [65536, 1, 1];
    litmus.setup.profile.limits.max_storage_buffer_binding_size = 64;
    assert_eq!(bind(&litmus, [32, 64], false), [Kind::Limit]);
}

fn compile(source: &str, constants: &[(&str, f64)]) -> Result<Program, CompileError> {
    let module = naga::front::wgsl::parse_str(source).expect("valid WGSL");
    let constants: HashMap<String, f64> = constants.iter().map(|&(name, value)| (name.into(), value)).collect();
    Program::compile(&module, "main", &constants, &Profile::minimum())
}

#[test]
fn programs_that_are_refused() {
    let limit = |error| matches!(error, Err(CompileError::Limit(_)));
    let main = "@compute @workgroup_size(N) fn main() {}";
    assert!(limit(compile(&main.replace('N', "512"), &[])));
    let tile = "var<workgroup> tile: array<u32, 5000>; @compute @workgroup_size(1) fn main() { tile[0] = 1u; }";
    assert!(limit(compile(tile, &[])));
    let size = "override N: u32 = 8; @compute @workgroup_size(N) fn main() {}";
    assert_eq!(compile(size, &[("N", 4.0)]).map(|program| program.workgroup_size()).ok(), Some([4, 1, 1]));
    assert!(matches!(compile(size, &[("M", 4.0)]), Err(CompileError::Invalid(_))));
    assert!(matches!(compile("fn f() {}", &[]), Err(CompileError::NoEntryPoint(_))));
    let half = "enable f16; var<private> x: f16; @compute @workgroup_size(1) fn main() { x = 1.0h; }";
    assert!(matches!(compile(half, &[]), Err(CompileError::Unsupported(_))));
}
