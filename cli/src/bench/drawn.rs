//! Workloads whose shapes are drawn at random, to check results on shapes that no list has.

use super::case::Case;
use super::workloads::{Workloads, of};
use fiedler::ops::random::{Stream, uniform};
use fiedler::policy::Family;
use fiedler::{Context, Result, Shape};

/// How often a small and a large shape of each family are drawn.
const ROUNDS: usize = 3;
/// The largest number of bytes of a workload, unless one item alone has more.
const BYTES: f64 = 64e6;

/// Draws workloads from a seed: in every round a small and a large one of each family, with inputs of that seed. Small
/// sizes are below the geometric mean of the sizes that `tune` measures, and large ones above. A workload has about
/// `flops` operations at most, or one item of ten times as many.
///
/// # Errors
/// None, unless the CPU has no memory for a few numbers.
pub fn drawn(seed: u64, flops: f64) -> Result<Vec<Case>> {
    let count = 2 * ROUNDS * Family::MEASURED.len();
    let cpu = Context::cpu();
    let numbers = uniform::<f64>(&cpu, &mut Stream::new(seed, "card"), Shape::new(2, count, 1), 0.0..1.0)?;
    let numbers = numbers.to_host(&cpu)?;
    let mut pairs = numbers.as_slice().chunks_exact(2);
    let mut all = Vec::with_capacity(count);
    for round in 0..ROUNDS {
        for large in [0.0, 0.5] {
            for family in Family::MEASURED {
                let Some(&[x, y]) = pairs.next() else { continue };
                let round = u64::try_from(round).unwrap_or(0);
                let case = Case { seed: seed.wrapping_add(round), ..Case::new(family, 1, 1) };
                all.push(shaped(case, large + x / 2.0, y, flops));
            }
        }
    }
    Ok(all)
}

/// Returns the workload with a size and a number of items at the given places, from 0 to 1, between the least and the
/// most.
fn shaped(case: Case, size: f64, items: f64, flops: f64) -> Case {
    let own = of(case.family);
    let mut case = Case { size: size_at(own, size), ..case };
    if own.names().is_empty() {
        while case.size > own.tuned()[0] && case.least()[1] > 10.0 * flops {
            case.size /= 2;
        }
    }
    if case.items_are().is_empty() {
        return case;
    }
    // Where one item keeps all threads busy, its usual number of items goes with the size.
    let Some(fewest) = own.fewest() else { return Case { items: own.usual_items(case.size), ..case } };
    let fewest = Case { items: fewest, ..case };
    let [bytes, operations] = fewest.least();
    let most = (flops / operations).min(BYTES / bytes).clamp(1.0, 1e5);
    Case { items: scaled(fewest.items, most.powf(items)), ..case }
}

fn size_at(own: &dyn Workloads, place: f64) -> usize {
    let sizes = own.tuned();
    let last = sizes.len() - 1;
    if own.names().is_empty() {
        return scaled(sizes[0], (sizes[last] as f64 / sizes[0] as f64).powf(place));
    }
    sizes[scaled(1, place * sizes.len() as f64).min(last)]
}

/// Returns a product, rounded down.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "of sizes that were divided before")]
fn scaled(count: usize, by: f64) -> usize {
    (count as f64 * by) as usize
}

#[cfg(test)]
mod tests {
    use super::{ROUNDS, drawn};
    use crate::bench::Case;
    use fiedler::policy::Family;

    #[test]
    fn a_seed_draws_the_same_and_another_seed_others() {
        let [one, again, other] = [1, 1, 2].map(|seed| drawn(seed, 1e7).unwrap());
        assert_eq!(one, again);
        assert_eq!(one.len(), 2 * ROUNDS * Family::MEASURED.len());
        let same = one.iter().zip(&other).filter(|(a, b)| a.to_string() == b.to_string()).count();
        assert!(same < one.len() / 3, "{same}");
        // Every name can be given to `bench`, and no workload is much larger than was asked for.
        for case in &one {
            assert_eq!(Case { seed: case.seed, ..Case::parse(&case.to_string()).unwrap() }, *case);
            let limit = if case.family == Family::Train || case.family == Family::Eigsh { 2e9 } else { 1e8 };
            assert!(case.least()[1] <= limit, "{case}: {:e}", case.least()[1]);
        }
    }
}
