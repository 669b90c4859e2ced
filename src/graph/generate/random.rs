//! Generates random graphs from three models. All draws are integers, so a seed gives the same graph on every machine.

use super::{OPERATION, SplitMix64, from_edges, node_count, room};
use crate::error::{Error, ErrorKind, Result};
use crate::graph::Graph;
use std::fmt;
use std::str::FromStr;

/// A probability that is stored as an exact fraction of 32-bit integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Probability {
    numerator: u32,
    denominator: u32,
}

impl Probability {
    /// Returns the probability `numerator / denominator`.
    ///
    /// # Errors
    /// [`Domain`](ErrorKind::Domain) if the probability exceeds 1 or the denominator is 0.
    pub fn new(numerator: u32, denominator: u32) -> Result<Self> {
        if denominator == 0 || numerator > denominator {
            let what = format!("expected a probability from 0 to 1, found {numerator}/{denominator}");
            return Err(Error::domain(OPERATION, what));
        }
        Ok(Self { numerator, denominator })
    }
}

impl fmt::Display for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl FromStr for Probability {
    type Err = Error;

    /// Parses a fraction of 32-bit integers or a decimal number with up to nine decimal places, such as `1/20`, `0.05`
    /// or `5e-2`. The result is exact.
    ///
    /// # Errors
    /// [`Domain`](ErrorKind::Domain) for anything else.
    fn from_str(text: &str) -> Result<Self> {
        let fraction = match text.split_once('/') {
            Some((above, below)) => above.parse().ok().zip(below.parse().ok()),
            None => decimal(text),
        };
        let Some((numerator, denominator)) = fraction else {
            let what = format!("expected a probability such as 1/20, 0.05 or 5e-2 (nine places), found {text:?}");
            return Err(Error::domain(OPERATION, what));
        };
        Self::new(numerator, denominator)
    }
}

/// Parses a decimal number as a fraction with the denominator 10^9.
fn decimal(text: &str) -> Option<(u32, u32)> {
    const PLACES: i32 = 9;
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits: String = [whole, part].concat();
    if digits.is_empty() || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let places = i32::try_from(part.len()).ok()?.checked_sub(exponent.parse().ok()?)?;
    let (mut number, mut shift) = (digits.parse::<u64>().ok()?, PLACES.checked_sub(places)?);
    while shift < 0 && number.is_multiple_of(10) {
        (number, shift) = (number / 10, shift + 1);
    }
    let scale = 10_u64.checked_pow(u32::try_from(shift).ok()?)?;
    Some((u32::try_from(number.checked_mul(scale)?).ok()?, 10_u32.pow(PLACES.cast_unsigned())))
}

/// A generator of the number of failures before each success in a sequence of independent trials.
///
/// Let q be the probability of a failure. The number G of failures has P(G = g) = q^g (1 - q), so the bits of G are
/// independent, and the odds that bit i is set are q^(2^i) to 1. The powers are computed by repeated squaring in 64-bit
/// fixed point, without floats or logarithms. Each squaring doubles the relative error, which is 2^-64 at first. For
/// the smallest success probability p, 2^-32, the relative error of an edge's probability is at most 2^-28; for larger
/// p it is smaller.
struct Skips {
    random: SplitMix64,
    /// For each bit, the number of the 2^64 possible draws that set the bit; `None` if the probability of success is 0.
    thresholds: Option<Vec<u64>>,
}

impl Skips {
    #[expect(clippy::cast_possible_truncation, reason = "fractions below 1 in units of 2^-64")]
    fn new(p: Probability, random: SplitMix64) -> Self {
        let failing = u128::from(p.denominator - p.numerator);
        let thresholds = (p.numerator > 0).then(|| {
            let mut power = (failing << 64) / u128::from(p.denominator);
            let mut thresholds = Vec::new();
            while power > 0 {
                thresholds.push(((power << 64) / ((1 << 64) + power)) as u64);
                power = (power * power) >> 64;
            }
            thresholds
        });
        Self { random, thresholds }
    }

    /// Returns the number of failures before the next success, which is at most 2^39. If success is impossible, returns
    /// `u64::MAX / 2`. In both cases, adding the number of nodes of a graph to the result does not overflow.
    fn next(&mut self) -> u64 {
        let Some(thresholds) = &self.thresholds else { return u64::MAX / 2 };
        let bit = |&threshold: &u64| u64::from(self.random.next() < threshold);
        thresholds.iter().map(bit).enumerate().fold(0, |skip, (place, bit)| skip | bit << place)
    }
}

/// The successes in rows of trials, one trial per cell. The sequence of trials continues from each row to the next.
struct Hits {
    skips: Skips,
    /// The offset of the next success from the start of the current row.
    next: u64,
}

impl Hits {
    fn new(p: Probability, random: SplitMix64) -> Self {
        let mut skips = Skips::new(p, random);
        let next = skips.next();
        Self { skips, next }
    }

    /// Calls `hit` with the index of each success in the next row, which has `length` cells.
    fn row(&mut self, length: u32, mut hit: impl FnMut(u32)) {
        while let Some(cell) = u32::try_from(self.next).ok().filter(|&cell| cell < length) {
            hit(cell);
            self.next += 1 + self.skips.next();
        }
        self.next -= u64::from(length);
    }
}

/// The parameters of a stochastic block model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockModel {
    /// The number of blocks.
    pub blocks: usize,
    /// The number of nodes in each block. Block b has the nodes `b * size..(b + 1) * size`.
    pub size: usize,
    /// The probability of an edge between two nodes of the same block.
    pub within: Probability,
    /// The probability of an edge between two nodes of different blocks.
    pub between: Probability,
}

/// Generates a graph from a stochastic block model. Each pair of nodes is joined by an edge independently, with a
/// probability that depends on whether both nodes are in the same block.
///
/// The model is that of Holland, Laskey and Leinhardt, Stochastic blockmodels: First steps, 1983. A single draw
/// determines how many pairs to skip before the next edge, as in Batagelj and Brandes, Efficient generation of large
/// random networks, 2005, but in integers.
///
/// # Errors
/// [`Domain`](ErrorKind::Domain) if there are no blocks or no nodes, or if there is not enough memory for the edges;
/// [`Limit`](ErrorKind::Limit) if there are more nodes than 32 bits can number.
pub fn block_model(model: BlockModel, seed: u64) -> Result<Graph> {
    let BlockModel { blocks, size, within, between } = model;
    let nodes = node_count("block model", blocks.saturating_mul(size), 1)?;
    let size = node_count("block", size, 1)?;
    let expected = |pairs: u64, p: Probability| u128::from(pairs) * u128::from(p.numerator) / u128::from(p.denominator);
    let all = u64::from(nodes) * u64::from(nodes - 1) / 2;
    let inside = blocks as u64 * (u64::from(size) * u64::from(size - 1) / 2);
    let likely = expected(inside, within) + expected(all - inside, between);
    let mut edges: Vec<(u32, u32)> = room(usize::try_from(likely + likely / 64).unwrap_or(usize::MAX))?;
    let mut inner = Hits::new(within, SplitMix64::stream(seed, 1));
    let mut outer = Hits::new(between, SplitMix64::stream(seed, 2));
    for node in 0..nodes {
        let end = (node / size + 1) * size;
        inner.row(end - node - 1, |cell| edges.push((node, node + 1 + cell)));
        outer.row(nodes - end, |cell| edges.push((node, end + cell)));
    }
    from_edges(nodes, &edges)
}

/// Generates a graph by preferential attachment. Node `links` is joined to all nodes before it. Each later node is
/// joined to `links` distinct earlier nodes, which are drawn with probabilities proportional to their degrees. The
/// number of edges is `(nodes - links) * links`.
///
/// The model is that of Barabasi and Albert, Emergence of Scaling in Random Networks, 1999. A uniform draw from the
/// list of the ends of all previous edges has the required probability (Batagelj and Brandes, 2005).
///
/// # Errors
/// [`Domain`](ErrorKind::Domain) if there are fewer than two nodes, if `links` is 0 or not less than `nodes`, or if
/// there is not enough memory for the edges; [`Limit`](ErrorKind::Limit) if there are more nodes than 32 bits can
/// number, or 2^31 edges or more.
pub fn preferential_attachment(nodes: usize, links: usize, seed: u64) -> Result<Graph> {
    let n = node_count("preferential attachment", nodes, 2)?;
    if links == 0 || links >= nodes {
        let what = format!("each new node has from 1 to {} links among {nodes} nodes, found {links}", nodes - 1);
        return Err(Error::domain(OPERATION, what));
    }
    let listed = (nodes - links).saturating_mul(links).saturating_mul(2);
    if u32::try_from(listed).is_err() {
        let what = "ends of edges of a preferential attachment".to_owned();
        return Err(ErrorKind::Limit { what, needed: listed as u64, allowed: u32::MAX.into() }.into());
    }
    let mut random = SplitMix64::stream(seed, 3);
    // In `ends`, edge i has its earlier node at index 2i and its later node at index 2i + 1.
    let mut ends: Vec<u32> = room(listed)?;
    let mut joined_to = vec![0_u32; nodes];
    let mut targets: Vec<u32> = Vec::with_capacity(links);
    for node in (0..n).skip(links) {
        targets.clear();
        if ends.is_empty() {
            targets.extend(0..node);
        }
        #[expect(clippy::cast_possible_truncation, reason = "at most as many as are listed, which fit in 32 bits")]
        let choice = ends.len() as u32;
        while targets.len() < links {
            let target = ends[random.exactly_below(choice) as usize];
            // A node is never joined to itself, so its own number can mark the targets that have already been drawn for
            // it.
            if joined_to[target as usize] != node {
                joined_to[target as usize] = node;
                targets.push(target);
            }
        }
        targets.sort_unstable();
        ends.extend(targets.iter().flat_map(|&target| [target, node]));
    }
    let edges: Vec<(u32, u32)> = ends.chunks_exact(2).map(|edge| (edge[0], edge[1])).collect();
    drop(ends);
    from_edges(n, &edges)
}

/// Generates a graph with `nodes` nodes and `edges` distinct edges. All such graphs are equally likely: this is the
/// model G(n, m) of Erdos and Renyi.
///
/// # Errors
/// [`Domain`](ErrorKind::Domain) if there are no nodes, if there are more edges than pairs of nodes, or if there is not
/// enough memory for the edges; [`Limit`](ErrorKind::Limit) if there are more nodes than 32 bits can number.
pub fn uniform(nodes: usize, edges: usize, seed: u64) -> Result<Graph> {
    let n = node_count("uniform graph", nodes, 1)?;
    let pairs = u64::from(n) * u64::from(n - 1) / 2;
    if edges as u64 > pairs {
        let what = format!("{nodes} nodes have {pairs} pairs at most, found {edges} edges asked for");
        return Err(Error::domain(OPERATION, what));
    }
    let mut random = SplitMix64::stream(seed, 4);
    // If more than half of all pairs are edges, the pairs that are not edges are drawn instead.
    let others = edges as u64 > pairs / 2;
    #[expect(clippy::cast_possible_truncation, reason = "at most as many as are asked for")]
    let drawn = if others { (pairs - edges as u64) as usize } else { edges };
    let chosen = distinct_pairs(n, drawn, &mut random)?;
    if !others {
        return from_edges(n, &chosen);
    }
    let mut kept = room(edges)?;
    let mut left_out = chosen.iter().peekable();
    let all = (0..n).flat_map(|low| (low + 1..n).map(move |high| (low, high)));
    kept.extend(all.filter(|pair| left_out.next_if_eq(&pair).is_none()));
    from_edges(n, &kept)
}

/// Draws `count` distinct pairs (low, high) in ascending order. Duplicates are removed and replaced by new draws until
/// no pair is missing. All sets of pairs are equally likely, because the result is the set of the first `count`
/// distinct pairs of an endless sequence of draws.
fn distinct_pairs(nodes: u32, count: usize, random: &mut SplitMix64) -> Result<Vec<(u32, u32)>> {
    let mut pairs = room(count)?;
    while pairs.len() < count {
        let known = pairs.len();
        pairs.extend((known..count).map(|_| {
            let (a, b) = (random.exactly_below(nodes), random.exactly_below(nodes - 1));
            // The second node is drawn from the nodes other than `a`. So if `b >= a`, the second node is `b + 1`.
            if b < a { (b, a) } else { (a, b + 1) }
        }));
        pairs[known..].sort_unstable();
        // The vector consists of two sorted runs, which the standard library's stable sort detects and merges.
        pairs.sort_unstable();
        pairs.dedup();
    }
    Ok(pairs)
}
