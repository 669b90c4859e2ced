//! Invocations that step together, under a mask: a subgroup, or any number where a kernel has no subgroup operations.

use super::finding::Kind;
use super::float::{Choices, flush, multiply_add};
use super::group::Group;
use super::lanes::{Lanes, Mask, first};
use super::op::{NONE, Op, Pc, Reg};
use super::operator::{Binary, Ternary, Unary};
use super::scalar;
use std::cell::Cell;

/// Why a team stops.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Stop {
    /// It waits at a barrier for the others.
    Barrier,
    /// Another team is to run first.
    Preempted,
    Done,
    /// The workgroup can't go on.
    Abort,
}

/// A construct around the operation.
#[derive(Clone, Copy, Debug, Default)]
struct Frame {
    /// The lanes that continue in this construct: at `else`, in a case or in `continuing`.
    pending: Mask,
    /// The lanes that come back at the construct's end.
    done: Mask,
    /// How many times a loop has begun anew.
    passes: u32,
}

#[derive(Debug)]
pub(super) struct Team {
    /// The registers, each with one word for each lane. Cells let operands and results be the same register.
    registers: Vec<Cell<u32>>,
    pub(super) width: usize,
    /// The `local_invocation_index` of each lane.
    pub(super) indices: Vec<u16>,
    pub(super) mask: Mask,
    pub(super) pc: Pc,
    frames: Vec<Frame>,
    pub(super) stop: Stop,
}

impl Team {
    pub(super) fn new(indices: Vec<u16>, registers: u32) -> Self {
        let width = indices.len();
        Self {
            registers: vec![Cell::new(0); registers as usize * width],
            width,
            indices,
            mask: first(width),
            pc: 0,
            frames: Vec::new(),
            stop: Stop::Preempted,
        }
    }

    pub(super) fn lanes(&self) -> Lanes {
        Lanes(self.mask)
    }

    pub(super) fn is_full(&self) -> bool {
        self.mask == first(self.width)
    }

    /// Returns the words of a register.
    pub(super) fn row(&self, reg: Reg) -> &[Cell<u32>] {
        let start = reg as usize * self.width;
        &self.registers[start..start + self.width]
    }

    /// Returns the words of a register, or `None` where there is no register.
    pub(super) fn optional_row(&self, reg: Reg) -> Option<&[Cell<u32>]> {
        (reg != NONE).then(|| self.row(reg))
    }

    /// Returns the lanes, active or not, in which a register is not zero.
    pub(super) fn nonzero(&self, reg: Reg) -> Mask {
        self.row(reg).iter().enumerate().fold(0, |mask, (lane, word)| mask | Mask::from(word.get() != 0) << lane)
    }

    /// How many times each loop around the operation has begun anew, by which two teams at one barrier are told apart.
    pub(super) fn passes(&self) -> impl Iterator<Item = u32> {
        self.frames.iter().map(|frame| frame.passes)
    }

    fn map1(&self, dst: Reg, a: Reg, f: impl Fn(u32) -> u32) {
        for (dst, a) in self.row(dst).iter().zip(self.row(a)) {
            dst.set(f(a.get()));
        }
    }

    fn map2(&self, dst: Reg, a: Reg, b: Reg, f: impl Fn(u32, u32) -> u32) {
        for ((dst, a), b) in self.row(dst).iter().zip(self.row(a)).zip(self.row(b)) {
            dst.set(f(a.get(), b.get()));
        }
    }

    fn map3(&self, dst: Reg, [a, b, c]: [Reg; 3], f: impl Fn([u32; 3]) -> u32) {
        let operands = self.row(a).iter().zip(self.row(b)).zip(self.row(c));
        for (dst, ((a, b), c)) in self.row(dst).iter().zip(operands) {
            dst.set(f([a.get(), b.get(), c.get()]));
        }
    }

    fn float2(&self, choices: Choices, [dst, a, b]: [Reg; 3], f: impl Fn(f32, f32) -> f32) {
        if choices.flushes() {
            let float = |bits| f32::from_bits(flush(bits));
            self.map2(dst, a, b, |a, b| flush(f(float(a), float(b)).to_bits()));
        } else {
            self.map2(dst, a, b, |a, b| f(f32::from_bits(a), f32::from_bits(b)).to_bits());
        }
    }

    fn compare(&self, choices: Choices, [dst, a, b]: [Reg; 3], f: impl Fn(f32, f32) -> bool) {
        let change = |bits| f32::from_bits(if choices.flushes() { flush(bits) } else { bits });
        self.map2(dst, a, b, |a, b| f(change(a), change(b)).into());
    }

    /// Steps until the team has to stop.
    pub(super) fn run(&mut self, group: &mut Group<'_>) -> Stop {
        let code = &group.dispatch.program.code;
        let mut active = u64::from(self.mask.count_ones());
        loop {
            let pc = self.pc;
            group.executed += active;
            self.pc += 1;
            match code.ops[pc as usize] {
                Op::Nop => {}
                Op::Const { dst, value } => self.row(dst).iter().for_each(|word| word.set(value)),
                Op::Copy { dst, src } => self.map1(dst, src, |word| word),
                Op::Set { dst, src } if self.is_full() => self.map1(dst, src, |word| word),
                Op::Set { dst, src } => {
                    let (dst, src) = (self.row(dst), self.row(src));
                    self.lanes().for_each(|lane| dst[lane].set(src[lane].get()));
                }
                Op::Unary { op, dst, a } => self.unary(group, pc, op, dst, a),
                Op::Binary { op, dst, a, b } => self.binary(group, pc, op, [dst, a, b]),
                Op::Ternary { op, dst, a, b, c } => self.ternary(group, pc, op, dst, [a, b, c]),
                Op::InsertBits { dst, base, bits, offset, count } => {
                    self.check(group, pc, [offset, count], |offset, count| {
                        scalar::is_past_end(offset, count).then_some(Kind::BitRange)
                    });
                    let (dst, base, bits) = (self.row(dst), self.row(base), self.row(bits));
                    let (offset, count) = (self.row(offset), self.row(count));
                    for lane in 0..self.width {
                        let [base, bits, offset, count] = [base, bits, offset, count].map(|row| row[lane].get());
                        dst[lane].set(scalar::insert_bits(base, bits, offset, count));
                    }
                }
                Op::Index(index) => self.index(group, pc, &code.tables.indices[index as usize]),
                Op::Load { dst, space, offset, address } => self.load(group, pc, dst, (space, offset, address)),
                Op::Store { src, space, offset, address } => {
                    self.store(group, pc, src, (space, offset, address));
                    if group.preempts() {
                        return Stop::Preempted;
                    }
                }
                Op::LoadLocal { dst, base, index } => self.load_local(dst, base, index),
                Op::StoreLocal { src, base, index } => self.store_local(src, base, index),
                Op::ArrayLength { dst, binding, offset, stride } => {
                    let words = group.dispatch.buffers[usize::from(binding)].words;
                    let length = words.saturating_sub(offset) / stride.max(1);
                    self.row(dst).iter().for_each(|word| word.set(length));
                }
                Op::Atomic(atomic) => {
                    self.atomic(group, pc, &code.tables.atomics[atomic as usize]);
                    if group.preempts() {
                        return Stop::Preempted;
                    }
                }
                Op::Collective(collective) => self.collective(group, pc, &code.tables.collectives[collective as usize]),
                Op::Barrier { .. } => {
                    if !self.is_full() {
                        let absent = self.indices[Lanes(first(self.width) & !self.mask).next().unwrap_or(0)];
                        let present = self.indices[self.lanes().next().unwrap_or(0)];
                        group.non_uniform_barrier(pc, present, absent);
                        return Stop::Abort;
                    }
                    return Stop::Barrier;
                }
                Op::Uniform { address } => self.uniform(group, pc, address),
                Op::Mark { point } => group.dispatch.reach(point),
                Op::Done => return Stop::Done,
                control => {
                    if !self.control(group, pc, control) {
                        return Stop::Abort;
                    }
                    active = self.mask.count_ones().into();
                }
            }
        }
    }

    /// Executes an operation of control flow, and returns whether the budget allows to go on.
    fn control(&mut self, group: &mut Group<'_>, pc: Pc, op: Op) -> bool {
        let code = &group.dispatch.program.code;
        let mut target = None;
        match op {
            Op::If { condition, otherwise } => {
                let taken = self.nonzero(condition) & self.mask;
                self.frames.push(Frame { pending: self.mask & !taken, ..Frame::default() });
                (self.mask, target) = (taken, Some(otherwise));
            }
            Op::Else { out } => {
                if let Some(frame) = self.frames.last_mut() {
                    frame.done = self.mask;
                    self.mask = std::mem::take(&mut frame.pending);
                }
                target = Some(out);
            }
            Op::EndIf { out } | Op::End { out } => {
                if let Some(frame) = self.frames.pop() {
                    self.mask |= frame.done;
                }
                target = Some(out);
            }
            Op::Begin => self.frames.push(Frame::default()),
            Op::Switch => {
                self.frames.push(Frame { pending: std::mem::take(&mut self.mask), ..Frame::default() });
            }
            Op::Case { case, next } => {
                let case = &code.tables.cases[case as usize];
                let selector = self.row(case.selector);
                let matches = |value: u32| match case.value {
                    Some(wanted) => value == wanted,
                    None => !case.others.contains(&value),
                };
                let pending = self.frames.last().map_or(0, |frame| frame.pending);
                let taken = Lanes(pending).filter(|&lane| matches(selector[lane].get()));
                let taken = taken.fold(0, |mask, lane| mask | 1 << lane);
                // They stay pending, since no other case takes them.
                self.mask |= taken;
                target = Some(next);
            }
            Op::Leave { levels, out } => {
                let mask = std::mem::take(&mut self.mask);
                if let Some(frame) = self.frame(levels) {
                    frame.done |= mask;
                }
                target = Some(out);
            }
            Op::Continue { levels, out } => {
                let mask = std::mem::take(&mut self.mask);
                if let Some(frame) = self.frame(levels) {
                    frame.pending |= mask;
                }
                target = Some(out);
            }
            Op::Continuing { exit } => {
                if let Some(frame) = self.frames.last_mut() {
                    self.mask |= std::mem::take(&mut frame.pending);
                }
                target = Some(exit);
            }
            Op::Repeat { break_if, start } => {
                let leaving = if break_if == NONE { 0 } else { self.nonzero(break_if) & self.mask };
                self.mask &= !leaving;
                if let Some(frame) = self.frames.last_mut() {
                    frame.done |= leaving;
                    frame.passes += 1;
                }
                if self.mask != 0 {
                    self.pc = start;
                }
                return group.within_budget(pc, self);
            }
            _ => {}
        }
        if self.mask == 0
            && let Some(target) = target
        {
            self.pc = target;
        }
        true
    }

    fn frame(&mut self, levels: u32) -> Option<&mut Frame> {
        let index = self.frames.len().checked_sub(levels as usize + 1)?;
        self.frames.get_mut(index)
    }

    /// Reports the active lanes in which two operands are wrong.
    fn check(&self, group: &mut Group<'_>, pc: Pc, [a, b]: [Reg; 2], wrong: impl Fn(u32, u32) -> Option<Kind>) {
        let (a, b) = (self.row(a), self.row(b));
        for lane in self.lanes() {
            let (a, b) = (a[lane].get(), b[lane].get());
            if let Some(kind) = wrong(a, b) {
                group.report(kind, pc, self.indices[lane], || {
                    let value = f32::from_bits(a);
                    match kind {
                        Kind::Conversion => format!("{value}"),
                        _ => format!("operands {} ({a:#x}) and {} ({b:#x})", a.cast_signed(), b.cast_signed()),
                    }
                });
            }
        }
    }

    /// Reports infinity and NaN of finite operands.
    fn check_finite(&self, group: &mut Group<'_>, pc: Pc, operands: &[Vec<u32>], dst: Reg) {
        let finite = |bits: u32| f32::from_bits(bits).is_finite();
        for lane in self.lanes() {
            let result = self.row(dst)[lane].get();
            if !finite(result) && operands.iter().all(|row| finite(row[lane])) {
                group.report(Kind::NonFinite, pc, self.indices[lane], || {
                    let operands: Vec<_> = operands.iter().map(|row| f32::from_bits(row[lane]).to_string()).collect();
                    format!("{} of {}", f32::from_bits(result), operands.join(", "))
                });
            }
        }
    }

    /// Returns the operands of an operation whose result has to be finite, before the result replaces them.
    fn finite_operands(&self, group: &Group<'_>, operands: &[Reg]) -> Option<Vec<Vec<u32>>> {
        let report = group.dispatch.setup.profile.report_nonfinite;
        report.then(|| operands.iter().map(|&reg| self.row(reg).iter().map(Cell::get).collect()).collect())
    }

    fn unary(&self, group: &mut Group<'_>, pc: Pc, op: Unary, dst: Reg, a: Reg) {
        match op {
            Unary::Float(function) => {
                let operands = self.finite_operands(group, &[a]);
                self.map1(dst, a, |a| group.dispatch.numerics.unary(pc, function, a));
                if let Some(operands) = operands {
                    self.check_finite(group, pc, &operands, dst);
                }
            }
            Unary::FToI | Unary::FToU => {
                self.check(group, pc, [a, a], |a, _| scalar::check_unary(op, a));
                self.map1(dst, a, |a| scalar::unary(op, a));
            }
            Unary::FNeg => self.map1(dst, a, |a| a ^ 0x8000_0000),
            Unary::BoolNot => self.map1(dst, a, |a| u32::from(a == 0)),
            Unary::UToF => self.map1(dst, a, |a| (a as f32).to_bits()),
            _ => self.map1(dst, a, |a| scalar::unary(op, a)),
        }
    }

    fn binary(&self, group: &mut Group<'_>, pc: Pc, op: Binary, registers @ [dst, a, b]: [Reg; 3]) {
        let overflow = group.dispatch.setup.profile.report_overflow;
        if scalar::is_checked(op, overflow) {
            self.check(group, pc, [a, b], |a, b| scalar::check_binary(op, a, b, overflow));
        }
        let choices = group.dispatch.numerics.choices(pc);
        let is_float = matches!(op, Binary::FAdd | Binary::FSub | Binary::FMul | Binary::FDiv | Binary::Pow);
        let operands = if is_float { self.finite_operands(group, &[a, b]) } else { None };
        match op {
            Binary::FAdd => self.float2(choices, registers, |a, b| a + b),
            Binary::FSub => self.float2(choices, registers, |a, b| a - b),
            Binary::FMul => self.float2(choices, registers, |a, b| a * b),
            Binary::FEqual => self.compare(choices, registers, |a, b| a == b),
            Binary::FNotEqual => self.compare(choices, registers, |a, b| a != b),
            Binary::FLess => self.compare(choices, registers, |a, b| a < b),
            Binary::FLessEqual => self.compare(choices, registers, |a, b| a <= b),
            Binary::FDiv
            | Binary::FRem
            | Binary::FMin
            | Binary::FMax
            | Binary::Pow
            | Binary::Atan2
            | Binary::Step
            | Binary::Ldexp => self.map2(dst, a, b, |a, b| group.dispatch.numerics.binary(pc, op, a, b)),
            Binary::IAdd { .. } => self.map2(dst, a, b, u32::wrapping_add),
            Binary::ISub { .. } => self.map2(dst, a, b, u32::wrapping_sub),
            Binary::IMul { .. } => self.map2(dst, a, b, u32::wrapping_mul),
            Binary::And => self.map2(dst, a, b, |a, b| a & b),
            Binary::Or => self.map2(dst, a, b, |a, b| a | b),
            Binary::Xor => self.map2(dst, a, b, |a, b| a ^ b),
            Binary::Equal => self.map2(dst, a, b, |a, b| u32::from(a == b)),
            Binary::NotEqual => self.map2(dst, a, b, |a, b| u32::from(a != b)),
            Binary::ULess => self.map2(dst, a, b, |a, b| u32::from(a < b)),
            Binary::ULessEqual => self.map2(dst, a, b, |a, b| u32::from(a <= b)),
            Binary::ShiftLeft => self.map2(dst, a, b, u32::wrapping_shl),
            Binary::ShiftRightU => self.map2(dst, a, b, u32::wrapping_shr),
            _ => self.map2(dst, a, b, |a, b| scalar::binary(op, a, b)),
        }
        if let Some(operands) = operands {
            self.check_finite(group, pc, &operands, dst);
        }
    }

    fn ternary(&self, group: &mut Group<'_>, pc: Pc, op: Ternary, dst: Reg, registers: [Reg; 3]) {
        let numerics = &group.dispatch.numerics;
        let choices = numerics.choices(pc);
        let sum = |sign: [f32; 2]| {
            move |[a, b, c]: [u32; 3]| {
                let change = |bits| f32::from_bits(if choices.flushes() { flush(bits) } else { bits });
                let result = multiply_add(choices, sign[0] * change(a), change(b), sign[1] * change(c)).to_bits();
                if choices.flushes() { flush(result) } else { result }
            }
        };
        let is_sum = matches!(op, Ternary::Fma | Ternary::MulAdd | Ternary::MulSub | Ternary::NegMulAdd);
        let operands = if is_sum { self.finite_operands(group, &registers) } else { None };
        match op {
            Ternary::Fma | Ternary::MulAdd => self.map3(dst, registers, sum([1.0, 1.0])),
            Ternary::MulSub => self.map3(dst, registers, sum([1.0, -1.0])),
            Ternary::NegMulAdd => self.map3(dst, registers, sum([-1.0, 1.0])),
            Ternary::Select => self.map3(dst, registers, |[a, b, c]| if a != 0 { b } else { c }),
            Ternary::Mix | Ternary::SmoothStep | Ternary::FClamp => {
                self.map3(dst, registers, |operands| numerics.ternary(pc, op, operands));
            }
            Ternary::ExtractI | Ternary::ExtractU => {
                self.check(group, pc, [registers[1], registers[2]], |offset, count| {
                    scalar::is_past_end(offset, count).then_some(Kind::BitRange)
                });
                self.map3(dst, registers, |operands| scalar::ternary(op, operands));
            }
            Ternary::IClamp | Ternary::UClamp => self.map3(dst, registers, |operands| scalar::ternary(op, operands)),
        }
        if let Some(operands) = operands {
            self.check_finite(group, pc, &operands, dst);
        }
    }
}
