//! Programs with and without data races.

use super::common::{Litmus, garbage, words};
use wgpu_adversary::{Kind, Profile};

const REVERSE: &str = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> tile: array<u32, 64>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    tile[i] = i;
    workgroupBarrier();
    out[i] = tile[63u - i];
}";

fn litmus(source: &str) -> Litmus {
    Litmus::new(source, Profile::with_subgroups(32), vec![garbage(64)])
}

#[test]
fn a_barrier_orders_workgroup_memory() {
    let litmus = litmus(REVERSE).finds(&[]);
    assert_eq!(litmus.words(0), (0..64).rev().collect::<Vec<_>>());
}

#[test]
fn without_barrier_a_read_races() {
    let mut litmus = litmus(&REVERSE.replace("workgroupBarrier();", ""));
    for seed in 0..32 {
        let findings = litmus.run(seed);
        let race = findings.iter().find(|finding| finding.kind == Kind::Race).expect("a race");
        assert!(race.what.starts_with("tile["), "{race}");
        assert_eq!(race.invocations.len(), 2);
        assert_eq!(race.invocations[0].index + race.invocations[1].index, 63, "{race}");
        let location = race.location.as_ref().expect("a location");
        assert!([5, 7].contains(&location.line_column.expect("a line").0), "{race}");
    }
}

#[test]
fn a_storage_barrier_does_not_order_workgroup_memory() {
    litmus(&REVERSE.replace("workgroupBarrier", "storageBarrier")).finds(&[Kind::Race]);
}

#[test]
fn a_barrier_is_missing_at_the_end_of_a_loop() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> tile: array<u32, 64>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    var sum = 0u;
    for (var round = 0u; round < 3u; round++) {
        tile[i] = i + round;
        workgroupBarrier();
        sum += tile[63u - i];
        workgroupBarrier();
    }
    out[i] = sum;
}";
    let sums: Vec<u32> = (0..64).rev().map(|i| 3 * i + 3).collect();
    assert_eq!(litmus(source).finds(&[]).words(0), sums);
    let second = source.rfind("workgroupBarrier();").expect("a barrier");
    litmus(&format!("{}{}", &source[..second], &source[second + 19..])).finds(&[Kind::Race]);
}

#[test]
fn equal_values_are_listed_apart() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> flag: u32;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    flag = 7u;
    workgroupBarrier();
    out[i] = flag;
}";
    litmus(source).finds(&[Kind::SameValueRace]);
}

#[test]
fn atomics_do_not_race() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<atomic<u32>>;
var<workgroup> count: atomic<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    if i == 0u { atomicStore(&count, 0u); }
    workgroupBarrier();
    let place = atomicAdd(&count, 1u);
    atomicStore(&out[place], 5u);
    atomicMax(&out[0], 9u);
}";
    let litmus = litmus(source).finds(&[]);
    let found = litmus.words(0);
    assert!([5, 9].contains(&found[0]) && found[1..].iter().all(|&word| word == 5), "{found:?}");
}

#[test]
fn workgroups_race_in_storage() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    let i = id.x;
    out[i / STRIDE] = i;
}";
    litmus(&source.replace("STRIDE", "1u")).groups(2).finds(&[]);
    let mut litmus = litmus(&source.replace("i / STRIDE", "i % 32u")).groups(2).finds(&[Kind::Race]);
    let race = litmus.run(3).remove(0);
    assert_ne!(race.invocations[0].workgroup, race.invocations[1].workgroup, "{race}");
}

#[test]
fn storage_needs_its_own_barrier() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    out[i] = i;
    storageBarrier();
    let other = out[63u - i];
    storageBarrier();
    out[i] = other;
}";
    assert_eq!(litmus(source).finds(&[]).words(0), (0..64).rev().collect::<Vec<_>>());
    litmus(&source.replace("storageBarrier", "workgroupBarrier")).finds(&[Kind::Race]);
}

#[test]
fn dispatches_are_ordered() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(32) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    out[id.x] = out[id.x] + 1u;
}";
    let mut litmus = Litmus::new(source, Profile::with_subgroups(8), vec![words(&[0; 64])]).groups(2);
    assert!((0..4).all(|seed| litmus.run(seed).is_empty()));
    assert_eq!(litmus.words(0), [4; 64]);
}

#[test]
fn memory_that_nobody_wrote() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> tile: array<u32, 64>;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    if i < 63u { tile[i] = i; }
    workgroupBarrier();
    var x: u32;
    out[i] = tile[i] + x;
}";
    let mut litmus = litmus(source).finds(&[Kind::Uninitialized]);
    assert_eq!(litmus.run(0)[0].what, "tile[63]");
    assert_eq!(litmus.run(0)[0].count, 1);
    litmus.setup.zero_workgroup_memory = true;
    litmus.finds(&[]);
}

#[test]
fn buffers_that_nobody_wrote() {
    let source = "
@group(0) @binding(0) var<storage, read> input: array<vec2<f32>>;
@group(0) @binding(1) var<storage, read_write> out: array<f32>;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
    out[i] = input[i].y;
}";
    let input = garbage(8);
    input.write(0, &[0; 28]);
    let mut litmus = Litmus::new(source, Profile::with_subgroups(8), vec![input, garbage(4)]);
    assert_eq!(litmus.run(0)[0].what, "input[3].y");
    litmus.finds(&[Kind::Uninitialized]);
}

#[test]
fn a_missing_barrier_gives_wrong_results_under_some_seeds() {
    let mut litmus = litmus(&REVERSE.replace("workgroupBarrier();", ""));
    let expected: Vec<u32> = (0..64).rev().collect();
    let right = (0..32).filter(|&seed| {
        litmus.buffers[0].poison();
        litmus.run(seed);
        litmus.words(0) == expected
    });
    let right = right.count();
    assert!((1..24).contains(&right), "{right}");
}

#[test]
fn workgroups_run_in_different_orders() {
    let source = "
@group(0) @binding(0) var<storage, read_write> next: atomic<u32>;
@group(0) @binding(1) var<storage, read_write> out: array<u32>;
@compute @workgroup_size(1) fn main(@builtin(workgroup_id) group: vec3<u32>) {
    out[group.x] = atomicAdd(&next, 1u);
}";
    let mut litmus = Litmus::new(source, Profile::with_subgroups(8), vec![words(&[0]), garbage(16)]).groups(16);
    let mut order = |seed| {
        litmus.buffers[0].write(0, &[0; 4]);
        assert!(litmus.run(seed).is_empty());
        litmus.words(1)
    };
    let orders: Vec<Vec<u32>> = (0..16).map(&mut order).collect();
    assert!(orders.contains(&(0..16).collect()) && orders.contains(&(0..16).rev().collect()), "{orders:?}");
    assert!(orders.iter().any(|order| ![0, 15].contains(&order[0])), "{orders:?}");
    assert_eq!(order(7), orders[7]);
}

#[test]
fn reports_count_what_is_the_same() {
    let mut litmus = litmus(&REVERSE.replace("workgroupBarrier();", ""));
    let report = wgpu_adversary::Report::default();
    assert!(report.is_clean());
    assert_eq!(report.to_string(), "no findings\n");
    (0..8).for_each(|seed| report.add(litmus.run(seed)));
    let findings = report.findings();
    assert!(!report.is_clean() && findings.iter().any(|finding| finding.count >= 8), "{report}");
    // A read after a write and a write after a read, at most.
    assert!(findings.len() <= 3, "{report}");
    assert!(report.to_string().contains("litmus: data race at `tile["), "{report}");
    assert_eq!(report.take().len(), findings.len());
    assert!(report.is_clean());
}

#[test]
fn reads_after_a_write_race_as_writes_after_a_read() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> word: u32;
@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) i: u32) {
    if i == WRITERu { word = 5u; }
    BARRIER
    out[i] = word;
}";
    for writer in [0, 63] {
        let source = source.replace("WRITER", &writer.to_string());
        litmus(&source.replace("BARRIER", "workgroupBarrier();")).finds(&[]);
        let mut litmus = litmus(&source.replace("BARRIER", ""));
        litmus.setup.zero_workgroup_memory = true;
        litmus.finds(&[Kind::Race]);
    }
}

#[test]
fn a_reader_that_writes_races_with_the_other_reader() {
    let source = "
@group(0) @binding(0) var<storage, read_write> out: array<u32>;
var<workgroup> tile: array<u32, 2>;
@compute @workgroup_size(2) fn main(@builtin(local_invocation_index) i: u32) {
    let x = MEMORY[0];
    if i == WRITERu { MEMORY[0] = x + 1u; }
    if x > 100u { out[1] = x; }
}";
    for memory in ["out", "tile"] {
        for writer in ["0", "1"] {
            let source = source.replace("MEMORY", memory).replace("WRITER", writer);
            let mut litmus = Litmus::new(&source, Profile::with_subgroups(4), vec![words(&[0; 64])]);
            litmus.setup.zero_workgroup_memory = true;
            litmus.finds(&[Kind::Race]);
        }
    }
}
