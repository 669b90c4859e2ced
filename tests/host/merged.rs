//! Tests of the counts of edges that are listed more than once.

use fiedler::Cancel;
use fiedler::graph::{Conventions, Duplicates, EdgeList, GraphBatch, Merged, Symmetrization};
use fiedler::io::{ReadOptions, read_from};
use std::collections::BTreeMap;

fn counted(nodes: usize, edges: &[(u32, u32, f64)], conventions: &Conventions) -> (usize, usize, usize) {
    let mut list = EdgeList::new(nodes).unwrap();
    edges.iter().for_each(|&(source, target, weight)| list.push_weighted(source, target, weight));
    of(GraphBatch::from_edge_list_counted(list, conventions, &Cancel::new()).unwrap().1)
}

fn of(Merged { both_ways, one_way, outweighed, .. }: Merged) -> (usize, usize, usize) {
    (both_ways, one_way, outweighed)
}

/// Counts by a look at all edges of each pair of nodes.
fn expected(edges: &[(u32, u32, f64)], conventions: &Conventions) -> (usize, usize, usize) {
    let mut directions: BTreeMap<(u32, u32), Vec<f64>> = BTreeMap::new();
    edges.iter().for_each(|&(source, target, weight)| directions.entry((source, target)).or_default().push(weight));
    let differ = |weights: &Vec<f64>| weights.iter().any(|weight| *weight != weights[0]);
    let largest = |weights: &Vec<f64>| weights.iter().copied().fold(0.0, f64::max);
    let mut outweighed = match conventions.duplicates {
        Duplicates::Max => directions.values().filter(|weights| differ(weights)).count(),
        _ => 0,
    };
    let (mut both_ways, mut one_way) = (0, 0);
    for (&(source, target), own) in directions.iter().filter(|((source, target), _)| source != target) {
        match directions.get(&(target, source)) {
            _ if conventions.symmetrization == Symmetrization::Keep || conventions.flows => {}
            None => one_way += 1,
            Some(other) if source < target => {
                both_ways += 1;
                let kept_largest = conventions.symmetrization == Symmetrization::Max;
                outweighed += usize::from(kept_largest && largest(own) != largest(other));
            }
            Some(_) => {}
        }
    }
    (both_ways, one_way, outweighed)
}

#[test]
fn counts_are_those_of_a_look_at_each_pair() {
    let mut state = 1_u64;
    let mut below = |bound: u64| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % bound
    };
    let mut seen = [0; 3];
    for trial in 0..400 {
        let nodes = 1 + below(12) as usize;
        let mut node = || below(nodes as u64) as u32;
        let ends: Vec<(u32, u32)> = (0..trial % 40).map(|_| (node(), node())).collect();
        let weights = 1 + below(3);
        let mut edges: Vec<_> = ends.iter().map(|&(i, j)| (i, j, 1.0 + below(weights) as f64)).collect();
        match trial % 3 {
            0 => edges.sort_by_key(|edge| edge.0),
            1 => edges.sort_by_key(|edge| edge.1),
            _ => {}
        }
        for symmetrization in [Symmetrization::Max, Symmetrization::Mean, Symmetrization::Sum, Symmetrization::Keep] {
            for flows in [false, true] {
                if flows && matches!(symmetrization, Symmetrization::Sum | Symmetrization::Keep) {
                    continue;
                }
                let duplicates = Duplicates::Max;
                let conventions = Conventions { symmetrization, duplicates, flows, ..Conventions::default() };
                let found = counted(nodes, &edges, &conventions);
                assert_eq!(found, expected(&edges, &conventions), "{edges:?} {conventions:?}");
                let unweighted: Vec<_> = edges.iter().map(|&(i, j, _)| (i, j, 1.0)).collect();
                let mut list = EdgeList::new(nodes).unwrap();
                unweighted.iter().for_each(|&(i, j, _)| list.push(i, j));
                let (_, merged) = GraphBatch::from_edge_list_counted(list, &conventions, &Cancel::new()).unwrap();
                assert_eq!(of(merged), expected(&unweighted, &conventions), "{unweighted:?} {conventions:?}");
                seen = [seen[0] + found.0, seen[1] + found.1, seen[2] + found.2];
            }
        }
    }
    assert!(seen.iter().all(|&count| count > 1000), "{seen:?}");
}

#[test]
fn rules_that_were_chosen_are_no_doubt() {
    let edges = [(0, 1, 1.0), (0, 1, 2.0)];
    for duplicates in [Duplicates::Sum, Duplicates::First, Duplicates::Last] {
        assert_eq!(counted(2, &edges, &Conventions { duplicates, ..Conventions::default() }), (0, 1, 0));
    }
    assert_eq!(counted(2, &edges, &Conventions::default()), (0, 1, 1));
}

#[test]
fn weights_that_differ_by_rounding_are_the_same() {
    let third = 1.0 / 3.0;
    for (other, outweighed) in
        [(f64::from(third as f32), 0), (third * (1.0 + 5e-7), 0), (third * 1.00001, 1), (-third, 1)]
    {
        let conventions = Conventions { signed: true, ..Conventions::default() };
        assert_eq!(counted(2, &[(0, 1, third), (0, 1, other)], &conventions), (0, 1, outweighed), "{other}");
        assert_eq!(counted(2, &[(0, 1, third), (1, 0, other)], &conventions), (1, 0, outweighed), "{other}");
    }
}

#[test]
fn readers_say_what_they_merged() {
    for (text, notices) in [
        ("a b\nb c\nc d\n", &[][..]),
        ("a b\nb a\n", &[]),
        (
            "a b\nb a\nb c\n",
            &["1 of 2 edges is listed in one direction, the others in both; each was taken for undirected"],
        ),
        (
            "a b 1\na b 2.5\n",
            &["some edges are listed with different weights, of which the one of largest magnitude was used"],
        ),
        (
            "a b 1\nb a 2.5\nb c 1.5\nc a 1.5\n",
            &[
                "2 of 3 edges are listed in one direction, the others in both; each was taken for undirected",
                "some edges are listed with different weights, of which the one of largest magnitude was used",
            ],
        ),
    ] {
        let set = read_from("own.txt", text.as_bytes(), &Conventions::default(), &ReadOptions::default()).unwrap();
        let notices: Vec<String> = notices.iter().map(|notice| format!("own: {notice}.")).collect();
        assert_eq!(set.doubts().collect::<Vec<_>>(), notices, "{text:?}");
        assert!(set.notices.is_empty(), "{text:?}");
    }
}
