//! Tests the public interface of products on a device.

use super::OnDevice;
use crate::array::Array;
use crate::context::Context;
use crate::device::trial::on_each_adapter;
use crate::error::{Error, ErrorKind};
use crate::graph::{Conventions, EdgeList, GraphBatch, Symmetrization};
use crate::ops::Normalization;
use crate::ops::random::uniforms;
use crate::ops::sparse::{Operator, spmm};
use crate::policy::Backend;
use crate::shape::Shape;

/// Returns the edges of a graph with a star, chains between the star's leaves, and nodes without edges.
fn edges() -> EdgeList {
    let mut edges = EdgeList::new(1000).unwrap();
    (1..900).for_each(|leaf| edges.push(0, leaf));
    (1..900).filter(|leaf| leaf % 3 > 0).for_each(|leaf| edges.push(leaf + 1, leaf));
    edges
}

#[test]
fn operators_stay_on_the_device() {
    on_each_adapter(module_path!(), "operators_stay_on_the_device", |gpu| {
        let builder = Context::builder().adapter(&gpu.adapter().name).backend(Backend::Gpu).poison(true);
        let ctx = builder.build().unwrap();
        let conventions = Conventions::default();
        let graphs = GraphBatch::from_edge_list(edges(), &conventions).unwrap();
        for normalization in [Normalization::Combinatorial, Normalization::Symmetric] {
            let operator = Operator::<f32>::laplacians(&graphs, normalization).unwrap();
            let uploaded = OnDevice::new(&ctx, &operator).unwrap();
            let made = OnDevice::from_edges(&ctx, &edges(), &conventions, normalization).unwrap();
            assert_eq!((uploaded.rows(), made.rows()), (1000, 1000));
            for columns in [1, 6, 37] {
                let shape = Shape::new(columns, 1000, 1);
                let numbers = (0..shape.len() as u32).map(|i| uniforms(i, 0, 2)[0] as f32).collect();
                let x = Array::from_vec(shape, numbers).unwrap();
                let truth = spmm(&Context::cpu(), &operator, &x).unwrap().to_host(&ctx).unwrap();
                let there = x.to_device(&ctx).unwrap();
                for y in [
                    uploaded.spmm(&ctx, &x).unwrap(),
                    uploaded
                        .spmm(&ctx, &uploaded.spmm(&ctx, &there).unwrap())
                        .and_then(|_| uploaded.spmm(&ctx, &there))
                        .unwrap(),
                    made.spmm(&ctx, &there).unwrap(),
                    spmm(&ctx, &operator, &there).unwrap(),
                ] {
                    assert!(y.is_resident() && y.shape() == shape);
                    let y = y.to_host(&ctx).unwrap();
                    for (found, want) in y.as_slice().iter().zip(truth.as_slice()) {
                        // Both values are f32 sums of a diagonal term and up to 899 other terms. `unit` bounds the
                        // magnitude of the diagonal term and that of the sum of the other terms. Whatever the order of
                        // summation, the rounding errors partly cancel and stay below 40 times 2^-24 times `unit`.
                        let unit = if normalization == Normalization::Combinatorial { 900.0 } else { 30.0 };
                        assert!((found - want).abs() <= 40.0 * unit * f32::EPSILON / 2.0, "{found}, not {want}");
                    }
                }
            }
        }
        let kind = |error: Error, domain: bool| match error.kind() {
            ErrorKind::Domain { .. } => assert!(domain, "{error}"),
            ErrorKind::Shape { .. } => assert!(!domain, "{error}"),
            _ => panic!("{error}"),
        };
        let operator = Operator::<f32>::laplacians(&graphs, Normalization::Symmetric).unwrap();
        let uploaded = OnDevice::new(&ctx, &operator).unwrap();
        let short = Array::from_vec(Shape::new(4, 999, 1), vec![0.0; 4 * 999]).unwrap();
        kind(uploaded.spmm(&ctx, &short).unwrap_err(), false);
        kind(spmm(&ctx, &operator, &short).unwrap_err(), false);
        let kept = Conventions { symmetrization: Symmetrization::Mean, ..conventions };
        kind(OnDevice::from_edges(&ctx, &edges(), &kept, Normalization::Symmetric).unwrap_err(), true);
        let wide = Operator::<f64>::laplacians(&graphs, Normalization::Symmetric).unwrap();
        let x = Array::from_vec(Shape::new(1, 1000, 1), vec![0.0_f64; 1000]).unwrap();
        kind(spmm(&ctx, &wide, &x).unwrap_err(), true);
        assert!(OnDevice::new(&Context::cpu(), &operator).is_err());
    });
}
