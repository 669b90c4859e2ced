//! The operations that the machine steps through. Each works on registers of 32 bits, one word for each invocation.

use super::operator::{Binary, Ternary, Unary};
use super::program::Binding;
use naga::{AtomicFunction, BuiltIn, CollectiveOperation, Handle, Span, SubgroupOperation, Type};
use std::sync::atomic::AtomicBool;

/// A register. During compilation, registers are virtual and without number.
pub(crate) type Reg = u32;

/// The absence of a register.
pub(crate) const NONE: Reg = Reg::MAX;

/// Where memory is that invocations share.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Space {
    Workgroup,
    /// The index in [`Code::bindings`].
    Buffer(u16),
}

/// Where a jump leads. While a mask is empty, the machine jumps to the operation where lanes come back.
pub(crate) type Pc = u32;

#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    Nop,
    Const {
        dst: Reg,
        value: u32,
    },
    /// Writes to the active lanes only.
    Set {
        dst: Reg,
        src: Reg,
    },
    Copy {
        dst: Reg,
        src: Reg,
    },
    Unary {
        op: Unary,
        dst: Reg,
        a: Reg,
    },
    Binary {
        op: Binary,
        dst: Reg,
        a: Reg,
        b: Reg,
    },
    Ternary {
        op: Ternary,
        dst: Reg,
        a: Reg,
        b: Reg,
        c: Reg,
    },
    InsertBits {
        dst: Reg,
        base: Reg,
        bits: Reg,
        offset: Reg,
        count: Reg,
    },
    /// An entry of [`Tables::indices`].
    Index(u32),
    Load {
        dst: Reg,
        space: Space,
        offset: u32,
        address: Reg,
    },
    Store {
        src: Reg,
        space: Space,
        offset: u32,
        address: Reg,
    },
    /// Reads the register `base` + `index`.
    LoadLocal {
        dst: Reg,
        base: Reg,
        index: Reg,
    },
    StoreLocal {
        src: Reg,
        base: Reg,
        index: Reg,
    },
    ArrayLength {
        dst: Reg,
        binding: u16,
        offset: u32,
        stride: u32,
    },
    /// An entry of [`Tables::atomics`].
    Atomic(u32),
    /// An entry of [`Tables::collectives`].
    Collective(u32),
    Barrier {
        workgroup: bool,
        storage: bool,
    },
    /// Checks that a `workgroupUniformLoad` has one address.
    Uniform {
        address: Reg,
    },
    Mark {
        point: u32,
    },
    If {
        condition: Reg,
        otherwise: Pc,
    },
    Else {
        out: Pc,
    },
    EndIf {
        out: Pc,
    },
    /// Begins a loop or a call.
    Begin,
    /// Begins a switch, whose cases take the lanes.
    Switch,
    /// Deactivates the lanes until the end of a construct that is `levels` up.
    Leave {
        levels: u32,
        out: Pc,
    },
    Continue {
        levels: u32,
        out: Pc,
    },
    Continuing {
        exit: Pc,
    },
    Repeat {
        break_if: Reg,
        start: Pc,
    },
    /// An entry of [`Tables::cases`].
    Case {
        case: u32,
        next: Pc,
    },
    /// Ends a loop, a switch or a call.
    End {
        out: Pc,
    },
    Done,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Count {
    Fixed(u32),
    /// The elements of a runtime-sized array that begins at an offset.
    Runtime {
        binding: u16,
        offset: u32,
        stride: u32,
    },
}

/// Computes `base + index * stride` and checks the index.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    pub(crate) dst: Reg,
    pub(crate) base: Reg,
    pub(crate) index: Reg,
    pub(crate) signed: bool,
    pub(crate) count: Count,
    pub(crate) stride: u32,
    pub(crate) what: String,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum AtomicOp {
    Load,
    Store,
    Update(AtomicFunction),
    CompareExchange,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Atomic {
    pub(crate) op: AtomicOp,
    pub(crate) signed: bool,
    pub(crate) dst: Reg,
    pub(crate) exchanged: Reg,
    pub(crate) space: Space,
    pub(crate) offset: u32,
    pub(crate) address: Reg,
    pub(crate) value: Reg,
    pub(crate) compare: Reg,
}

#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum ScalarType {
    Bool,
    I32,
    U32,
    F32,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Gather {
    First,
    Broadcast,
    Shuffle,
    Down,
    Up,
    Xor,
    QuadBroadcast,
    QuadSwap(u32),
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum CollectiveOp {
    /// Writes four registers from `dst` on.
    Ballot,
    Gather(Gather),
    Reduce(SubgroupOperation, CollectiveOperation, ScalarType),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Collective {
    pub(crate) op: CollectiveOp,
    pub(crate) dst: Reg,
    pub(crate) a: Reg,
    /// The lane or the distance.
    pub(crate) index: Reg,
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) selector: Reg,
    /// The value, or `None` for the default.
    pub(crate) value: Option<u32>,
    /// For the default, the values of all cases.
    pub(crate) others: Vec<u32>,
}

/// The place of an operation in the WGSL.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) function: u32,
    pub(crate) span: Span,
}

/// A place whose execution is recorded: the statements up to the next place.
#[derive(Debug)]
pub(crate) struct Point {
    pub(crate) function: u32,
    /// Which side of which branch begins here.
    pub(crate) branch: Option<(&'static str, Span)>,
    pub(crate) statements: Vec<Span>,
    pub(crate) reached: AtomicBool,
}

/// A variable in workgroup memory.
#[derive(Clone, Debug)]
pub(crate) struct Shared {
    pub(crate) name: String,
    pub(crate) ty: Handle<Type>,
    pub(crate) offset: u32,
    pub(crate) size: u32,
}

/// The operands of operations that have many.
#[derive(Debug, Default)]
pub(crate) struct Tables {
    pub(crate) indices: Vec<Index>,
    pub(crate) atomics: Vec<Atomic>,
    pub(crate) collectives: Vec<Collective>,
    pub(crate) cases: Vec<Case>,
}

/// A compiled entry point, with all calls inlined.
#[derive(Debug, Default)]
pub(crate) struct Code {
    pub(crate) ops: Vec<Op>,
    /// The index in `sites` of each operation.
    pub(crate) site_of: Vec<u32>,
    pub(crate) sites: Vec<Site>,
    pub(crate) functions: Vec<String>,
    pub(crate) tables: Tables,
    pub(crate) points: Vec<Point>,
    /// Registers that hold a constant from the beginning.
    pub(crate) constants: Vec<(Reg, u32)>,
    pub(crate) builtins: Vec<(BuiltIn, u32, Reg)>,
    pub(crate) registers: u32,
    pub(crate) bindings: Vec<Binding>,
    pub(crate) binding_types: Vec<Handle<Type>>,
    pub(crate) shared: Vec<Shared>,
    pub(crate) workgroup_bytes: u32,
    pub(crate) uses_subgroups: bool,
    pub(crate) uses_storage_atomics: bool,
}

impl Op {
    /// Returns the operation for a finding in a module without source.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Unary { op, .. } => format!("{op:?}"),
            Self::Binary { op, .. } => format!("{op:?}"),
            Self::Ternary { op, .. } => format!("{op:?}"),
            other => format!("{other:?}").split([' ', '(']).next().unwrap_or_default().to_owned(),
        }
    }

    /// Whether the operation does nothing but to write its destination, in all lanes.
    pub(crate) fn is_pure(&self) -> bool {
        matches!(
            self,
            Self::Const { .. }
                | Self::Copy { .. }
                | Self::Unary { .. }
                | Self::Binary { .. }
                | Self::Ternary { .. }
                | Self::ArrayLength { .. }
        )
    }

    /// Returns the jump's target, to be set once it is known.
    pub(crate) fn target(&mut self) -> Option<&mut Pc> {
        match self {
            Self::If { otherwise: pc, .. }
            | Self::Else { out: pc }
            | Self::EndIf { out: pc }
            | Self::Leave { out: pc, .. }
            | Self::Continue { out: pc, .. }
            | Self::Continuing { exit: pc }
            | Self::Repeat { start: pc, .. }
            | Self::Case { next: pc, .. }
            | Self::End { out: pc } => Some(pc),
            _ => None,
        }
    }

    /// Calls `visit` with every register that the operation reads, and then with every register that it writes.
    pub(crate) fn registers(&mut self, tables: &mut Tables, mut visit: impl FnMut(&mut Reg, Access)) {
        use Access::{Read, Write};
        match self {
            Self::Const { dst, .. } | Self::ArrayLength { dst, .. } => visit(dst, Write),
            Self::Set { dst, src: a } | Self::Copy { dst, src: a } | Self::Unary { dst, a, .. } => {
                visit(a, Read);
                visit(dst, Write);
            }
            Self::Binary { dst, a, b, .. } => {
                [a, b].into_iter().for_each(|reg| visit(reg, Read));
                visit(dst, Write);
            }
            Self::Ternary { dst, a, b, c, .. } => {
                [a, b, c].into_iter().for_each(|reg| visit(reg, Read));
                visit(dst, Write);
            }
            Self::InsertBits { dst, base, bits, offset, count } => {
                [base, bits, offset, count].into_iter().for_each(|reg| visit(reg, Read));
                visit(dst, Write);
            }
            Self::Index(index) => {
                let index = &mut tables.indices[*index as usize];
                [&mut index.base, &mut index.index].into_iter().for_each(|reg| visit(reg, Read));
                visit(&mut index.dst, Write);
            }
            Self::Load { dst, address, .. } => {
                visit(address, Read);
                visit(dst, Write);
            }
            Self::Store { src, address, .. } => [src, address].into_iter().for_each(|reg| visit(reg, Read)),
            Self::LoadLocal { dst, base, index } => {
                [base, index].into_iter().for_each(|reg| visit(reg, Read));
                visit(dst, Write);
            }
            Self::StoreLocal { src, base, index } => {
                [src, index].into_iter().for_each(|reg| visit(reg, Read));
                visit(base, Write);
            }
            Self::Atomic(atomic) => {
                let atomic = &mut tables.atomics[*atomic as usize];
                let operands = [&mut atomic.address, &mut atomic.value, &mut atomic.compare];
                operands.into_iter().for_each(|reg| visit(reg, Read));
                [&mut atomic.dst, &mut atomic.exchanged].into_iter().for_each(|reg| visit(reg, Write));
            }
            Self::Collective(collective) => {
                let collective = &mut tables.collectives[*collective as usize];
                [&mut collective.a, &mut collective.index].into_iter().for_each(|reg| visit(reg, Read));
                visit(&mut collective.dst, Write);
            }
            Self::Case { case, .. } => visit(&mut tables.cases[*case as usize].selector, Read),
            Self::Uniform { address: reg } | Self::If { condition: reg, .. } | Self::Repeat { break_if: reg, .. } => {
                visit(reg, Read);
            }
            Self::Nop
            | Self::Barrier { .. }
            | Self::Mark { .. }
            | Self::Else { .. }
            | Self::EndIf { .. }
            | Self::Begin
            | Self::Switch
            | Self::Leave { .. }
            | Self::Continue { .. }
            | Self::Continuing { .. }
            | Self::End { .. }
            | Self::Done => {}
        }
    }
}

/// What an operation does with a register.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Access {
    Read,
    Write,
}
