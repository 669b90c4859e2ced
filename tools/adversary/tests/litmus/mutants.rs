//! Mutants of a right kernel are found.

use super::common::{Litmus, words};
use super::host::open_as;
use std::collections::HashMap;
use wgpu_adversary::{Adversary, Change, Mutation, Profile, Program};

/// Sums 50 numbers as a tree, and shares the sum by a uniform load. Every barrier, condition and bound is needed.
const SUM: &str = "
@group(0) @binding(0) var<storage, read_write> x: array<f32, 50>;
var<workgroup> partial: array<f32, 64>;
var<workgroup> shared_sum: f32;
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    partial[lane] = 0.0;
    if lane < 50u { partial[lane] = x[lane]; }
    workgroupBarrier();
    for (var half = 32u; half > 0u; half /= 2u) {
        if lane < half { partial[lane] += partial[lane + half]; }
        workgroupBarrier();
    }
    if lane == 63u { shared_sum = partial[0]; }
    let sum = workgroupUniformLoad(&shared_sum);
    if lane < 50u { x[lane] = sum; }
}";

fn module() -> naga::Module {
    naga::front::wgsl::parse_str(SUM).expect("WGSL")
}

fn litmus() -> Litmus {
    Litmus::new(SUM, Profile::with_subgroups(16), vec![words(&[0; 50])])
}

#[test]
fn every_mutant_is_found() {
    assert!(litmus().run(3).is_empty(), "the kernel itself");
    let all = Mutation::all(&module());
    let kinds = [Change::Barrier, Change::UniformLoad, Change::Late, Change::Condition, Change::Bound, Change::Index];
    let counts = kinds.map(|kind| all.iter().filter(|mutation| mutation.change == kind).count());
    assert_eq!(counts, [2, 1, 2, 4, 4, 6]);
    for mutation in all {
        let mut mutant = litmus();
        let profile = &mutant.setup.profile;
        mutant.program = Program::mutant(&module(), "main", &HashMap::new(), profile, mutation).expect("a mutant");
        let found: usize = (0..4).map(|seed| mutant.run(seed).len()).sum();
        assert!(found > 0, "the kernel {} in line {} is not found", mutation.change, mutation.line(SUM));
    }
}

#[test]
fn places_have_lines() {
    let barriers = Mutation::all(&module()).into_iter().filter(|mutation| mutation.change == Change::Barrier);
    assert_eq!(barriers.map(|mutation| mutation.line(SUM)).collect::<Vec<_>>(), [9, 12]);
}

/// A mutation reaches the modules of its label alone. Coverage says whether its place was executed.
#[test]
fn modules_are_changed_by_label() {
    let condition = Mutation::all(&module()).into_iter().find(|mutation| mutation.change == Change::Condition);
    let condition = condition.expect("a condition");
    for (label, changed) in [("a kernel", true), ("another", false)] {
        let opened = open_as(Adversary::new(Profile::with_subgroups(16), 1).mutation(label, condition));
        let pipeline = opened.pipeline(SUM);
        let place = |adversary: &Adversary| adversary.coverage()["a kernel"].has_run(condition.place);
        assert!(opened.adversary.mutations()["a kernel"].contains(&condition) && !place(&opened.adversary));
        let group = opened.group(&pipeline, &[&opened.storage(&[0; 50])]);
        opened.dispatch(&pipeline, &group, 1);
        opened.device.poll(wgpu::PollType::wait_indefinitely()).expect("no timeout was set");
        assert!(place(&opened.adversary));
        assert_eq!(!opened.adversary.report().is_clean(), changed, "{label}");
    }
}
