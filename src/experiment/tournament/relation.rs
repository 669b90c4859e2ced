//! Whether a score tells groups apart: its relation to the difference of the shares of ones, and to classes.

use super::super::statistics::{MannWhitney, Words, average_ranks, every_order, mann_whitney, number};
use super::Groups;
use crate::error::Result;
use crate::train::moments;
use serde::Serialize;

/// The largest number of groups for which all arrangements are tried.
const EXACT: usize = 7;
/// The number of random arrangements, and the same for more pairs than `MANY`.
const DRAWS: [u64; 2] = [9_999, 999];
const MANY: usize = 20_000;
/// The level of the statements.
const LEVEL: f64 = 0.05;

/// The relation of a score of pairs to what is known of their groups.
///
/// Pairs share groups, so they are not independent. The p values are those of a permutation test that exchanges groups
/// instead of pairs (Mantel, *The detection of disease clustering and a generalized regression approach*, 1967).
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Relation {
    /// The name of the score.
    pub score: String,
    /// The number of pairs that have a score.
    pub pairs: usize,
    /// The mean of the score.
    pub mean: f64,
    /// The standard deviation over pairs, which divides by n - 1; `None` for a single pair.
    pub deviation: Option<f64>,
    /// Pearson's correlation with the difference of the shares of ones; `None` if all scores or all differences are
    /// equal.
    pub pearson: Option<Related>,
    /// The same for Spearman's correlation.
    pub spearman: Option<Related>,
    /// The number of arrangements of the groups that were tried.
    pub arrangements: u64,
    /// Whether these are all arrangements.
    pub exact: bool,
    /// The scores within classes and between classes; `None` if classes are not known, or if there are no pairs of one
    /// of both kinds.
    pub classes: Option<WithinBetween>,
}

/// A correlation with its p value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Related {
    /// The correlation coefficient.
    pub r: f64,
    /// The two-sided p value under exchanges of groups.
    pub p: f64,
}

/// The scores of pairs of one class and of pairs of two classes.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct WithinBetween {
    /// The mean of the scores of pairs of one class.
    pub within: f64,
    /// The mean of the scores of pairs of two classes.
    pub between: f64,
    /// The test that neither kind tends to be larger, where the first sample is that of pairs of two classes. Its p
    /// value counts pairs as independent, which they are not.
    pub mann_whitney: MannWhitney,
    /// The two-sided p value of the same statistic under exchanges of groups.
    pub p: f64,
}

/// The pairs of a tournament, and what is known of them.
pub(super) struct Known<'a> {
    pub(super) groups: &'a Groups,
    pub(super) pairs: &'a [[usize; 2]],
    pub(super) seed: u64,
}

impl Known<'_> {
    /// Returns the magnitude of the difference of the shares of ones of a pair.
    pub(super) fn difference(&self, [first, second]: [usize; 2]) -> f64 {
        (self.groups.share_of_ones(first) - self.groups.share_of_ones(second)).abs()
    }

    /// Returns whether both groups have the same class, if both have one.
    pub(super) fn is_within(&self, [first, second]: [usize; 2]) -> Option<bool> {
        Some(self.groups.class(first)? == self.groups.class(second)?)
    }

    /// Computes the relation of a score, which some pairs may lack; `None` if all do.
    ///
    /// # Errors
    /// Those of the statistics, for scores that are not finite.
    pub(super) fn relation(&self, score: &str, values: &[Option<f64>]) -> Result<Option<Relation>> {
        let scored = self.pairs.iter().zip(values).filter_map(|(&pair, value)| Some((pair, (*value)?)));
        let (pairs, scores): (Vec<[usize; 2]>, Vec<f64>) = scored.unzip();
        if pairs.is_empty() {
            return Ok(None);
        }
        let count = self.groups.len();
        let shares: Vec<f64> = (0..count).map(|group| self.groups.share_of_ones(group)).collect();
        // The differences of all pairs, and their ranks, at [first * count + second] and the other way round.
        let all = self.groups.pairs();
        let differences: Vec<f64> = all.iter().map(|&[a, b]| (shares[a] - shares[b]).abs()).collect();
        let square = |of_pairs: &[f64]| {
            let mut square = vec![0.0; count * count];
            for (&[a, b], &value) in all.iter().zip(of_pairs) {
                (square[a * count + b], square[b * count + a]) = (value, value);
            }
            square
        };
        let [plain, ranked] = [square(&differences), square(&average_ranks(&differences))];
        let ranks = average_ranks(&scores);
        let classes: Option<Vec<&str>> = (0..count).map(|group| self.groups.class(group)).collect();
        let mut tests = [
            Test::correlation(&scores, &plain, &pairs),
            Test::correlation(&ranks, &ranked, &pairs),
            classes.as_ref().and_then(|classes| Test::between(&ranks, classes, &pairs)),
        ];
        let draws = DRAWS[usize::from(pairs.len() > MANY)];
        let arrangements = self.arrange(&pairs, draws, &mut tests);
        let exact = count <= EXACT;
        let p = |test: &Test| match exact {
            true => number(test.extreme) / number(arrangements),
            false => number(1 + test.extreme) / number(1 + arrangements),
        };
        let own: Vec<f64> = pairs.iter().map(|&[a, b]| plain[a * count + b]).collect();
        let related = |test: &Option<Test<'_>>, scores: &[f64], partners: &[f64]| {
            test.as_ref().map(|test| Related { r: coefficient(scores, partners), p: p(test) })
        };
        let [by_value, by_rank, by_class] = &tests;
        let (pearson, spearman) = (related(by_value, &scores, &own), related(by_rank, &ranks, &average_ranks(&own)));
        let classes = by_class.as_ref().map(|test| self.kinds(&pairs, &scores, p(test))).transpose()?;
        let (mean, deviation) = moments(&scores);
        Ok(Some(Relation {
            score: score.to_owned(),
            pairs: pairs.len(),
            mean,
            deviation: Some(deviation).filter(|deviation| deviation.is_finite()),
            pearson,
            spearman,
            arrangements,
            exact,
            classes,
        }))
    }

    fn kinds(&self, pairs: &[[usize; 2]], scores: &[f64], p: f64) -> Result<WithinBetween> {
        let of_kind = |within: bool| {
            let own = pairs.iter().zip(scores).filter(|(pair, _)| self.is_within(**pair) == Some(within));
            own.map(|(_, score)| *score).collect::<Vec<f64>>()
        };
        let [between, within] = [false, true].map(of_kind);
        let mann_whitney = mann_whitney(&between, &within)?;
        Ok(WithinBetween { within: moments(&within).0, between: moments(&between).0, mann_whitney, p })
    }

    /// Counts the arrangements of the groups under which the statistics are as extreme as those of the data, and
    /// returns how many were tried.
    fn arrange(&self, pairs: &[[usize; 2]], draws: u64, tests: &mut [Option<Test<'_>>]) -> u64 {
        let mut order: Vec<usize> = (0..self.groups.len()).collect();
        let mut look = |order: &[usize]| {
            for test in tests.iter_mut().flatten() {
                test.extreme += u64::from(test.statistic(pairs, order) >= test.observed);
            }
        };
        let mut tried = 0;
        if order.len() <= EXACT {
            every_order(&mut order, &mut |order| {
                look(order);
                tried += 1;
            });
        } else {
            let mut words = Words::new(self.seed, "arrangements of a tournament's groups");
            while tried < draws {
                words.shuffle(&mut order);
                look(&order);
                tried += 1;
            }
        }
        tried
    }
}

/// Returns Pearson's correlation of values that are not all equal.
fn coefficient(x: &[f64], y: &[f64]) -> f64 {
    let centered = |values: &[f64]| {
        let mean = moments(values).0;
        values.iter().map(|value| value - mean).collect::<Vec<f64>>()
    };
    let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
    let (x, y) = (centered(x), centered(y));
    (dot(&x, &y) / (dot(&x, &x) * dot(&y, &y)).sqrt()).clamp(-1.0, 1.0)
}

/// A statistic of the scores and of what an arrangement of the groups gives each pair.
struct Test<'a> {
    /// The scores, or their ranks, minus their mean.
    scores: Vec<f64>,
    partners: Partners<'a>,
    /// The magnitude of the statistic of the data, and how many arrangements reached it.
    observed: f64,
    extreme: u64,
}

/// What a pair has under an arrangement.
enum Partners<'a> {
    /// An entry of a matrix of groups. The statistic is Pearson's correlation, up to a factor.
    Matrix { count: usize, square: &'a [f64] },
    /// Whether its classes differ. The statistic is the sum of the scores of the pairs whose classes do.
    Classes(&'a [&'a str]),
}

impl<'a> Test<'a> {
    /// Returns the test of a correlation, or `None` if there is none.
    fn correlation(scores: &[f64], square: &'a [f64], pairs: &[[usize; 2]]) -> Option<Self> {
        let count = square.len().isqrt();
        let own: Vec<f64> = pairs.iter().map(|&[a, b]| square[a * count + b]).collect();
        let varied = |values: &[f64]| values.iter().any(|value| *value != values[0]);
        (varied(scores) && varied(&own)).then(|| Self::new(scores, Partners::Matrix { count, square }, pairs, count))
    }

    /// Returns the test of the kinds of pairs, or `None` if there is only one kind.
    fn between(ranks: &[f64], classes: &'a [&'a str], pairs: &[[usize; 2]]) -> Option<Self> {
        let within = pairs.iter().filter(|&&[a, b]| classes[a] == classes[b]).count();
        let both = within > 0 && within < pairs.len();
        both.then(|| Self::new(ranks, Partners::Classes(classes), pairs, classes.len()))
    }

    fn new(scores: &[f64], partners: Partners<'a>, pairs: &[[usize; 2]], count: usize) -> Self {
        let mean = scores.iter().sum::<f64>() / number(scores.len() as u64);
        let scores = scores.iter().map(|score| score - mean).collect();
        let mut made = Self { scores, partners, observed: 0.0, extreme: 0 };
        let as_they_are: Vec<usize> = (0..count).collect();
        // Sums of the same terms in another order differ by rounding.
        made.observed = made.statistic(pairs, &as_they_are) * (1.0 - 1e-12);
        made
    }

    /// Returns the magnitude of the statistic under an arrangement.
    fn statistic(&self, pairs: &[[usize; 2]], order: &[usize]) -> f64 {
        let terms = self.scores.iter().zip(pairs).map(|(score, &[a, b])| (score, order[a], order[b]));
        match self.partners {
            Partners::Matrix { count, square } => {
                let (mut product, mut sum, mut squares) = (0.0, 0.0, 0.0);
                for (score, a, b) in terms {
                    let partner = square[a * count + b];
                    product += score * partner;
                    sum += partner;
                    squares += partner * partner;
                }
                // The sums differ between arrangements only if some pairs have no score.
                let spread = squares - sum * sum / number(pairs.len() as u64);
                if spread > 0.0 { product.abs() / spread.sqrt() } else { 0.0 }
            }
            Partners::Classes(classes) => {
                let between = terms.filter(|&(_, a, b)| classes[a] != classes[b]);
                between.map(|(score, ..)| score).sum::<f64>().abs()
            }
        }
    }
}

impl Relation {
    /// Returns what the tests say, in sentences.
    #[must_use]
    pub fn sentences(&self) -> Vec<String> {
        let score = &self.score;
        let mut said = Vec::new();
        let pairs = |count: usize| format!("{count} {}", if count == 1 { "pair" } else { "pairs" });
        // Even the most extreme arrangement has this p value.
        let few = self.exact && number(self.arrangements) * LEVEL < 1.0;
        match (self.pearson, self.spearman) {
            (Some(pearson), Some(spearman)) => {
                let numbers = format!(
                    "Pearson {:.3}, p {:.4}; Spearman {:.3}, p {:.4}; over {} pairs",
                    pearson.r, pearson.p, spearman.r, spearman.p, self.pairs
                );
                let verdict = match () {
                    () if few => "has too few groups to tell whether it follows",
                    () if pearson.p.min(spearman.p) > LEVEL => "does not follow",
                    () if spearman.r < 0.0 => "falls with",
                    () => "follows",
                };
                said.push(format!("The score {score} {verdict} the difference of the shares of ones ({numbers})."));
            }
            _ => said.push(format!("The score {score} has no correlation: there are no two different pairs.")),
        }
        if let Some(classes) = self.classes {
            let verdict = match () {
                () if few => "there are too few groups to tell whether they differ",
                () if classes.p > LEVEL => "they are not told apart",
                () => "they differ",
            };
            said.push(format!(
                "The mean of {score} is {:.4} within classes ({}) and {:.4} between classes ({}): {verdict} \
                 (p {:.4}; with pairs counted as independent, Mann-Whitney p {:.2e}).",
                classes.within,
                pairs(classes.mann_whitney.sizes[1]),
                classes.between,
                pairs(classes.mann_whitney.sizes[0]),
                classes.p,
                classes.mann_whitney.p
            ));
        }
        said
    }
}

#[cfg(test)]
mod tests {
    use super::{Groups, Known};

    /// Returns groups with the given numbers of ones in their first 10 bits.
    fn groups(ones: &[usize], classes: Option<&str>) -> Groups {
        let bits = ones.iter().flat_map(|&ones| (0..10).map(move |at| u8::from(at < ones)));
        let places: Vec<u32> = (0..ones.len() as u32).collect();
        let names = places.iter().map(u32::to_string).collect();
        let groups = Groups::of_bits(10, &bits.collect::<Vec<u8>>(), &places, names).expect("groups");
        match classes {
            Some(classes) => groups.with_classes(classes.chars().map(String::from).collect()).expect("classes"),
            None => groups,
        }
    }

    /// Of the 24 orders of four groups, those count whose correlation is as large. The differences 1, 3, 7, 2, 6, 4 are
    /// all different, so only an order that keeps them has r = 1.
    #[test]
    fn all_arrangements_of_few_groups() {
        let groups = groups(&[1, 2, 4, 8], Some("aabb"));
        let pairs = groups.pairs();
        let known = Known { groups: &groups, pairs: &pairs, seed: 1 };
        let scores: Vec<Option<f64>> = pairs.iter().map(|&pair| Some(2.0 + 10.0 * known.difference(pair))).collect();
        let found = known.relation("s", &scores).expect("a relation").expect("scores");
        let (pearson, spearman) = (found.pearson.expect("r"), found.spearman.expect("r"));
        assert!((pearson.r - 1.0).abs() < 1e-12 && (pearson.p - 1.0 / 24.0).abs() < 1e-15, "{pearson:?}");
        assert!((spearman.r - 1.0).abs() < 1e-12 && found.exact && found.arrangements == 24);
        // Of three ways to make two classes of two, each is 8 of the 24 orders. Within are the ranks 1 and 4, else 3
        // and 5, or 2 and 6. The sums of ranks between classes are 16, 13 and 13, against a mean of 14.
        let classes = found.classes.expect("classes");
        assert!((classes.p - 1.0 / 3.0).abs() < 1e-15, "{classes:?}");
        assert_eq!(classes.mann_whitney.sizes, [4, 2]);
        assert!(found.sentences()[0].contains("follows the difference"), "{:?}", found.sentences());
    }

    #[test]
    fn coefficients_are_those_of_the_statistics() {
        use super::super::super::statistics::{pearson, spearman};
        let groups = groups(&[1, 2, 4, 8, 9], None);
        let pairs = groups.pairs();
        let known = Known { groups: &groups, pairs: &pairs, seed: 1 };
        let scores = [3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0];
        let found = known.relation("s", &scores.map(Some)).expect("a relation").expect("scores");
        let differences: Vec<f64> = pairs.iter().map(|&pair| known.difference(pair)).collect();
        let want = [pearson, spearman].map(|of| of(&scores, &differences, 1).expect("a correlation").r);
        let own = [found.pearson, found.spearman].map(|related| related.expect("r").r);
        assert!(own.iter().zip(want).all(|(own, want)| (own - want).abs() < 1e-14), "{own:?} {want:?}");
    }

    #[test]
    fn what_is_not_there() {
        let groups = groups(&[1, 2, 4], None);
        let pairs = groups.pairs();
        let known = Known { groups: &groups, pairs: &pairs, seed: 1 };
        assert_eq!(known.relation("s", &[None; 3]).expect("no error"), None);
        let same = known.relation("s", &[Some(1.0); 3]).expect("no error").expect("scores");
        assert!(same.pearson.is_none() && same.spearman.is_none() && same.classes.is_none());
        let three = known.relation("s", &[Some(1.0), Some(3.0), Some(2.0)]).expect("no error").expect("scores");
        assert!(three.sentences()[0].contains("too few groups"), "{:?}", three.sentences());
        let one = known.relation("s", &[Some(1.0), None, None]).expect("no error").expect("a score");
        assert!(one.pearson.is_none() && one.deviation.is_none());
    }

    /// Scores that know nothing of the groups have p <= 0.05 in a share of about 0.05 of 200 trials. The bound is 4
    /// standard errors, sqrt(0.05 0.95 / 200) = 0.0154, which a right test exceeds once in 15,000 trials.
    #[test]
    fn the_level_is_kept() {
        let ones: Vec<usize> = (0..9).map(|i| 1 + i * i % 8).collect();
        let groups = groups(&ones, None);
        let pairs = groups.pairs();
        let mut rejected = [0; 2];
        for trial in 0..200 {
            let known = Known { groups: &groups, pairs: &pairs, seed: trial };
            let mut words = super::Words::new(trial, "scores of a test");
            // Scores of pairs as sums of effects of groups, which a test of independent pairs takes for relations.
            let effects: Vec<f64> = (0..9).map(|_| f64::from(words.next()) / 4e9).collect();
            let scores: Vec<Option<f64>> = pairs.iter().map(|&[a, b]| Some(effects[a] + effects[b])).collect();
            let found = known.relation("s", &scores).expect("a relation").expect("scores");
            for (count, test) in rejected.iter_mut().zip([found.pearson, found.spearman]) {
                *count += u32::from(test.expect("r").p <= 0.05);
            }
        }
        assert!(rejected.iter().all(|&count| f64::from(count) / 200.0 < 0.05 + 4.0 * 0.0154), "{rejected:?}");
    }
}
