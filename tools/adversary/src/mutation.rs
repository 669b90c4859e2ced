//! Mutants of kernels: a tool that finds what is wrong has to be seen to find it (DeMillo, Lipton and Sayward, Hints on
//! Test Data Selection, 1978). A test of kernels that passes on a mutant does not exercise what the mutation removed,
//! or the mutation is harmless.

use naga::front::Typifier;
use naga::proc::ResolveContext;
use naga::{Arena, BinaryOperator, Block, Expression, Function, Literal, Module, Range, ScalarKind, Span, Statement};
use std::collections::BTreeSet;
use std::fmt;

/// What is changed at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Change {
    /// A barrier is deleted.
    Barrier,
    /// A `workgroupUniformLoad` becomes a load, which is no barrier.
    UniformLoad,
    /// The statement before a barrier that has an effect comes after it.
    Late,
    /// The condition of an `if` without `else` is always true, as if a check were missing.
    Condition,
    /// A comparison of integers has another result if they are equal: `<` becomes `<=`, and `<=` becomes `<`.
    Bound,
    /// An index of an array or a vector is greater by one.
    Index,
}

/// A change of a kernel that its tests should notice. The place is a range of bytes of the WGSL, so that all variants
/// of a kernel that have the place are changed there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Mutation {
    /// What is changed.
    pub change: Change,
    /// The first byte of the place, and the byte after the last.
    pub place: (u32, u32),
}

impl Mutation {
    /// Returns all mutations of a module whose places are known.
    #[must_use]
    pub fn all(module: &Module) -> BTreeSet<Self> {
        let mut all = BTreeSet::new();
        // Nothing is changed, so the copy remains as it is.
        visit(&mut module.clone(), &mut |mutation| {
            all.insert(mutation);
            false
        });
        all
    }

    /// Returns the mutation of a place, if the place is known.
    pub(crate) fn at(change: Change, span: Span) -> Option<Self> {
        let place = span.to_range()?;
        Some(Self { change, place: (place.start as u32, place.end as u32) })
    }

    /// Changes a module. Returns whether it has the place. An [index](Change::Index) is changed when the module is
    /// compiled, because that takes another expression before those that use it.
    pub(crate) fn apply(self, module: &mut Module) -> bool {
        let mut is_there = false;
        visit(module, &mut |mutation| {
            is_there |= mutation == self;
            mutation == self
        });
        is_there
    }

    /// Returns the number of the line, from 1 on, in the text that the module was parsed from.
    #[must_use]
    pub fn line(self, source: &str) -> usize {
        source.bytes().take(self.place.0 as usize).filter(|&byte| byte == b'\n').count() + 1
    }
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Barrier => "without a barrier",
            Self::UniformLoad => "with a load for a workgroupUniformLoad",
            Self::Late => "with a statement after the barrier that follows it",
            Self::Condition => "without the condition of an if",
            Self::Bound => "with a bound off by one",
            Self::Index => "with an index off by one",
        })
    }
}

/// Shows every place to `wants`, and changes those where it returns true.
fn visit(module: &mut Module, wants: &mut dyn FnMut(Mutation) -> bool) {
    let comparisons: Vec<Vec<_>> = functions(module).map(|function| comparisons(module, function)).collect();
    let entries = module.entry_points.iter_mut().map(|entry| &mut entry.function);
    let all = module.functions.iter_mut().map(|(_, function)| function).chain(entries);
    for (function, comparisons) in all.zip(comparisons) {
        for handle in comparisons {
            if let Some(mutation) = Mutation::at(Change::Bound, function.expressions.get_span(handle))
                && wants(mutation)
                && let Expression::Binary { op, .. } = &mut function.expressions[handle]
            {
                *op = off_by_one(*op).unwrap_or(*op);
            }
        }
        for (handle, expression) in function.expressions.iter() {
            if let (Expression::Access { .. }, Some(mutation)) =
                (expression, Mutation::at(Change::Index, function.expressions.get_span(handle)))
            {
                wants(mutation);
            }
        }
        in_block(&mut function.body, &mut function.expressions, wants);
    }
}

fn functions(module: &Module) -> impl Iterator<Item = &Function> {
    let entries = module.entry_points.iter().map(|entry| &entry.function);
    module.functions.iter().map(|(_, function)| function).chain(entries)
}

/// Returns the comparison that differs for equal integers.
fn off_by_one(op: BinaryOperator) -> Option<BinaryOperator> {
    Some(match op {
        BinaryOperator::Less => BinaryOperator::LessEqual,
        BinaryOperator::LessEqual => BinaryOperator::Less,
        BinaryOperator::Greater => BinaryOperator::GreaterEqual,
        BinaryOperator::GreaterEqual => BinaryOperator::Greater,
        _ => return None,
    })
}

/// Returns the comparisons of integers in a function.
fn comparisons(module: &Module, function: &Function) -> Vec<naga::Handle<Expression>> {
    let context = ResolveContext::with_locals(module, &function.local_variables, &function.arguments);
    let mut types = Typifier::new();
    let of = |(handle, expression): (_, &Expression)| {
        types.grow(handle, &function.expressions, &context).ok()?;
        let &Expression::Binary { op, left, .. } = expression else { return None };
        off_by_one(op)?;
        let kind = types.get(left, &module.types).scalar_kind()?;
        matches!(kind, ScalarKind::Sint | ScalarKind::Uint).then_some(handle)
    };
    function.expressions.iter().filter_map(of).collect()
}

fn in_block(block: &mut Block, expressions: &mut Arena<Expression>, wants: &mut dyn FnMut(Mutation) -> bool) {
    let mut place = 0;
    while place < block.len() {
        let span = block.span_iter().nth(place).map_or(Span::UNDEFINED, |(_, span)| *span);
        let mut is_wanted = |change| Mutation::at(change, span).is_some_and(&mut *wants);
        match &mut block[place] {
            Statement::ControlBarrier(_) => {
                let has_effect = |statement: &Statement| {
                    matches!(statement, Statement::Store { .. } | Statement::If { .. } | Statement::Loop { .. })
                };
                if is_wanted(Change::Barrier) {
                    block.cull(place..=place);
                    continue;
                }
                if place > 0 && has_effect(&block[place - 1]) && is_wanted(Change::Late) {
                    block.swap(place - 1, place);
                }
            }
            &mut Statement::WorkGroupUniformLoad { pointer, result } if is_wanted(Change::UniformLoad) => {
                expressions[result] = Expression::Load { pointer };
                block[place] = Statement::Emit(Range::new_from_bounds(result, result));
            }
            Statement::If { condition, reject, .. } => {
                // naga ends both sides of the last `if` of a function with a return.
                let only_returns = reject.iter().all(|other| matches!(other, Statement::Return { value: None }));
                if only_returns && is_wanted(Change::Condition) {
                    *condition = expressions.append(Expression::Literal(Literal::Bool(true)), Span::UNDEFINED);
                }
            }
            _ => {}
        }
        let inner: Vec<&mut Block> = match &mut block[place] {
            Statement::Block(inner) => vec![inner],
            Statement::If { accept, reject, .. } => vec![accept, reject],
            Statement::Switch { cases, .. } => cases.iter_mut().map(|case| &mut case.body).collect(),
            Statement::Loop { body, continuing, .. } => vec![body, continuing],
            _ => Vec::new(),
        };
        for inner in inner {
            in_block(inner, expressions, wants);
        }
        place += 1;
    }
}
