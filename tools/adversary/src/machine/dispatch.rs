//! Dispatches of a program.

use super::compile::types::{Layout, path};
use super::finding::{Finding, Invocation, Kind};
use super::float::Numerics;
use super::group::{Group, team_width};
use super::memory::Memory;
use super::op::Space;
use super::program::Program;
use super::random::Random;
use super::report::Reports;
use super::shadow::StorageShadow;
use crate::profile::{Profile, SubgroupMapping};
use rayon::prelude::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// A range of a buffer that is bound.
#[derive(Clone, Debug)]
pub struct Bound {
    /// The bind group.
    pub group: u32,
    /// The index in the bind group.
    pub binding: u32,
    /// The buffer.
    pub memory: Arc<Memory>,
    /// The first byte, a multiple of four.
    pub offset: u64,
    /// The number of bytes.
    pub size: u64,
}

/// How to execute a dispatch.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The adapter.
    pub profile: Profile,
    /// The seed from which everything is drawn that WGSL leaves open and that may change results, such as rounding and
    /// subgroup sizes. As with a driver, the same dispatch then gives the same bits each time.
    pub seed: u64,
    /// The seed from which the order of workgroups and invocations is drawn. Results depend on it only if the program
    /// has a race or uses what atomics return.
    pub order: u64,
    /// Whether workgroup memory is zero at first. WGSL has it so, and wgpu lets a pipeline go without.
    pub zero_workgroup_memory: bool,
    /// The number of operations that a workgroup may execute, each for one invocation.
    pub step_budget: u64,
    /// The kernel's name in findings.
    pub label: String,
}

/// A buffer as a dispatch sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Buffer<'a> {
    pub(super) memory: &'a Memory,
    /// Who accessed what, if anyone may write.
    pub(super) shadow: Option<&'a [StorageShadow]>,
    /// The first word of the range, and the number of words.
    pub(super) first: usize,
    pub(super) words: u32,
    pub(super) generation: u64,
}

/// A dispatch that is executed.
#[derive(Debug)]
pub(super) struct Running<'a> {
    pub(super) program: &'a Program,
    pub(super) setup: &'a Setup,
    pub(super) groups: [u32; 3],
    pub(super) buffers: Vec<Buffer<'a>>,
    pub(super) numerics: Numerics,
    /// The number of invocations that step together.
    pub(super) width: usize,
    /// The `local_invocation_index` of each lane of each team, one team after the other.
    pub(super) lanes: Vec<u16>,
    /// Whether an index out of bounds becomes the last one, rather than to read zero and write nothing.
    pub(super) clamps: bool,
    aborted: AtomicBool,
    executed: AtomicU64,
}

impl Program {
    /// Executes a dispatch and returns what it found.
    pub fn dispatch(&self, groups: [u32; 3], bound: &[Bound], setup: &Setup) -> Vec<Finding> {
        self.dispatch_counted(groups, bound, setup).0
    }

    /// Executes a dispatch and returns what it found, and how many operations it executed, each for one invocation.
    pub fn dispatch_counted(&self, groups: [u32; 3], bound: &[Bound], setup: &Setup) -> (Vec<Finding>, u64) {
        let wrong = self.check(groups, bound, setup);
        if !wrong.is_empty() {
            return (wrong, 0);
        }
        let count: u64 = groups.iter().map(|&n| u64::from(n)).product();
        if count == 0 {
            return (Vec::new(), 0);
        }
        let running = self.running(groups, bound, setup);
        let count = u32::try_from(count).unwrap_or(u32::MAX);
        let order = order(count, setup.order);
        let run = |position: u32| {
            if running.is_aborted() {
                return Reports::default();
            }
            Group::new(&running, order.at(position)).run()
        };
        // What atomics return depends on who comes first, so that one thread alone gives the same for the same seed.
        let reports = if self.code.uses_storage_atomics {
            (0..count).map(run).fold(Reports::default(), Reports::merge)
        } else {
            (0..count).into_par_iter().map(run).reduce(Reports::default, Reports::merge)
        };
        (reports.findings(self, &setup.label, &describe(setup)), running.executed.load(Relaxed))
    }

    fn running<'a>(&'a self, groups: [u32; 3], bound: &'a [Bound], setup: &'a Setup) -> Running<'a> {
        let mut random = Random::new(setup.seed, 0xd15);
        let used: Vec<&Bound> = self.code.bindings.iter().filter_map(|binding| find(bound, binding)).collect();
        let mut generations: Vec<(&Arc<Memory>, u64)> = Vec::new();
        let mut buffers = Vec::with_capacity(used.len());
        for (bound, binding) in used.iter().zip(&self.code.bindings) {
            let known = generations.iter().find(|(memory, _)| Arc::ptr_eq(memory, &bound.memory));
            let generation = match known {
                Some(&(_, generation)) => generation,
                None => {
                    let generation = bound.memory.next_generation();
                    generations.push((&bound.memory, generation));
                    generation
                }
            };
            buffers.push(Buffer {
                memory: &bound.memory,
                shadow: binding.writable.then(|| bound.memory.shadow()),
                first: (bound.offset / 4) as usize,
                words: u32::try_from(bound.size / 4).unwrap_or(u32::MAX),
                generation,
            });
        }
        let mut running = Running {
            program: self,
            setup,
            groups,
            buffers,
            numerics: Numerics::new(&setup.profile, setup.seed, self.code.ops.len()),
            width: 1,
            lanes: (0..self.invocations() as u16).collect(),
            clamps: random.below(2) == 0,
            aborted: AtomicBool::new(false),
            executed: AtomicU64::new(0),
        };
        let (min, max) = (setup.profile.subgroup_min.max(1), setup.profile.subgroup_max);
        let sizes: Vec<u32> = (0..8).map(|power| 1 << power).filter(|size| (min..=max).contains(size)).collect();
        let size = if sizes.is_empty() { min } else { sizes[random.below(sizes.len())] };
        running.width = team_width(&running, size);
        if setup.profile.mapping == SubgroupMapping::Permuted {
            random.shuffle(&mut running.lanes);
        }
        running
    }

    /// Returns why a dispatch can't be executed.
    fn check(&self, groups: [u32; 3], bound: &[Bound], setup: &Setup) -> Vec<Finding> {
        let limits = &setup.profile.limits;
        let mut wrong: Vec<(Kind, String, String)> = Vec::new();
        let most = limits.max_compute_workgroups_per_dimension;
        if let Some(&count) = groups.iter().find(|&&count| count > most) {
            wrong.push((Kind::Limit, String::new(), format!("{count} workgroups of at most {most}")));
        }
        let mut used = Vec::new();
        for binding in &self.code.bindings {
            let name = || binding.name.clone();
            let Some(found) = find(bound, binding) else {
                wrong.push((Kind::Binding, name(), "nothing is bound".into()));
                continue;
            };
            let end = found.offset.saturating_add(found.size);
            if found.size < binding.min_size || end > found.memory.len() || found.offset % 4 != 0 {
                let (min, len) = (binding.min_size, found.memory.len());
                wrong.push((Kind::Binding, name(), format!("bytes {}..{end} of {len}, at least {min}", found.offset)));
                continue;
            }
            let most = if binding.uniform {
                limits.max_uniform_buffer_binding_size
            } else {
                limits.max_storage_buffer_binding_size
            };
            if found.size > most {
                wrong.push((Kind::Limit, name(), format!("{} bytes are bound, of at most {most}", found.size)));
            }
            used.push((binding, found));
        }
        for (i, (binding, a)) in used.iter().enumerate() {
            for (other, b) in &used[..i] {
                let overlap = a.offset < b.offset + b.size && b.offset < a.offset + a.size;
                if (binding.writable || other.writable) && overlap && Arc::ptr_eq(&a.memory, &b.memory) {
                    wrong.push((Kind::Aliasing, binding.name.clone(), format!("with `{}`", other.name)));
                }
            }
        }
        let finding = |(kind, what, detail)| Finding {
            kind,
            kernel: setup.label.clone(),
            entry: self.entry.clone(),
            setup: describe(setup),
            location: None,
            other_location: None,
            what,
            detail,
            invocations: Vec::new(),
            count: 1,
        };
        wrong.into_iter().map(finding).collect()
    }
}

fn describe(setup: &Setup) -> String {
    format!("{}, seed {}, order {}", setup.profile.name, setup.seed, setup.order)
}

fn find<'a>(bound: &'a [Bound], binding: &super::program::Binding) -> Option<&'a Bound> {
    bound.iter().find(|bound| (bound.group, bound.binding) == (binding.group, binding.binding))
}

/// The order of workgroups: a step that has no factor in common with their number, from a first one on.
#[derive(Clone, Copy, Debug)]
struct GroupOrder {
    count: u64,
    first: u64,
    step: u64,
}

impl GroupOrder {
    fn at(self, position: u32) -> u32 {
        ((self.first + u64::from(position) * self.step) % self.count) as u32
    }
}

/// Draws an order: forward, reversed or scattered.
fn order(count: u32, seed: u64) -> GroupOrder {
    let mut random = Random::new(seed, 0x02de2);
    let all = u64::from(count);
    let gcd = |mut a: u64, mut b: u64| {
        while b != 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    let (first, step) = match random.below(4) {
        0 => (0, 1),
        1 => (all - 1, all - 1),
        _ => {
            let mut step = random.draw() % all + 1;
            while gcd(step, all) != 1 {
                step += 1;
            }
            (random.draw() % all, step)
        }
    };
    GroupOrder { count: all, first, step: step.max(1) }
}

impl Running<'_> {
    pub(super) fn is_aborted(&self) -> bool {
        self.aborted.load(Relaxed)
    }

    pub(super) fn abort(&self) {
        self.aborted.store(true, Relaxed);
    }

    pub(super) fn count(&self, executed: u64) {
        self.executed.fetch_add(executed, Relaxed);
    }

    pub(super) fn reach(&self, point: u32) {
        let reached = &self.program.code.points[point as usize].reached;
        if !reached.load(Relaxed) {
            reached.store(true, Relaxed);
        }
    }

    pub(super) fn invocation(&self, linear: u32, index: u32) -> Invocation {
        let [x, y, _] = self.groups;
        Invocation { workgroup: [linear % x, linear / x % y, linear / x / y], index }
    }

    /// Returns the variable, with the member and the index, that a word belongs to.
    pub(super) fn name(&self, space: Space, word: u32) -> String {
        let (code, module) = (&self.program.code, &self.program.module);
        let (name, ty, layout, word) = match space {
            Space::Buffer(binding) => {
                let binding = usize::from(binding);
                (&code.bindings[binding].name, code.binding_types[binding], Layout::Host, word)
            }
            Space::Workgroup => {
                let Some(shared) = code.shared.iter().find(|s| (s.offset..s.offset + s.size).contains(&word)) else {
                    return String::new();
                };
                (&shared.name, shared.ty, Layout::Flat, word - shared.offset)
            }
        };
        format!("{name}{}", path(module, &module.types[ty].inner, layout, word))
    }
}
