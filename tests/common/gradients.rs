//! Gradients of decompositions of f64 matrices, computed in any precision, and the algebra that judges them.

use crate::random::SplitMix64;
use fiedler::array::{Array, Real};
use fiedler::ops::{Degeneracy, Gradient, GradientCertificate, Vectors, eigh, eigh_vjp, svd, svd_vjp};
use fiedler::{Context, Shape};

/// A matrix in column-major order.
#[derive(Clone, Debug)]
pub struct Matrix {
    pub rows: usize,
    pub data: Vec<f64>,
}

impl Matrix {
    pub fn new(rows: usize, cols: usize, of: impl FnMut(usize) -> f64) -> Self {
        Self { rows, data: (0..rows * cols).map(of).collect() }
    }

    pub fn random(rows: usize, cols: usize, random: &mut SplitMix64) -> Self {
        Self::new(rows, cols, |_| random.signed())
    }

    pub fn cols(&self) -> usize {
        self.data.len() / self.rows.max(1)
    }

    pub fn transposed(&self) -> Self {
        Self::new(self.cols(), self.rows, |e| self.data[e % self.cols() * self.rows + e / self.cols()])
    }

    pub fn times(&self, other: &Self) -> Self {
        let (m, k) = (self.rows, self.cols());
        let element = |e: usize| (0..k).map(|t| self.data[t * m + e % m] * other.data[e / m * k + t]).sum();
        Self::new(m, other.cols(), element)
    }

    pub fn plus(&self, other: &Self, factor: f64) -> Self {
        Self::new(self.rows, self.cols(), |e| self.data[e] + factor * other.data[e])
    }

    pub fn scaled(&self, factor: f64) -> Self {
        Self::new(self.rows, self.cols(), |e| factor * self.data[e])
    }

    pub fn column(&self, j: usize) -> Self {
        Self { rows: self.rows, data: self.data[j * self.rows..(j + 1) * self.rows].to_vec() }
    }

    pub fn dot(&self, other: &Self) -> f64 {
        self.data.iter().zip(&other.data).map(|(a, b)| a * b).sum()
    }

    pub fn largest(&self) -> f64 {
        self.data.iter().fold(0.0, |most, x| most.max(x.abs()))
    }

    pub fn symmetric(&self) -> Self {
        self.plus(&self.transposed(), 1.0).scaled(0.5)
    }

    pub fn absolute(&self) -> Self {
        Self::new(self.rows, self.cols(), |e| self.data[e].abs())
    }
}

/// Returns a batch of these matrices.
pub fn batch<T: Real>(matrices: &[Matrix]) -> fiedler::Result<Array<T>> {
    let (rows, cols) = (matrices[0].rows, matrices[0].cols());
    let data = matrices.iter().flat_map(|one| &one.data).map(|&x| T::from_f64(x)).collect();
    Array::from_vec(Shape::new(rows, cols, matrices.len()), data)
}

/// Returns the matrices of a batch.
pub fn matrices<T: Real>(ctx: &Context, array: &Array<T>) -> fiedler::Result<Vec<Matrix>> {
    let (host, Shape { rows, cols, .. }) = (array.to_host(ctx)?, array.shape());
    let of = |own: &[T]| Matrix::new(rows, cols, |e| own[e].to_f64());
    Ok(host.as_slice().chunks_exact(rows * cols).map(of).collect())
}

/// Returns the eigenvalues and eigenvectors of symmetric matrices.
pub fn pairs<T: Real>(ctx: &Context, a: &[Matrix]) -> fiedler::Result<(Vec<Matrix>, Vec<Matrix>)> {
    let found = eigh(ctx, &batch::<T>(a)?)?;
    Ok((matrices(ctx, &found.values)?, matrices(ctx, &found.vectors)?))
}

/// Returns the gradients for these cotangents, and their certificates.
pub fn eigh_gradient<T: Real>(
    ctx: &Context,
    (values, vectors): (&[Matrix], &[Matrix]),
    bars: [Option<&[Matrix]>; 2],
    degeneracy: Degeneracy,
) -> fiedler::Result<(Vec<Matrix>, Vec<GradientCertificate>)> {
    let (values, vectors) = (batch::<T>(values)?, batch::<T>(vectors)?);
    let [values_bar, vectors_bar] = bars.map(|bar| bar.map(batch::<T>));
    let (values_bar, vectors_bar) = (values_bar.transpose()?, vectors_bar.transpose()?);
    let made = eigh_vjp(ctx, [&values, &vectors], [values_bar.as_ref(), vectors_bar.as_ref()], degeneracy)?;
    read(ctx, &made)
}

pub fn read<T: Real>(ctx: &Context, made: &Gradient<T>) -> fiedler::Result<(Vec<Matrix>, Vec<GradientCertificate>)> {
    Ok((matrices(ctx, &made.array)?, made.certificates(ctx)?))
}

/// The factors U, s and V' of a batch.
pub type Triplets = [Vec<Matrix>; 3];

pub fn triplets<T: Real>(ctx: &Context, a: &[Matrix]) -> fiedler::Result<Triplets> {
    let found = svd(ctx, &batch::<T>(a)?, Vectors::Thin)?;
    Ok([matrices(ctx, &found.u)?, matrices(ctx, &found.s)?, matrices(ctx, &found.vh)?])
}

pub fn svd_gradient<T: Real>(
    ctx: &Context,
    triplets: &Triplets,
    bars: [Option<&[Matrix]>; 3],
) -> fiedler::Result<(Vec<Matrix>, Vec<GradientCertificate>)> {
    let [u, s, vh] = triplets.each_ref().map(|part| batch::<T>(part));
    let [u_bar, s_bar, vh_bar] = bars.map(|bar| bar.map(batch::<T>).transpose());
    let (u_bar, s_bar, vh_bar) = (u_bar?, s_bar?, vh_bar?);
    let bars = [u_bar.as_ref(), s_bar.as_ref(), vh_bar.as_ref()];
    read(ctx, &svd_vjp(ctx, [&u?, &s?, &vh?], bars, Degeneracy::Exact)?)
}
