//! Thick-restart Lanczos (Wu and Simon 2000) in f64, with blocks of one or more vectors, full orthogonalization,
//! and repeated searches for the vectors that a Krylov space cannot contain.
//!
//! The small projected matrix is not assembled from recurrence coefficients. All of its elements are coefficients of
//! Gram-Schmidt against the whole basis. So a restart, a new random vector and a block of any width need no special
//! treatment.
//!
//! **Multiplicities.** The Krylov space of a block of p random vectors contains at most p vectors of an eigenspace.
//! So converged pairs are locked, and another search starts from new random vectors in the orthogonal complement of
//! the locked vectors. This ends when a search finds no more wanted eigenvalues. A second search is needed if p is 1,
//! or if p of the eigenvalues that the first search found are close together.

mod orthonormal;
#[cfg(test)]
mod tests;

use super::basis::Basis;
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::ops::random::uniforms;
use crate::ops::sparse::NullSpace;
use crate::order::ascending;
use crate::parallel;
use crate::shape::to_u32;
use faer::diag::Diag;
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, self_adjoint_evd, self_adjoint_evd_scratch};
use faer::{Mat, Par, Spec};

/// The number of random values that a thread draws at a time.
const DRAWN: usize = 1 << 12;
/// An unconverged pair counts as beyond a limit if the distance of its place from the limit exceeds this many times
/// the error of the place. Then a search overlooks a pair only if the random start vectors have a component along the
/// eigenvector of this pair that is smaller by this factor than their other components.
const SURE: f64 = 1e5;
/// If an eigenvalue of an inverse is more than this many times the next eigenvalue, its pair is locked before the
/// search for the next pairs. The rounding error of a solve is eps times the largest eigenvalue and is mostly along
/// the eigenvector of that eigenvalue. So locking the eigenvector removes most of the error.
const DOMINANT: f64 = 1e4;
/// Values whose distance is at most this many times their errors may be copies of one multiple value.
const TOGETHER: f64 = 1e3;
/// A symmetric linear map. It multiplies its first argument, a block of a few vectors, and writes the products to
/// its second argument. Both blocks are column-major.
pub(super) type Map<'a> = &'a mut dyn FnMut(&[f64], &mut [f64]) -> Result<()>;

/// The wanted end of the map's spectrum. `End::place` gives each eigenvalue of the map a place on the real line.
/// The more an eigenvalue is wanted, the smaller is its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum End {
    Smallest,
    Largest,
    /// The map is `(A + shift)^-1`, which is positive definite, and the smallest eigenvalues of A are wanted. The
    /// place of an eigenvalue of the map is the corresponding eigenvalue of A, so the resolution and the limits
    /// apply to eigenvalues of A.
    Inverse {
        shift: f64,
    },
    /// The map is `(A - sigma)^-1`, and the eigenvalues of A nearest to sigma are wanted. The place of an
    /// eigenvalue of the map is the distance of the corresponding eigenvalue of A from sigma.
    Nearest,
}

impl End {
    /// Returns the place of an eigenvalue of the map.
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Smallest => value,
            Self::Largest => -value,
            Self::Inverse { shift } if value > 0.0 => 1.0 / value - shift,
            Self::Inverse { .. } => f64::INFINITY,
            Self::Nearest => 1.0 / value.abs(),
        }
    }

    /// Returns the error of `self.place(value)` if the error of `value` is `error`.
    fn error(self, value: f64, error: f64) -> f64 {
        match self {
            Self::Smallest | Self::Largest => error,
            Self::Inverse { .. } | Self::Nearest => error / (value * value),
        }
    }
}

/// Which pairs of a map are wanted, and the parameters of the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct Request {
    pub(super) end: End,
    /// The number of pairs, in addition to the known null space.
    pub(super) wanted: usize,
    /// The maximum number of pairs to find, including those that are tied with the last wanted one.
    pub(super) most: usize,
    /// The distance below which two places are tied.
    pub(super) resolution: f64,
    /// A pair has converged if its residual as a pair of the map is at most `absolute + relative |value|`.
    pub(super) absolute: f64,
    pub(super) relative: f64,
    /// The number of vectors in a block.
    pub(super) block: usize,
    /// The number of vectors in the basis, not counting the locked vectors; `None` for [`default_basis`].
    pub(super) basis: Option<usize>,
    /// The maximum number of products of the map with a vector.
    pub(super) most_products: usize,
    pub(super) seed: u64,
}

/// Returns whether a value at this place is not wanted. If the tolerance is 0, as for a map that is 0, the limit is the
/// place of the last wanted value, whose copies are not wanted.
fn is_beyond(place: f64, limit: f64) -> bool {
    limit < f64::INFINITY && place >= limit
}

impl Request {
    fn tolerance(&self, value: f64) -> f64 {
        self.absolute + self.relative * value.abs()
    }
}

/// Returns the size of a basis for `wanted` pairs. It is about twice the number of wanted pairs, which leaves room
/// for pairs that are still converging.
pub(super) fn default_basis(wanted: usize) -> usize {
    (2 * wanted + 16).max(48)
}

/// The pairs that were found, ordered from the wanted end of the spectrum.
#[derive(Clone, Debug, Default)]
pub(super) struct Pairs {
    /// The eigenvalues of the map.
    pub(super) values: Vec<f64>,
    /// The eigenvectors, `(n, values)`, column-major. They are orthonormal and orthogonal to the known null space.
    pub(super) vectors: Vec<f64>,
    /// `|M v - m v|_2` of each eigenvalue `m` of the map M and its eigenvector `v`, computed from the Lanczos
    /// relation.
    pub(super) residuals: Vec<f64>,
    /// The number of pairs, counted from the first, that have converged. If the search reached the maximum number of
    /// products, the other pairs are the best approximations that it had found by then.
    pub(super) converged: usize,
    /// The number of products of the map with a vector.
    pub(super) products: usize,
    /// The number of restarts, one each time that the basis was full.
    pub(super) restarts: usize,
    /// The number of searches from new random vectors.
    pub(super) searches: usize,
    /// Whether the searches ended before the maximum number of products. If not, a pair may be missing, even if those
    /// that were found have converged.
    pub(super) complete: bool,
}

/// Finds pairs of a symmetric map on vectors of `null.labels.len()` elements.
///
/// # Errors
/// The errors of the map; [`Cancelled`](crate::ErrorKind::Cancelled).
pub(super) fn lanczos(map: Map<'_>, null: &NullSpace<f64>, request: Request, cancel: &Cancel) -> Result<Pairs> {
    let mut search = Search::new(map, null, request);
    while search.next(cancel)? {}
    Ok(search.finish())
}

/// The pairs of the small matrix, ordered from the wanted end of the spectrum.
struct Ritz {
    values: Vec<f64>,
    residuals: Vec<f64>,
    /// The eigenvectors of the small matrix, in the order of the values.
    vectors: Mat<f64>,
}

struct Search<'a> {
    map: Map<'a>,
    null: &'a NullSpace<f64>,
    request: Request,
    basis: Basis,
    /// The eigenvalues and residuals of the locked vectors, which are the first columns of the basis.
    locked: Vec<(f64, f64)>,
    /// The small matrix: the projection of the map onto the active columns. These are the columns that follow the
    /// locked ones and that the map has already multiplied.
    small: Mat<f64>,
    /// The number of active columns.
    active: usize,
    /// The number of columns in the front: the columns after the active ones, which the map has not multiplied yet.
    front: usize,
    /// The matrix C in `M X = V B + F C`. M is the map, X the columns that were multiplied last, V the columns before
    /// the front, and F the front. B contains the coefficients of V.
    coupling: Mat<f64>,
    /// The dimension of the space without the known null vectors.
    dimension: usize,
    /// The maximum number of active columns.
    most_active: usize,
    /// The largest norm, so far, of the product of the map with a unit vector.
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
        // The basis must be large enough that a few vectors survive a restart; otherwise there is no progress.
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

    /// Runs one search from new random vectors. Returns whether another search should follow.
    fn next(&mut self, cancel: &Cancel) -> Result<bool> {
        let Request { wanted, block, most_products, .. } = self.request;
        if wanted == 0 {
            self.found.complete = true;
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
            // A Rayleigh-Ritz step costs about ten times the cube of the basis size. An expansion costs one long dot
            // product for each pair of a new vector and a vector of the basis. So while the basis has room, the next
            // Rayleigh-Ritz step waits until the expansions have cost a comparable amount.
            since += width * self.input.len() / block;
            if !(full || complete || out || since >= 3 * self.active * self.active) {
                continue;
            }
            since = 0;
            let ritz = self.ritz();
            let converged = self.converged(&ritz);
            let done = complete || self.is_done(&ritz, converged);
            if done || out {
                let known = complete || self.is_alone(&ritz, converged);
                let taken = if out { ritz.values.len() } else { converged };
                let better = self.lock(&ritz, taken);
                let again = better && !known && self.locked.len() < self.dimension;
                self.found.complete = done && !(again && out);
                return Ok(again && !out);
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

    /// Starts a search: makes a front of random vectors directly after the locked vectors.
    fn begin(&mut self) {
        let locked = self.locked.len();
        self.front = self.request.block.min(self.dimension - locked);
        self.active = 0;
        for column in locked..locked + self.front {
            self.draw(column);
        }
    }

    /// Writes a random unit vector to `column`. It is orthogonal to the columns before `column`.
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

    /// Multiplies the front by the map, and makes the new front from the products.
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
        // After the orthogonalization, a product may consist of rounding errors only. These have a component along the
        // null vectors.
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
                // Both triangles of the diagonal block are computed. They differ by rounding errors, so they are
                // averaged.
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

    /// Computes the pairs of the small matrix.
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
            // The matrix is not finite. NaN values ensure that no pair converges.
            values.column_vector_mut().fill(f64::NAN);
        }
        let values: Vec<f64> = values.column_vector().iter().copied().collect();
        let order = ascending(values.iter().map(|value| self.request.end.place(*value)));
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

    /// Returns the number of pairs, counted from the first, that have converged.
    fn converged(&self, ritz: &Ritz) -> usize {
        let pairs = ritz.values.iter().zip(&ritz.residuals);
        pairs.take_while(|(value, residual)| **residual <= self.request.tolerance(**value)).count()
    }

    /// Returns the maximum error of the place of a converged pair with the value `value`.
    fn error(&self, value: f64) -> f64 {
        self.request.end.error(value, self.request.tolerance(value))
    }

    /// Returns the locked eigenvalues and those in `more` in one list, ordered from the wanted end of the spectrum.
    fn together(&self, more: &[f64]) -> Vec<f64> {
        let all: Vec<f64> = self.locked.iter().map(|(value, _)| *value).chain(more.iter().copied()).collect();
        ascending(all.iter().map(|value| self.request.end.place(*value))).into_iter().map(|i| all[i]).collect()
    }

    /// Returns how many of the values are wanted, including those that are tied with the last wanted one.
    fn wanted(&self, values: &[f64]) -> usize {
        let Request { wanted, most, resolution, end, .. } = self.request;
        let tied = |i: &usize| end.place(values[*i]) - end.place(values[i - 1]) <= resolution;
        let rest = (wanted..most).take_while(|i| *i < values.len() && tied(i)).count();
        (wanted + rest).min(values.len())
    }

    /// Returns the place beyond which values are not wanted.
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

    /// Returns whether this search is complete. A search is complete if it found a value beyond the limit. The
    /// first search is also complete if the block is a single vector and all wanted pairs have converged.
    fn is_done(&self, ritz: &Ritz, converged: usize) -> bool {
        let Request { wanted, end, block, .. } = self.request;
        let limit = self.limit(&self.together(&ritz.values[..converged]));
        let beyond = |i: usize, factor: f64| {
            let place = end.place(ritz.values[i]) - factor * end.error(ritz.values[i], ritz.residuals[i]);
            is_beyond(place, limit)
        };
        converged > 0 && beyond(converged - 1, 0.0)
            || converged < ritz.values.len() && beyond(converged, SURE)
            || block == 1 && self.locked.is_empty() && converged >= wanted
    }

    /// Returns the number of converged pairs, counted from the first, whose values are dominant; see [`DOMINANT`].
    fn dominant(&self, ritz: &Ritz, converged: usize) -> usize {
        if matches!(self.request.end, End::Smallest | End::Largest) {
            return 0;
        }
        let dominates = |&i: &usize| ritz.values[i - 1].abs() > DOMINANT * ritz.values[i].abs();
        (1..=converged.min(ritz.values.len() - 1)).rev().find(dominates).unwrap_or(0)
    }

    /// Returns whether no copy of a multiple value can be missing. This is so in the first search with blocks of
    /// p > 1 vectors, unless p of the converged values are close together.
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

    /// Locks the best pairs among the first `count` Ritz pairs and the locked ones. Returns whether any of the new
    /// eigenvalues is within the limit (see [`Self::limit`]) of the pairs that were already locked.
    fn lock(&mut self, ritz: &Ritz, count: usize) -> bool {
        let locked = self.locked.len();
        let q = ritz.vectors.as_ref().subcols(0, count);
        self.basis.rotate(locked..locked + self.active, q, locked, 0..0);
        let fresh = ritz.values.iter().copied().zip(ritz.residuals.iter().copied()).take(count);
        let all: Vec<(f64, f64)> = self.locked.iter().copied().chain(fresh).collect();
        let place = |i: usize| self.request.end.place(all[i].0);
        let mut order = ascending((0..all.len()).map(place));
        let sorted: Vec<f64> = order.iter().map(|&i| all[i].0).collect();
        let limit = self.limit(&self.together(&[]));
        let better = (locked..all.len()).any(|i| !is_beyond(place(i), limit));
        order.truncate(self.wanted(&sorted));
        self.basis.select(&order);
        self.locked = order.iter().map(|&i| all[i]).collect();
        (self.active, self.front) = (0, 0);
        better
    }

    /// Reduces the basis to the locked vectors, the best Ritz vectors and the front.
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
