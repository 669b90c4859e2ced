//! From naga's IR to operations on registers. Every call is inlined, so that a pointer always is a variable, a constant
//! offset and at most one register.

mod collectives;
mod control;
mod expressions;
mod math;
mod pointers;
mod registers;
pub(super) mod types;

use super::op::{Code, NONE, Op, Pc, Point, Reg, Shared, Site};
use super::operator::{Binary, Ternary, Unary};
use super::program::{Binding, CompileError};
use crate::mutation::{Change, Mutation};
use naga::proc::TypeResolution;
use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    AddressSpace, BuiltIn, Expression, Function, GlobalVariable, Handle, Module, Span, StorageAccess, TypeInner,
};
use pointers::{Pointer, Root};
use registers::{Block, Loop};
use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use types::{unsupported, words};

type Result<T> = std::result::Result<T, CompileError>;

/// Inlining is exponential in the depth of calls, so it has to end somewhere.
const MAX_OPERATIONS: usize = 1 << 22;

/// What an expression is.
#[derive(Clone, Debug)]
enum Value {
    /// The words of a value. Composites are lists of registers, so that taking them apart costs nothing.
    Words(Vec<Reg>),
    Pointer(Pointer),
}

/// A function that is being inlined.
struct Scope<'a> {
    function: &'a Function,
    info: &'a FunctionInfo,
    /// The index of the function's name.
    name: u32,
    values: Vec<Option<Value>>,
    locals: Vec<Reg>,
    arguments: Vec<Value>,
    result: Vec<Reg>,
    /// The number of constructs around the function's body, and around each loop's and switch's.
    depth: u32,
    breaks: Vec<u32>,
    continues: Vec<u32>,
}

struct Compiler<'a> {
    module: &'a Module,
    info: &'a ModuleInfo,
    /// What is changed on purpose.
    mutation: Option<Mutation>,
    code: Code,
    blocks: Vec<Block>,
    loops: Vec<Loop>,
    next: Reg,
    constants: HashMap<u32, Reg>,
    known: HashMap<Reg, u32>,
    /// Constant arrays that are indexed, each in consecutive registers.
    tables: HashMap<Vec<u32>, Reg>,
    globals: HashMap<Handle<GlobalVariable>, Pointer>,
    /// The factors of float products, which a sum may be contracted with.
    products: HashMap<Reg, (Reg, Reg)>,
    /// For each construct, the operations that jump to where its lanes come back.
    outs: Vec<Vec<Pc>>,
    depth: u32,
    scope: Scope<'a>,
}

/// Compiles an entry point of a module without overrides. Of mutations, only that of an index is made here.
pub(super) fn compile(module: &Module, info: &ModuleInfo, entry: usize, mutation: Option<Mutation>) -> Result<Code> {
    let point = &module.entry_points[entry];
    let mut compiler = Compiler {
        module,
        info,
        mutation,
        code: Code { functions: vec![point.name.clone()], ..Code::default() },
        blocks: Vec::new(),
        loops: Vec::new(),
        next: 0,
        constants: HashMap::new(),
        known: HashMap::new(),
        tables: HashMap::new(),
        globals: HashMap::new(),
        products: HashMap::new(),
        outs: vec![Vec::new()],
        depth: 0,
        scope: Scope::new(&point.function, info.get_entry_point(entry), 0, Vec::new(), 0),
    };
    compiler.set_site(Span::UNDEFINED);
    compiler.declare(entry)?;
    compiler.scope.arguments = compiler.built_ins()?;
    compiler.body()?;
    compiler.op(Op::Done);
    let Compiler { mut code, blocks, mut loops, .. } = compiler;
    registers::allocate(&mut code, &blocks, &mut loops);
    Ok(code)
}

impl<'a> Scope<'a> {
    fn new(function: &'a Function, info: &'a FunctionInfo, name: u32, arguments: Vec<Value>, depth: u32) -> Self {
        Self {
            function,
            info,
            name,
            values: vec![None; function.expressions.len()],
            locals: Vec::new(),
            arguments,
            result: Vec::new(),
            depth,
            breaks: Vec::new(),
            continues: Vec::new(),
        }
    }
}

impl<'a> Compiler<'a> {
    fn pc(&self) -> Pc {
        self.code.ops.len() as Pc
    }

    fn op(&mut self, op: Op) -> Pc {
        let pc = self.pc();
        self.code.ops.push(op);
        self.code.site_of.push(self.code.sites.len() as u32 - 1);
        pc
    }

    /// Makes what follows a part of a place in the WGSL.
    fn set_site(&mut self, span: Span) {
        let function = self.scope.name;
        let known = self.code.sites.last().is_some_and(|site| site.function == function && site.span == span);
        if !known {
            self.code.sites.push(Site { function, span });
        }
    }

    /// Returns consecutive new registers.
    fn registers(&mut self, len: u32) -> Reg {
        let start = self.next;
        self.blocks.push(Block { start, len });
        self.next += len;
        start
    }

    fn register(&mut self) -> Reg {
        self.registers(1)
    }

    /// Returns the register that always holds a value.
    fn constant(&mut self, value: u32) -> Reg {
        if let Some(&reg) = self.constants.get(&value) {
            return reg;
        }
        let reg = self.register();
        self.constants.insert(value, reg);
        self.known.insert(reg, value);
        self.code.constants.push((reg, value));
        reg
    }

    /// Returns the value of a register that holds a constant.
    fn known(&self, reg: Reg) -> Option<u32> {
        self.known.get(&reg).copied()
    }

    fn unary(&mut self, op: Unary, a: Reg) -> Reg {
        let dst = self.register();
        self.op(Op::Unary { op, dst, a });
        dst
    }

    fn binary(&mut self, op: Binary, a: Reg, b: Reg) -> Reg {
        let dst = self.register();
        self.op(Op::Binary { op, dst, a, b });
        if op == Binary::FMul {
            self.products.insert(dst, (a, b));
        }
        dst
    }

    fn ternary(&mut self, op: Ternary, a: Reg, b: Reg, c: Reg) -> Reg {
        let dst = self.register();
        self.op(Op::Ternary { op, dst, a, b, c });
        dst
    }

    /// Emits an addition, which is contracted with a product where it has one.
    fn add(&mut self, a: Reg, b: Reg) -> Reg {
        if let Some(&(x, y)) = self.products.get(&a) {
            self.ternary(Ternary::MulAdd, x, y, b)
        } else if let Some(&(x, y)) = self.products.get(&b) {
            self.ternary(Ternary::MulAdd, x, y, a)
        } else {
            self.binary(Binary::FAdd, a, b)
        }
    }

    fn subtract(&mut self, a: Reg, b: Reg) -> Reg {
        if let Some(&(x, y)) = self.products.get(&a) {
            self.ternary(Ternary::MulSub, x, y, b)
        } else if let Some(&(x, y)) = self.products.get(&b) {
            self.ternary(Ternary::NegMulAdd, x, y, a)
        } else {
            self.binary(Binary::FSub, a, b)
        }
    }

    /// Begins a new place whose execution is recorded.
    fn mark(&mut self, branch: Option<(&'static str, Span)>) {
        let point = self.code.points.len() as u32;
        let function = self.scope.name;
        self.code.points.push(Point { function, branch, statements: Vec::new(), reached: AtomicBool::new(false) });
        self.op(Op::Mark { point });
    }

    /// Returns whether a place has an index that is to be greater by one.
    fn is_off_by_one(&self, span: Span) -> bool {
        let is_here = |mutation: Mutation| Mutation::at(Change::Index, span) == Some(mutation);
        self.mutation.is_some_and(is_here)
    }

    fn inner(&self, expression: Handle<Expression>) -> &'a TypeInner {
        let (scope, module) = (self.scope.info, self.module);
        scope[expression].ty.inner_with(&module.types)
    }

    /// Gives the variables of the module that the entry point uses their places.
    fn declare(&mut self, entry: usize) -> Result<()> {
        let module = self.module;
        let used = self.info.get_entry_point(entry);
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(module.to_ctx()).map_err(|e| CompileError::Invalid(e.to_string()))?;
        let mut shared = 0;
        for (handle, variable) in module.global_variables.iter().filter(|(handle, _)| !used[*handle].is_empty()) {
            let inner = &module.types[variable.ty].inner;
            let name = variable.name.clone().unwrap_or_default();
            let (root, offset) = match variable.space {
                AddressSpace::Private => {
                    let count = words(module, inner)?;
                    let start = self.registers(count);
                    let value = match variable.init {
                        Some(init) => self.global_value(init)?,
                        None => vec![self.constant(0); count as usize],
                    };
                    for (dst, src) in (start..).zip(value) {
                        self.op(Op::Copy { dst, src });
                    }
                    (Root::Local, start)
                }
                AddressSpace::WorkGroup => {
                    let size = words(module, inner)?;
                    self.code.shared.push(Shared { name, ty: variable.ty, offset: shared, size });
                    self.code.workgroup_bytes += layouter[variable.ty].size.next_multiple_of(16);
                    shared += size;
                    (Root::Workgroup, shared - size)
                }
                AddressSpace::Uniform | AddressSpace::Storage { .. } => {
                    let Some(binding) = variable.binding else {
                        return unsupported(format!("`{name}`, a buffer without binding"));
                    };
                    let writable = matches!(variable.space,
                        AddressSpace::Storage { access } if access.contains(StorageAccess::STORE));
                    self.code.bindings.push(Binding {
                        group: binding.group,
                        binding: binding.binding,
                        name,
                        uniform: variable.space == AddressSpace::Uniform,
                        writable,
                        min_size: layouter[variable.ty].size.into(),
                    });
                    self.code.binding_types.push(variable.ty);
                    (Root::Buffer(self.code.bindings.len() as u16 - 1), 0)
                }
                space => return unsupported(format!("`{name}` in address space {space:?}")),
            };
            let ty = TypeResolution::Handle(variable.ty);
            self.globals.insert(handle, Pointer { root, offset, address: NONE, ty });
        }
        Ok(())
    }

    /// Returns the entry point's arguments.
    fn built_ins(&mut self) -> Result<Vec<Value>> {
        let module = self.module;
        let mut arguments = Vec::new();
        for argument in &self.scope.function.arguments {
            let mut parts = Vec::new();
            match (&argument.binding, &module.types[argument.ty].inner) {
                (Some(binding), inner) => parts.push((binding, inner)),
                (None, TypeInner::Struct { members, .. }) => {
                    let bound = members.iter().filter_map(|m| Some((m.binding.as_ref()?, &module.types[m.ty].inner)));
                    parts.extend(bound);
                }
                (None, _) => return unsupported("an argument of an entry point without binding"),
            }
            let mut all = Vec::new();
            for (binding, inner) in parts {
                let naga::Binding::BuiltIn(built_in) = *binding else {
                    return unsupported("an argument of an entry point that is not a built-in value");
                };
                self.code.uses_subgroups |= matches!(
                    built_in,
                    BuiltIn::NumSubgroups | BuiltIn::SubgroupId | BuiltIn::SubgroupSize | BuiltIn::SubgroupInvocationId
                );
                for component in 0..words(module, inner)? {
                    let reg = self.register();
                    self.code.builtins.push((built_in, component, reg));
                    all.push(reg);
                }
            }
            arguments.push(Value::Words(all));
        }
        Ok(arguments)
    }
}
