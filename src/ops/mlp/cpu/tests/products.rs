//! Products by tiles, by blocks and on several threads have the same bits, and so do runs.

use super::{Activation, Hyper, Lcg, Loss, Norm, Number, Optimizer, Program, Replica, all, hidden, output, samples};
use crate::lanes::{SimdScalar, Task, Vector};
use crate::ops::elementary::Elementary;
use crate::ops::mlp::Segment;
use crate::ops::mlp::cpu::blocked::{self, Team, is_large};
use crate::ops::mlp::cpu::product::{Factor, Rows, Sizes, product};
use crate::ops::mlp::cpu::{Trains as _, Work, Worker};
use crate::ops::mlp::layout::padded;
use crate::ops::mlp::weights::Init;
use pulp::{Scalar128b, Scalar256b, Scalar512b};

/// A matrix with random elements and padded rows.
struct Matrix<T> {
    data: Vec<T>,
    rows: usize,
    cols: usize,
}

impl<T: Elementary> Matrix<T> {
    fn new(rows: usize, cols: usize, seed: u32) -> Self {
        let (mut numbers, stride) = (Lcg(seed), padded(cols));
        let mut data: Vec<T> = all(&vec![0.0; rows * stride]);
        data.chunks_mut(stride).for_each(|row| row[..cols].copy_from_slice(&all::<T>(&numbers.fill(cols))));
        Self { data, rows, cols }
    }

    fn transposed(&self) -> Self {
        let mut made = Self::new(self.cols, self.rows, 1);
        let (from, to) = (padded(self.cols), padded(self.rows));
        for (row, line) in self.data.chunks(from).enumerate() {
            (0..self.cols).for_each(|col| made.data[col * to + row] = line[col]);
        }
        made
    }

    fn stored(&self) -> Rows<'_, T> {
        Rows { data: &self.data, stride: padded(self.cols) }
    }
}

/// A product by tiles (`None`) or by blocks, whose right factor may be stored as its transpose.
struct Multiplied<'a, T> {
    team: &'a Team<T>,
    left: Factor<'a, T>,
    right: Factor<'a, T>,
    start: Option<&'a [T]>,
    sizes: Sizes,
    blocked: bool,
}

impl<T: Elementary> Task<T> for Multiplied<'_, T> {
    type Output = Vec<T>;

    fn run<V: Vector<Scalar = T>>(self, token: V::Token) -> Vec<T> {
        let Self { team, left, right, start, sizes, blocked } = self;
        // Narrow vectors do not touch all of the padding, which is zero.
        let mut out = all(&vec![0.0; sizes.rows * padded(sizes.cols)]);
        match right {
            Factor::Plain(right) if !blocked => product::<V>(token, team, sizes, left, right, start, &mut out),
            _ => blocked::product::<V>(token, team, sizes, left, right, start, &mut out),
        }
        out
    }
}

/// Returns the product, summed term by term in order.
fn expected<T: Elementary>(left: &Matrix<T>, right: &Matrix<T>, start: Option<&[T]>) -> Vec<T> {
    let stride = padded(right.cols);
    let mut out: Vec<T> = all(&vec![0.0; left.rows * stride]);
    for (row, out) in out.chunks_mut(stride).enumerate() {
        start.into_iter().for_each(|start| out.copy_from_slice(start));
        for (k, right) in right.data.chunks(stride).enumerate() {
            let factor = left.data[row * padded(left.cols) + k];
            out.iter_mut().zip(right).for_each(|(sum, x)| *sum = factor.fused(*x, *sum));
        }
    }
    out
}

fn in_order<T: Number + Elementary + SimdScalar>() {
    // One row and many, sums of one part and of several, and columns on both sides of a vector, of a tile and of a
    // block.
    for (rows, inner, cols) in [(1, 600, 16), (13, 300, 70), (50, 1, 33), (8, 257, 530), (131, 40, 47), (47, 513, 1)] {
        let sizes = Sizes { rows, inner, cols };
        let (left, right) = (Matrix::<T>::new(rows, inner, 2), Matrix::<T>::new(inner, cols, 3));
        let (turned_left, turned_right) = (left.transposed(), right.transposed());
        let start = Matrix::<T>::new(1, cols, 4).data;
        let plain = Factor::Plain(left.stored());
        let lefts = [(plain, Some(&start[..])), (plain, None), (Factor::Transposed(turned_left.stored()), None)];
        for (left_stored, start) in lefts {
            let expected = expected(&left, &right, start);
            for right in [Factor::Plain(right.stored()), Factor::Transposed(turned_right.stored())] {
                for blocked in [false, true] {
                    let team = Team::new(1);
                    let task = || Multiplied { team: &team, left: left_stored, right, start, sizes, blocked };
                    let widths = [
                        T::in_lanes_of(Scalar128b, task()),
                        T::in_lanes_of(Scalar256b, task()),
                        T::in_lanes_of(Scalar512b, task()),
                        T::in_lanes(task()),
                    ];
                    let fused = cfg!(target_arch = "aarch64") || std::arch::is_x86_feature_detected!("fma");
                    for found in widths.iter().take(if fused { 4 } else { 3 }) {
                        assert!(*found == expected, "{rows} x {inner} x {cols}, by blocks: {blocked}");
                    }
                }
            }
        }
    }
}

#[test]
fn blocks_and_vectors_change_no_bit_of_a_product() {
    in_order::<f32>();
    in_order::<f64>();
}

fn on<R: Send>(threads: usize, work: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool").install(work)
}

#[test]
fn threads_change_no_bit_of_a_product() {
    for (rows, inner, cols) in [(131, 301, 70), (301, 131, 70), (250, 260, 140)] {
        let sizes = Sizes { rows, inner, cols };
        let (left, right) = (Matrix::<f32>::new(rows, inner, 2), Matrix::new(inner, cols, 3));
        let turned = left.transposed();
        assert_eq!(is_large(sizes), cols == 140, "both ways are tested");
        for left in [Factor::Plain(left.stored()), Factor::Transposed(turned.stored())] {
            let of = |threads| {
                let team = Team::new(threads);
                assert!(threads == 1 || team.share(sizes, 1) < rows, "the rows are divided");
                let right = Factor::Plain(right.stored());
                let task = Multiplied { team: &team, left, right, start: None, sizes, blocked: false };
                on(threads, || f32::in_lanes(task))
            };
            let alone = of(1);
            assert!(alone == of(2) && alone == of(3), "{rows} x {inner} x {cols}");
        }
    }
}

/// The products of these networks are divided, those of the first also into blocks, and so are the updates.
#[test]
fn threads_change_no_bit_of_a_run() {
    let relu = |n| hidden(n, Activation::Relu, Norm::Batch, 0.25);
    let adam = Hyper { l1: 0.01, clip: 0.1, weight_decay: 0.01, ..Optimizer::Adam.defaults() };
    let sgld = Hyper { temperature: 0.1, prior_precision: 1.0, ..Optimizer::Sgld.defaults() };
    let tall = vec![hidden(50, Activation::Tanh, Norm::None, 0.0), output(1)];
    for (program, hyper) in [
        (super::program(260, vec![relu(270), relu(250), output(3)], Loss::CROSS_ENTROPY, Optimizer::Adam, 128), adam),
        (super::program(790, tall, Loss::BoundedCrossEntropy(4.0), Optimizer::Sgld, 60), sgld),
    ] {
        let samples = samples::<f32>(&program, 300, 2);
        let trained = |threads: usize| {
            let mut replica = Replica::new(&program, Init::Xavier, 9, hyper);
            on(threads, || train(&program, &samples, &mut replica, threads));
            replica
        };
        let alone = trained(1);
        assert!(alone != Replica::new(&program, Init::Xavier, 9, hyper), "nothing was trained");
        assert!(alone == trained(2) && alone == trained(3), "{}", program.net);
    }
}

fn train(program: &Program, samples: &crate::ops::mlp::Samples<f32>, replica: &mut Replica<f32>, threads: usize) {
    let rows: Vec<u32> = (0..300).collect();
    let segment =
        Segment { rows: &rows, shuffled: true, epoch: 3, batches: 0..2, rate: 0.01, loss: 0.0, traces: false };
    let mut worker: Worker<f32> = f32::worker(program);
    worker.set_team(threads);
    f32::train(&mut worker, Work { program, samples, replica }, &segment);
}
