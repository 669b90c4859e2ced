//! Mutants of a right kernel are found.

use super::common::{Litmus, words};
use super::host::open_as;
use std::collections::HashMap;
use wgpu_adversary::{Adversary, Mutation, Profile, Program};

/// Sums 50 numbers as a tree, and shares the sum by a uniform load. Every barrier and every condition is needed.
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
    let kinds = [Mutation::Barrier, Mutation::UniformLoad, Mutation::Condition, Mutation::Late];
    let counts = kinds.map(|kind: fn(usize) -> Mutation| (0..9).filter(|&i| all.contains(&kind(i))).count());
    assert_eq!(counts, [2, 1, 4, 2]);
    for mutation in all {
        let mut module = module();
        assert!(mutation.apply(&mut module));
        let mut mutant = litmus();
        mutant.program = Program::compile(&module, "main", &HashMap::new(), &mutant.setup.profile).expect("a mutant");
        let found: usize = (0..4).map(|seed| mutant.run(seed).len()).sum();
        assert!(found > 0, "the kernel {mutation} is not found");
    }
    assert!(!Mutation::Barrier(2).apply(&mut module()), "there is no such place");
}

/// A mutation reaches the modules of its label alone.
#[test]
fn modules_are_changed_by_label() {
    for (label, changed) in [("a kernel", true), ("another", false)] {
        let opened = open_as(Adversary::new(Profile::with_subgroups(16), 1).mutation(label, Mutation::Condition(0)));
        let pipeline = opened.pipeline(SUM);
        let group = opened.group(&pipeline, &[&opened.storage(&[0; 50])]);
        opened.dispatch(&pipeline, &group, 1);
        opened.device.poll(wgpu::PollType::wait_indefinitely()).expect("no timeout was set");
        assert_eq!(!opened.adversary.report().is_clean(), changed, "{label}");
    }
}
