//! Compares products of matrices by fiedler and by Burn, which uses CubeCL's kernels.

use crate::{Failure, Order, Side, compare, numbers};
use burn::tensor::wgpu::WgpuSetup;
use burn::tensor::{Device, DeviceKind, Tensor, TensorData};
use fiedler::array::Array;
use fiedler::ops::matmul::matmul;
use fiedler::{Context, Shape};

const SIZES: [(usize, usize); 6] = [(8, 6250), (16, 6250), (32, 3125), (64, 625), (512, 1), (1024, 1)];
/// The number of matrices whose product is checked.
const CHECKED: usize = 8;

pub fn run(ctx: &Context, order: &Order) -> Result<bool, Failure> {
    let device = open(ctx)?;
    let mut right = true;
    for (n, batch) in SIZES {
        let workload = format!("gemm/f32/n={n}/batch={batch}");
        if !workload.contains(&order.only) {
            continue;
        }
        let (a, b) = (numbers(n * n * batch, 1), numbers(n * n * batch, 2));
        // Burn is row-major and fiedler is column-major: on the same memory, C = A B becomes C' = B' A'.
        let shape = Shape::new(n, n, batch);
        let (left, right_side) = (Array::from_vec(shape, b.clone())?, Array::from_vec(shape, a.clone())?);
        let (on_left, on_right) = (left.to_device(ctx)?, right_side.to_device(ctx)?);
        let found = matmul(ctx, &left, &right_side)?.to_host(ctx)?;
        let ours = Side {
            name: "fiedler".to_owned(),
            error: share(found.as_slice(), &a, &b, n),
            resident: Some(Box::new(|| {
                matmul(ctx, &on_left, &on_right)?;
                Ok(ctx.wait()?)
            })),
            transfers: Box::new(|| {
                matmul(ctx, &left, &right_side)?.to_host(ctx)?;
                Ok(())
            }),
        };
        let tensor = |data: &[f32]| Tensor::<3>::from_data(TensorData::new(data.to_vec(), [batch, n, n]), &device);
        let (x, y) = (tensor(&a), tensor(&b));
        let found = home(x.clone().matmul(y.clone()))?;
        let peer = Side {
            name: "burn 0.22.1".to_owned(),
            error: share(&found, &a, &b, n),
            resident: Some(Box::new(|| {
                let product = x.clone().matmul(y.clone());
                device.sync().map_err(|error| format!("{error:?}"))?;
                drop(product);
                Ok(())
            })),
            transfers: Box::new(|| {
                home(tensor(&a).matmul(tensor(&b)))?;
                Ok(())
            }),
        };
        right &= compare(order, &workload, vec![ours, peer])?;
    }
    Ok(right)
}

fn home(tensor: Tensor<3>) -> Result<Vec<f32>, Failure> {
    tensor.into_data().try_into_vec().map_err(|error| format!("{error:?}").into())
}

/// Opens Burn on the adapter of `ctx`, with the device that Burn creates by default.
fn open(ctx: &Context) -> Result<Device, Failure> {
    let wanted = ctx.adapter().ok_or("no adapter")?;
    let kind = if wanted.software { DeviceKind::Cpu } else { DeviceKind::DefaultDevice };
    let opened: Result<(Device, WgpuSetup), _> = Device::wgpu_options().device_kind(kind).init_with_setup();
    let (device, setup) = opened.map_err(|error| format!("Burn opens no adapter: {error:?}"))?;
    let found = setup.adapter.get_info().name;
    if found == wanted.name { Ok(device) } else { Err(format!("Burn opened {found}, not {}", wanted.name).into()) }
}

/// Returns the largest error of an entry, divided by 4 eps sqrt(k) |A| |B|, where |A| and |B| are the norms of the
/// entry's row and column. Only the first matrices are checked, and of large matrices only eight rows.
fn share(found: &[f32], a: &[f32], b: &[f32], n: usize) -> f64 {
    if found.len() != a.len() {
        return f64::INFINITY;
    }
    let mut worst = 0.0_f64;
    let rows = if n > 64 { 8 } else { n };
    for matrix in 0..CHECKED.min(a.len() / (n * n)) {
        let at = |data: &[f32], i: usize, j: usize| f64::from(data[matrix * n * n + i * n + j]);
        for i in 0..rows {
            for j in 0..n {
                let (mut sum, mut row, mut column) = (0.0, 0.0, 0.0);
                for k in 0..n {
                    let (x, y) = (at(a, i, k), at(b, k, j));
                    (sum, row, column) = (sum + x * y, row + x * x, column + y * y);
                }
                let allowed = 4.0 * f64::from(f32::EPSILON) * (n as f64).sqrt() * (row * column).sqrt();
                let share = (at(found, i, j) - sum).abs() / allowed;
                worst = if share.is_nan() { f64::INFINITY } else { worst.max(share) };
            }
        }
    }
    worst
}
