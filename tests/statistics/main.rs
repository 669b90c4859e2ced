//! Tests of statistics, divergences and principal components: one suite per file.

mod covariance;
mod divergence;
mod magnitudes;
mod pca;
mod quantiles;
mod series;
mod stats;

fn main() -> std::process::ExitCode {
    common::run([
        covariance::tests(),
        divergence::tests(),
        magnitudes::tests(),
        pca::tests(),
        quantiles::tests(),
        series::tests(),
        stats::tests(),
    ])
}
