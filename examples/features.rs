//! Computes features of signals, on any device. Each step uses the result of the previous step: noise from a named
//! stream, sums of tones and noise, windowed power spectra, the powers in bands, and principal components. The
//! example checks that the strongest band of each signal is the band of its tone.

use fiedler::ops::fft::{Window, power_spectrum};
use fiedler::ops::matmul::Gemm;
use fiedler::ops::pca::{PcaOptions, pca};
use fiedler::ops::random::{Stream, normal};
use fiedler::{Array, Axis, Context, Shape};
use nalgebra::DMatrix;

/// The number of signals, the number of samples of each signal, and the number of samples per second.
const SIGNALS: usize = 300;
const SAMPLES: usize = 512;
const RATE: f64 = 512.0;

fn main() -> fiedler::Result<()> {
    let ctx = Context::new()?;
    let hertz = [40.0, 90.0, 170.0];

    // Signal i is the tone i mod 3 plus noise. A matrix of zeros and ones selects the tone of each signal, so one call
    // of `Gemm` computes all signals: the product of this matrix and the tones, plus 0.5 times the noise.
    let which = DMatrix::from_fn(SIGNALS, 3, |i, tone| if i % 3 == tone { 1.0 } else { 0.0 });
    #[expect(clippy::cast_possible_truncation, clippy::cast_precision_loss, reason = "samples in f32")]
    let tone = |i: usize, j: usize| (std::f64::consts::TAU * hertz[i] * j as f64 / RATE).sin() as f32;
    let (which, tones) =
        (Array::from_matrices(&[which])?, Array::from_matrices(&[DMatrix::from_fn(3, SAMPLES, tone)])?);
    let noise = normal::<f32>(&ctx, &mut Stream::new(7, "noise"), Shape::new(SIGNALS, SAMPLES, 1), 0.0, 1.0)?;
    let signals = Gemm::new().add(0.5, &noise).run(&ctx, &which, &tones)?;

    let spectra = power_spectrum(&ctx, &signals, Window::Hann, Axis::Cols)?;
    let bands = spectra.band_powers(&ctx, &[20.0, 60.0, 120.0, 250.0], RATE)?.to_host(&ctx)?;
    let found = pca(&ctx, &spectra.power, 2, PcaOptions::default())?.ok()?;
    let (ratio, places) =
        (found.explained_variance_ratio.to_host(&ctx)?, found.transform(&ctx, &spectra.power, false)?.to_host(&ctx)?);

    println!("signal  power in 20..60, 60..120, 120..250 Hz     place among the components");
    for i in 0..SIGNALS {
        let (band, place) = (bands.matrix(0).row(i).into_owned(), places.matrix(0).row(i).into_owned());
        if i < 6 {
            println!("{i:6}  {:.4}  {:.4}  {:.4}  {:28.4} {:.4}", band[0], band[1], band[2], place[0], place[1]);
        }
        assert_eq!(band.transpose().imax(), i % 3, "the band of signal {i}");
    }
    let explained: f32 = ratio.as_slice().iter().sum();
    println!(
        "two components explain {:.1} % of the variance of {} powers",
        100.0 * explained,
        spectra.power.shape().cols
    );
    assert!(explained > 0.7);
    Ok(())
}
