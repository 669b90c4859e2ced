//! Thick-restart Lanczos (Wu and Simon 2000) in f64, with blocks of one or more vectors, full orthogonalisation and a search for
//! what a Krylov space cannot see.
//!
//! The small matrix is not put together from recurrence coefficients: Gram-Schmidt against the whole basis computes every product
//! that it is made of, so a restart, a new random vector and a block of any width are all the same to it.
//!
//! **Multiplicities.** The Krylov space of a block of p random vectors holds p vectors of an eigenspace at most. So what has
//! converged is locked, and the search goes on in its orthogonal complement from new random vectors, until the outermost value
//! there lies beyond what is wanted. Only where no p of the values found lie together is that known without looking.

mod orthonormal;
#[cfg(test)]
mod tests;

use super::basis::Basis;
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::ops::random::uniforms;
use crate::ops::sparse::NullSpace;
use crate::parallel;
use crate::shape::to_u32;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par, Spec};

/// Numbers that a thread draws at a time.
const DRAWN: usize = 1 << 12;
/// A pair that has not converged lies beyond a limit if it does so by this many times its residual. A missing pair hides in it only if
/// its part in the random vectors is smaller than the others' by as much.
const SURE: f64 = 1e5;
/// A value of an inverse that is this many times the next one is locked before the next is looked for: a solution's rounding error is
/// eps times the largest value, most of it along that value's vector, and goes with it when it is taken out.
const DOMINANT: f64 = 1e4;
/// Values closer than this many times their errors may be one value that is found more than once.
const TOGETHER: f64 = 1e3;
/// A symmetric linear map: the second block becomes the map of the first, both column-major of a few vectors.
pub(super) type Map<'a> = &'a mut dyn FnMut(&[f64], &mut [f64]) -> Result<()>;

/// Which end of the map's spectrum is wanted, and how far apart its values are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    Smallest,
    Largest,
    /// The map is `(A + shift)^-1`, positive definite; the smallest values of A are wanted, resolution and limits are those of A.
    Inverse {
        shift: f64,
    },
    /// The map is `(A - sigma)^-1`; the values of A nearest sigma are wanted, and a place is the distance from it.
    Nearest,
}

impl End {
    /// Where a value of the map lies, counted from the wanted end.
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Smallest => value,
            Self::Largest => -value,
            Self::Inverse { shift } if value > 0.0 => 1.0 / value - shift,
            Self::Inverse { .. } => f64::INFINITY,
            Self::Nearest => 1.0 / value.abs(),
        }
    }

    /// How far an error of a value moves its place.
    fn error(self, value: f64, error: f64) -> f64 {
        match self {
            Self::Smallest | Self::Largest => error,
            Self::Inverse { .. } | Self::Nearest => error / (value * value),
        }
    }
}

/// What is wanted of a map.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) end: End,
    /// Pairs beside the known null space.
    pub(super) wanted: usize,
    /// Pairs at most, where those at the inner end are tied with the last wanted one.
    pub(super) most: usize,
    /// Places closer than this are tied.
    pub(super) resolution: f64,
    /// Pairs have converged whose residual in the map is `absolute + relative |value|` at most.
    pub(super) absolute: f64,
    pub(super) relative: f64,
    /// Vectors in a block.
    pub(super) block: usize,
    /// Vectors of the basis beside those that are locked; `None` for [`default_basis`].
    pub(super) basis: Option<usize>,
    /// The most products with a vector.
    pub(super) most_products: usize,
    pub(super) seed: u64,
}

impl Request {
    fn tolerance(&self, value: f64) -> f64 {
        self.absolute + self.relative * value.abs()
    }
}

/// Returns the size of a basis for `wanted` pairs: twice as many leaves room for those on their way.
pub(super) fn default_basis(wanted: usize) -> usize {
    (2 * wanted + 16).max(48)
}

/// What was found, from the wanted end inward.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// Of the map.
    pub(super) values: Vec<f64>,
    /// `(n, values)` column-major, orthonormal, orthogonal to the known null space.
    pub(super) vectors: Vec<f64>,
    /// `|M v - m v|_2`, as the Lanczos relation has it.
    pub(super) residuals: Vec<f64>,
    /// How many from the first on have converged: the others are the best of a search that ran out of products.
    pub(super) converged: usize,
    /// Products of the map with a vector.
    pub(super) products: usize,
    /// How often the basis was full.
    pub(super) restarts: usize,
    /// How often the search began with new random vectors.
    pub(super) searches: usize,
}

/// Finds pairs of a symmetric map of vectors of `null.labels.len()` numbers.
///
/// # Errors
/// Those of the map; [`Cancelled`](crate::ErrorKind::Cancelled).
pub(super) fn lanczos(map: Map<'_>, null: &NullSpace<f64>, request: Request, cancel: &Cancel) -> Result<Pairs> {
    let mut search = Search::new(map, null, request);
    while search.next(cancel)? {}
    Ok(search.finish())
}

/// The pairs of the small matrix, from the wanted end inward.
struct Ritz {
    values: Vec<f64>,
    residuals: Vec<f64>,
    /// Columns beside the values.
    vectors: Mat<f64>,
}

struct Search<'a> {
    map: Map<'a>,
    null: &'a NullSpace<f64>,
    request: Request,
    basis: Basis,
    /// Values and residuals of the first columns of the basis, which are locked.
    locked: Vec<(f64, f64)>,
    /// The small matrix of the columns behind those, which have been multiplied.
    small: Mat<f64>,
    /// How many there are, and how many have yet to be multiplied.
    active: usize,
    front: usize,
    /// What the front was before it was made orthonormal, along the columns that were multiplied last.
    coupling: Mat<f64>,
    /// Of the space without the known null vectors.
    dimension: usize,
    /// Of the active columns.
    most_active: usize,
    /// The largest product of a unit vector.
    norm: f64,
    drawn: u32,
    found: Pairs,
    input: Vec<f64>,
    output: Vec<f64>,
}

impl<'a> Search<'a> {
    fn new(map: Map<'a>, null: &'a NullSpace<f64>, mut request: Request) -> Self {
        let n = null.labels.len();
        let dimension = n - null.len();
        request.wanted = request.wanted.min(dimension);
        request.most = request.most.clamp(request.wanted, dimension);
        request.block = request.block.clamp(1, dimension.max(1));
        // A basis makes progress if a few vectors outlive a restart.
        let least = request.wanted + 2 * request.block + 2;
        let most_active = request.basis.unwrap_or_else(|| default_basis(request.wanted)).max(least).min(dimension);
        let capacity = if request.wanted == 0 { 0 } else { request.most + most_active + request.block };
        Self {
            map,
            null,
            request,
            basis: Basis::new(n, capacity),
            locked: Vec::new(),
            small: Mat::zeros(most_active, most_active),
            active: 0,
            front: 0,
            coupling: Mat::new(),
            dimension,
            most_active,
            norm: 0.0,
            drawn: 0,
            found: Pairs::default(),
            input: vec![0.0; n * request.block],
            output: vec![0.0; n * request.block],
        }
    }

    /// One search from new random vectors. Returns whether there should be another.
    fn next(&mut self, cancel: &Cancel) -> Result<bool> {
        let Request { wanted, block, most_products, .. } = self.request;
        if wanted == 0 {
            return Ok(false);
        }
        self.found.searches += 1;
        self.begin();
        let mut since = 0;
        loop {
            cancel.check()?;
            let width = self.front;
            self.expand()?;
            let room = self.most_active - self.active;
            let (full, complete) = (room < self.front, self.front == 0);
            let out = self.found.products >= most_products;
            // A Rayleigh-Ritz step costs about ten cubes, a step as many products of long vectors as the basis has.
            since += width * self.input.len() / block;
            if !(full || complete || out || since >= 3 * self.active * self.active) {
                continue;
            }
            since = 0;
            let ritz = self.ritz();
            let converged = self.converged(&ritz);
            let done = complete || out || self.is_done(&ritz, converged);
            if done {
                let known = complete || self.is_alone(&ritz, converged);
                let taken = if out { ritz.values.len() } else { converged };
                let better = self.lock(&ritz, taken);
                return Ok(better && !known && !out && self.locked.len() < self.dimension);
            }
            let dominant = self.dominant(&ritz, converged);
            if dominant > 0 {
                return Ok(self.lock(&ritz, dominant));
            }
            if full {
                self.restart(&ritz);
            }
        }
    }

    /// Puts random vectors behind the locked ones.
    fn begin(&mut self) {
        let locked = self.locked.len();
        self.front = self.request.block.min(self.dimension - locked);
        self.active = 0;
        for column in locked..locked + self.front {
            self.draw(column);
        }
    }

    /// A random unit vector, orthogonal to the columns before it.
    fn draw(&mut self, column: usize) {
        let (drawn, seed) = (self.drawn, self.request.seed);
        self.drawn += 1;
        let fresh = &mut self.input[..self.null.labels.len()];
        parallel::for_each(fresh.chunks_mut(DRAWN), |chunk, fresh| {
            for (i, x) in (chunk * DRAWN..).zip(fresh) {
                *x = uniforms(to_u32(i), drawn, seed)[0];
            }
        });
        self.basis.write(column, fresh);
        self.basis.deflate(self.null, column..column + 1);
        self.basis.orthogonalize(column + 1, 1);
        let square = self.basis.products(column..column + 1, column)[0];
        self.basis.scale(column, if square > 0.0 { 1.0 / square.sqrt() } else { 0.0 });
    }

    /// Multiplies the front, and makes of the products a new one.
    fn expand(&mut self) -> Result<()> {
        let n = self.null.labels.len();
        let (locked, width) = (self.locked.len(), self.front);
        let begin = locked + self.active;
        let (input, output) = (&mut self.input[..n * width], &mut self.output[..n * width]);
        self.basis.read(begin..begin + width, input);
        (self.map)(input, output)?;
        self.found.products += width;
        self.basis.write(begin + width, output);
        let new = begin + width..begin + 2 * width;
        self.basis.deflate(self.null, new.clone());
        let mut along = self.basis.orthogonalize(new.end, width);
        // What is left may be all rounding errors, and those have a part along the null vectors.
        self.basis.deflate(self.null, new.clone());
        let (new, coupling) = match self.by_gram(new.clone(), &along) {
            Some(coupling) => (width, coupling),
            None => self.one_by_one(new, &mut along),
        };
        if !self.norm.is_finite() {
            return Err(Error::domain("eigsh", "expected finite products with the matrix, found others"));
        }
        for j in 0..width {
            for i in 0..self.active + width {
                let (row, column) = (i, self.active + j);
                // Both halves of the block on the diagonal are computed; they differ by rounding.
                let value = if i < self.active {
                    along[(locked + i, j)]
                } else {
                    f64::midpoint(along[(locked + i, j)], along[(begin + j, i - self.active)])
                };
                self.small[(row, column)] = value;
                self.small[(column, row)] = value;
            }
        }
        self.active += width;
        self.front = new;
        self.coupling = coupling;
        Ok(())
    }

    /// The pairs of the small matrix.
    fn ritz(&self) -> Ritz {
        let n = self.active;
        let mut values = Diag::<f64>::zeros(n);
        let mut vectors = Mat::<f64>::zeros(n, n);
        let params = Spec::default();
        let scratch = self_adjoint_evd_scratch::<f64>(n, ComputeEigenvectors::Yes, Par::Seq, params);
        let mut memory = MemBuffer::new(scratch);
        let small = self.small.as_ref().submatrix(0, 0, n, n);
        let stack = MemStack::new(&mut memory);
        if self_adjoint_evd(small, values.as_mut(), Some(vectors.as_mut()), Par::Seq, stack, params).is_err() {
            // Not finite: nothing of it converges.
            values.column_vector_mut().fill(f64::NAN);
        }
        let values: Vec<f64> = values.column_vector().iter().copied().collect();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&i, &j| self.request.end.place(values[i]).total_cmp(&self.request.end.place(values[j])));
        let last = n - self.coupling.ncols().min(n);
        let residual = |&column: &usize| {
            let y = vectors.as_ref().col(column);
            let of_row = |i: usize| (last..n).map(|j| self.coupling[(i, j - last)] * y[j]).sum::<f64>();
            (0..self.coupling.nrows()).map(|i| of_row(i).powi(2)).sum::<f64>().sqrt()
        };
        Ritz {
            residuals: order.iter().map(residual).collect(),
            values: order.iter().map(|&i| values[i]).collect(),
            vectors: Mat::from_fn(n, n, |i, j| vectors[(i, order[j])]),
        }
    }

    /// How many from the first on have converged.
    fn converged(&self, ritz: &Ritz) -> usize {
        let pairs = ritz.values.iter().zip(&ritz.residuals);
        pairs.take_while(|(value, residual)| **residual <= self.request.tolerance(**value)).count()
    }

    /// The largest error of the place of a pair that has converged.
    fn error(&self, value: f64) -> f64 {
        self.request.end.error(value, self.request.tolerance(value))
    }

    /// The values among which the wanted ones are: those locked and these, from the wanted end inward.
    fn together(&self, more: &[f64]) -> Vec<f64> {
        let mut all: Vec<f64> = self.locked.iter().map(|(value, _)| *value).chain(more.iter().copied()).collect();
        all.sort_by(|a, b| self.request.end.place(*a).total_cmp(&self.request.end.place(*b)));
        all
    }

    /// How many values are wanted, with those that are tied with the last.
    fn wanted(&self, values: &[f64]) -> usize {
        let Request { wanted, most, resolution, end, .. } = self.request;
        let tied = |i: &usize| end.place(values[*i]) - end.place(values[i - 1]) <= resolution;
        let rest = (wanted..most).take_while(|i| *i < values.len() && tied(i)).count();
        (wanted + rest).min(values.len())
    }

    /// The place from which on a value is not wanted.
    fn limit(&self, values: &[f64]) -> f64 {
        let Request { wanted, most, resolution, end, .. } = self.request;
        if values.len() < wanted {
            return f64::INFINITY;
        }
        let count = self.wanted(values);
        let last = values[count - 1];
        let error = self.error(last);
        end.place(last) + if count < most && resolution > error { resolution } else { -error }
    }

    /// Whether this search has found what it can: a value beyond the limit, or, in the first one, as much as is wanted.
    fn is_done(&self, ritz: &Ritz, converged: usize) -> bool {
        let Request { wanted, end, block, .. } = self.request;
        let limit = self.limit(&self.together(&ritz.values[..converged]));
        let beyond = |i: usize, factor: f64| {
            end.place(ritz.values[i]) - factor * end.error(ritz.values[i], ritz.residuals[i]) > limit
        };
        converged > 0 && beyond(converged - 1, 0.0)
            || converged < ritz.values.len() && beyond(converged, SURE)
            || block == 1 && self.locked.is_empty() && converged >= wanted
    }

    /// How many from the first on are [`DOMINANT`], of those that have converged.
    fn dominant(&self, ritz: &Ritz, converged: usize) -> usize {
        if matches!(self.request.end, End::Smallest | End::Largest) {
            return 0;
        }
        let dominates = |&i: &usize| ritz.values[i - 1].abs() > DOMINANT * ritz.values[i].abs();
        (1..=converged.min(ritz.values.len() - 1)).rev().find(dominates).unwrap_or(0)
    }

    /// Whether no value can be hidden behind an equal one: nowhere do as many lie together as the block has vectors.
    fn is_alone(&self, ritz: &Ritz, converged: usize) -> bool {
        let Request { wanted, block, end, .. } = self.request;
        if !self.locked.is_empty() || converged < wanted || block == 1 {
            return false;
        }
        let values = &ritz.values[..converged];
        let apart =
            |i: usize| end.place(values[i]) - end.place(values[i + 1 - block]) > TOGETHER * self.error(values[i]);
        (block - 1..converged).all(apart)
    }

    /// Locks the best of the first Ritz vectors beside what is locked. Returns whether there was any.
    fn lock(&mut self, ritz: &Ritz, count: usize) -> bool {
        let locked = self.locked.len();
        let q = ritz.vectors.as_ref().subcols(0, count);
        self.basis.rotate(locked..locked + self.active, q, locked, 0..0);
        let fresh = ritz.values.iter().copied().zip(ritz.residuals.iter().copied()).take(count);
        let all: Vec<(f64, f64)> = self.locked.iter().copied().chain(fresh).collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        let place = |i: usize| self.request.end.place(all[i].0);
        order.sort_by(|&i, &j| place(i).total_cmp(&place(j)).then(i.cmp(&j)));
        let sorted: Vec<f64> = order.iter().map(|&i| all[i].0).collect();
        let limit = self.limit(&self.together(&[]));
        let better = (locked..all.len()).any(|i| place(i) <= limit);
        order.truncate(self.wanted(&sorted));
        self.basis.select(&order);
        self.locked = order.iter().map(|&i| all[i]).collect();
        (self.active, self.front) = (0, 0);
        better
    }

    /// Goes on with the best Ritz vectors and the front.
    fn restart(&mut self, ritz: &Ritz) {
        self.found.restarts += 1;
        let wanted = self.request.wanted;
        let most = self.active - self.request.block.min(self.active);
        let keep = (wanted + (self.most_active - wanted) / 2).min(most);
        let locked = self.locked.len();
        let end = locked + self.active;
        let q = ritz.vectors.as_ref().subcols(0, keep);
        self.basis.rotate(locked..end, q, locked, end..end + self.front);
        self.small.fill(0.0);
        ritz.values.iter().take(keep).enumerate().for_each(|(i, &value)| self.small[(i, i)] = value);
        self.active = keep;
    }

    fn finish(self) -> Pairs {
        let Self { basis, locked, null, request, mut found, .. } = self;
        let n = null.labels.len();
        found.vectors = vec![0.0; n * locked.len()];
        basis.read(0..locked.len(), &mut found.vectors);
        found.converged = locked.iter().take_while(|(value, residual)| *residual <= request.tolerance(*value)).count();
        (found.values, found.residuals) = locked.into_iter().unzip();
        found
    }
}
