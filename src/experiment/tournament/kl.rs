//! The tournament by divergences of shares and joint shares of ones.

use super::super::statistics::{Words, holm, number};
use super::joint::{Counts, Logarithms, Pool, SCORES, joined};
use super::{Column, Groups, Kind, Known, OnPairs, POSITIONS, Tournament, Watch, refuse_device};
use crate::context::Context;
use crate::error::Result;
use crate::parallel;
use std::collections::BTreeMap;

/// The bytes of the relabelings that are in memory.
const BLOCK: usize = 16 << 20;
/// The scores that are tested: the composite, and the histogram.
const TESTED: [usize; 2] = [3, 4];

/// The Kullback-Leibler divergences of pairs of groups, from the first 64 bits of their strings.
///
/// | score | vectors | numbers |
/// |---|---|---|
/// | `shares` | f_i, the share of strings with a one at position i | 64 |
/// | `joint` | P_ij, the share of strings with ones at the positions i and j | 4096 |
/// | `differences` | D_ij = \|f_i - f_j\| | 4096 |
/// | `composite` | 0.2 `shares` + 0.4 `joint` + 0.4 `differences` | |
/// | `histogram` | the density of the strings' means, of all bits, in 20 bins on \[0, 1\] | 20 |
///
/// 1e-10 is added to each number, the vectors are divided by their sums, and the score is the mean of KL(p || q) and
/// KL(q || p), in nats. The bins' edges are those of `numpy.histogram`. `differences` are no distribution; the score is
/// kept because published results have it. If all positions of a group have one share of ones, `differences` are noise,
/// and most of the composite is. `histogram` does not have this fault.
///
/// For the composite and the histogram, the strings of both groups are relabeled at random, and the p value is
/// (1 + the number of relabelings whose score is at least as large) / (1 + their number). The mean score of the
/// relabelings estimates how large the score is if both groups have the same law: a divergence of estimated
/// distributions is too large by about (k - 1) / (2 n) a side, for k bins that are not empty and n strings. Pairs with
/// the same numbers of strings share their relabelings, which is why p values of pairs depend on each other. Holm's
/// method allows that.
///
/// ```
/// use fiedler::Context;
/// use fiedler::experiment::tournament::{Groups, Kl};
///
/// // 40 strings of 64 bits, those of the second group with more ones.
/// let bit = |i: u64| u8::from((i * 2_654_435_761 >> 7) % 10 < 4 + 3 * (i / 1280));
/// let bits: Vec<u8> = (0..40 * 64).map(bit).collect();
/// let places: Vec<u32> = (0..40).map(|string| string / 20).collect();
/// let groups = Groups::of_bits(64, &bits, &places, vec!["a".to_owned(), "b".to_owned()])?;
/// let found = Kl::new().permutations(199).run(&Context::cpu(), &groups)?;
/// assert_eq!(found.value("histogram_p", 0), Some(1.0 / 200.0)); // no relabeling has as large a score
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone)]
pub struct Kl {
    permutations: u64,
    seed: u64,
    progress: Option<OnPairs>,
}

impl std::fmt::Debug for Kl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Kl").field("permutations", &self.permutations).field("seed", &self.seed).finish_non_exhaustive()
    }
}

impl Default for Kl {
    fn default() -> Self {
        Self { permutations: 999, seed: 42, progress: None }
    }
}

/// What is known of a pair after some relabelings.
#[derive(Clone)]
struct Tested {
    scores: [f64; SCORES],
    /// The bins of the histogram that are not empty in both groups together.
    bins: u64,
    /// The number of relabelings whose score is at least as large, and the sum of their scores.
    extreme: [u64; 2],
    sum: [f64; 2],
}

impl Kl {
    /// Creates a tournament with 999 relabelings for each pair.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of relabelings. Without any, there are no p values.
    #[must_use]
    pub fn permutations(self, permutations: u64) -> Self {
        Self { permutations, ..self }
    }

    /// Sets the seed of the relabelings.
    #[must_use]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed, ..self }
    }

    /// Sets a function that is told how many pairs are done, of how many, by one thread at a time.
    #[must_use]
    pub fn progress(self, on_pairs: OnPairs) -> Self {
        Self { progress: Some(on_pairs), ..self }
    }

    /// Computes the scores of all pairs, on the threads of a context. The result does not depend on their number.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Domain`] if strings have fewer than 64 bits, or the context requires a device;
    /// [`crate::ErrorKind::Cancelled`].
    pub fn run(&self, ctx: &Context, groups: &Groups) -> Result<Tournament> {
        refuse_device(ctx)?;
        groups.expect_positions()?;
        let pairs = groups.pairs();
        let known = Known { groups, pairs: &pairs, seed: self.seed };
        let (tested, relations) = ctx.on_host(|| {
            let tested = self.test(ctx, groups, &pairs)?;
            let score = |place: usize| tested.iter().map(|own| Some(own.scores[place])).collect::<Vec<_>>();
            let names = ["shares", "joint", "differences", "composite", "histogram"];
            let relations =
                parallel::map(names.into_iter().enumerate(), |_, (place, name)| known.relation(name, &score(place)));
            let relations = relations.into_iter().collect::<Result<Vec<_>>>()?;
            Ok((tested, relations))
        })?;
        let mut made = Tournament::new(Kind::Kl, &known, self.columns(groups, &pairs, &tested)?);
        made.relations = relations.into_iter().flatten().collect();
        made.settings = BTreeMap::from([("permutations", self.permutations), ("seed", self.seed)]);
        made.score = "composite";
        self.note(&mut made);
        Ok(made.finished())
    }

    /// Scores all pairs and their relabelings.
    fn test(&self, ctx: &Context, groups: &Groups, pairs: &[[usize; 2]]) -> Result<Vec<Tested>> {
        let columns = parallel::map(0..groups.len(), |_, group| groups.columns(group));
        let logarithms: BTreeMap<usize, Logarithms> =
            (0..groups.len()).map(|group| groups.strings(group)).map(|count| (count, Logarithms::new(count))).collect();
        let mut tested: Vec<Option<Tested>> = vec![None; pairs.len()];
        // Pairs with the same numbers of strings share their relabelings.
        let mut by_size: BTreeMap<[usize; 2], Vec<usize>> = BTreeMap::new();
        for (place, pair) in pairs.iter().enumerate() {
            by_size.entry(pair.map(|group| groups.strings(group))).or_default().push(place);
        }
        let watch = Watch::new(pairs.len(), self.progress.as_ref());
        for (counts, own) in by_size {
            let [first, second] = counts.map(|count| count.div_ceil(super::strings::WORD));
            let together = (BLOCK / (8 * (first + second))).max(1) as u64;
            let logarithms = counts.map(|count| &logarithms[&count]);
            let mut begin = 0;
            loop {
                let draws = begin..self.permutations.min(begin + together);
                let masks = parallel::map(draws.clone(), |_, draw| self.relabeling(counts, draw));
                let last = draws.end == self.permutations;
                let found: Vec<Result<Tested>> = parallel::map(&own, |_, &place| {
                    let [a, b] = pairs[place];
                    let pool = Pool::new(&columns[a], &columns[b]);
                    let before = tested[place].clone().unwrap_or_else(|| observed(&pool, counts, logarithms));
                    let after = relabeled(ctx, &pool, before, &masks, logarithms)?;
                    if last {
                        watch.done();
                    }
                    Ok(after)
                });
                for (&place, found) in own.iter().zip(found) {
                    tested[place] = Some(found?);
                }
                begin = draws.end;
                if last {
                    break;
                }
            }
        }
        Ok(tested.into_iter().flatten().collect())
    }

    /// Returns a random choice of as many strings of both groups as the first has, as bits of the words of a [`Pool`].
    fn relabeling(&self, [first, second]: [usize; 2], draw: u64) -> Vec<u64> {
        let mut words = Words::new(self.seed, &format!("relabeling {draw} of a tournament"));
        let mut strings: Vec<usize> = (0..first + second).collect();
        let fewer = first.min(second);
        for i in 0..fewer {
            let other = i + words.below(strings.len() - i);
            strings.swap(i, other);
        }
        let (chosen, others) = strings.split_at(fewer);
        joined(if first <= second { chosen } else { others }, [first, second])
    }

    fn columns(&self, groups: &Groups, pairs: &[[usize; 2]], tested: &[Tested]) -> Result<Vec<Column>> {
        let score = |place: usize| tested.iter().map(|own| Some(own.scores[place])).collect();
        let mut columns = vec![
            Column::new("shares", "KL of the shares of ones at 64 positions", score(0)),
            Column::new("joint", "KL of the joint shares of ones of 4096 pairs of positions", score(1)),
            Column::new("differences", "KL of the differences of 4096 pairs of shares", score(2)),
            Column::new("composite", "0.2 shares + 0.4 joint + 0.4 differences", score(3)),
            Column::new("histogram", "KL of the strings' means in 20 bins", score(4)),
        ];
        let plug_in = |(own, &[a, b]): (&Tested, &[usize; 2])| {
            let of = |group: usize| number(own.bins - 1) / (2.0 * number(groups.strings(group) as u64));
            Some(of(a) + of(b))
        };
        let bias = tested.iter().zip(pairs).map(plug_in).collect();
        let meaning = "(k - 1) / (2 n) of the first group plus that of the second, for k bins that are not empty";
        columns.push(Column::new("histogram_plug_in_bias", meaning, bias));
        if self.permutations == 0 {
            return Ok(columns);
        }
        let draws = number(self.permutations);
        for (test, [null, p, adjusted]) in [
            ["composite_if_equal", "composite_p", "composite_p_holm"],
            ["histogram_if_equal", "histogram_p", "histogram_p_holm"],
        ]
        .into_iter()
        .enumerate()
        {
            let ps: Vec<f64> = tested.iter().map(|own| number(1 + own.extreme[test]) / (1.0 + draws)).collect();
            let means = tested.iter().map(|own| Some(own.sum[test] / draws)).collect();
            columns.push(Column::new(null, "the mean score of relabeled strings", means));
            let adjusted_ps = holm(&ps)?.into_iter().map(Some).collect();
            columns.push(Column::new(
                p,
                "the share of relabelings with at least this score",
                ps.into_iter().map(Some).collect(),
            ));
            columns.push(Column::new(adjusted, "the same, adjusted for all pairs by Holm's method", adjusted_ps));
        }
        Ok(columns)
    }

    fn note(&self, made: &mut Tournament) {
        made.notes.push(format!(
            "All scores but the histogram are of the first {POSITIONS} bits, in nats. `differences` are no distribution; \
             most of the composite comes from them."
        ));
        made.notes.push(
            "A divergence of estimated distributions is positive even if both groups have the same law. \
             `composite_if_equal` and `histogram_if_equal` are how large it is then, and `histogram_plug_in_bias` is \
             the usual approximation; a bin that only one group fills adds more."
                .to_owned(),
        );
        let pairs = number(made.pairs.len() as u64);
        if self.permutations > 0 && pairs / number(1 + self.permutations) > 0.05 {
            made.notes.push(format!(
                "With {} relabelings and {} pairs, no adjusted p can be below {:.3}; {:.0} relabelings would allow 0.05.",
                self.permutations,
                made.pairs.len(),
                (pairs / number(1 + self.permutations)).min(1.0),
                20.0 * pairs - 1.0
            ));
        }
    }
}

/// Scores a pair as it is.
fn observed(pool: &Pool, counts: [usize; 2], logarithms: [&Logarithms; 2]) -> Tested {
    let [first, second] = counts;
    let own: Vec<usize> = (0..first).collect();
    let mut found = Counts::new();
    pool.count(&joined(&own, [first, second]), &mut Vec::new(), &mut found);
    let bins = pool.totals().bins().iter().filter(|&&count| count > 0).count() as u64;
    Tested { scores: found.scores(pool.totals(), logarithms), bins, extreme: [0; 2], sum: [0.0; 2] }
}

/// Scores relabelings of a pair.
fn relabeled(
    ctx: &Context,
    pool: &Pool,
    mut tested: Tested,
    masks: &[Vec<u64>],
    logarithms: [&Logarithms; 2],
) -> Result<Tested> {
    let (mut scratch, mut counts) = (Vec::new(), Counts::new());
    for mask in masks {
        ctx.cancel().check()?;
        pool.count(mask, &mut scratch, &mut counts);
        let scores = counts.scores(pool.totals(), logarithms);
        for (test, place) in TESTED.into_iter().enumerate() {
            // Equal scores may differ by rounding.
            tested.extreme[test] += u64::from(scores[place] >= tested.scores[place] * (1.0 - 1e-12) - 1e-14);
            tested.sum[test] += scores[place];
        }
    }
    Ok(tested)
}
