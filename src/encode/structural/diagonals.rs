//! The diagonals of functions of a Laplacian: heat kernels, wave kernel signatures and personalized PageRank.

use super::spectrum::Spectrum;
use crate::graph::GraphRef;

/// Returns the diagonals of the heat kernels `exp(-t L)` for each time t, row after row: (n, times). `dropped` says
/// whether to leave out the null space, which contributes the same at every time.
pub(super) fn heat_kernel(spectrum: &Spectrum, times: &[f64], dropped: bool) -> Vec<f64> {
    by_rows(times.iter().map(|&time| {
        let mut diagonal = spectrum.diagonal(|value| (-time * value).exp());
        if !dropped {
            diagonal.iter_mut().zip(&spectrum.null).for_each(|(sum, null)| *sum += null);
        }
        diagonal
    }))
}

/// Returns the wave kernel signatures at `count` energies, row after row: (n, count).
///
/// An energy is the logarithm of an eigenvalue. The energies, and the variance of the band-pass filters around them,
/// are those of Aubry, Schlickewei and Cremers, The wave kernel signature, ICCV Workshops 2011: for `count` energies
/// over the logarithms from a to b, the distance is `d = (b - a) / (count + 28)`, the standard deviation 7 d, and the
/// first energy two standard deviations above a.
pub(super) fn wave_kernel(spectrum: &Spectrum, count: usize) -> Vec<f64> {
    let energies: Vec<f64> = spectrum.values.iter().map(|value| value.ln()).collect();
    let (Some(first), Some(last)) = (energies.first(), energies.last()) else {
        return vec![0.0; spectrum.null.len() * count];
    };
    let step = (last - first) / (count as f64 + 28.0);
    let deviation = 7.0 * step;
    let last_step = count.saturating_sub(1).max(1) as f64;
    by_rows((0..count).map(|i| {
        let energy = first + 2.0 * deviation + i as f64 / last_step * (count as f64 * step);
        // If all eigenvalues are equal, the filter passes them all.
        let exponent = |own: f64| if deviation > 0.0 { ((energy - own) / deviation).powi(2) / 2.0 } else { 0.0 };
        // The nearest eigenvalue passes whole, so that the sum is not 0 between distant ones.
        let nearest = energies.iter().map(|&own| exponent(own)).fold(f64::INFINITY, f64::min);
        let passed: f64 = energies.iter().map(|&own| (nearest - exponent(own)).exp()).sum();
        spectrum.diagonal(|value| (nearest - exponent(value.ln())).exp() / passed)
    }))
}

/// Returns the diagonals of the personalized PageRank matrices `a (I - (1 - a) D^-1 W)^-1` for each restart
/// probability a, row after row: (n, restarts). `spectrum` is that of the symmetric Laplacian. A walk on an isolated
/// node stays there.
pub(super) fn pagerank(spectrum: &Spectrum, graph: GraphRef<'_>, restarts: &[f64]) -> Vec<f64> {
    let degrees = graph.degrees();
    by_rows(restarts.iter().map(|&restart| {
        let mut diagonal = spectrum.diagonal(|value| restart / (restart + (1.0 - restart) * value));
        for ((sum, null), &degree) in diagonal.iter_mut().zip(&spectrum.null).zip(&degrees) {
            *sum = if degree > 0.0 { *sum + null } else { 1.0 };
        }
        diagonal
    }))
}

/// Returns a matrix with the given columns, row after row.
fn by_rows(columns: impl Iterator<Item = Vec<f64>>) -> Vec<f64> {
    let columns: Vec<Vec<f64>> = columns.collect();
    let rows = columns.first().map_or(0, Vec::len);
    (0..rows).flat_map(|row| columns.iter().map(move |column| column[row])).collect()
}
