//! Dense matrices: ndarray and faer.

use super::{assert_refused, is_shape};
use common::random::SplitMix64;
use faer::{Mat, MatRef};
use fiedler::array::{HostArray, Scalar};
use fiedler::{Array, Context, Shape};
use half::f16;
use ndarray::{Array2, Array3, ArrayView3, Axis, ShapeBuilder, Slice, s};
use num_complex::Complex;

fn host<T: Scalar>(array: &Array<T>) -> HostArray<T> {
    array.to_host(&Context::cpu()).unwrap()
}

/// Checks every element of the array that was made of `view`, and the way back.
fn check<T: Scalar + PartialEq>(view: ArrayView3<'_, T>, made: &Array<T>) {
    let (batch, rows, cols) = view.dim();
    let made = host(made);
    assert_eq!(made.shape(), Shape::new(rows, cols, batch));
    for ((matrix, row, col), &element) in view.indexed_iter() {
        assert_eq!(made.matrix(matrix)[(row, col)], element, "{:?} {:?}", view.dim(), view.strides());
    }
    let back = made.as_ndarray().unwrap();
    assert_eq!(back, view);
    assert!(back.is_empty() || back.as_ptr() == made.as_slice().as_ptr());
    assert_eq!(made.into_ndarray().unwrap(), view);
}

/// Returns an array of the given shape, whose axes have random strides: they are permuted, reversed, and have gaps.
fn strided(random: &mut SplitMix64, shape: [usize; 3]) -> Array3<f64> {
    let steps = [0; 3].map(|_| 1 + random.below(3));
    let mut order = [0, 1, 2];
    order.swap(0, random.below(3));
    order.swap(1, 1 + random.below(2));
    let large = order.map(|axis| shape[axis] * steps[axis]);
    let mut place = [0; 3];
    order.iter().enumerate().for_each(|(i, &axis)| place[axis] = i);
    let mut array = Array3::from_shape_simple_fn(large, || random.signed()).permuted_axes(place);
    for (axis, &step) in steps.iter().enumerate() {
        let step = isize::try_from(step).unwrap();
        array.slice_axis_inplace(Axis(axis), Slice::new(0, None, if random.below(2) == 0 { step } else { -step }));
    }
    assert_eq!(array.shape(), shape);
    array
}

#[test]
fn an_array_of_any_layout_comes_back_from_ndarray() {
    let mut random = SplitMix64::new(1);
    for round in 0..300 {
        let shape = [0; 3].map(|_| if round % 10 == 0 { random.below(3) } else { 1 + random.below(6) });
        let array = strided(&mut random, shape);
        check(array.view(), &Array::from(array.view()));
        check(array.view(), &Array::from(array.clone()));
        check(array.view(), &Array::from(array.as_standard_layout().into_owned()));
        if shape[0] > 0 {
            let matrix = array.index_axis(Axis(0), shape[0] - 1);
            let alone = matrix.insert_axis(Axis(0));
            check(alone, &Array::from(matrix));
            check(alone, &Array::from(matrix.to_owned()));
        }
    }
    // Every element is the same one.
    let one = ndarray::arr0(3.0_f32);
    let view = one.broadcast((2, 3, 4)).unwrap();
    check(view, &Array::from(view));
}

#[test]
fn every_type_of_elements_comes_back_from_ndarray() {
    fn both<T: Scalar + PartialEq>(of: impl Fn(u16) -> T) {
        let array = Array3::from_shape_fn((2, 3, 5), |(i, j, k)| of(u16::try_from(100 * i + 10 * j + k).unwrap()));
        check(array.view(), &Array::from(array.view()));
        check(array.slice(s![..;-1, 1.., ..;2]), &Array::from(array.slice(s![..;-1, 1.., ..;2])));
    }
    both(f32::from);
    both(f64::from);
    both(u32::from);
    both(f16::from_bits);
    both(|x| Complex::new(f32::from(x), -1.0));
    both(|x| Complex::new(-2.0, f64::from(x)));
}

#[test]
fn owned_arrays_in_column_major_order_are_not_copied() {
    let array = Array3::from_shape_fn((4, 3, 2), |(i, j, k)| (100 * i + 10 * j + k) as f64);
    let own = host(&Array::from(array.clone())).into_ndarray().unwrap();
    let place = own.as_ptr();
    let again = host(&Array::from(own.clone()));
    assert_eq!(again.as_ndarray().unwrap(), array);
    // Some of the matrices, which do not start where the memory does.
    let some = own.slice_move(s![1..3, .., ..]);
    let some = Array::from(some);
    check(array.slice(s![1..3, .., ..]), &some);
    assert_eq!(host(&some).as_slice().as_ptr(), place, "they move to the start of the same memory");
    let matrix = Array2::from_shape_vec((3, 2).f(), (0..6_u8).map(f32::from).collect()).unwrap();
    let place = matrix.as_ptr();
    assert_eq!(host(&Array::from(matrix)).as_slice().as_ptr(), place);
}

#[test]
fn shapes_that_ndarray_cannot_have_are_refused() {
    let empty = Array::<f32>::from_vec(Shape::new(1 << 40, 1 << 40, 0), vec![]).unwrap();
    assert_refused(host(&empty).as_ndarray().map(|_| ()), is_shape, "expected a shape that ndarray allows");
    assert_refused(host(&empty).into_ndarray(), is_shape, "x 0");
    for shape in [Shape::new(0, 3, 2), Shape::new(3, 0, 2), Shape::new(0, 0, 0)] {
        let empty = host(&Array::<f32>::from_vec(shape, vec![]).unwrap());
        assert_eq!(empty.as_ndarray().unwrap().dim(), (shape.batch, shape.rows, shape.cols));
    }
}

#[test]
fn a_matrix_of_any_layout_comes_back_from_faer() {
    let mut random = SplitMix64::new(2);
    for _ in 0..100 {
        let (rows, cols) = (random.below(5), random.below(5));
        let large = Mat::from_fn(rows + 2, cols + 2, |_, _| random.signed());
        let part = large.submatrix(1, 1, rows, cols);
        for view in [part, part.reverse_rows(), part.reverse_cols(), part.transpose(), part.transpose().reverse_rows()]
        {
            let made = host(&Array::from(view));
            assert_eq!(made.shape(), Shape::new(view.nrows(), view.ncols(), 1));
            assert_eq!(made.as_faer(0), view);
            assert_eq!(made.as_faer(0).as_ptr(), made.as_slice().as_ptr());
            let both = host(&Array::from_faer([view, view]).unwrap());
            assert_eq!((both.shape().batch, both.as_faer(1)), (2, view));
        }
        assert_eq!(host(&Array::from(&large)).as_faer(0), large);
    }
    let complex = Mat::from_fn(3, 2, |i, j| Complex::new(i as f32, j as f32));
    assert_eq!(host(&Array::from(&complex)).as_faer(0), complex);
}

#[test]
fn matrices_of_unequal_shapes_are_no_batch() {
    let (a, b) = (Mat::<f32>::zeros(2, 3), Mat::<f32>::zeros(3, 2));
    let part = "expected (2, 3) as matrix 0 has, found (3, 2) at matrix 1";
    assert_refused(Array::from_faer([a.as_ref(), b.as_ref()]), is_shape, part);
    let none = Array::from_faer(std::iter::empty::<MatRef<'_, f32>>()).unwrap();
    assert_eq!(none.shape(), Shape::new(0, 0, 0));
}
