//! What the litmus programs have in common: buffers of words, and one dispatch under many seeds.

#![allow(dead_code, reason = "each suite uses a part")]

use std::collections::HashMap;
use std::sync::Arc;
use wgpu_adversary::{Bound, Finding, Initial, Kind, Memory, Profile, Program, Setup};

/// A dispatch of a WGSL program whose bindings are all in group 0.
#[derive(Debug)]
pub struct Litmus {
    pub program: Program,
    pub groups: [u32; 3],
    pub buffers: Vec<Arc<Memory>>,
    pub setup: Setup,
}

/// Compiles a program with the entry point `main`.
pub fn compile(source: &str, profile: &Profile) -> Program {
    let module = naga::front::wgsl::parse_str(source).unwrap_or_else(|e| panic!("{}", e.emit_to_string(source)));
    let program = Program::compile(&module, "main", &HashMap::new(), profile).unwrap_or_else(|e| panic!("{e}"));
    program.with_source(source.into())
}

/// Returns a buffer that holds words.
pub fn words(data: &[u32]) -> Arc<Memory> {
    let memory = Memory::new(data.len() as u64 * 4, Initial::Poisoned);
    let bytes: Vec<u8> = data.iter().flat_map(|word| word.to_le_bytes()).collect();
    memory.write(0, &bytes);
    Arc::new(memory)
}

/// Returns a buffer of words that were never written.
pub fn garbage(count: u64) -> Arc<Memory> {
    Arc::new(Memory::new(count * 4, Initial::Poisoned))
}

impl Litmus {
    pub fn new(source: &str, profile: Profile, buffers: Vec<Arc<Memory>>) -> Self {
        let setup = Setup {
            profile,
            seed: 1,
            order: 1,
            zero_workgroup_memory: false,
            step_budget: 1 << 24,
            label: "litmus".into(),
        };
        Self { program: compile(source, &setup.profile), groups: [1, 1, 1], buffers, setup }
    }

    pub fn groups(self, groups: u32) -> Self {
        Self { groups: [groups, 1, 1], ..self }
    }

    /// Runs the program under a seed.
    pub fn run(&mut self, seed: u64) -> Vec<Finding> {
        (self.setup.seed, self.setup.order) = (seed, seed);
        let bound = |(memory, binding): (&Arc<Memory>, u32)| Bound {
            group: 0,
            binding,
            memory: Arc::clone(memory),
            offset: 0,
            size: memory.len(),
        };
        let bound: Vec<Bound> = self.buffers.iter().zip(0..).map(bound).collect();
        self.program.dispatch(self.groups, &bound, &self.setup)
    }

    /// Runs the program under many seeds and returns the kinds that each of them found.
    pub fn kinds(&mut self) -> Vec<Vec<Kind>> {
        let kinds = |findings: Vec<Finding>| {
            let mut kinds: Vec<Kind> = findings.into_iter().map(|finding| finding.kind).collect();
            kinds.sort();
            kinds.dedup();
            kinds
        };
        (0..32).map(|seed| kinds(self.run(seed))).collect()
    }

    /// Checks that every seed finds exactly some kinds.
    #[track_caller]
    pub fn finds(mut self, wanted: &[Kind]) -> Self {
        for (seed, found) in self.kinds().into_iter().enumerate() {
            assert_eq!(found, wanted, "seed {seed}: {:#?}", self.run(seed as u64));
        }
        self
    }

    /// Returns the words of a buffer.
    pub fn words(&self, buffer: usize) -> Vec<u32> {
        let memory = &self.buffers[buffer];
        let mut bytes = vec![0; memory.len() as usize];
        memory.read(0, &mut bytes);
        bytes.chunks(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect()
    }

    pub fn floats(&self, buffer: usize) -> Vec<f32> {
        self.words(buffer).into_iter().map(f32::from_bits).collect()
    }
}
