//! Scales the weights of graphs by powers of two, for number types and sums that their magnitudes would leave. The
//! eigenvalues of D - W are scaled by the same power, and the normalized Laplacians do not change.

use super::{GraphBatch, GraphRef, Weights};

/// A graph whose largest weight is from 2^-32 to 2^32 is not scaled: the square of a sum of 2^31 such weights is within
/// the range of f32.
const LEVEL: i32 = 32;

/// Returns the exponent of the largest power of two that is at most `x`, or -1022 if `x` is subnormal.
fn exponent(x: f64) -> i32 {
    let Ok(biased) = i32::try_from(x.to_bits() >> (f64::MANTISSA_DIGITS - 1)) else {
        unreachable!("a positive number has 11 bits there")
    };
    biased.max(1) - 1023
}

impl GraphRef<'_> {
    /// Returns the smallest and the largest magnitude of a weight that is not 0. Returns `None` if every weight in the
    /// batch that contains the graph is 1, and for a graph without edges.
    pub(crate) fn extremes(&self) -> Option<(f64, f64)> {
        let sizes = self.weights?.iter().map(f64::abs).filter(|&weight| weight > 0.0);
        sizes.fold(None, |found, weight| match found {
            None => Some((weight, weight)),
            Some((least, most)) => Some((weight.min(least), weight.max(most))),
        })
    }

    /// Returns the exponent of the power of two by which [`GraphBatch::leveled`] divides the weights, so that the
    /// largest one is from 1 to 4 or, if the smallest one would be subnormal, as small as possible. The exponent is
    /// even, so that the roots of degrees are divided by a power of two, too. Returns 0 if the graph is not scaled.
    pub(crate) fn level(&self) -> i32 {
        match self.extremes() {
            Some((least, most)) if exponent(most).abs() > LEVEL => exponent(most).min(exponent(least) + 1022) & !1,
            _ => 0,
        }
    }

    /// Returns whether every weight, divided by the power of two of [`GraphRef::level`], is a normal f32.
    pub(crate) fn levels_to_f32(&self) -> bool {
        self.extremes().is_none_or(|(least, _)| least * 2_f64.powi(-self.level()) >= f32::MIN_POSITIVE.into())
    }

    /// Returns whether every weight is a normal f32, and twice every degree is finite in f32.
    pub(crate) fn is_within_f32(&self) -> bool {
        self.extremes().is_none_or(|(least, _)| least >= f32::MIN_POSITIVE.into()) && self.degrees_are_within_f32()
    }

    /// Returns whether twice every degree is finite in f32, and so is every eigenvalue of D - W.
    pub(crate) fn degrees_are_within_f32(&self) -> bool {
        let half = f64::from(f32::MAX) / 2.0;
        let sum = self.extremes().map_or(0.0, |(_, most)| most * self.entries() as f64);
        sum <= half || self.degrees().iter().all(|&degree| degree <= half)
    }
}

impl GraphBatch {
    /// Returns the batch with the weights of each graph divided by a power of two, and the exponents of these powers.
    /// Returns `None` if no graph is scaled.
    pub(crate) fn leveled(&self) -> Option<(Self, Vec<i32>)> {
        let levels: Vec<i32> = self.iter().map(|graph| graph.level()).collect();
        if levels.iter().all(|&level| level == 0) {
            return None;
        }
        let mut weights = Weights::default();
        weights.reserve(self.entries());
        for (graph, &level) in self.iter().zip(&levels) {
            let factor = 2_f64.powi(-level);
            let own = graph.weights.iter().flat_map(|weights| weights.iter());
            own.for_each(|weight| weights.push(weight * factor));
        }
        Some((Self { weights: Some(weights), ..self.clone() }, levels))
    }
}

#[cfg(test)]
mod tests {
    use super::exponent;
    use crate::graph::{Conventions, Graph, GraphBatch};

    #[test]
    fn exponents() {
        for (x, want) in [(1.0, 0), (1.9, 0), (2.0, 1), (0.75, -1), (1e-320, -1022), (f64::MAX, 1023)] {
            assert_eq!(exponent(x), want, "{x}");
        }
    }

    #[test]
    fn weights_are_scaled_without_rounding() {
        let of = |weights: &[f64]| {
            let edges: Vec<(u32, u32, f64)> = (0..).zip(weights).map(|(i, &weight)| (i, i + 1, weight)).collect();
            Graph::from_weighted_edges(weights.len() + 1, &edges, &Conventions::default()).unwrap()
        };
        let usual = [of(&[0.1, 3.0, 1e-200]), of(&[4e9, 1.0]), of(&[1.0])];
        assert!(GraphBatch::from_graphs(&usual).unwrap().leveled().is_none());
        let others = [of(&[1e150, 3e-150]), of(&[f64::MAX, f64::MIN_POSITIVE]), of(&[5e-324]), of(&[1e-40, 0.3e-40])];
        for graph in others {
            let level = graph.view().level();
            let batch = GraphBatch::from_graphs(&[usual[0].clone(), graph.clone()]).unwrap();
            let Some((leveled, levels)) = batch.leveled() else {
                assert_eq!(level, 0, "the largest weight is not scaled if the smallest would be subnormal");
                continue;
            };
            assert_eq!(levels, [0, level]);
            assert_eq!(leveled.select(&[0]), usual[0].clone().into());
            for (row, own) in
                leveled.graph(1).all_weights().unwrap().iter().zip(graph.view().all_weights().unwrap().iter())
            {
                assert_eq!(row * 2_f64.powi(level), own);
                assert!(level % 2 == 0 && (row < 4.0 || level == 0), "{row}");
            }
        }
    }

    #[test]
    fn what_f32_holds() {
        let of = |weights: [f64; 2]| {
            Graph::from_weighted_edges(3, &[(0, 1, weights[0]), (1, 2, weights[1])], &Conventions::default()).unwrap()
        };
        for (weights, within, levels) in [
            ([0.1, 1e-12], true, true),
            ([1e-37, 1e38], true, false),
            ([1e-36, 1.8e38], false, false),
            ([1e-38, 1.0], false, false),
            ([1e-50, 1e-60], false, true),
            ([1e150, 1e120], false, true),
            ([1e150, 1e110], false, false),
        ] {
            let graph = of(weights);
            assert_eq!((graph.view().is_within_f32(), graph.view().levels_to_f32()), (within, levels), "{weights:?}");
        }
    }
}
