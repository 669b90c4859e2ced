//! Pointers, and what is read and written through them.

use super::super::op::{Atomic, AtomicOp, Count, Index, NONE, Op, Reg, Space};
use super::types::{Layout, elements, member, offsets, unsupported};
use super::{Compiler, Result, Value};
use naga::proc::TypeResolution;
use naga::{AtomicFunction, Expression, Handle, ScalarKind, Type, TypeInner};

/// Where a pointer's variable is.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Root {
    /// In registers.
    Local,
    Workgroup,
    Buffer(u16),
}

/// A pointer to a variable or to a part of one.
#[derive(Debug)]
pub(super) struct Pointer {
    pub(super) root: Root,
    /// The register of a local variable, or the offset in words.
    pub(super) offset: u32,
    /// What an index adds to the offset.
    pub(super) address: Reg,
    /// The type of the part.
    pub(super) ty: TypeResolution,
}

impl Clone for Pointer {
    fn clone(&self) -> Self {
        Self { ty: self.ty.clone(), ..*self }
    }
}

impl Pointer {
    fn layout(&self) -> Layout {
        if matches!(self.root, Root::Buffer(_)) { Layout::Host } else { Layout::Flat }
    }

    fn space(&self) -> Option<Space> {
        match self.root {
            Root::Local => None,
            Root::Workgroup => Some(Space::Workgroup),
            Root::Buffer(binding) => Some(Space::Buffer(binding)),
        }
    }
}

impl Compiler<'_> {
    pub(super) fn pointer(&mut self, expression: Handle<Expression>) -> Result<Pointer> {
        match self.value(expression)? {
            Value::Pointer(pointer) => Ok(pointer),
            Value::Words(_) => unsupported("a value in the place of a pointer"),
        }
    }

    pub(super) fn variable(&self, ty: Handle<Type>, start: Reg) -> Pointer {
        Pointer { root: Root::Local, offset: start, address: NONE, ty: TypeResolution::Handle(ty) }
    }

    /// Returns a pointer to a member or to an element with a constant index.
    pub(super) fn part(&mut self, pointer: Pointer, index: u32) -> Result<Pointer> {
        let inner = pointer.ty.inner_with(&self.module.types);
        if let TypeInner::Array { .. } = inner {
            let elements = elements(self.module, inner, pointer.layout())?;
            if elements.count.is_none_or(|count| index >= count) {
                let index = self.constant(index);
                return self.element(pointer, index, false, String::new());
            }
        }
        let (ty, offset) = member(self.module, inner, index, pointer.layout())?;
        Ok(Pointer { offset: pointer.offset + offset, ty, ..pointer })
    }

    /// Returns a pointer to an element whose index is in a register.
    pub(super) fn element(&mut self, pointer: Pointer, index: Reg, signed: bool, what: String) -> Result<Pointer> {
        let elements = elements(self.module, pointer.ty.inner_with(&self.module.types), pointer.layout())?;
        if let (Some(known), Some(count)) = (self.known(index), elements.count)
            && known < count
        {
            return Ok(Pointer { offset: pointer.offset + known * elements.stride, ty: elements.ty, ..pointer });
        }
        let count = match (elements.count, pointer.root) {
            (Some(count), _) => Count::Fixed(count),
            (None, Root::Buffer(binding)) => {
                Count::Runtime { binding, offset: pointer.offset, stride: elements.stride }
            }
            (None, _) => return unsupported("a runtime-sized array outside of a buffer"),
        };
        let address = self.index(pointer.address, index, signed, count, elements.stride, what);
        Ok(Pointer { address, ty: elements.ty, ..pointer })
    }

    pub(super) fn index(
        &mut self,
        base: Reg,
        index: Reg,
        signed: bool,
        count: Count,
        stride: u32,
        what: String,
    ) -> Reg {
        let dst = self.register();
        let entry = self.code.tables.indices.len() as u32;
        self.code.tables.indices.push(Index { dst, base, index, signed, count, stride, what });
        self.op(Op::Index(entry));
        dst
    }

    /// Returns the variable's name, for findings.
    pub(super) fn name_of(&self, expression: Handle<Expression>) -> String {
        match self.scope.function.expressions[expression] {
            Expression::Access { base, .. } => self.name_of(base),
            Expression::AccessIndex { base, index } => {
                let name = self.name_of(base);
                let inner = self.inner(base);
                let inner = inner
                    .pointer_base_type()
                    .map_or_else(|| inner.clone(), |ty| ty.inner_with(&self.module.types).clone());
                match inner {
                    TypeInner::Struct { members, .. } => {
                        format!("{name}.{}", members[index as usize].name.as_deref().unwrap_or_default())
                    }
                    _ => format!("{name}[{index}]"),
                }
            }
            Expression::GlobalVariable(handle) => self.module.global_variables[handle].name.clone().unwrap_or_default(),
            Expression::LocalVariable(handle) => {
                self.scope.function.local_variables[handle].name.clone().unwrap_or_default()
            }
            Expression::FunctionArgument(i) => {
                self.scope.function.arguments[i as usize].name.clone().unwrap_or_default()
            }
            _ => self.scope.function.named_expressions.get(&expression).cloned().unwrap_or_default(),
        }
    }

    pub(super) fn load(&mut self, pointer: &Pointer) -> Result<Vec<Reg>> {
        let inner = pointer.ty.inner_with(&self.module.types);
        if let &TypeInner::Atomic(scalar) = inner {
            let dst = self.register();
            self.atomic(pointer, AtomicOp::Load, scalar.kind, [dst, NONE, NONE, NONE])?;
            return Ok(vec![dst]);
        }
        let places = offsets(self.module, inner, pointer.layout())?;
        let mut all = Vec::with_capacity(places.len());
        for place in places {
            let dst = self.register();
            let (offset, address) = (pointer.offset + place, pointer.address);
            match pointer.space() {
                Some(space) => self.op(Op::Load { dst, space, offset, address }),
                None if address == NONE => self.op(Op::Copy { dst, src: offset }),
                None => {
                    // The address counts from the variable's first register, of which `offset` is one.
                    self.op(Op::LoadLocal { dst, base: offset, index: address })
                }
            };
            all.push(dst);
        }
        Ok(all)
    }

    pub(super) fn store(&mut self, pointer: &Pointer, value: &[Reg]) -> Result<()> {
        let inner = pointer.ty.inner_with(&self.module.types);
        if let &TypeInner::Atomic(scalar) = inner {
            return self.atomic(pointer, AtomicOp::Store, scalar.kind, [NONE, NONE, value[0], NONE]);
        }
        let places = offsets(self.module, inner, pointer.layout())?;
        for (place, &src) in places.into_iter().zip(value) {
            let (offset, address) = (pointer.offset + place, pointer.address);
            match pointer.space() {
                Some(space) => self.op(Op::Store { src, space, offset, address }),
                None if address == NONE => self.op(Op::Set { dst: offset, src }),
                None => self.op(Op::StoreLocal { src, base: offset, index: address }),
            };
        }
        Ok(())
    }

    /// Emits an atomic operation with the registers for the old value, whether an exchange happened, the value and what
    /// it is compared with.
    fn atomic(&mut self, pointer: &Pointer, op: AtomicOp, kind: ScalarKind, registers: [Reg; 4]) -> Result<()> {
        let Some(space) = pointer.space() else {
            return unsupported("atomics outside of workgroup and storage memory");
        };
        let signed = match kind {
            ScalarKind::Sint => true,
            ScalarKind::Uint => false,
            kind => return unsupported(format!("atomics of {kind:?}")),
        };
        self.code.uses_storage_atomics |= space != Space::Workgroup;
        let [dst, exchanged, value, compare] = registers;
        let (offset, address) = (pointer.offset, pointer.address);
        let entry = self.code.tables.atomics.len() as u32;
        self.code.tables.atomics.push(Atomic { op, signed, dst, exchanged, space, offset, address, value, compare });
        self.op(Op::Atomic(entry));
        Ok(())
    }

    pub(super) fn atomic_statement(
        &mut self,
        pointer: Handle<Expression>,
        function: AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<()> {
        let pointer = self.pointer(pointer)?;
        let &TypeInner::Atomic(scalar) = pointer.ty.inner_with(&self.module.types) else {
            return unsupported("atomics of a type that is not atomic");
        };
        let value = self.word(value)?;
        let dst = self.register();
        let exchanged = self.register();
        let mut all = vec![dst];
        match function {
            AtomicFunction::Exchange { compare: Some(compare) } => {
                let compare = self.word(compare)?;
                self.atomic(&pointer, AtomicOp::CompareExchange, scalar.kind, [dst, exchanged, value, compare])?;
                all.push(exchanged);
            }
            _ => self.atomic(&pointer, AtomicOp::Update(function), scalar.kind, [dst, NONE, value, NONE])?,
        }
        if let Some(result) = result {
            self.set(result, Value::Words(all));
        }
        Ok(())
    }
}
