//! Expressions other than functions of mathematics.

use super::super::op::{Count, Op, Reg};
use super::super::operator::{Binary, Float1, Ternary, Unary};
use super::types::{Layout, elements, member, unsupported, words};
use super::{Compiler, Result, Value};
use naga::{
    BinaryOperator, Expression, Handle, Literal, RelationalFunction, ScalarKind, Span, SwizzleComponent, Type,
    TypeInner, UnaryOperator,
};

impl Compiler<'_> {
    /// Returns what an expression is. Those that no statement evaluates are evaluated here.
    pub(super) fn value(&mut self, handle: Handle<Expression>) -> Result<Value> {
        if let Some(value) = &self.scope.values[handle.index()] {
            return Ok(value.clone());
        }
        let value = self.evaluate(handle)?;
        self.set(handle, value.clone());
        Ok(value)
    }

    pub(super) fn set(&mut self, handle: Handle<Expression>, value: Value) {
        self.scope.values[handle.index()] = Some(value);
    }

    /// Returns the words of an expression.
    pub(super) fn words_of(&mut self, handle: Handle<Expression>) -> Result<Vec<Reg>> {
        match self.value(handle)? {
            Value::Words(words) => Ok(words),
            Value::Pointer(_) => unsupported("a pointer in the place of a value"),
        }
    }

    /// Returns the only word of a scalar expression.
    pub(super) fn word(&mut self, handle: Handle<Expression>) -> Result<Reg> {
        match *self.words_of(handle)? {
            [word] => Ok(word),
            _ => unsupported("a composite in the place of a scalar"),
        }
    }

    pub(super) fn evaluate(&mut self, handle: Handle<Expression>) -> Result<Value> {
        let function = self.scope.function;
        let expression = &function.expressions[handle];
        Ok(Value::Words(match *expression {
            Expression::GlobalVariable(variable) => match self.globals.get(&variable) {
                Some(pointer) => return Ok(Value::Pointer(pointer.clone())),
                None => return unsupported("a variable that no analysis knows"),
            },
            Expression::LocalVariable(variable) => {
                let start = self.scope.locals[variable.index()];
                return Ok(Value::Pointer(self.variable(function.local_variables[variable].ty, start)));
            }
            Expression::FunctionArgument(index) => return Ok(self.scope.arguments[index as usize].clone()),
            Expression::Access { base, index } => {
                return self.access(base, index, function.expressions.get_span(handle));
            }
            Expression::AccessIndex { base, index } => return self.access_index(base, index),
            Expression::Load { pointer } => {
                let pointer = self.pointer(pointer)?;
                self.load(&pointer)?
            }
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::ZeroValue(_)
            | Expression::Compose { .. }
            | Expression::Splat { .. }
            | Expression::Swizzle { .. } => self.constructor(expression, |this, part| this.words_of(part))?,
            Expression::Unary { op, expr } => {
                let kind = self.kind(expr);
                let op = match (op, kind) {
                    (UnaryOperator::LogicalNot, _) => Unary::BoolNot,
                    (UnaryOperator::BitwiseNot, _) => Unary::BitNot,
                    (UnaryOperator::Negate, ScalarKind::Float) => Unary::FNeg,
                    (UnaryOperator::Negate, _) => Unary::INeg,
                };
                let operand = self.words_of(expr)?;
                self.map(&operand, op)
            }
            Expression::Binary { op, left, right } => self.binary_expression(op, left, right)?,
            Expression::Select { condition, accept, reject } => {
                let (condition, accept, reject) =
                    (self.words_of(condition)?, self.words_of(accept)?, self.words_of(reject)?);
                let lanes = accept.into_iter().zip(reject).enumerate();
                lanes
                    .map(|(i, (a, b))| self.ternary(Ternary::Select, condition[i.min(condition.len() - 1)], a, b))
                    .collect()
            }
            Expression::Relational { fun, argument } => self.relational(fun, argument)?,
            Expression::Math { fun, arg, arg1, arg2, arg3 } => {
                let arguments: Vec<_> = [Some(arg), arg1, arg2, arg3].into_iter().flatten().collect();
                self.math(fun, &arguments)?
            }
            Expression::As { expr, kind, convert } => self.convert(expr, kind, convert)?,
            Expression::ArrayLength(array) => {
                let pointer = self.pointer(array)?;
                let elements = elements(self.module, pointer.ty.inner_with(&self.module.types), Layout::Host)?;
                let super::Root::Buffer(binding) = pointer.root else {
                    return unsupported("arrayLength outside of a buffer");
                };
                let dst = self.register();
                self.op(Op::ArrayLength { dst, binding, offset: pointer.offset, stride: elements.stride });
                vec![dst]
            }
            ref other => return unsupported(format!("{other:?}")),
        }))
    }

    pub(super) fn kind(&self, handle: Handle<Expression>) -> ScalarKind {
        self.inner(handle).scalar_kind().unwrap_or(ScalarKind::Uint)
    }

    fn map(&mut self, operand: &[Reg], op: Unary) -> Vec<Reg> {
        operand.iter().map(|&a| self.unary(op, a)).collect()
    }

    /// Returns the words of an expression of the module.
    pub(super) fn global_value(&mut self, handle: Handle<Expression>) -> Result<Vec<Reg>> {
        let module = self.module;
        self.constructor(&module.global_expressions[handle], |this, part| this.global_value(part))
    }

    /// Returns the words of an expression that takes its words from others, which `part` returns.
    fn constructor(
        &mut self,
        expression: &Expression,
        part: impl Fn(&mut Self, Handle<Expression>) -> Result<Vec<Reg>>,
    ) -> Result<Vec<Reg>> {
        Ok(match *expression {
            Expression::Literal(literal) => {
                let bits = match literal {
                    Literal::F32(value) => value.to_bits(),
                    Literal::U32(value) => value,
                    Literal::I32(value) => value.cast_unsigned(),
                    Literal::Bool(value) => value.into(),
                    other => return unsupported(format!("the literal {other:?}")),
                };
                vec![self.constant(bits)]
            }
            Expression::Constant(constant) => {
                let init = self.module.constants[constant].init;
                self.global_value(init)?
            }
            Expression::ZeroValue(ty) => {
                let count = words(self.module, &self.module.types[ty].inner)?;
                vec![self.constant(0); count as usize]
            }
            Expression::Compose { ref components, .. } => {
                let mut all = Vec::new();
                for &component in components {
                    all.extend(part(self, component)?);
                }
                all
            }
            Expression::Splat { size, value } => part(self, value)?.repeat(size as usize),
            Expression::Swizzle { size, vector, pattern } => {
                let vector = part(self, vector)?;
                pattern[..size as usize].iter().map(|&at: &SwizzleComponent| vector[at as usize]).collect()
            }
            ref other => return unsupported(format!("the constant {other:?}")),
        })
    }

    fn access(&mut self, base: Handle<Expression>, index: Handle<Expression>, span: Span) -> Result<Value> {
        let signed = self.kind(index) == ScalarKind::Sint;
        let mut index = self.word(index)?;
        if self.is_off_by_one(span) {
            let one = self.constant(1);
            index = self.binary(Binary::IAdd { signed }, index, one);
        }
        let what = self.name_of(base);
        let values = match self.value(base)? {
            Value::Pointer(pointer) => return Ok(Value::Pointer(self.element(pointer, index, signed, what)?)),
            Value::Words(words) => words,
        };
        let part = elements(self.module, self.inner(base), Layout::Flat)?;
        let size = words(self.module, part.ty.inner_with(&self.module.types))?;
        let count = part.count.unwrap_or(0);
        if let Some(at) = self.known(index).filter(|&at| at < count) {
            let start = (at * size) as usize;
            return Ok(Value::Words(values[start..start + size as usize].to_vec()));
        }
        let base = self.consecutive(&values);
        let address = self.index(super::NONE, index, signed, Count::Fixed(count), part.stride, what);
        let all = (0..size).map(|word| {
            let dst = self.register();
            self.op(Op::LoadLocal { dst, base: base + word, index: address });
            dst
        });
        Ok(Value::Words(all.collect()))
    }

    /// Returns the first of consecutive registers that hold a value. Constants are there from the beginning.
    fn consecutive(&mut self, values: &[Reg]) -> Reg {
        let known: Option<Vec<u32>> = values.iter().map(|&reg| self.known(reg)).collect();
        if let Some(start) = known.as_ref().and_then(|known| self.tables.get(known)) {
            return *start;
        }
        let start = self.registers(values.len() as u32);
        if let Some(known) = known {
            self.code.constants.extend((start..).zip(known.iter().copied()));
            self.tables.insert(known, start);
        } else {
            for (dst, &src) in (start..).zip(values) {
                self.op(Op::Copy { dst, src });
            }
        }
        start
    }

    fn access_index(&mut self, base: Handle<Expression>, index: u32) -> Result<Value> {
        match self.value(base)? {
            Value::Pointer(pointer) => Ok(Value::Pointer(self.part(pointer, index)?)),
            Value::Words(all) => {
                let (ty, offset) = member(self.module, self.inner(base), index, Layout::Flat)?;
                let size = words(self.module, ty.inner_with(&self.module.types))?;
                Ok(Value::Words(all[offset as usize..(offset + size) as usize].to_vec()))
            }
        }
    }

    fn relational(&mut self, function: RelationalFunction, argument: Handle<Expression>) -> Result<Vec<Reg>> {
        let operand = self.words_of(argument)?;
        let op = match function {
            RelationalFunction::All => Binary::And,
            RelationalFunction::Any => Binary::Or,
            RelationalFunction::IsNan => return Ok(self.map(&operand, Unary::Float(Float1::IsNan))),
            RelationalFunction::IsInf => return Ok(self.map(&operand, Unary::Float(Float1::IsInf))),
        };
        let mut all = operand[0];
        for &word in &operand[1..] {
            all = self.binary(op, all, word);
        }
        Ok(vec![all])
    }

    fn convert(&mut self, expression: Handle<Expression>, to: ScalarKind, width: Option<u8>) -> Result<Vec<Reg>> {
        let operand = self.words_of(expression)?;
        let from = self.kind(expression);
        match width {
            None => return Ok(operand),
            Some(1 | 4) => {}
            Some(width) => return unsupported(format!("{to:?} of {} bits", u32::from(width) * 8)),
        }
        use ScalarKind::{Bool, Float, Sint, Uint};
        let op = match (from, to) {
            (Float, Float) | (Bool, Bool) | (Sint | Uint | Bool, Sint | Uint) => return Ok(operand),
            (Float, Bool) => Unary::FToBool,
            (Sint | Uint, Bool) => Unary::ToBool,
            (Float, Sint) => Unary::FToI,
            (Float, Uint) => Unary::FToU,
            (Sint, Float) => Unary::IToF,
            (Uint | Bool, Float) => Unary::UToF,
            (from, to) => return unsupported(format!("a conversion of {from:?} to {to:?}")),
        };
        Ok(self.map(&operand, op))
    }

    fn binary_expression(
        &mut self,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Result<Vec<Reg>> {
        let (a, b) = (self.words_of(left)?, self.words_of(right)?);
        let (left_type, right_type) = (self.inner(left), self.inner(right));
        if op == BinaryOperator::Multiply {
            match (left_type, right_type) {
                (&TypeInner::Matrix { rows, columns, .. }, TypeInner::Vector { .. } | TypeInner::Matrix { .. }) => {
                    return Ok(self.matrix_product(&a, rows as usize, columns as usize, &b));
                }
                (TypeInner::Vector { .. }, &TypeInner::Matrix { rows, .. }) => {
                    return Ok(b.chunks(rows as usize).map(|column| self.dot(&a, column)).collect());
                }
                _ => {}
            }
        }
        let kind = self.kind(left);
        let count = a.len().max(b.len());
        let mut all = Vec::with_capacity(count);
        for i in 0..count {
            let (a, b) = (a[i.min(a.len() - 1)], b[i.min(b.len() - 1)]);
            all.push(self.scalar_binary(op, kind, a, b)?);
        }
        Ok(all)
    }

    /// Multiplies a matrix with the columns of another one, or with a vector.
    fn matrix_product(&mut self, matrix: &[Reg], rows: usize, columns: usize, right: &[Reg]) -> Vec<Reg> {
        let mut all = Vec::new();
        for column in right.chunks(columns) {
            for row in 0..rows {
                let line: Vec<Reg> = (0..columns).map(|k| matrix[k * rows + row]).collect();
                all.push(self.dot(&line, column));
            }
        }
        all
    }

    /// Returns the sum of products of floats.
    pub(super) fn dot(&mut self, a: &[Reg], b: &[Reg]) -> Reg {
        let mut sum = self.binary(Binary::FMul, a[0], b[0]);
        for (&a, &b) in a.iter().zip(b).skip(1) {
            sum = self.ternary(Ternary::MulAdd, a, b, sum);
        }
        sum
    }

    fn scalar_binary(&mut self, op: BinaryOperator, kind: ScalarKind, a: Reg, b: Reg) -> Result<Reg> {
        use BinaryOperator as B;
        let signed = kind == ScalarKind::Sint;
        let float = kind == ScalarKind::Float;
        let pick = |if_float, if_signed, if_unsigned| {
            if float {
                if_float
            } else if signed {
                if_signed
            } else {
                if_unsigned
            }
        };
        let (op, a, b) = match op {
            B::Add if float => return Ok(self.add(a, b)),
            B::Subtract if float => return Ok(self.subtract(a, b)),
            B::Add => (Binary::IAdd { signed }, a, b),
            B::Subtract => (Binary::ISub { signed }, a, b),
            B::Multiply if float => (Binary::FMul, a, b),
            B::Multiply => (Binary::IMul { signed }, a, b),
            B::Divide => (pick(Binary::FDiv, Binary::IDiv, Binary::UDiv), a, b),
            B::Modulo => (pick(Binary::FRem, Binary::IRem, Binary::URem), a, b),
            B::Equal => (pick(Binary::FEqual, Binary::Equal, Binary::Equal), a, b),
            B::NotEqual => (pick(Binary::FNotEqual, Binary::NotEqual, Binary::NotEqual), a, b),
            B::Less => (pick(Binary::FLess, Binary::ILess, Binary::ULess), a, b),
            B::LessEqual => (pick(Binary::FLessEqual, Binary::ILessEqual, Binary::ULessEqual), a, b),
            B::Greater => (pick(Binary::FLess, Binary::ILess, Binary::ULess), b, a),
            B::GreaterEqual => (pick(Binary::FLessEqual, Binary::ILessEqual, Binary::ULessEqual), b, a),
            B::And | B::LogicalAnd => (Binary::And, a, b),
            B::InclusiveOr | B::LogicalOr => (Binary::Or, a, b),
            B::ExclusiveOr => (Binary::Xor, a, b),
            B::ShiftLeft => (Binary::ShiftLeft, a, b),
            B::ShiftRight => (if signed { Binary::ShiftRightI } else { Binary::ShiftRightU }, a, b),
        };
        Ok(self.binary(op, a, b))
    }

    /// Returns the number of words of a type.
    pub(super) fn size(&self, ty: Handle<Type>) -> Result<u32> {
        words(self.module, &self.module.types[ty].inner)
    }
}
