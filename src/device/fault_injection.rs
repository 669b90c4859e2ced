//! Makes a kernel compute wrong results on purpose, as a faulty driver compiler might, to test the checks that detect
//! wrong results.

use super::shader::validate;
use naga::valid::FunctionInfo;
use naga::{AddressSpace, Arena, BinaryOperator, Block, Expression, Function, Handle, Literal, Module, Range, Scalar};
use naga::{ScalarKind, Span, Statement};

/// A predicate on a store's pointer and value that says whether to spoil the store.
type Numbers<'a> = &'a dyn Fn(Handle<Expression>, Handle<Expression>) -> bool;

/// Turns every sum of floating-point values into a difference. Because two wrong signs may cancel, also enlarges, by a
/// sixteenth, every f32 value that is stored in a buffer. Returns the number of changes, which is 0 for a kernel that
/// has no floating-point sums and stores no f32 values.
pub(super) fn spoil(module: &mut Module) -> usize {
    let Ok(info) = validate(module) else { return 0 };
    let (types, mut count) = (module.types.clone(), 0);
    let mut turn = |function: &mut Function, info: &FunctionInfo| {
        for (handle, expression) in function.expressions.iter_mut() {
            let floats = info[handle].ty.inner_with(&types).scalar().is_some_and(|s| s.kind == ScalarKind::Float);
            if let (Expression::Binary { op: op @ BinaryOperator::Add, .. }, true) = (expression, floats) {
                *op = BinaryOperator::Subtract;
                count += 1;
            }
        }
        let numbers = |pointer: Handle<Expression>, value: Handle<Expression>| {
            let space = info[pointer].ty.inner_with(&types).pointer_space();
            matches!(space, Some(AddressSpace::Storage { .. }))
                && info[value].ty.inner_with(&types).scalar() == Some(Scalar::F32)
        };
        let body = std::mem::take(&mut function.body);
        function.body = enlarged(&body, &mut function.expressions, &numbers, &mut count);
    };
    module.functions.iter_mut().for_each(|(handle, function)| turn(function, &info[handle]));
    for (i, entry) in module.entry_points.iter_mut().enumerate() {
        turn(&mut entry.function, info.get_entry_point(i));
    }
    count
}

/// Returns the statements of `block`, changed so that each store that `numbers` accepts stores a value that is larger
/// by a sixteenth.
fn enlarged(block: &Block, all: &mut Arena<Expression>, numbers: Numbers<'_>, count: &mut usize) -> Block {
    let mut out = Block::with_capacity(block.len());
    for (statement, &span) in block.span_iter() {
        let mut statement = statement.clone();
        match &mut statement {
            Statement::Block(inner) => *inner = enlarged(inner, all, numbers, count),
            Statement::If { accept, reject, .. } => {
                *accept = enlarged(accept, all, numbers, count);
                *reject = enlarged(reject, all, numbers, count);
            }
            Statement::Switch { cases, .. } => {
                cases.iter_mut().for_each(|case| case.body = enlarged(&case.body, all, numbers, count));
            }
            Statement::Loop { body, continuing, .. } => {
                *body = enlarged(body, all, numbers, count);
                *continuing = enlarged(continuing, all, numbers, count);
            }
            Statement::Store { pointer, value } if numbers(*pointer, *value) => {
                let right = all.append(Expression::Literal(Literal::F32(1.0625)), Span::UNDEFINED);
                let product = Expression::Binary { op: BinaryOperator::Multiply, left: *value, right };
                *value = all.append(product, Span::UNDEFINED);
                out.push(Statement::Emit(Range::new_from_bounds(*value, *value)), Span::UNDEFINED);
                *count += 1;
            }
            _ => {}
        }
        out.push(statement, span);
    }
    out
}
