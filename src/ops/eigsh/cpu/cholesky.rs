//! Sparse Cholesky factors of `A + shift`, by faer: approximate minimum degree, then columns one by one or in supernodes.

use crate::ops::sparse::Operator;
use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::perm::PermRef;
use faer::sparse::linalg::amd;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Conj, MatMut, Par, Side, Spec};

/// The upper triangle of a symmetric matrix, diagonal included, in compressed columns.
#[derive(Debug)]
pub(super) struct Pattern {
    order: usize,
    offsets: Vec<u32>,
    rows: Vec<u32>,
}

impl Pattern {
    /// That of an operator of one problem; none where its entries are too many to number.
    pub(super) fn new(operator: &Operator<'_, f64>) -> Option<Self> {
        let order = operator.rows();
        let mut rows = Vec::with_capacity(operator.entries() / 2 + order);
        let mut offsets = Vec::with_capacity(order + 1);
        offsets.push(0);
        for column in 0..order {
            let number = u32::try_from(column).ok()?;
            let entries = &operator.columns[operator.entries_of(column)];
            rows.extend(entries.iter().take_while(|&&row| row < number));
            rows.push(number);
            offsets.push(u32::try_from(rows.len()).ok()?);
        }
        Some(Self { order, offsets, rows })
    }

    /// How many there are.
    pub(super) fn entries(&self) -> usize {
        self.rows.len()
    }

    fn symbolic(&self) -> SymbolicSparseColMatRef<'_, u32> {
        SymbolicSparseColMatRef::new_checked(self.order, self.order, &self.offsets, None, &self.rows)
    }

    /// The entries of `A + shift` beside the pattern.
    fn values(&self, operator: &Operator<'_, f64>, shift: f64) -> Vec<f64> {
        let scale = |i: usize| operator.scale.as_ref().map_or(1.0, |s| s[i]);
        let mut values = Vec::with_capacity(self.rows.len());
        for column in 0..self.order {
            let own = operator.coupling * scale(column);
            let mut diagonal = operator.diagonal[column] + shift;
            for place in operator.entries_of(column) {
                let row = operator.columns[place] as usize;
                let value = own * scale(row) * operator.weights.as_ref().map_or(1.0, |w| w[place]);
                match row.cmp(&column) {
                    std::cmp::Ordering::Less => values.push(value),
                    std::cmp::Ordering::Equal => diagonal += value,
                    std::cmp::Ordering::Greater => break,
                }
            }
            values.push(diagonal);
        }
        values
    }
}

/// An order of the rows that makes little fill, and what it costs.
#[derive(Debug)]
pub(super) struct Ordering {
    forward: Vec<u32>,
    inverse: Vec<u32>,
    /// Entries of L, as approximate degrees count them: that many or a little fewer.
    pub(super) entries: f64,
    /// Multiplications, each with an addition, that make L.
    pub(super) products: f64,
}

impl Ordering {
    /// Approximate minimum degree; none where memory ends.
    pub(super) fn new(pattern: &Pattern) -> Option<Self> {
        let n = pattern.order;
        let (mut forward, mut inverse) = (vec![0; n], vec![0; n]);
        let mut memory = MemBuffer::try_new(amd::order_scratch::<u32>(n, pattern.rows.len())).ok()?;
        let stack = MemStack::new(&mut memory);
        let cost = amd::order(&mut forward, &mut inverse, pattern.symbolic(), amd::Control::default(), stack).ok()?;
        let entries = cost.n_div + n as f64;
        Some(Self { forward, inverse, entries, products: cost.n_mult_subs_ldl })
    }
}

/// `L L' = A + shift`.
pub(super) struct Factor {
    symbolic: SymbolicCholesky<u32>,
    values: Vec<f64>,
    /// For right sides, as many as were last solved for.
    memory: (usize, MemBuffer),
}

/// The structure of L; none where memory or numbers end.
pub(super) fn analyze(pattern: &Pattern, ordering: &Ordering) -> Option<SymbolicCholesky<u32>> {
    let order = PermRef::new_checked(&ordering.forward, &ordering.inverse, pattern.order);
    let params = CholeskySymbolicParams::default();
    factorize_symbolic_cholesky(pattern.symbolic(), Side::Upper, SymmetricOrdering::Custom(order), params).ok()
}

impl Factor {
    /// With the first of the shifts that makes every pivot positive, which comes along; none where none does, or memory ends.
    pub(super) fn new(
        operator: &Operator<'_, f64>,
        pattern: &Pattern,
        symbolic: SymbolicCholesky<u32>,
        shifts: impl Iterator<Item = f64>,
    ) -> Option<(Self, f64)> {
        let par = Par::rayon(0);
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(par, Spec::default());
        let mut memory = MemBuffer::try_new(scratch).ok()?;
        let mut values = zeros(symbolic.len_val())?;
        for shift in shifts {
            let entries = pattern.values(operator, shift);
            let matrix = SparseColMatRef::new(pattern.symbolic(), &entries);
            let stack = MemStack::new(&mut memory);
            let regularization = LltRegularization::default();
            let factor = symbolic.factorize_numeric_llt(
                &mut values,
                matrix,
                Side::Upper,
                regularization,
                par,
                stack,
                Spec::default(),
            );
            if factor.is_ok() {
                let memory = (0, MemBuffer::new(StackReq::EMPTY));
                return Some((Self { symbolic, values, memory }, shift));
            }
        }
        None
    }

    /// Each column of a column-major block becomes `(A + shift)^-1` times itself.
    pub(super) fn solve(&mut self, block: &mut [f64]) {
        let n = self.symbolic.nrows();
        let columns = block.len() / n.max(1);
        if self.memory.0 != columns {
            let scratch = self.symbolic.solve_in_place_scratch::<f64>(columns, Par::Seq);
            self.memory = (columns, MemBuffer::new(scratch));
        }
        let block = MatMut::from_column_major_slice_mut(block, n, columns);
        let stack = MemStack::new(&mut self.memory.1);
        LltRef::new(&self.symbolic, &self.values).solve_in_place_with_conj(Conj::No, block, Par::Seq, stack);
    }
}

fn zeros(len: usize) -> Option<Vec<f64>> {
    let mut values = Vec::new();
    values.try_reserve_exact(len).ok()?;
    values.resize(len, 0.0);
    Some(values)
}
