//! One workgroup: its memory, its teams and their order.

use super::dispatch::{Buffer, Running};
use super::finding::Kind;
use super::lanes::MAX_LANES;
use super::memory::POISON;
use super::op::{Op, Pc, Space};
use super::random::{Random, combine};
use super::report::Reports;
use super::shadow::{Earlier, Stamp, WorkgroupShadow};
use super::team::{Stop, Team};
use naga::BuiltIn;

/// A workgroup that is executed.
#[derive(Debug)]
pub(super) struct Group<'a> {
    pub(super) dispatch: &'a Running<'a>,
    /// The `workgroup_id`.
    id: [u32; 3],
    linear: u32,
    /// Workgroup memory.
    pub(super) shared: Vec<u32>,
    pub(super) shadow: Vec<WorkgroupShadow>,
    /// The number of barriers so far that order workgroup memory, from 1 on.
    pub(super) epoch: u32,
    /// The number of barriers so far that order storage memory.
    storage_epoch: u32,
    /// The number of operations so far, each for one invocation.
    pub(super) executed: u64,
    /// Where a `workgroupUniformLoad` is, the address and who came first.
    uniform: Option<(Pc, u32, u16)>,
    random: Random,
    /// After how many writes another team runs.
    until_preempted: u64,
    reports: Reports,
}

/// In which order teams run from one barrier to the next.
#[derive(Clone, Copy, Debug)]
enum Order {
    Forward,
    Reversed,
    Shuffled,
}

impl<'a> Group<'a> {
    pub(super) fn new(dispatch: &'a Running<'a>, linear: u32) -> Self {
        let [x, y, _] = dispatch.groups;
        let shared = dispatch.program.code.shared.last().map_or(0, |last| (last.offset + last.size) as usize);
        let zero = dispatch.setup.zero_workgroup_memory;
        Self {
            dispatch,
            id: [linear % x, linear / x % y, linear / x / y],
            linear,
            shared: vec![if zero { 0 } else { POISON }; shared],
            shadow: vec![WorkgroupShadow::new(zero); shared],
            epoch: 1,
            storage_epoch: 1,
            executed: 0,
            uniform: None,
            random: Random::new(dispatch.setup.order, combine(0x960, linear.into())),
            until_preempted: u64::MAX,
            reports: Reports::default(),
        }
    }

    /// Executes the workgroup and returns what it found.
    pub(super) fn run(mut self) -> Reports {
        let mut teams = self.teams();
        let mut order: Vec<usize> = (0..teams.len()).collect();
        let policy = match self.random.below(4) {
            0 => Order::Forward,
            1 => Order::Reversed,
            _ => Order::Shuffled,
        };
        // Half of the workgroups run one team as far as it can, the others switch between writes.
        let preempting = self.random.below(2) == 0;
        loop {
            match policy {
                Order::Forward => {}
                Order::Reversed => order.sort_by_key(|&team| std::cmp::Reverse(team)),
                Order::Shuffled => self.random.shuffle(&mut order),
            }
            let mut waiting: Vec<usize> = order.iter().copied().filter(|&i| teams[i].stop == Stop::Preempted).collect();
            while !waiting.is_empty() {
                let next = if preempting { self.random.below(waiting.len()) } else { 0 };
                self.until_preempted = if preempting { self.random.below(64) as u64 + 1 } else { u64::MAX };
                let team = &mut teams[waiting[next]];
                team.stop = team.run(&mut self);
                match team.stop {
                    Stop::Abort => return self.finish(),
                    Stop::Preempted => {}
                    Stop::Barrier | Stop::Done => {
                        waiting.remove(next);
                    }
                }
            }
            if teams.iter().all(|team| team.stop == Stop::Done) || !self.pass_barrier(&mut teams) {
                return self.finish();
            }
        }
    }

    fn finish(self) -> Reports {
        self.dispatch.count(self.executed);
        self.reports
    }

    /// Lets all teams pass the barrier that they wait at, unless they wait at different ones.
    fn pass_barrier(&mut self, teams: &mut [Team]) -> bool {
        let Some(first) = teams.iter().find(|team| team.stop == Stop::Barrier) else { return false };
        let pc = first.pc - 1;
        let differs =
            |team: &&Team| team.stop != Stop::Barrier || team.pc != first.pc || team.passes().ne(first.passes());
        if let Some(other) = teams.iter().find(differs) {
            let (present, absent) = (first.indices[0], other.indices[0]);
            self.non_uniform_barrier(pc, present, absent);
            return false;
        }
        if let Op::Barrier { workgroup, storage } = self.dispatch.program.code.ops[pc as usize] {
            self.epoch += u32::from(workgroup);
            self.storage_epoch += u32::from(storage);
        }
        self.uniform = None;
        teams.iter_mut().for_each(|team| team.stop = Stop::Preempted);
        true
    }

    fn teams(&self) -> Vec<Team> {
        let dispatch = self.dispatch;
        let code = &dispatch.program.code;
        let count = dispatch.lanes.len().div_ceil(dispatch.width);
        let mut teams = Vec::with_capacity(count);
        for (subgroup, indices) in dispatch.lanes.chunks(dispatch.width).enumerate() {
            let team = Team::new(indices.to_vec(), code.registers);
            for &(reg, value) in &code.constants {
                team.row(reg).iter().for_each(|word| word.set(value));
            }
            for &(built_in, component, reg) in &code.builtins {
                for (lane, word) in team.row(reg).iter().enumerate() {
                    let index = u32::from(indices[lane]);
                    word.set(match built_in {
                        BuiltIn::NumSubgroups => count as u32,
                        BuiltIn::SubgroupId => subgroup as u32,
                        BuiltIn::SubgroupSize => dispatch.width as u32,
                        BuiltIn::SubgroupInvocationId => lane as u32,
                        _ => self.built_in(built_in, component as usize, index),
                    });
                }
            }
            teams.push(team);
        }
        teams
    }

    fn built_in(&self, built_in: BuiltIn, component: usize, index: u32) -> u32 {
        let size = self.dispatch.program.workgroup_size;
        let local = [index % size[0], index / size[0] % size[1], index / size[0] / size[1]];
        match built_in {
            BuiltIn::LocalInvocationIndex => index,
            BuiltIn::LocalInvocationId => local[component],
            BuiltIn::WorkGroupId => self.id[component],
            BuiltIn::WorkGroupSize => size[component],
            BuiltIn::NumWorkGroups => self.dispatch.groups[component],
            BuiltIn::GlobalInvocationId => {
                self.id[component].wrapping_mul(size[component]).wrapping_add(local[component])
            }
            _ => 0,
        }
    }

    /// Whether another team is to run, after a write.
    pub(super) fn preempts(&mut self) -> bool {
        self.until_preempted -= 1;
        self.until_preempted == 0
    }

    /// Checks the budget, where a loop begins anew.
    pub(super) fn within_budget(&mut self, pc: Pc, team: &Team) -> bool {
        let budget = self.dispatch.setup.step_budget;
        if self.executed <= budget && !self.dispatch.is_aborted() {
            return true;
        }
        if self.executed > budget {
            self.dispatch.abort();
            let lane = team.indices[team.lanes().next().unwrap_or(0)];
            self.report(Kind::Budget, pc, lane, || format!("{budget} operations in a workgroup"));
        }
        false
    }

    pub(super) fn stamp(&self, buffer: &Buffer<'_>, lane: u16) -> Stamp {
        Stamp::new(buffer.generation, self.linear, self.storage_epoch, lane.into())
    }

    pub(super) fn uniform(&mut self, pc: Pc, lane: u16, address: u32) {
        match self.uniform {
            Some((known, first, other)) if known == pc && first != address => {
                self.report_pair(Kind::NonUniformPointer, pc, None, [lane, other], || {
                    (String::new(), format!("offsets {address} and {first}"))
                });
            }
            _ => self.uniform = Some((pc, address, lane)),
        }
    }

    pub(super) fn non_uniform_barrier(&mut self, pc: Pc, present: u16, absent: u16) {
        self.report_pair(Kind::NonUniformBarrier, pc, None, [present, absent], || {
            (String::new(), "the first is there, the second is not".into())
        });
    }

    pub(super) fn race(
        &mut self,
        pc: Pc,
        lane: u16,
        (space, word): (Space, u32),
        earlier: Earlier,
        writes: bool,
        same_value: bool,
    ) {
        let kind = if writes && earlier.wrote && same_value { Kind::SameValueRace } else { Kind::Race };
        let other = self.dispatch.invocation(earlier.workgroup.unwrap_or(self.linear), earlier.lane);
        let own = self.dispatch.invocation(self.linear, lane.into());
        let dispatch = self.dispatch;
        self.reports.add((kind, pc, Some(earlier.site)), || {
            let verb = |wrote| if wrote { "write" } else { "read" };
            let detail = format!("{} after {}", verb(writes), verb(earlier.wrote));
            (dispatch.name(space, word), detail, vec![own, other])
        });
    }

    pub(super) fn report(&mut self, kind: Kind, pc: Pc, lane: u16, detail: impl FnOnce() -> String) {
        self.report_at(kind, pc, lane, || (String::new(), detail()));
    }

    /// Reports what happened at a variable.
    pub(super) fn report_at(&mut self, kind: Kind, pc: Pc, lane: u16, words: impl FnOnce() -> (String, String)) {
        let own = self.dispatch.invocation(self.linear, lane.into());
        self.reports.add((kind, pc, None), || {
            let (what, detail) = words();
            (what, detail, vec![own])
        });
    }

    pub(super) fn report_pair(
        &mut self,
        kind: Kind,
        pc: Pc,
        other: Option<Pc>,
        lanes: [u16; 2],
        words: impl FnOnce() -> (String, String),
    ) {
        let lanes = lanes.map(|lane| self.dispatch.invocation(self.linear, lane.into()));
        self.reports.add((kind, pc, other), || {
            let (what, detail) = words();
            (what, detail, lanes.to_vec())
        });
    }
}

/// Returns how many invocations step together.
pub(super) fn team_width(running: &Running<'_>, subgroup: u32) -> usize {
    let invocations = running.program.invocations() as usize;
    if running.program.uses_subgroups() {
        return (subgroup as usize).min(MAX_LANES);
    }
    let widths = [1, subgroup as usize, MAX_LANES, MAX_LANES];
    widths[Random::new(running.setup.order, 0x71d7).below(widths.len())].min(invocations).max(1)
}
