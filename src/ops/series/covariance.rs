//! The covariance matrix of the columns of a sample that is a matrix.

use super::histogram::entropy;
use super::named::{Named, named};
use super::parts::Known;
use crate::lanes::Vector;
use serde::{Deserialize, Serialize};

named! {
    /// A column, or several, of [`Covariance`]. The eigenvalues `l_1 >= l_2 >= ...` are those of the covariance matrix
    /// of the sample's columns, whose observations are its rows: `l_j = s_j^2 / (rows - ddof)`, with the singular
    /// values `s_j` of the sample after the mean of each column is subtracted. A vector is one column. K is `top`.
    CovarianceColumn {
        Eigenvalues: "eigenvalues", "l_1, ..., l_K, 0 beyond the last";
        Shares: "shares", "p_j = l_j / total, for each of K";
        Total: "total", "the sum of all l_j, which is the sum of the variances";
        Entropy: "entropy", "-sum p_j ln(p_j) over the K shares";
    }
}

/// Eigenvalues of the covariance matrix of the columns of a sample.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Covariance {
    /// The columns, in order.
    pub columns: Vec<CovarianceColumn>,
    /// K, the number of eigenvalues that the columns know.
    pub top: usize,
    /// What the denominator is less than the number of rows.
    pub ddof: u32,
}

impl Default for Covariance {
    fn default() -> Self {
        Self { columns: CovarianceColumn::ALL.to_vec(), top: 10, ddof: 1 }
    }
}

impl Covariance {
    /// Returns the names of the columns.
    pub(super) fn names(&self) -> Vec<String> {
        let names = self.columns.iter().flat_map(|column| match column {
            CovarianceColumn::Eigenvalues => (1..=self.top).map(|j| format!("eigenvalue_{j}")).collect(),
            CovarianceColumn::Shares => (1..=self.top).map(|j| format!("share_{j}")).collect(),
            one => vec![one.name().to_owned()],
        });
        names.collect()
    }

    #[inline(always)]
    pub(super) fn columns<V: Vector<Scalar = f64>>(&self, known: &Known<'_, V>, out: &mut Vec<V>) {
        let token = known.token;
        let zero = V::splat(token, 0.0);
        let mut all = Vec::new();
        let rows = if known.centered.is_empty() {
            all.push(known.sums.central[0]);
            known.shape.len()
        } else {
            for &value in known.centered {
                all.push(value * value);
            }
            known.shape.len() / known.shape.columns()
        };
        // With as few rows as that, there is no variance.
        let denominator = rows as f64 - f64::from(self.ddof);
        let scale = V::splat(token, if denominator > 0.0 { 1.0 / denominator } else { f64::NAN });
        let mut total = zero;
        for value in &mut all {
            *value *= scale;
            total += *value;
        }
        all.resize(self.top.max(all.len()), zero);
        let top = &all[..self.top];
        let mut shares = top.to_vec();
        for share in &mut shares {
            *share = *share / total;
        }
        for column in &self.columns {
            match column {
                CovarianceColumn::Eigenvalues => out.extend_from_slice(top),
                CovarianceColumn::Shares => out.extend_from_slice(&shares),
                CovarianceColumn::Total => out.push(total),
                // Without variance, the shares are undefined.
                CovarianceColumn::Entropy => {
                    out.push(V::select(zero.lt(total), entropy(token, &shares, 0.0), V::splat(token, f64::NAN)))
                }
            }
        }
    }
}
