//! Singular values of a sample that is a matrix, and its norms.

use super::SampleShape;
use super::cpu::Group;
use super::histogram::{entropy, exp};
use super::named::{Named, named};
use super::parts::Known;
use crate::lanes::Vector;
use serde::{Deserialize, Serialize};

named! {
    /// A column, or several, of [`Singular`]. The singular values `s_1 >= s_2 >= ...` are those of the sample as a
    /// matrix; a vector has one, its 2-norm. `s_j` is 0 beyond the last one, and K is `top`.
    SingularColumn {
        Values: "values", "s_1, ..., s_K";
        Shares: "shares", "p_j = s_j / (s_1 + ... + s_K + epsilon), for each of K";
        Gaps: "gaps", "(s_j - s_(j + 1)) / (s_j + epsilon), for each of K - 1";
        Entropy: "entropy", "-sum p_j ln(p_j + epsilon)";
        EffectiveRank: "effective_rank", "exp(entropy) (Roy and Vetterli 2007)";
        Condition: "condition", "s_1 / (s_K + epsilon)";
        TopSum: "top_sum", "s_1 + ... + s_K";
        Frobenius: "frobenius", "sqrt(sum x_i^2)";
        Nuclear: "nuclear", "the sum of all s_j";
        Spectral: "spectral", "s_1";
        OneNorm: "one_norm", "the greatest sum of |x_i| over a column";
        InfNorm: "inf_norm", "the greatest sum of |x_i| over a row";
        NuclearRatio: "nuclear_ratio", "nuclear / (frobenius + epsilon)";
        SpectralRatio: "spectral_ratio", "spectral / (frobenius + epsilon)";
    }
}

/// Singular values and norms of a sample as a matrix. A vector is a matrix of one row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Singular {
    /// The columns, in order.
    pub columns: Vec<SingularColumn>,
    /// K, the number of singular values that the columns know.
    pub top: usize,
    /// What is added to denominators and, in the entropy, to shares.
    pub epsilon: f64,
}

impl Default for Singular {
    fn default() -> Self {
        Self { columns: SingularColumn::ALL.to_vec(), top: 10, epsilon: 1e-8 }
    }
}

impl Singular {
    /// Returns the names of the columns.
    pub(super) fn names(&self) -> Vec<String> {
        let names = self.columns.iter().flat_map(|column| match column {
            SingularColumn::Values => (1..=self.top).map(|j| format!("value_{j}")).collect(),
            SingularColumn::Shares => (1..=self.top).map(|j| format!("share_{j}")).collect(),
            SingularColumn::Gaps => (1..self.top).map(|j| format!("gap_{j}")).collect(),
            one => vec![one.name().to_owned()],
        });
        names.collect()
    }

    /// Returns whether columns need the sums of magnitudes over a column or a row.
    pub(super) fn has_sums(&self) -> bool {
        self.columns.iter().any(|column| matches!(column, SingularColumn::OneNorm | SingularColumn::InfNorm))
    }

    /// Computes the greatest sums of magnitudes over a column and over a row, if a column needs them.
    #[inline(always)]
    pub(super) fn parts<V: Vector<Scalar = f64>>(&self, group: &Group<'_, V>, out: &mut Vec<V>) {
        if self.has_sums() {
            out.push(greatest_sum(group, true));
            out.push(greatest_sum(group, false));
        }
    }

    #[inline(always)]
    pub(super) fn columns<V: Vector<Scalar = f64>>(&self, known: &Known<'_, V>, parts: &[V], out: &mut Vec<V>) {
        let (token, sums) = (known.token, known.sums);
        let (zero, epsilon) = (V::splat(token, 0.0), V::splat(token, self.epsilon));
        let frobenius = sums.energy.sqrt();
        let all = if known.singular.is_empty() { std::slice::from_ref(&frobenius) } else { known.singular };
        let mut top = vec![zero; self.top];
        let known = self.top.min(all.len());
        top[..known].copy_from_slice(&all[..known]);
        let (top_sum, nuclear) = (sum(zero, &top), sum(zero, all));
        let (first, last) = (top[0], top[self.top - 1]);
        let mut shares = top.clone();
        for share in &mut shares {
            *share = *share / (top_sum + epsilon);
        }
        // Without any singular value above 0, there are shares only because of epsilon.
        let undefined = V::select(zero.lt(top_sum + epsilon), zero, V::splat(token, f64::NAN));
        let spread = undefined + entropy(token, &shares, self.epsilon);
        for column in &self.columns {
            match column {
                SingularColumn::Values => out.extend_from_slice(&top),
                SingularColumn::Shares => out.extend_from_slice(&shares),
                SingularColumn::Gaps => {
                    for pair in top.windows(2) {
                        out.push((pair[0] - pair[1]) / (pair[0] + epsilon));
                    }
                }
                SingularColumn::Entropy => out.push(spread),
                SingularColumn::EffectiveRank => out.push(exp(spread)),
                SingularColumn::Condition => out.push(first / (last + epsilon)),
                SingularColumn::TopSum => out.push(top_sum),
                SingularColumn::Frobenius => out.push(frobenius),
                SingularColumn::Nuclear => out.push(nuclear),
                SingularColumn::Spectral => out.push(first),
                SingularColumn::OneNorm => out.push(parts[0]),
                SingularColumn::InfNorm => out.push(parts[1]),
                SingularColumn::NuclearRatio => out.push(nuclear / (frobenius + epsilon)),
                SingularColumn::SpectralRatio => out.push(first / (frobenius + epsilon)),
            }
        }
    }
}

#[inline(always)]
fn sum<V: Vector>(zero: V, x: &[V]) -> V {
    let mut sum = zero;
    for &x in x {
        sum += x;
    }
    sum
}

/// Returns the greatest sum of magnitudes over a column, or over a row.
#[inline(always)]
fn greatest_sum<V: Vector<Scalar = f64>>(group: &Group<'_, V>, over_columns: bool) -> V {
    let (rows, columns) = match group.shape {
        SampleShape::Vector(n) => (1, n),
        SampleShape::Matrix { rows, columns } => (rows, columns),
    };
    let zero = V::splat(group.token, 0.0);
    let (lines, length, line_step, step) =
        if over_columns { (columns, rows, 1, columns) } else { (rows, columns, columns, 1) };
    let mut greatest = zero;
    for line in 0..lines {
        let mut sum = zero;
        for i in 0..length {
            sum += group.x[line * line_step + i * step].abs();
        }
        greatest = greatest.max(sum);
    }
    greatest
}
