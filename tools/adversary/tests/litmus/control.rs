//! Control flow: what is executed, and where it has to be uniform.

use super::common::{Litmus, garbage, words};
use wgpu_adversary::{Kind, Profile};

fn program(body: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> tile: array<u32, 64>;
fn collatz(start: u32) -> u32 {{
    var n = start;
    var steps = 0u;
    loop {{
        if n <= 1u {{ return steps; }}
        if n % 2u == 0u {{ n /= 2u; }} else {{ n = 3u * n + 1u; }}
        steps += 1u;
    }}
    return 1000u;
}}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {{
{body}
}}"
    )
}

fn litmus(body: &str) -> Litmus {
    Litmus::new(&program(body), Profile::with_subgroup_range(4, 64), vec![garbage(64)])
}

#[track_caller]
fn computes(body: &str, expected: impl Fn(u32) -> u32) {
    assert_eq!(litmus(body).finds(&[]).words(0), (0..64).map(expected).collect::<Vec<_>>());
}

fn collatz(mut n: u32) -> u32 {
    let mut steps = 0;
    while n > 1 {
        n = if n.is_multiple_of(2) { n / 2 } else { 3 * n + 1 };
        steps += 1;
    }
    steps
}

#[test]
fn loops_return_for_each_lane() {
    computes("out[i] = collatz(i + 1u) * 2u + collatz(64u - i);", |i| collatz(i + 1) * 2 + collatz(64 - i));
}

#[test]
fn switches_fall_to_the_default() {
    let body = "var x = 0u;
    for (var k = 0u; k < 5u; k++) {
        switch (i + k) % 7u {
            case 0u: { x += 1u; }
            case 1u, 2u: { if i > 40u { continue; } x += 10u; }
            case 3u: { if i % 2u == 0u { break; } x += 100u; }
            default: { x += 1000u; }
        }
        x += 100000u;
    }
    out[i] = x;";
    computes(body, |i| {
        let mut x = 0;
        for k in 0..5 {
            match (i + k) % 7 {
                0 => x += 1,
                1 | 2 if i > 40 => continue,
                1 | 2 => x += 10,
                3 if i % 2 == 0 => {}
                3 => x += 100,
                _ => x += 1000,
            }
            x += 100_000;
        }
        x
    });
}

#[test]
fn a_continuing_block_runs_for_lanes_that_continue() {
    let body = "var x = 0u; var k = 0u;
    loop {
        if k % 2u == i % 2u { continue; }
        if k > i { break; }
        x += k;
        continuing { k += 1u; x += 1000u; break if k > 20u; }
    }
    out[i] = x;";
    computes(body, |i| {
        let (mut x, mut k) = (0, 0);
        loop {
            if k % 2 != i % 2 {
                if k > i {
                    break;
                }
                x += k;
            }
            k += 1;
            x += 1000;
            if k > 20 {
                break;
            }
        }
        x
    });
}

#[test]
fn nested_loops_keep_values_of_waiting_lanes() {
    let body = "var sum = 0u;
    for (var a = 0u; a < i % 5u + 1u; a++) {
        let square = a * a + i;
        for (var b = 0u; b <= (i + a) % 3u; b++) {
            if (a + b + i) % 4u == 3u { break; }
            let product = square * (b + 1u);
            sum += product;
        }
        sum += square;
        if sum > 3000u { out[i] = sum; return; }
    }
    out[i] = sum + 1u;";
    computes(body, |i| {
        let mut sum = 0;
        for a in 0..i % 5 + 1 {
            let square = a * a + i;
            for b in 0..=(i + a) % 3 {
                if (a + b + i) % 4 == 3 {
                    break;
                }
                sum += square * (b + 1);
            }
            sum += square;
            if sum > 3000 {
                return sum;
            }
        }
        sum + 1
    });
}

#[test]
fn pointers_and_local_arrays() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
struct Pair { values: array<u32, 4>, sum: u32 }
var<private> calls: u32 = 3u;
fn add(p: ptr<function, u32>, by: u32) { *p += by; calls += 1u; }
fn fill(pair: ptr<function, Pair>, i: u32) {
    for (var k = 0u; k < 4u; k++) { (*pair).values[k] = i * k; add(&(*pair).sum, i * k); }
}
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    var pairs: array<Pair, 2>;
    fill(&pairs[0], i);
    fill(&pairs[i % 2u], i + 1u);
    let copy = pairs;
    var v = vec4<u32>(1u, 2u, 3u, 4u);
    v[i % 4u] = 10u;
    out[i] = copy[i % 2u].values[i % 4u] + 1000u * copy[1].sum + 100000u * v[(i + 1u) % 4u] + 10000000u * calls;
}";
    let expected = |i: u32| {
        let (value, sum) = ((i + 1) * (i % 4), if i % 2 == 1 { 6 * (i + 1) } else { 0 });
        value + 1000 * sum + 100_000 * ((i + 1) % 4 + 1) + 10_000_000 * 11
    };
    let litmus = Litmus::new(source, Profile::with_subgroups(16), vec![garbage(64)]).finds(&[]);
    assert_eq!(litmus.words(0), (0..64).map(expected).collect::<Vec<_>>());
}

#[test]
fn a_barrier_in_a_branch() {
    litmus("if i < 32u { workgroupBarrier(); } out[i] = i;").finds(&[Kind::NonUniformBarrier]);
}

#[test]
fn a_barrier_after_a_return() {
    let mut litmus =
        litmus("if i == 63u { return; } workgroupBarrier(); out[i] = i;").finds(&[Kind::NonUniformBarrier]);
    let found = litmus.run(0).remove(0);
    assert_eq!(found.invocations[1].index, 63, "{found}");
}

#[test]
fn different_barriers() {
    litmus("if i < 32u { workgroupBarrier(); } else { workgroupBarrier(); } out[i] = i;")
        .finds(&[Kind::NonUniformBarrier]);
}

#[test]
fn a_barrier_in_a_loop_of_different_lengths() {
    litmus("for (var k = 0u; k <= i / 32u; k++) { workgroupBarrier(); } out[i] = i;").finds(&[Kind::NonUniformBarrier]);
}

#[test]
fn a_barrier_reached_in_different_rounds() {
    let body = "for (var k = 0u; k < 2u; k++) { if k == i / 32u { workgroupBarrier(); } } out[i] = i;";
    litmus(body).finds(&[Kind::NonUniformBarrier]);
}

#[test]
fn a_barrier_in_uniform_control_flow() {
    computes("for (var k = 0u; k < 3u; k++) { if k != 1u { workgroupBarrier(); } } out[i] = i;", |i| i);
}

fn uniform_load(pointer: &str) -> Litmus {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> tile: array<u32, 2>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {{
    if i < 2u {{ tile[i] = 5u; }}
    let x = workgroupUniformLoad({pointer});
    if i < 2u {{ tile[i] = 6u; }}
    if x == 5u {{ workgroupBarrier(); }}
    out[i] = x + tile[1];
}}"
    );
    Litmus::new(&source, Profile::with_subgroups(16), vec![garbage(64)])
}

#[test]
fn a_uniform_load_is_between_barriers() {
    assert_eq!(uniform_load("&tile[1]").finds(&[]).words(0), [11; 64]);
}

#[test]
fn a_uniform_load_of_different_pointers() {
    uniform_load("&tile[i % 2u]").finds(&[Kind::NonUniformPointer]);
}

#[test]
fn a_loop_without_end() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main() {
    loop { if out[0] == 1u { break; } }
}";
    Litmus::new(source, Profile::minimum(), vec![words(&[0])]).finds(&[Kind::Budget]);
}

#[test]
fn coverage_names_what_was_never_executed() {
    let mut litmus = litmus("if i > 100u { out[0] = 7u; }\n    out[i] = 1u;");
    litmus.run(0);
    let coverage = litmus.program.coverage();
    let missing: Vec<_> = coverage
        .missing()
        .map(|(location, side)| (location.line_column.expect("a line").0, side))
        .filter(|(line, _)| *line > 10)
        .collect();
    assert!(missing.contains(&(14, Some("true"))) && missing.contains(&(14, None)), "{coverage}");
    assert!(!missing.iter().any(|&(line, side)| line == 15 || side == Some("false")), "{coverage}");
}

#[test]
fn composites_in_buffers_and_constants() {
    let source = "
struct Part { scale: f32, offset: vec3<f32>, turn: mat3x3<f32>, pairs: array<vec2<u32>, 2>, last: u32 }
@group(0) @binding(0) var<uniform> part: Uniform;
struct Uniform { part: Part, count: u32 }
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
const TABLE = array<f32, 4>(0.5, 1.5, 2.5, 3.5);
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
    let turned = part.part.turn * part.part.offset * part.part.scale;
    let all = part;
    out[i] = turned[min(i, 2u)] + f32(all.part.pairs[i % 2u].y + all.part.last * 10u + all.count * 100u) + TABLE[i];
}";
    let mut bytes = vec![0u32; 32];
    let mut set = |at: usize, values: &[f32]| {
        bytes[at..at + values.len()].copy_from_slice(&values.iter().map(|x| x.to_bits()).collect::<Vec<_>>());
    };
    set(0, &[2.0]);
    set(4, &[1.0, 10.0, 100.0]);
    set(8, &[1.0, 2.0, 3.0]);
    set(12, &[4.0, 5.0, 6.0]);
    set(16, &[7.0, 8.0, 9.0]);
    // In a uniform buffer, the stride of the array is that of its elements only if it is a multiple of 16.
    let source = source.replace("array<vec2<u32>, 2>", "array<vec4<u32>, 2>");
    bytes[20..28].copy_from_slice(&[1, 2, 3, 4, 5, 6, 7, 8]);
    (bytes[28], bytes[29]) = (3, 0);
    let uniform = [bytes, vec![4, 0, 0, 0]].concat();
    let profile = Profile::with_subgroups(4).exact();
    let litmus = Litmus::new(&source, profile, vec![words(&uniform), garbage(4)]).finds(&[]);
    let turned = |row: usize| 2.0 * ([1.0, 2.0, 3.0][row] + 10.0 * [4.0, 5.0, 6.0][row] + 100.0 * [7.0, 8.0, 9.0][row]);
    let expected = [(0, 2.0, 0.5), (1, 6.0, 1.5), (2, 2.0, 2.5), (2, 6.0, 3.5)];
    assert_eq!(litmus.floats(1), expected.map(|(row, y, table)| turned(row) + y + 30.0 + 400.0 + table));
}
