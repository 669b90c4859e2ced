//! Subgroup operations.

use super::finding::Kind;
use super::group::Group;
use super::lanes::{Lanes, first};
use super::op::{Collective, CollectiveOp, Gather, Pc, ScalarType};
use super::random::{Random, combine};
use super::team::Team;
use naga::{CollectiveOperation, SubgroupOperation};

impl Team {
    pub(super) fn collective(&self, group: &mut Group<'_>, pc: Pc, collective: &Collective) {
        if !self.is_full() {
            let absent = Lanes(first(self.width) & !self.mask).next().unwrap_or(0);
            let present = self.lanes().next().unwrap_or(0);
            let (present, absent) = (self.indices[present], self.indices[absent]);
            group.report_pair(Kind::NonUniformSubgroup, pc, None, [present, absent], || {
                (String::new(), format!("{} of {} invocations", self.mask.count_ones(), self.width))
            });
        }
        match collective.op {
            CollectiveOp::Ballot => {
                let ballot = self.nonzero(collective.a) & self.mask;
                for part in 0..4 {
                    let word = (ballot >> (32 * part)) as u32;
                    self.row(collective.dst + part).iter().for_each(|cell| cell.set(word));
                }
            }
            CollectiveOp::Gather(gather) => self.gather(group, pc, gather, collective),
            CollectiveOp::Reduce(op, scan, ty) => self.reduce(group, pc, (op, scan, ty), collective),
        }
    }

    fn gather(&self, group: &mut Group<'_>, pc: Pc, gather: Gather, collective: &Collective) {
        let values: Vec<u32> = self.row(collective.a).iter().map(|word| word.get()).collect();
        let index: Vec<u32> = match self.optional_row(collective.index) {
            Some(row) => row.iter().map(|word| word.get()).collect(),
            None => vec![0; self.width],
        };
        let leader = self.lanes().next().unwrap_or(0);
        if matches!(gather, Gather::Broadcast | Gather::QuadBroadcast | Gather::Down | Gather::Up | Gather::Xor)
            && let Some(other) = self.lanes().find(|&lane| index[lane] != index[leader])
        {
            let (a, b) = (index[leader], index[other]);
            group.report_pair(
                Kind::NonUniformBroadcast,
                pc,
                None,
                [leader, other].map(|lane| self.indices[lane]),
                || (String::new(), format!("{a} and {b}")),
            );
        }
        let dst = self.row(collective.dst);
        for lane in self.lanes() {
            let (own, index) = (lane as u32, index[lane]);
            let source = match gather {
                Gather::First => leader as u32,
                Gather::Broadcast | Gather::Shuffle => index,
                Gather::Down => own.saturating_add(index),
                Gather::Up => own.wrapping_sub(index),
                Gather::Xor => own ^ index,
                Gather::QuadBroadcast => own & !3 | index,
                Gather::QuadSwap(mask) => own ^ mask,
            };
            let present = (source as usize) < self.width && self.mask >> source & 1 != 0;
            if !present {
                // Reading past the end by a fixed distance is common, and defined as long as the value is not used.
                group.report(Kind::InactiveLane, pc, self.indices[lane], || {
                    format!("lane {lane} of {} reads lane {}", self.width, source.cast_signed())
                });
            }
            let garbage = || combine(group.dispatch.setup.seed ^ u64::from(pc), u64::from(own)) as u32 | 0x7fc0_0000;
            dst[lane].set(if present { values[source as usize] } else { garbage() });
        }
    }

    fn reduce(
        &self,
        group: &mut Group<'_>,
        pc: Pc,
        (op, scan, ty): (SubgroupOperation, CollectiveOperation, ScalarType),
        collective: &Collective,
    ) {
        let values: Vec<u32> = self.row(collective.a).iter().map(|word| word.get()).collect();
        let dst = self.row(collective.dst);
        let choices = group.dispatch.numerics.choices(pc);
        let fold = |a, b| apply(op, ty, a, b);
        let identity = identity(op, ty);
        if scan == CollectiveOperation::Reduce {
            // Sums of floats depend on the order, which WGSL leaves open.
            let mut order: Vec<usize> = self.lanes().collect();
            if choices.fuses() {
                Random::new(group.dispatch.setup.seed, pc.into()).shuffle(&mut order);
            }
            let all = order.iter().map(|&lane| values[lane]).reduce(fold).unwrap_or(identity);
            self.lanes().for_each(|lane| dst[lane].set(all));
            return;
        }
        let mut sum = identity;
        for lane in self.lanes() {
            let next = fold(sum, values[lane]);
            dst[lane].set(if scan == CollectiveOperation::ExclusiveScan { sum } else { next });
            sum = next;
        }
    }
}

fn identity(op: SubgroupOperation, ty: ScalarType) -> u32 {
    use SubgroupOperation as Op;
    match (op, ty) {
        (Op::All, _) => 1,
        (Op::Mul, ScalarType::F32) => 1f32.to_bits(),
        (Op::Mul, _) => 1,
        (Op::Min, ScalarType::F32) => f32::INFINITY.to_bits(),
        (Op::Max, ScalarType::F32) => f32::NEG_INFINITY.to_bits(),
        (Op::Min, ScalarType::I32) => i32::MAX.cast_unsigned(),
        (Op::Max, ScalarType::I32) => i32::MIN.cast_unsigned(),
        (Op::Min, _) | (Op::And, _) => u32::MAX,
        (Op::Any | Op::Add | Op::Max | Op::Or | Op::Xor, _) => 0,
    }
}

fn apply(op: SubgroupOperation, ty: ScalarType, a: u32, b: u32) -> u32 {
    use SubgroupOperation as Op;
    let (x, y) = (f32::from_bits(a), f32::from_bits(b));
    let (i, j) = (a.cast_signed(), b.cast_signed());
    match (op, ty) {
        (Op::Add, ScalarType::F32) => (x + y).to_bits(),
        (Op::Mul, ScalarType::F32) => (x * y).to_bits(),
        (Op::Min, ScalarType::F32) => x.min(y).to_bits(),
        (Op::Max, ScalarType::F32) => x.max(y).to_bits(),
        (Op::Min, ScalarType::I32) => i.min(j).cast_unsigned(),
        (Op::Max, ScalarType::I32) => i.max(j).cast_unsigned(),
        (Op::Add, _) => a.wrapping_add(b),
        (Op::Mul, _) => a.wrapping_mul(b),
        (Op::Min, _) => a.min(b),
        (Op::Max, _) => a.max(b),
        (Op::All | Op::And, _) => a & b,
        (Op::Any | Op::Or, _) => a | b,
        (Op::Xor, _) => a ^ b,
    }
}
