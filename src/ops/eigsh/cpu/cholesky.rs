//! Sparse Cholesky factors of `A + shift`, which faer computes: an approximate minimum degree ordering, then a
//! supernodal factorization.

use super::triangular::Triangular;
use crate::ops::sparse::Operator;
use crate::parallel;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt::factor::LltRegularization;
use faer::perm::PermRef;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::amd;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, SymbolicCholesky, SymbolicCholeskyRaw, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMatRef};
use faer::{Side, Spec};

/// The number of rows that a thread gathers at a time.
const GATHERED: usize = 1 << 12;

/// The pattern of the upper triangle of a symmetric matrix, including the diagonal, in compressed columns.
#[derive(Debug)]
pub(super) struct Pattern {
    order: usize,
    offsets: Vec<u32>,
    rows: Vec<u32>,
}

impl Pattern {
    /// Returns the pattern of an operator of one problem; `None` if it has too many entries for 32-bit indices.
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

    /// Returns the number of entries.
    pub(super) fn entries(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn symbolic(&self) -> SymbolicSparseColMatRef<'_, u32> {
        SymbolicSparseColMatRef::new_checked(self.order, self.order, &self.offsets, None, &self.rows)
    }

    /// Returns the entries of `A + shift`, in the order of the pattern.
    pub(super) fn values(&self, operator: &Operator<'_, f64>, shift: f64) -> Vec<f64> {
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

/// An order of the rows that causes little fill, and the cost of the factorization in that order.
#[derive(Debug)]
pub(super) struct Ordering {
    forward: Vec<u32>,
    inverse: Vec<u32>,
    /// The number of entries of L. It is computed from approximate degrees, so it is exact or slightly too large.
    pub(super) entries: f64,
    /// The number of multiply-add operations that compute L.
    pub(super) products: f64,
}

impl Ordering {
    /// Computes an approximate minimum degree ordering; `None` if memory runs out.
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

/// Returns the structure of L; `None` if memory runs out or if L has too many entries for 32-bit indices.
pub(super) fn analyze(pattern: &Pattern, ordering: &Ordering) -> Option<SymbolicCholesky<u32>> {
    let order = PermRef::new_checked(&ordering.forward, &ordering.inverse, pattern.order);
    let threshold = SupernodalThreshold::FORCE_SUPERNODAL;
    let params = CholeskySymbolicParams { supernodal_flop_ratio_threshold: threshold, ..Default::default() };
    factorize_symbolic_cholesky(pattern.symbolic(), Side::Upper, SymmetricOrdering::Custom(order), params).ok()
}

/// A factorization `L L' = A + shift` with reordered rows and columns.
#[derive(Debug)]
pub(super) struct Factor {
    ordering: Ordering,
    structure: Triangular,
    values: Vec<f64>,
}

impl Factor {
    /// Factorizes with the first of the `shifts` that makes every pivot positive, and returns that shift; `None`
    /// if no shift does, or if memory runs out.
    pub(super) fn new(
        operator: &Operator<'_, f64>,
        pattern: &Pattern,
        ordering: Ordering,
        shifts: impl Iterator<Item = f64>,
    ) -> Option<(Self, f64)> {
        let symbolic = analyze(pattern, &ordering)?;
        let SymbolicCholeskyRaw::Supernodal(supernodes) = symbolic.raw() else { return None };
        let structure = Triangular::new(supernodes);
        let par = parallel::in_eight();
        let scratch = symbolic.factorize_numeric_llt_scratch::<f64>(par, Spec::default());
        let mut memory = MemBuffer::try_new(scratch).ok()?;
        let mut values = zeros(symbolic.len_val())?;
        for shift in shifts {
            let entries = pattern.values(operator, shift);
            let matrix = SparseColMatRef::new(pattern.symbolic(), &entries);
            let (stack, regularization) = (MemStack::new(&mut memory), LltRegularization::default());
            let positive = symbolic
                .factorize_numeric_llt(&mut values, matrix, Side::Upper, regularization, par, stack, Spec::default())
                .is_ok();
            if positive {
                return Some((Self { ordering, structure, values }, shift));
            }
        }
        None
    }

    /// Multiplies each column of a column-major block by `(A + shift)^-1`.
    pub(super) fn solve(&self, block: &mut [f64]) {
        let n = self.ordering.forward.len();
        let mut rest = block;
        while !rest.is_empty() {
            let columns = rest.len() / n;
            let taken = [8, 4, 2, 1].into_iter().find(|&width| width <= columns).unwrap_or(1);
            let (now, others) = rest.split_at_mut(taken * n);
            match taken {
                8 => self.solve_few::<8>(now),
                4 => self.solve_few::<4>(now),
                2 => self.solve_few::<2>(now),
                _ => self.solve_few::<1>(now),
            }
            rest = others;
        }
    }

    fn solve_few<const W: usize>(&self, block: &mut [f64]) {
        let Ordering { forward, inverse, .. } = &self.ordering;
        let n = forward.len();
        let gather = |&row: &u32| std::array::from_fn(|w| block[w * n + row as usize]);
        let mut x = vec![[0.0; W]; n];
        parallel::for_each(x.chunks_mut(GATHERED).zip(forward.chunks(GATHERED)), |_, (x, rows)| {
            x.iter_mut().zip(rows).for_each(|(x, row)| *x = gather(row));
        });
        self.structure.solve(&self.values, &mut x);
        parallel::for_each(block.chunks_mut(n), |w, column| {
            column.iter_mut().zip(inverse).for_each(|(to, &row)| *to = x[row as usize][w]);
        });
    }
}

fn zeros(len: usize) -> Option<Vec<f64>> {
    let mut values = Vec::new();
    values.try_reserve_exact(len).ok()?;
    values.resize(len, 0.0);
    Some(values)
}
