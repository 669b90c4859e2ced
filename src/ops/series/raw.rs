//! The numbers of a sample themselves, or a random projection of them.

use crate::lanes::Vector;
use crate::ops::random::philox;
use serde::{Deserialize, Serialize};

/// The signs that one call of the generator makes.
const SIGNS: usize = 128;

/// The numbers of a sample, or a random projection of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Raw {
    /// The number of numbers to keep, from the first on; 0 for all.
    pub first: usize,
    /// The number of columns to which the numbers are projected, or 0 for none. Column j is
    /// `sum s_ij x_i / sqrt(project)`, with random signs `s_ij` (Achlioptas 2003), so that distances between samples
    /// are kept on average.
    pub project: usize,
    /// The seed of the signs, which are functions of the seed, of j and of i.
    pub seed: u64,
}

impl Raw {
    fn kept(&self, n: usize) -> usize {
        if self.first == 0 { n } else { self.first.min(n) }
    }

    /// Returns the names of the columns.
    pub(super) fn names(&self, n: usize) -> Vec<String> {
        match self.project {
            0 => (0..self.kept(n)).map(|i| i.to_string()).collect(),
            columns => (0..columns).map(|j| format!("projection_{j}")).collect(),
        }
    }

    /// Computes the columns.
    #[inline(always)]
    pub(super) fn of_numbers<V: Vector<Scalar = f64>>(&self, token: V::Token, x: &[V], out: &mut Vec<V>) {
        let x = &x[..self.kept(x.len())];
        if self.project == 0 {
            return out.extend_from_slice(x);
        }
        let scale = V::splat(token, 1.0 / (self.project as f64).sqrt());
        for column in 0..self.project {
            let mut sum = V::splat(token, 0.0);
            for (block, x) in x.chunks(SIGNS).enumerate() {
                let signs = self.signs(column, block);
                for (i, &x) in x.iter().enumerate() {
                    let plus = signs[i / 32] >> (i % 32) & 1 == 1;
                    sum += if plus { x } else { -x };
                }
            }
            out.push(sum * scale);
        }
    }

    /// Returns the signs of a column for some consecutive numbers: a bit for each.
    #[expect(clippy::cast_possible_truncation, reason = "the halves of the seed and of the counters")]
    fn signs(&self, column: usize, block: usize) -> [u32; 4] {
        let key = [self.seed as u32, (self.seed >> 32) as u32];
        philox([block as u32, (block as u64 >> 32) as u32, column as u32, (column as u64 >> 32) as u32], key)
    }
}
