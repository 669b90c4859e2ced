//! Removes from a naga module the code that cannot run with a variant's override values, so that the driver does not
//! compile this code. Drivers inline every call before they search for dead code. Without the removal, they would
//! process the code of all variants of a kernel each time they compile one variant. Also replaces array sizes that
//! depend on overrides by their values.

use naga::compact::{KeepUnused, compact};
use naga::proc::IndexableLength;
use naga::{ArraySize, Block, Expression, Function, Handle, Literal, Module, Statement, Type, TypeInner};
use std::num::NonZeroU32;

/// Removes from every function the branches that are never taken, gives every array its size, and then removes from
/// the module everything that is unused. The overrides must be resolved. A branch is removed only if its condition
/// consists of overrides and constants. A condition that calls a function is not evaluated, so both its branches
/// remain.
pub(super) fn fold(mut module: Module) -> Module {
    let functions: Vec<(Handle<Function>, Block)> =
        module.functions.iter().map(|(handle, f)| (handle, folded(&module, f, &f.body))).collect();
    let entries: Vec<Block> =
        module.entry_points.iter().map(|e| folded(&module, &e.function, &e.function.body)).collect();
    for (handle, body) in functions {
        let function = module.functions.get_mut(handle);
        // The list of named expressions would keep the removed expressions alive.
        function.named_expressions.clear();
        function.body = body;
    }
    for (entry, body) in module.entry_points.iter_mut().zip(entries) {
        entry.function.named_expressions.clear();
        entry.function.body = body;
    }
    give_sizes(&mut module);
    compact(&mut module, KeepUnused::No);
    module
}

/// Replaces the size of every array that depends on overrides by its value. No back end but naga's WGSL writer needs
/// this: it writes `array<N>` instead of `array<f32, N>` for an array of N elements, where N is an override.
fn give_sizes(module: &mut Module) {
    let sizes: Vec<(Handle<Type>, NonZeroU32)> = module
        .types
        .iter()
        .filter_map(|(handle, ty)| match ty.inner {
            TypeInner::Array { size: size @ ArraySize::Pending(_), .. } => match size.resolve(module.to_ctx()) {
                Ok(IndexableLength::Known(length)) => Some((handle, NonZeroU32::new(length)?)),
                _ => None,
            },
            _ => None,
        })
        .collect();
    for (handle, length) in sizes {
        let mut ty = module.types[handle].clone();
        if let TypeInner::Array { size, .. } = &mut ty.inner {
            *size = ArraySize::Constant(length);
        }
        // A module has no two equal types. Arrays of equal sizes are told apart by a name, which no back end writes
        // as it is.
        if module.types.get(&ty).is_some() {
            ty.name = Some(format!("array_{}", handle.index()));
        }
        module.types.replace(handle, ty);
    }
}

fn folded(module: &Module, function: &Function, block: &Block) -> Block {
    let inner = |block: &Block| folded(module, function, block);
    let mut out = Block::with_capacity(block.len());
    for (statement, span) in block.span_iter() {
        match statement {
            Statement::If { condition, accept, reject } => match settled(module, function, *condition) {
                Some(yes) => out.extend_block(inner(if yes { accept } else { reject })),
                None => {
                    let (accept, reject) = (inner(accept), inner(reject));
                    out.push(Statement::If { condition: *condition, accept, reject }, *span);
                }
            },
            Statement::Switch { selector, cases } => {
                let mut cases = cases.clone();
                cases.iter_mut().for_each(|case| case.body = inner(&case.body));
                out.push(Statement::Switch { selector: *selector, cases }, *span);
            }
            Statement::Loop { body, continuing, break_if } => {
                let (body, continuing) = (inner(body), inner(continuing));
                out.push(Statement::Loop { body, continuing, break_if: *break_if }, *span);
            }
            Statement::Block(block) => out.push(Statement::Block(inner(block)), *span),
            other => out.push(other.clone(), *span),
        }
        // naga accepts no statement after one that leaves the block.
        if let Some(Statement::Return { .. } | Statement::Break | Statement::Continue) = out.last() {
            break;
        }
    }
    out
}

/// Returns the value of a condition, if the value is known before the kernel runs.
fn settled(module: &Module, function: &Function, condition: Handle<Expression>) -> Option<bool> {
    match function.expressions[condition] {
        Expression::Literal(Literal::Bool(yes)) => Some(yes),
        Expression::Constant(constant) => match module.global_expressions[module.constants[constant].init] {
            Expression::Literal(Literal::Bool(yes)) => Some(yes),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::device::shader::{Shader, validate};
    use naga::{ArraySize, GlobalVariable, TypeInner};

    /// Returns the statements of a test module's functions as text, including nested statements.
    fn statements(overrides: &[(&'static str, f64)]) -> String {
        let files = &["override DEPTH: u32 = 0;
            override DEEP: bool = DEPTH > 2u;
            @group(0) @binding(0) var<storage, read_write> out: array<u32>;
            fn first(x: u32) -> u32 { if DEEP { return x * 7u; } return x * 5u; }
            @compute @workgroup_size(1) fn main() {
                for (var i = 0u; i < 3u; i += 1u) {
                    if DEPTH == 1u { out[i] = first(i); } else { if DEEP { out[i] = 11u; } }
                    if out[i] > 3u { out[i] = 13u; }
                }
            }"];
        let module = Shader { family: "fold", name: "test", files }.reflect(overrides).unwrap().module;
        let first = module.functions.iter().next().map(|(_, f)| format!("{:?}", f.body));
        format!("{:?} {:?}", first, module.entry_points[0].function.body)
    }

    #[test]
    fn only_what_may_run_is_left() {
        let count = |text: &str, what: &str| text.matches(what).count();
        let (none, one, deep) = (statements(&[]), statements(&[("DEPTH", 1.0)]), statements(&[("DEPTH", 3.0)]));
        // Two conditions remain in each variant: the loop's condition and the condition that depends on data.
        for text in [&none, &one, &deep] {
            assert_eq!(count(text, "If {"), 2, "{text}");
        }
        // The count includes the `return` of `main` and, if `main` calls `first`, the `return` of `first`.
        assert_eq!([&none, &one, &deep].map(|text| count(text, "Return {")), [1, 2, 1]);
        assert_eq!([&none, &one, &deep].map(|text| count(text, "Call {")), [0, 1, 0]);
        assert_eq!([&none, &one, &deep].map(|text| count(text, "Store {")), [2, 3, 3]);
    }

    /// Two of the arrays have equal sizes that depend on overrides, and a third has this size without an override.
    #[test]
    fn every_array_has_a_size() {
        let files = &["override A: u32 = 4;
            override B: u32 = 2u * A;
            override C: u32 = 3;
            var<workgroup> a: array<f32, A>;
            var<workgroup> b: array<f32, B>;
            var<workgroup> c: array<f32, C>;
            var<workgroup> d: array<f32, 6>;
            @compute @workgroup_size(1) fn main() { a[0] = 1.0; b[0] = a[0]; c[0] = b[0]; d[0] = c[0]; }"];
        let module = Shader { family: "fold", name: "test", files }.reflect(&[("A", 3.0)]).unwrap().module;
        let length = |(_, variable): (_, &GlobalVariable)| match module.types[variable.ty].inner {
            TypeInner::Array { size: ArraySize::Constant(length), .. } => length.get(),
            ref other => panic!("{other:?}"),
        };
        assert_eq!(module.global_variables.iter().map(length).collect::<Vec<_>>(), [3, 6, 3, 6]);
        assert!(module.overrides.is_empty());
        assert!(validate(&module).is_ok());
    }
}
