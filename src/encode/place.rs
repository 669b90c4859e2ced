//! The places of single graphs in the arrays of an encoding. They do not overlap, so several threads write them.

use super::encoding::Encoding;
use super::pairs::Pairs;
use crate::array::Real;
use num_complex::Complex;
use std::ops::Range;

/// The elements of an encoding's arrays that belong to one graph.
pub(super) struct Place<'a, T> {
    k: usize,
    eigenvalues: &'a mut [T],
    eigenvectors: &'a mut [T],
    complex_eigenvectors: &'a mut [Complex<T>],
    residual: &'a mut f32,
    orthogonality: &'a mut f32,
    status: &'a mut u8,
    components: &'a mut i64,
    tie_group: &'a mut [i64],
    tie_cut: &'a mut u8,
    mask: &'a mut [u8],
    random_walk: &'a mut [f32],
}

/// The elements of an array from an index on.
struct Rest<'a, X> {
    from: usize,
    elements: &'a mut [X],
}

impl<'a, X> Rest<'a, X> {
    fn of(elements: &'a mut [X]) -> Self {
        Self { from: 0, elements }
    }

    /// Takes the elements of some rows and drops all before them. A row has `width` elements.
    fn rows(&mut self, rows: &Range<usize>, width: usize) -> &'a mut [X] {
        let (start, end) = (rows.start * width, rows.end * width);
        let (_, rest) = std::mem::take(&mut self.elements).split_at_mut(start - self.from);
        let (own, rest) = rest.split_at_mut(end - start);
        (self.from, self.elements) = (end, rest);
        own
    }

    /// Takes one element and drops all before it.
    fn one(&mut self, index: usize) -> &'a mut X {
        &mut self.rows(&(index..index + 1), 1)[0]
    }
}

impl<T: Real> Encoding<T> {
    /// Returns the places of the given graphs, whose indices must ascend.
    pub(super) fn places(&mut self, graphs: impl Iterator<Item = usize>) -> Vec<Place<'_, T>> {
        let (k, steps) = (self.k, self.walk_steps);
        let mut eigenvalues = Rest::of(&mut self.eigenvalues);
        // One of the two arrays is empty.
        let complex = if self.complex_eigenvectors.is_empty() { 0 } else { k };
        let mut eigenvectors = Rest::of(&mut self.eigenvectors);
        let mut complex_eigenvectors = Rest::of(&mut self.complex_eigenvectors);
        let mut residual = Rest::of(&mut self.residual);
        let mut orthogonality = Rest::of(&mut self.orthogonality);
        let mut status = Rest::of(&mut self.status);
        let mut components = Rest::of(&mut self.components);
        let mut tie_group = Rest::of(&mut self.tie_group);
        let mut tie_cut = Rest::of(&mut self.tie_cut);
        let mut mask = Rest::of(&mut self.mask);
        let mut random_walk = Rest::of(&mut self.random_walk);
        let offsets = &self.node_offsets;
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "offsets were made from usize")]
        let place = |graph: usize| {
            let (rows, nodes) = (graph..graph + 1, offsets[graph] as usize..offsets[graph + 1] as usize);
            Place {
                k,
                eigenvalues: eigenvalues.rows(&rows, k),
                eigenvectors: eigenvectors.rows(&nodes, k - complex),
                complex_eigenvectors: complex_eigenvectors.rows(&nodes, complex),
                residual: residual.one(graph),
                orthogonality: orthogonality.one(graph),
                status: status.one(graph),
                components: components.one(graph),
                tie_group: tie_group.rows(&rows, k),
                tie_cut: tie_cut.one(graph),
                mask: mask.rows(&rows, k),
                random_walk: random_walk.rows(&nodes, steps),
            }
        };
        graphs.map(place).collect()
    }
}

impl<T: Real> Place<'_, T> {
    pub(super) fn write(self, pairs: &Pairs<T>) {
        let found = pairs.values.len();
        self.eigenvalues[..found].copy_from_slice(&pairs.values);
        self.tie_group[..found].copy_from_slice(&pairs.tie_group);
        *self.tie_cut = pairs.tie_cut.into();
        self.mask[..found].fill(1);
        let n = self.eigenvectors.len().max(self.complex_eigenvectors.len()) / self.k.max(1);
        for (i, row) in self.complex_eigenvectors.chunks_exact_mut(self.k.max(1)).enumerate() {
            for (j, x) in row[..found].iter_mut().enumerate() {
                let imaginary = pairs.imaginary.get(j * n + i).copied();
                *x = Complex::new(pairs.vectors[j * n + i], imaginary.unwrap_or(T::from_f64(0.0)));
            }
        }
        for (i, row) in self.eigenvectors.chunks_exact_mut(self.k.max(1)).enumerate() {
            row.iter_mut().zip(0..found).for_each(|(x, j)| *x = pairs.vectors[j * n + i]);
        }
        self.random_walk.copy_from_slice(&pairs.random_walk);
        *self.residual = f32::from_f64(pairs.certificate.residual);
        *self.orthogonality = f32::from_f64(pairs.certificate.orthogonality);
        *self.status = pairs.certificate.status as u8;
        *self.components = i64::try_from(pairs.components).unwrap_or(i64::MAX);
    }
}

#[cfg(test)]
mod tests {
    use super::{Encoding, Pairs};
    use crate::ops::{Certificate, Status};

    #[test]
    fn graphs_between_the_places_are_left_alone() {
        let mut encoding = Encoding::<f32> {
            k: 2,
            walk_steps: 1,
            eigenvalues: vec![9.0; 6],
            eigenvectors: vec![9.0; 12],
            complex_eigenvectors: Vec::new(),
            node_offsets: vec![0, 1, 3, 6],
            residual: vec![9.0; 3],
            orthogonality: vec![9.0; 3],
            status: vec![9; 3],
            components: vec![9; 3],
            tie_group: vec![9; 6],
            tie_cut: vec![9; 3],
            mask: vec![9; 6],
            random_walk: vec![9.0; 6],
        };
        let pairs = |n: usize, found: usize| Pairs {
            values: (0..found).map(|j| j as f32).collect(),
            vectors: (0..found).flat_map(|j| (0..n).map(move |i| (10 * i + j) as f32)).collect(),
            imaginary: Vec::new(),
            tie_group: (0..found as i64).collect(),
            tie_cut: true,
            certificate: Certificate { status: Status::Converged, sweeps: 0, residual: 0.5, orthogonality: 0.25 },
            components: n,
            random_walk: vec![0.125; n],
        };
        for (place, pairs) in encoding.places([0, 2].into_iter()).into_iter().zip([pairs(1, 1), pairs(3, 2)]) {
            place.write(&pairs);
        }
        assert_eq!(encoding.eigenvalues, [0.0, 9.0, 9.0, 9.0, 0.0, 1.0]);
        assert_eq!(encoding.eigenvectors, [0.0, 9.0, 9.0, 9.0, 9.0, 9.0, 0.0, 1.0, 10.0, 11.0, 20.0, 21.0]);
        assert_eq!((encoding.tie_group, encoding.mask), (vec![0, 9, 9, 9, 0, 1], vec![1, 9, 9, 9, 1, 1]));
        assert_eq!((encoding.residual, encoding.orthogonality), (vec![0.5, 9.0, 0.5], vec![0.25, 9.0, 0.25]));
        assert_eq!((encoding.status, encoding.tie_cut), (vec![0, 9, 0], vec![1, 9, 1]));
        assert_eq!(encoding.components, [1, 9, 3]);
        assert_eq!(encoding.random_walk, [0.125, 9.0, 9.0, 0.125, 0.125, 0.125]);
    }
}
