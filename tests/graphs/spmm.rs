//! Products of sparse matrices with blocks of vectors, compared with sums in f64.

use common::random::SplitMix64;
use common::solve::Checked;
use common::sparse::{Sparse, Weighted, weighted};
use common::{Test, device_free, on_each, suite};
use fiedler::array::{Array, Real};
use fiedler::graph::generate::{preferential_attachment, star, uniform};
use fiedler::graph::{Conventions, Graph, GraphBatch, Symmetrization};
use fiedler::ops::Normalization;
use fiedler::ops::sparse::{Operator, SparseMatrix, spmm};
use fiedler::{Context, ErrorKind, Shape};

/// Numbers of columns around the widths of the kernels, and beyond the widest kernel.
const WIDTHS: [usize; 15] = [0, 1, 2, 3, 4, 5, 8, 15, 16, 24, 31, 32, 33, 64, 100];

pub fn tests() -> Vec<Test> {
    suite(
        "spmm",
        vec![
            on_each("every width", widths),
            on_each("matrices of every kind", kinds),
            on_each("bit-equal when repeated and resident", twice),
            on_each("blocks that do not fit are refused", shapes),
            on_each("matrices of any shape", any_shape),
            device_free("invalid operators are refused", not_operators),
        ],
    )
}

/// Checks every entry of a product. The sum of a row of m entries has at most m + 2 rounding errors, including those of
/// the scales and of the diagonal. Each is relative to the sum of the magnitudes of the terms.
fn check<T: Real>(ctx: &Context, matrix: &Sparse, operator: &Operator<'_, T>, width: usize) -> Result<(), String> {
    let n = matrix.order();
    let mut random = SplitMix64::new(width as u64);
    let x: Vec<T> = (0..width * n).map(|_| T::from_f64(random.signed())).collect();
    let block = Array::from_vec(Shape::new(width, n, 1), x.clone()).map_err(|e| e.to_string())?;
    let y = spmm(ctx, operator, &block).and_then(|y| y.to_host(ctx)).map_err(|e| e.to_string())?;
    if (y.shape(), y.as_slice().len()) != (Shape::new(width, n, 1), width * n) {
        return Err(format!("width {width}: the product's shape is {}", y.shape()));
    }
    for (i, row) in matrix.rows.iter().enumerate() {
        for c in 0..width {
            let terms = row.iter().map(|&(j, a)| a * x[j * width + c].to_f64());
            let (want, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + f64::abs(term)));
            let got = y.as_slice()[i * width + c].to_f64();
            let allowed = (row.len() + 6) as f64 * T::EPSILON * size;
            let near = (got - want).abs() <= allowed;
            if !near {
                return Err(format!("width {width}, row {i}, column {c}: {got:e}, in truth {want:e} to {allowed:e}"));
            }
        }
    }
    Ok(())
}

/// Checks the products of a graph in f32, and also in f64 on the CPU.
fn each(ctx: &Context, graph: &Graph, normalization: Normalization, width: usize) -> Result<(), String> {
    let matrix = Sparse::laplacian(graph.view(), normalization);
    let narrow = Operator::<f32>::laplacian(graph.view(), normalization).map_err(|e| e.to_string())?;
    check(ctx, &matrix, &narrow, width)?;
    if ctx.adapter().is_none() {
        let wide = Operator::<f64>::laplacian(graph.view(), normalization).map_err(|e| e.to_string())?;
        check(ctx, &matrix, &wide, width)?;
    }
    Ok(())
}

fn widths(ctx: &Context) -> Checked {
    let hubs = preferential_attachment(700, 4, 1)?;
    let how = Weighted { conventions: Conventions::default(), spread: 1.0, loops: 5, isolated: 9 };
    let hubs = weighted(hubs.view(), how, 1)?;
    for width in WIDTHS {
        for normalization in [Normalization::Combinatorial, Normalization::Symmetric] {
            each(ctx, &hubs, normalization, width).map_err(|e| format!("{normalization:?}: {e}"))?;
        }
    }
    Ok(())
}

fn kinds(ctx: &Context) -> Checked {
    let none = Graph::from_edges(70, &[], &Conventions::default())?;
    let empty = Graph::from_edges(0, &[], &Conventions::default())?;
    // A hub of thousands of entries is split into several parts.
    for (name, graph) in [
        ("star", star(5000)?),
        ("thin", uniform(900, 400, 2)?),
        ("no edges", none),
        ("no nodes", empty),
        ("one node", Graph::from_edges(1, &[], &Conventions::default())?),
        ("dense", uniform(90, 3500, 3)?),
    ] {
        for normalization in [Normalization::Combinatorial, Normalization::Symmetric] {
            for width in [1, 8, 24] {
                each(ctx, &graph, normalization, width).map_err(|e| format!("{name}, {normalization:?}: {e}"))?;
            }
        }
    }
    // A matrix that is not a Laplacian. It has entries of both signs, empty rows, and some diagonal entries.
    let mut rows = Sparse::random(333, 2, 1.0, 5).rows;
    // Rows and columns from 300 on are empty.
    rows.iter_mut().for_each(|row| row.retain(|&(column, _)| column < 300));
    rows[300..].iter_mut().for_each(Vec::clear);
    let matrix = Sparse::new(rows, None);
    for width in [1, 7, 32] {
        let (offsets, columns, values) = matrix.csr::<f32>();
        check(ctx, &matrix, &Operator::from_csr(offsets, columns, values)?, width)?;
    }
    Ok(())
}

/// A block on the device gives the same result as the same block on the host.
fn twice(ctx: &Context) -> Checked {
    let graph = preferential_attachment(500, 3, 2)?;
    let operator = Operator::<f32>::laplacian(graph.view(), Normalization::Symmetric)?;
    let mut random = SplitMix64::new(4);
    let x = Array::from_vec(Shape::new(16, 500, 1), (0..8000).map(|_| random.signed() as f32).collect())?;
    let solve = |x: &Array<f32>| -> fiedler::Result<Vec<u32>> {
        Ok(spmm(ctx, &operator, x)?.to_host(ctx)?.as_slice().iter().map(|x| x.to_bits()).collect())
    };
    let once = solve(&x)?;
    assert!(once == solve(&x)?, "two runs differ");
    if ctx.adapter().is_some() {
        assert!(once == solve(&x.to_device(ctx)?)?, "a resident block gives another product");
    }
    Ok(())
}

fn shapes(ctx: &Context) -> Checked {
    let graph = star(10)?;
    let operator = Operator::<f32>::laplacian(graph.view(), Normalization::Combinatorial)?;
    for shape in
        [Shape::new(10, 3, 1), Shape::new(3, 9, 1), Shape::new(3, 11, 1), Shape::new(3, 10, 2), Shape::new(3, 0, 1)]
    {
        let x = Array::from_vec(shape, vec![1.0; shape.len()])?;
        let error = spmm(ctx, &operator, &x).expect_err("a block that does not fit");
        assert!(matches!(error.kind(), ErrorKind::Shape { .. }) && error.to_string().contains("10"), "{error}");
    }
    let two = GraphBatch::from_graphs(&[graph.clone(), graph])?;
    let two = Operator::<f32>::laplacians(&two, Normalization::Combinatorial)?;
    let error = spmm(ctx, &two, &Array::from_vec(Shape::new(1, 20, 1), vec![1.0; 20])?).expect_err("two matrices");
    assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{error}");
    if ctx.adapter().is_some() {
        let wide = Graph::from_edges(2, &[(0, 1)], &Conventions::default())?;
        let wide = Operator::<f64>::laplacian(wide.view(), Normalization::Combinatorial)?;
        let x = Array::from_vec(Shape::new(1, 2, 1), vec![1.0; 2])?;
        let error = spmm(ctx, &wide, &x).expect_err("f64 on a device");
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{error}");
    }
    Ok(())
}

fn not_operators() -> Checked {
    // Graphs without a symmetric Laplacian, or without any Laplacian.
    let keep = Conventions { symmetrization: Symmetrization::Keep, ..Conventions::default() };
    let directed = Graph::from_edges(3, &[(0, 1), (1, 2)], &keep)?;
    for normalization in [Normalization::Combinatorial, Normalization::Symmetric] {
        let domain = Operator::<f32>::laplacian(directed.view(), normalization).expect_err("directed");
        assert!(
            matches!(domain.kind(), ErrorKind::Domain { .. }) && domain.to_string().contains("directed"),
            "{domain}"
        );
    }
    let negative = Graph::from_weighted_edges(2, &[(0, 1, -1.0)], &Conventions::default()).expect_err("negative");
    assert!(matches!(negative.kind(), ErrorKind::Domain { .. }) && negative.to_string().contains("-1"), "{negative}");
    // Rows that do not form a symmetric matrix.
    type Rows = (Vec<usize>, Vec<u32>, Vec<f32>);
    let shapes: [(&str, Rows); 5] = [
        ("no offsets", (vec![], vec![], vec![])),
        ("offsets from 1", (vec![1, 1], vec![0], vec![1.0])),
        ("offsets that fall", (vec![0, 2, 1, 2], vec![0, 1], vec![1.0, 1.0])),
        ("offsets beyond the columns", (vec![0, 1, 3], vec![0, 1], vec![1.0, 1.0])),
        ("fewer values than columns", (vec![0, 1, 2], vec![0, 1], vec![1.0])),
    ];
    for (name, (offsets, columns, values)) in shapes {
        let error = Operator::from_csr(offsets, columns, values).expect_err(name);
        assert!(matches!(error.kind(), ErrorKind::Shape { .. }), "{name}: {error}");
    }
    let domains: [(&str, Rows); 8] = [
        ("not symmetric", (vec![0, 1, 1], vec![1], vec![1.0])),
        ("not equal across", (vec![0, 1, 2], vec![1, 0], vec![1.0, 2.0])),
        ("columns that descend", (vec![0, 2, 4], vec![1, 0, 0, 1], vec![1.0; 4])),
        ("a column twice", (vec![0, 2, 2], vec![0, 0], vec![1.0; 2])),
        ("a column beyond", (vec![0, 1], vec![1], vec![1.0])),
        ("NaN", (vec![0, 1], vec![0], vec![f32::NAN])),
        ("infinite", (vec![0, 1, 2], vec![1, 0], vec![f32::INFINITY; 2])),
        ("NaN across", (vec![0, 1, 2], vec![1, 0], vec![f32::NAN; 2])),
    ];
    for (name, (offsets, columns, values)) in domains {
        let error = Operator::from_csr(offsets, columns, values).expect_err(name);
        assert!(matches!(error.kind(), ErrorKind::Domain { .. }), "{name}: {error}");
    }
    Ok(())
}

/// Compares unsymmetric, wide and tall matrices, also without rows or columns, with sums in f64.
fn any_shape(ctx: &Context) -> Checked {
    let mut random = SplitMix64::new(21);
    for (rows, cols) in [(1, 1), (40, 40), (7, 300), (300, 7), (0, 5), (5, 0), (257, 256)] {
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        for _ in 0..rows {
            for column in 0..cols {
                if random.below(4) == 0 {
                    columns.push(column as u32);
                    values.push(random.signed() as f32);
                }
            }
            offsets.push(columns.len());
        }
        let a = SparseMatrix::<f32>::from_csr(cols, offsets.clone(), columns.clone(), values.clone())?;
        assert_eq!((a.rows(), a.cols(), a.entries()), (rows, cols, columns.len()));
        for width in [1, 3, 16] {
            let x: Vec<f32> = (0..width * cols).map(|_| random.signed() as f32).collect();
            let y = a.times(ctx, &Array::from_vec(Shape::new(width, cols, 1), x.clone())?)?.to_host(ctx)?;
            assert_eq!(y.shape(), Shape::new(width, rows, 1));
            for i in 0..rows {
                for j in 0..width {
                    let term = |e: usize| f64::from(values[e]) * f64::from(x[columns[e] as usize * width + j]);
                    let span = offsets[i]..offsets[i + 1];
                    let (want, size) = span.fold((0.0, 0.0), |(w, s): (f64, f64), e| (w + term(e), s + term(e).abs()));
                    let away = (f64::from(y.as_slice()[i * width + j]) - want).abs();
                    // The number of roundings is the number of the row's entries plus two.
                    let allowed = (offsets[i + 1] - offsets[i] + 2) as f64 * f64::from(f32::EPSILON) * size;
                    assert!(away <= allowed, "{rows} x {cols}, width {width}, entry ({i}, {j}): off by {away:e}");
                }
            }
        }
        let wrong = a.times(ctx, &Array::from_vec(Shape::new(2, cols + 1, 1), vec![0.0; 2 * cols + 2])?);
        assert!(matches!(wrong.expect_err("another length").kind(), ErrorKind::Shape { .. }));
    }
    let refused = |offsets: &[usize], columns: &[u32], values: &[f32]| {
        SparseMatrix::from_csr(2, offsets.to_vec(), columns.to_vec(), values.to_vec()).expect_err("refused").to_string()
    };
    assert!(refused(&[0, 1], &[2], &[1.0]).contains("below 2, found 2"));
    assert!(refused(&[0, 1], &[0], &[f32::NAN]).contains("not finite"));
    assert!(refused(&[0, 2], &[0], &[1.0]).contains("offsets"));
    Ok(())
}
