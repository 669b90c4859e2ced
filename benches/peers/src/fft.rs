//! Compares Fourier transforms: fiedler and wgsl-fft.

use crate::{Failure, Order, Side, compare, numbers};
use fiedler::array::Array;
use fiedler::ops::fft;
use fiedler::{Axis, Context, Shape};
use num_complex::Complex;
use wgsl_fft::GpuFft;

const SIZES: [(usize, usize); 4] = [(1024, 256), (1000, 256), (4096, 64), (65536, 4)];

pub fn run(ctx: &Context, order: &Order) -> Result<bool, Failure> {
    let theirs = open(&order.adapter)?;
    let mut right = true;
    for (n, batch) in SIZES {
        let workload = format!("fft/c64/n={n}/batch={batch}");
        if !workload.contains(&order.only) {
            continue;
        }
        let x: Vec<Complex<f32>> =
            numbers(2 * n * batch, n as u64).chunks(2).map(|pair| Complex::new(pair[0], pair[1])).collect();
        let truth = truth(&x, n);
        let host = Array::from_vec(Shape::new(n, batch, 1), x.clone())?;
        let there = host.to_device(ctx)?;
        let found = fft(ctx, &host, Axis::Rows)?.to_host(ctx)?;
        let ours = Side {
            name: "fiedler".to_owned(),
            error: share(found.as_slice(), &truth, n),
            resident: Some(Box::new(|| {
                fft(ctx, &there, Axis::Rows)?;
                Ok(ctx.wait()?)
            })),
            transfers: Box::new(|| {
                fft(ctx, &host, Axis::Rows)?.to_host(ctx)?;
                Ok(())
            }),
        };
        let rows: Vec<Vec<Complex<f32>>> = x.chunks(n).map(<[_]>::to_vec).collect();
        let found = theirs.fft(&rows)?.concat();
        // wgsl-fft caches two of the three buffers of its first call. From then on, the input is in `buf_a`.
        let kept = n.is_power_of_two().then(|| theirs.get_or_build_size_cache(n, n.trailing_zeros()));
        let theirs = &theirs;
        let peer = Side {
            name: "wgsl-fft 0.5.1".to_owned(),
            error: share(&found, &truth, n),
            resident: kept.map(|kept| -> Box<dyn FnMut() -> Result<(), Failure>> {
                Box::new(move || {
                    theirs.execute_compute_pass(&kept, u32::try_from(batch)?, n);
                    theirs.device().poll(wgpu::PollType::Wait { submission_index: None, timeout: None })?;
                    Ok(())
                })
            }),
            transfers: Box::new(|| {
                theirs.fft(&rows)?;
                Ok(())
            }),
        };
        right &= compare(order, &workload, vec![ours, peer])?;
    }
    Ok(right)
}

/// Opens wgsl-fft on the adapter of this name, with all limits of the adapter.
fn open(name: &str) -> Result<GpuFft, Failure> {
    let instance = wgpu::Instance::default();
    let adapters = pollster::block_on(instance.enumerate_adapters(wgpu::Backends::PRIMARY));
    let adapter = adapters
        .into_iter()
        .find(|adapter| adapter.get_info().name.to_lowercase().contains(&name.to_lowercase()))
        .ok_or_else(|| format!("wgpu 29 sees no adapter `{name}`"))?;
    let descriptor = wgpu::DeviceDescriptor { required_limits: adapter.limits(), ..Default::default() };
    let (device, queue) = pollster::block_on(adapter.request_device(&descriptor))?;
    Ok(GpuFft::from_device_queue(device, queue)?)
}

/// Computes the transforms of the lines of `n` elements with rustfft in f64.
fn truth(x: &[Complex<f32>], n: usize) -> Vec<Complex<f64>> {
    let mut wide: Vec<Complex<f64>> = x.iter().map(|z| Complex::new(z.re.into(), z.im.into())).collect();
    rustfft::FftPlanner::new().plan_fft_forward(n).process(&mut wide);
    wide
}

/// Returns the largest relative L2 error of a transform, divided by 4 eps log2 n.
fn share(found: &[Complex<f32>], truth: &[Complex<f64>], n: usize) -> f64 {
    let worst = found.chunks(n).zip(truth.chunks(n)).map(|(found, truth)| {
        let apart = found.iter().zip(truth).map(|(z, t)| (Complex::<f64>::new(z.re.into(), z.im.into()) - t).norm_sqr());
        (apart.sum::<f64>() / truth.iter().map(|t| t.norm_sqr()).sum::<f64>()).sqrt()
    });
    // NaN counts as infinite.
    let worst = worst.fold(0.0, |most: f64, x| if x.is_nan() { f64::INFINITY } else { most.max(x) });
    if found.len() == truth.len() { worst / (4.0 * f64::from(f32::EPSILON) * (n as f64).log2()) } else { f64::INFINITY }
}
