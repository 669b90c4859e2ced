//! Subgroup operations.

use super::super::op::{Collective, CollectiveOp, Gather, NONE, Op, Reg, ScalarType};
use super::types::unsupported;
use super::{Compiler, Result, Value};
use naga::{CollectiveOperation, Direction, Expression, GatherMode, Handle, ScalarKind, SubgroupOperation};

impl Compiler<'_> {
    fn collective(&mut self, op: CollectiveOp, dst: Reg, a: Reg, index: Reg) {
        self.code.uses_subgroups = true;
        let entry = self.code.tables.collectives.len() as u32;
        self.code.tables.collectives.push(Collective { op, dst, a, index });
        self.op(Op::Collective(entry));
    }

    pub(super) fn ballot(&mut self, result: Handle<Expression>, predicate: Option<Handle<Expression>>) -> Result<()> {
        let predicate = match predicate {
            Some(predicate) => self.word(predicate)?,
            None => self.constant(1),
        };
        let dst = self.registers(4);
        self.collective(CollectiveOp::Ballot, dst, predicate, NONE);
        self.set(result, Value::Words((dst..dst + 4).collect()));
        Ok(())
    }

    pub(super) fn gather(
        &mut self,
        mode: GatherMode,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let (mode, index) = match mode {
            GatherMode::BroadcastFirst => (Gather::First, None),
            GatherMode::Broadcast(index) => (Gather::Broadcast, Some(index)),
            GatherMode::Shuffle(index) => (Gather::Shuffle, Some(index)),
            GatherMode::ShuffleDown(delta) => (Gather::Down, Some(delta)),
            GatherMode::ShuffleUp(delta) => (Gather::Up, Some(delta)),
            GatherMode::ShuffleXor(mask) => (Gather::Xor, Some(mask)),
            GatherMode::QuadBroadcast(index) => (Gather::QuadBroadcast, Some(index)),
            GatherMode::QuadSwap(Direction::X) => (Gather::QuadSwap(1), None),
            GatherMode::QuadSwap(Direction::Y) => (Gather::QuadSwap(2), None),
            GatherMode::QuadSwap(Direction::Diagonal) => (Gather::QuadSwap(3), None),
        };
        let index = match index {
            Some(index) => self.word(index)?,
            None => NONE,
        };
        self.each(CollectiveOp::Gather(mode), argument, result, index)
    }

    pub(super) fn reduce(
        &mut self,
        op: SubgroupOperation,
        collective: CollectiveOperation,
        argument: Handle<Expression>,
        result: Handle<Expression>,
    ) -> Result<()> {
        let ty = match self.kind(argument) {
            ScalarKind::Bool => ScalarType::Bool,
            ScalarKind::Sint => ScalarType::I32,
            ScalarKind::Uint => ScalarType::U32,
            ScalarKind::Float => ScalarType::F32,
            other => return unsupported(format!("subgroup operations of {other:?}")),
        };
        self.each(CollectiveOp::Reduce(op, collective, ty), argument, result, NONE)
    }

    /// Emits an operation for each component.
    fn each(
        &mut self,
        op: CollectiveOp,
        argument: Handle<Expression>,
        result: Handle<Expression>,
        index: Reg,
    ) -> Result<()> {
        let mut all = Vec::new();
        for a in self.words_of(argument)? {
            let dst = self.register();
            self.collective(op, dst, a, index);
            all.push(dst);
        }
        self.set(result, Value::Words(all));
        Ok(())
    }
}
