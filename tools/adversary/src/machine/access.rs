//! Accesses to memory, and what is checked about them.

use super::finding::Kind;
use super::group::Group;
use super::op::{Atomic, AtomicOp, Count, Index, Pc, Reg, Space};
use super::team::Team;
use naga::AtomicFunction;
use std::cell::Cell;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

/// The address of an access out of bounds that reads zero and writes nothing.
pub(super) const NOWHERE: u32 = u32::MAX;

/// Where an access is: the variable's memory, a constant offset, and a register to add.
pub(super) type Place = (Space, u32, Reg);

/// Returns the offset in words of a lane's access.
fn word_at(offset: u32, address: Option<&[Cell<u32>]>, lane: usize) -> u32 {
    match address.map(|row| row[lane].get()) {
        Some(NOWHERE) => NOWHERE,
        Some(address) => offset.saturating_add(address),
        None => offset,
    }
}

impl Team {
    pub(super) fn index(&self, group: &mut Group<'_>, pc: Pc, index: &Index) {
        let count = match index.count {
            Count::Fixed(count) => count,
            Count::Runtime { binding, offset, stride } => {
                group.dispatch.buffers[usize::from(binding)].words.saturating_sub(offset) / stride.max(1)
            }
        };
        let (dst, indices, base) = (self.row(index.dst), self.row(index.index), self.optional_row(index.base));
        for lane in self.lanes() {
            let mut at = indices[lane].get();
            let base = base.map_or(0, |base| base[lane].get());
            if at >= count {
                group.report_at(Kind::OutOfBounds, pc, self.indices[lane], || {
                    let shown = if index.signed { i64::from(at.cast_signed()) } else { i64::from(at) };
                    (format!("{}[{shown}]", index.what), format!("index {shown} of {count}"))
                });
                at = match group.dispatch.clamps && count > 0 {
                    true if index.signed && at.cast_signed() < 0 => 0,
                    true => count - 1,
                    false => NOWHERE,
                };
            }
            let address = if at == NOWHERE || base == NOWHERE { NOWHERE } else { base + at * index.stride };
            dst[lane].set(address);
        }
    }

    pub(super) fn load(&self, group: &mut Group<'_>, pc: Pc, dst: Reg, (space, offset, address): Place) {
        let (dst, address) = (self.row(dst), self.optional_row(address));
        for lane in self.lanes() {
            let word = word_at(offset, address, lane);
            let value = match space {
                Space::Workgroup => group.read_shared(pc, self.indices[lane], word),
                Space::Buffer(binding) => group.read_buffer(pc, self.indices[lane], binding, word),
            };
            dst[lane].set(value);
        }
    }

    pub(super) fn store(&self, group: &mut Group<'_>, pc: Pc, src: Reg, (space, offset, address): Place) {
        let (src, address) = (self.row(src), self.optional_row(address));
        for lane in self.lanes() {
            let (word, value) = (word_at(offset, address, lane), src[lane].get());
            match space {
                Space::Workgroup => group.write_shared(pc, self.indices[lane], word, value),
                Space::Buffer(binding) => group.write_buffer(pc, self.indices[lane], binding, word, value),
            }
        }
    }

    pub(super) fn load_local(&self, dst: Reg, base: Reg, index: Reg) {
        let (dst, index) = (self.row(dst), self.row(index));
        for lane in self.lanes() {
            let at = index[lane].get();
            dst[lane].set(if at == NOWHERE { 0 } else { self.row(base + at)[lane].get() });
        }
    }

    pub(super) fn store_local(&self, src: Reg, base: Reg, index: Reg) {
        let (src, index) = (self.row(src), self.row(index));
        for lane in self.lanes() {
            let at = index[lane].get();
            if at != NOWHERE {
                self.row(base + at)[lane].set(src[lane].get());
            }
        }
    }

    pub(super) fn atomic(&self, group: &mut Group<'_>, pc: Pc, atomic: &Atomic) {
        let (dst, exchanged) = (self.optional_row(atomic.dst), self.optional_row(atomic.exchanged));
        let (address, value) = (self.optional_row(atomic.address), self.optional_row(atomic.value));
        let compare = self.optional_row(atomic.compare);
        let get = |row: Option<&[Cell<u32>]>, lane: usize| row.map_or(0, |row| row[lane].get());
        for lane in self.lanes() {
            let (value, compare) = (get(value, lane), get(compare, lane));
            let word = word_at(atomic.offset, address, lane);
            let old = group.update(pc, self.indices[lane], atomic, word, |old| match atomic.op {
                AtomicOp::Load => None,
                AtomicOp::Store => Some(value),
                AtomicOp::CompareExchange => (old == compare).then_some(value),
                AtomicOp::Update(function) => Some(update(function, atomic.signed, old, value)),
            });
            if let Some(dst) = dst {
                dst[lane].set(old);
            }
            if let Some(exchanged) = exchanged {
                exchanged[lane].set((old == compare).into());
            }
        }
    }

    /// Checks that all lanes have one address, and that of all other teams.
    pub(super) fn uniform(&self, group: &mut Group<'_>, pc: Pc, address: Reg) {
        let row = self.row(address);
        for lane in self.lanes() {
            group.uniform(pc, self.indices[lane], row[lane].get());
        }
    }
}

fn update(function: AtomicFunction, signed: bool, old: u32, value: u32) -> u32 {
    match function {
        AtomicFunction::Add => old.wrapping_add(value),
        AtomicFunction::Subtract => old.wrapping_sub(value),
        AtomicFunction::And => old & value,
        AtomicFunction::ExclusiveOr => old ^ value,
        AtomicFunction::InclusiveOr => old | value,
        AtomicFunction::Min if signed => old.cast_signed().min(value.cast_signed()).cast_unsigned(),
        AtomicFunction::Max if signed => old.cast_signed().max(value.cast_signed()).cast_unsigned(),
        AtomicFunction::Min => old.min(value),
        AtomicFunction::Max => old.max(value),
        AtomicFunction::Exchange { .. } => value,
    }
}

impl Group<'_> {
    fn read_shared(&mut self, pc: Pc, lane: u16, word: u32) -> u32 {
        let Some(shadow) = self.shadow.get_mut(word as usize) else { return 0 };
        let race = shadow.read(self.epoch, lane, pc);
        let dispatch = self.dispatch;
        if !shadow.written {
            self.report_at(Kind::Uninitialized, pc, lane, || (dispatch.name(Space::Workgroup, word), String::new()));
        }
        if let Some(earlier) = race {
            self.race(pc, lane, (Space::Workgroup, word), earlier, false, false);
        }
        self.shared[word as usize]
    }

    fn write_shared(&mut self, pc: Pc, lane: u16, word: u32, value: u32) {
        let Some(shadow) = self.shadow.get_mut(word as usize) else { return };
        let race = shadow.write(self.epoch, lane, pc);
        let old = std::mem::replace(&mut self.shared[word as usize], value);
        if let Some(earlier) = race {
            self.race(pc, lane, (Space::Workgroup, word), earlier, true, old == value);
        }
    }

    /// Returns the word of a buffer's memory, after reporting what is out of bounds.
    fn in_bounds(&mut self, pc: Pc, lane: u16, binding: u16, word: u32) -> Option<usize> {
        let dispatch = self.dispatch;
        let buffer = &dispatch.buffers[usize::from(binding)];
        if word < buffer.words {
            return Some(buffer.first + word as usize);
        }
        if word != NOWHERE {
            let words = buffer.words;
            self.report_at(Kind::OutOfBounds, pc, lane, || {
                (dispatch.name(Space::Buffer(binding), word), format!("word {word} of {words} that are bound"))
            });
        }
        None
    }

    fn read_buffer(&mut self, pc: Pc, lane: u16, binding: u16, word: u32) -> u32 {
        let Some(at) = self.in_bounds(pc, lane, binding, word) else { return 0 };
        let dispatch = self.dispatch;
        let buffer = &dispatch.buffers[usize::from(binding)];
        if !buffer.memory.is_word_written(at) {
            self.report_at(Kind::Uninitialized, pc, lane, || {
                (dispatch.name(Space::Buffer(binding), word), String::new())
            });
        }
        if let Some(shadow) = buffer.shadow
            && let Some(earlier) = shadow[at].read(self.stamp(buffer, lane), pc)
        {
            self.race(pc, lane, (Space::Buffer(binding), word), earlier, false, false);
        }
        buffer.memory.word(at).map_or(0, |word| word.load(Relaxed))
    }

    fn write_buffer(&mut self, pc: Pc, lane: u16, binding: u16, word: u32, value: u32) {
        let Some(at) = self.in_bounds(pc, lane, binding, word) else { return };
        let dispatch = self.dispatch;
        let buffer = &dispatch.buffers[usize::from(binding)];
        let race = buffer.shadow.and_then(|shadow| shadow[at].write(self.stamp(buffer, lane), pc));
        let old = buffer.memory.word(at).map_or(0, |word| word.swap(value, Relaxed));
        buffer.memory.mark_word(at);
        if let Some(earlier) = race {
            self.race(pc, lane, (Space::Buffer(binding), word), earlier, true, old == value);
        }
    }

    /// Replaces a word by what `change` returns, if anything, and returns what it was.
    fn update(&mut self, pc: Pc, lane: u16, atomic: &Atomic, word: u32, change: impl Fn(u32) -> Option<u32>) -> u32 {
        let reads = !matches!(atomic.op, AtomicOp::Store);
        let dispatch = self.dispatch;
        match atomic.space {
            Space::Workgroup => {
                let Some(shadow) = self.shadow.get_mut(word as usize) else { return 0 };
                let unwritten = reads && !shadow.written;
                shadow.written |= !matches!(atomic.op, AtomicOp::Load);
                let old = self.shared[word as usize];
                self.shared[word as usize] = change(old).unwrap_or(old);
                if unwritten {
                    let what = || (dispatch.name(Space::Workgroup, word), "by an atomic operation".into());
                    self.report_at(Kind::Uninitialized, pc, lane, what);
                }
                old
            }
            Space::Buffer(binding) => {
                let Some(at) = self.in_bounds(pc, lane, binding, word) else { return 0 };
                let memory = dispatch.buffers[usize::from(binding)].memory;
                if reads && !memory.is_word_written(at) {
                    let what = || (dispatch.name(Space::Buffer(binding), word), "by an atomic operation".into());
                    self.report_at(Kind::Uninitialized, pc, lane, what);
                }
                let Some(word) = memory.word(at) else { return 0 };
                let old = match atomic.op {
                    AtomicOp::Load => word.load(SeqCst),
                    _ => word.fetch_update(SeqCst, SeqCst, change).unwrap_or_else(|old| old),
                };
                if !matches!(atomic.op, AtomicOp::Load) {
                    memory.mark_word(at);
                }
                old
            }
        }
    }
}
