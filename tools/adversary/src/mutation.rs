//! Mutants of kernels: a tool that finds what is wrong has to be seen to find it (DeMillo, Lipton and Sayward, Hints on
//! Test Data Selection, 1978). A test of kernels that passes on a mutant does not exercise what the mutation removed,
//! or the mutation is harmless.

use naga::{Arena, Block, Expression, Literal, Module, Range, Span, Statement};
use std::fmt;

/// A change of a kernel that its tests should notice. Places are counted from 0, through the functions of the module
/// and then its entry points, in the order of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mutation {
    /// A barrier is deleted.
    Barrier(usize),
    /// A `workgroupUniformLoad` becomes a load, which is no barrier.
    UniformLoad(usize),
    /// The condition of an `if` without `else` is always true, as if a check were missing.
    Condition(usize),
    /// The statement before a barrier that has an effect comes after it.
    Late(usize),
}

impl Mutation {
    /// Returns all mutations of a module.
    #[must_use]
    pub fn all(module: &Module) -> Vec<Self> {
        let mut scratch = module.clone();
        let kinds: [fn(usize) -> Self; 4] = [Self::Barrier, Self::UniformLoad, Self::Condition, Self::Late];
        let of = |kind: fn(usize) -> Self| {
            let mut seen = 0;
            // A place that does not exist: all are counted, and none is changed.
            visit(&mut scratch, kind(usize::MAX), &mut seen);
            (0..seen).map(kind)
        };
        kinds.into_iter().flat_map(of).collect()
    }

    /// Changes a module. Returns whether it has the place.
    pub fn apply(self, module: &mut Module) -> bool {
        let mut seen = 0;
        visit(module, self, &mut seen)
    }
}

impl fmt::Display for Mutation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Barrier(i) => write!(f, "without barrier {i}"),
            Self::UniformLoad(i) => write!(f, "with a load for workgroupUniformLoad {i}"),
            Self::Condition(i) => write!(f, "without condition {i}"),
            Self::Late(i) => write!(f, "with a late statement at barrier {i}"),
        }
    }
}

/// Applies a mutation and returns whether the module has its place. `seen` counts the places of its kind so far.
fn visit(module: &mut Module, mutation: Mutation, seen: &mut usize) -> bool {
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    let entries = module.entry_points.iter_mut().map(|entry| &mut entry.function);
    functions.chain(entries).any(|function| in_block(&mut function.body, &mut function.expressions, mutation, seen))
}

/// Counts a place in `seen`, and returns whether its number is `wanted`.
fn next(seen: &mut usize, wanted: usize) -> bool {
    *seen += 1;
    *seen - 1 == wanted
}

fn in_block(block: &mut Block, expressions: &mut Arena<Expression>, mutation: Mutation, seen: &mut usize) -> bool {
    for at in 0..block.len() {
        match (&mut block[at], mutation) {
            (Statement::ControlBarrier(_), Mutation::Barrier(wanted)) if next(seen, wanted) => {
                block.cull(at..=at);
                return true;
            }
            (Statement::ControlBarrier(_), Mutation::Late(wanted)) => {
                let has_effect = |statement: &Statement| {
                    matches!(statement, Statement::Store { .. } | Statement::If { .. } | Statement::Loop { .. })
                };
                if at > 0 && has_effect(&block[at - 1]) && next(seen, wanted) {
                    block.swap(at - 1, at);
                    return true;
                }
            }
            (&mut Statement::WorkGroupUniformLoad { pointer, result }, Mutation::UniformLoad(wanted))
                if next(seen, wanted) =>
            {
                expressions[result] = Expression::Load { pointer };
                block[at] = Statement::Emit(Range::new_from_bounds(result, result));
                return true;
            }
            (Statement::If { condition, reject, .. }, Mutation::Condition(wanted)) => {
                // naga ends both sides of the last `if` of a function with a return.
                let only_returns = reject.iter().all(|other| matches!(other, Statement::Return { value: None }));
                if only_returns && next(seen, wanted) {
                    *condition = expressions.append(Expression::Literal(Literal::Bool(true)), Span::UNDEFINED);
                    return true;
                }
            }
            _ => {}
        }
        let inner: Vec<&mut Block> = match &mut block[at] {
            Statement::Block(inner) => vec![inner],
            Statement::If { accept, reject, .. } => vec![accept, reject],
            Statement::Switch { cases, .. } => cases.iter_mut().map(|case| &mut case.body).collect(),
            Statement::Loop { body, continuing, .. } => vec![body, continuing],
            _ => Vec::new(),
        };
        for inner in inner {
            if in_block(inner, expressions, mutation, seen) {
                return true;
            }
        }
    }
    false
}
