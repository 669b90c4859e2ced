//! Statistics, divergences, principal components: a suite a file.

mod covariance;
mod divergence;
mod magnitudes;
mod pca;
mod quantiles;
mod stats;

fn main() -> std::process::ExitCode {
    common::run([
        covariance::tests(),
        divergence::tests(),
        magnitudes::tests(),
        pca::tests(),
        quantiles::tests(),
        stats::tests(),
    ])
}
