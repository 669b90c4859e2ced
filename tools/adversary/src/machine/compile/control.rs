//! Statements.

use super::super::op::{Case, NONE, Op, Pc, Reg};
use super::super::program::CompileError;
use super::types::unsupported;
use super::{Compiler, MAX_OPERATIONS, Result, Scope, Value};
use naga::{Barrier, Block, Expression, Function, Handle, Span, Statement, SwitchCase, SwitchValue};

impl<'a> Compiler<'a> {
    /// Compiles the function of the scope, with its variables.
    pub(super) fn body(&mut self) -> Result<()> {
        let function = self.scope.function;
        if let Some(result) = &function.result {
            // Written first where the call begins, since a lane that returns in a loop waits for the others.
            for _ in 0..self.size(result.ty)? {
                let reg = self.register();
                self.op(Op::Const { dst: reg, value: 0 });
                self.scope.result.push(reg);
            }
        }
        for (_, variable) in function.local_variables.iter() {
            let count = self.size(variable.ty)?;
            let start = self.registers(count);
            self.scope.locals.push(start);
            match variable.init {
                Some(init) => {
                    let value = self.words_of(init)?;
                    for (dst, src) in (start..).zip(value) {
                        self.op(Op::Copy { dst, src });
                    }
                }
                None => (start..start + count).for_each(|dst| {
                    self.op(Op::Const { dst, value: 0 });
                }),
            }
        }
        self.op(Op::Begin);
        self.depth += 1;
        self.scope.depth = self.depth;
        self.outs.push(Vec::new());
        self.mark(None);
        self.block(&function.body)?;
        self.end()
    }

    /// Ends a loop, a switch or a call, where all lanes come back.
    fn end(&mut self) -> Result<()> {
        self.come_back();
        self.depth -= 1;
        self.out(Op::End { out: 0 });
        if self.code.ops.len() > MAX_OPERATIONS {
            return unsupported("a program of millions of operations, with all calls inlined");
        }
        Ok(())
    }

    /// Emits an operation that may jump to where the lanes of the innermost construct come back.
    fn out(&mut self, op: Op) -> Pc {
        let pc = self.op(op);
        if let Some(outs) = self.outs.last_mut() {
            outs.push(pc);
        }
        pc
    }

    /// Makes the next operation that at which the lanes of the innermost construct come back.
    fn come_back(&mut self) {
        let here = self.pc();
        for pc in self.outs.pop().unwrap_or_default() {
            if let Some(target) = self.code.ops[pc as usize].target() {
                *target = here;
            }
        }
    }

    fn block(&mut self, block: &'a Block) -> Result<()> {
        for (statement, &span) in block.span_iter() {
            self.set_site(span);
            self.cover(statement, span);
            self.statement(statement, span)?;
        }
        Ok(())
    }

    /// Notes that a statement is executed where the innermost place is.
    fn cover(&mut self, statement: &Statement, span: Span) {
        let function = self.scope.function;
        let span = match statement {
            Statement::Emit(range) => {
                range.clone().last().map_or(span, |expression| function.expressions.get_span(expression))
            }
            Statement::Block(_) => return,
            _ => span,
        };
        if let Some(point) = self.code.points.last_mut().filter(|_| span.is_defined()) {
            point.statements.push(span);
        }
    }

    fn statement(&mut self, statement: &'a Statement, span: Span) -> Result<()> {
        let function = self.scope.function;
        match *statement {
            Statement::Emit(ref range) => {
                for handle in range.clone() {
                    self.set_site(function.expressions.get_span(handle));
                    let value = self.evaluate(handle)?;
                    self.set(handle, value);
                }
            }
            Statement::Block(ref block) => self.block(block)?,
            Statement::If { condition, ref accept, ref reject } => self.branch(condition, accept, reject, span)?,
            Statement::Switch { selector, ref cases } => self.switch(selector, cases, span)?,
            Statement::Loop { ref body, ref continuing, break_if } => self.repeat(body, continuing, break_if, span)?,
            Statement::Break => {
                let target = self.scope.breaks.last().copied().unwrap_or(self.depth);
                self.out(Op::Leave { levels: self.depth - target, out: 0 });
            }
            Statement::Continue => {
                let target = self.scope.continues.last().copied().unwrap_or(self.depth);
                self.out(Op::Continue { levels: self.depth - target, out: 0 });
            }
            Statement::Return { value } => {
                if let Some(value) = value {
                    let words = self.words_of(value)?;
                    for (dst, src) in self.scope.result.clone().into_iter().zip(words) {
                        self.op(Op::Set { dst, src });
                    }
                }
                self.out(Op::Leave { levels: self.depth - self.scope.depth, out: 0 });
            }
            Statement::ControlBarrier(flags) => {
                if flags.contains(Barrier::SUB_GROUP) {
                    return unsupported("subgroupBarrier, which WGSL doesn't have");
                }
                let (workgroup, storage) = (flags.contains(Barrier::WORK_GROUP), flags.contains(Barrier::STORAGE));
                self.op(Op::Barrier { workgroup, storage });
            }
            Statement::Store { pointer, value } => {
                let value = self.words_of(value)?;
                let pointer = self.pointer(pointer)?;
                self.store(&pointer, &value)?;
            }
            Statement::Atomic { pointer, fun, value, result } => self.atomic_statement(pointer, fun, value, result)?,
            Statement::WorkGroupUniformLoad { pointer, result } => {
                let pointer = self.pointer(pointer)?;
                self.op(Op::Barrier { workgroup: true, storage: false });
                if pointer.address != NONE {
                    self.op(Op::Uniform { address: pointer.address });
                }
                let words = self.load(&pointer)?;
                self.op(Op::Barrier { workgroup: true, storage: false });
                self.set(result, Value::Words(words));
            }
            Statement::Call { function, ref arguments, result } => self.call(function, arguments, result, span)?,
            Statement::SubgroupBallot { result, predicate } => self.ballot(result, predicate)?,
            Statement::SubgroupGather { mode, argument, result } => self.gather(mode, argument, result)?,
            Statement::SubgroupCollectiveOperation { op, collective_op, argument, result } => {
                self.reduce(op, collective_op, argument, result)?;
            }
            ref other => return unsupported(format!("{other:?}")),
        }
        Ok(())
    }

    fn branch(
        &mut self,
        condition: Handle<Expression>,
        accept: &'a Block,
        reject: &'a Block,
        span: Span,
    ) -> Result<()> {
        let condition = self.word(condition)?;
        self.set_site(span);
        if let Some(known) = self.known(condition) {
            return self.block(if known != 0 { accept } else { reject });
        }
        let branch = self.op(Op::If { condition, otherwise: 0 });
        self.depth += 1;
        self.outs.push(vec![branch]);
        self.mark(Some(("true", span)));
        self.block(accept)?;
        self.come_back();
        self.outs.push(Vec::new());
        self.out(Op::Else { out: 0 });
        self.mark(Some(("false", span)));
        self.block(reject)?;
        self.come_back();
        self.depth -= 1;
        self.out(Op::EndIf { out: 0 });
        self.mark(None);
        Ok(())
    }

    fn repeat(
        &mut self,
        body: &'a Block,
        continuing: &'a Block,
        break_if: Option<Handle<Expression>>,
        span: Span,
    ) -> Result<()> {
        self.op(Op::Begin);
        self.depth += 1;
        self.scope.breaks.push(self.depth);
        self.scope.continues.push(self.depth);
        let start = self.pc();
        self.outs.push(Vec::new());
        self.mark(None);
        self.block(body)?;
        self.come_back();
        self.outs.push(Vec::new());
        self.out(Op::Continuing { exit: 0 });
        self.mark(None);
        self.block(continuing)?;
        let break_if = match break_if {
            Some(condition) => self.word(condition)?,
            None => NONE,
        };
        self.come_back();
        self.set_site(span);
        let repeat = self.op(Op::Repeat { break_if, start });
        self.loops.push((start, repeat));
        self.scope.breaks.pop();
        self.scope.continues.pop();
        self.depth -= 1;
        self.out(Op::End { out: 0 });
        self.mark(None);
        Ok(())
    }

    fn switch(&mut self, selector: Handle<Expression>, cases: &'a [SwitchCase], span: Span) -> Result<()> {
        let selector = self.word(selector)?;
        let value_of = |case: &SwitchCase| match case.value {
            SwitchValue::I32(value) => Some(value.cast_unsigned()),
            SwitchValue::U32(value) => Some(value),
            SwitchValue::Default => None,
        };
        let all: Vec<u32> = cases.iter().filter_map(value_of).collect();
        self.op(Op::Switch);
        self.depth += 1;
        self.scope.breaks.push(self.depth);
        self.outs.push(Vec::new());
        for case in cases {
            let value = value_of(case);
            let others = if value.is_none() { all.clone() } else { Vec::new() };
            let entry = self.code.tables.cases.len() as u32;
            self.code.tables.cases.push(Case { selector, value, others });
            self.come_back();
            self.outs.push(Vec::new());
            self.out(Op::Case { case: entry, next: 0 });
            self.mark(Some(("case", case_span(case, span))));
            self.block(&case.body)?;
            if !case.fall_through {
                self.out(Op::Leave { levels: 0, out: 0 });
            }
        }
        self.scope.breaks.pop();
        self.end()?;
        self.mark(None);
        Ok(())
    }

    fn call(
        &mut self,
        handle: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
        span: Span,
    ) -> Result<()> {
        let (module, info) = (self.module, self.info);
        let function = &module.functions[handle];
        let mut values = Vec::with_capacity(arguments.len());
        for &argument in arguments {
            values.push(self.value(argument)?);
        }
        let name = function.name.clone().unwrap_or_else(|| "function".into());
        let name = match self.code.functions.iter().position(|known| *known == name) {
            Some(index) => index,
            None => {
                self.code.functions.push(name);
                self.code.functions.len() - 1
            }
        };
        let scope = Scope::new(function, &info[handle], name as u32, values, self.depth);
        let caller = std::mem::replace(&mut self.scope, scope);
        let compiled = self.body();
        let callee = std::mem::replace(&mut self.scope, caller);
        compiled?;
        self.set_site(span);
        self.mark(None);
        if let Some(result) = result {
            let words: Vec<Reg> = callee.result;
            if words.is_empty() {
                return Err(CompileError::Invalid("a call of a function without result".into()));
            }
            self.set(result, Value::Words(words));
        }
        Ok(())
    }
}

/// Returns the place of a case, which is that of its first statement, or that of the switch.
fn case_span(case: &SwitchCase, switch: Span) -> Span {
    case.body.span_iter().map(|(_, &span)| span).find(Span::is_defined).unwrap_or(switch)
}
