//! Tournaments of groups of bit strings through the public API.

use fiedler::experiment::tournament::{BitStrings, C2st, GroupBy, Groups, Kl, Qgan, Tournament};
use fiedler::features::generate::Strings;
use fiedler::io::{LabelColumn, Layers};
use fiedler::train::{Activation, Gan, Hyper, Mlp, Optimizer, Runs, grid};
use fiedler::{Backend, Cancel, Context, ErrorKind, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn cpu(threads: usize) -> Context {
    Context::builder().device(false).threads(threads).build().expect("a context")
}

/// Returns the bits of generated strings, one string after another.
fn generated(samples: usize, devices: usize, length: usize, seed: u64) -> Vec<u8> {
    let (strings, mut text) = (Strings::new(samples, devices, length, seed).expect("strings"), Vec::new());
    (0..samples).for_each(|sample| strings.append(sample, &mut text));
    text.into_iter().map(|digit| digit - b'0').collect()
}

/// Puts string i into group i mod `count`.
fn grouped(bits: &[u8], length: usize, count: usize) -> Groups {
    let places: Vec<u32> = (0..bits.len() / length).map(|string| (string % count) as u32).collect();
    let names = (0..count).map(|group| group.to_string()).collect();
    Groups::of_bits(length, bits, &places, names).expect("groups")
}

fn devices(samples: usize, count: usize, length: usize, seed: u64) -> Groups {
    let classes = (0..count).map(|device| (device % 3 + 1).to_string()).collect();
    grouped(&generated(samples, count, length, seed), length, count).with_classes(classes).expect("classes")
}

fn value(found: &Tournament, column: &str, pair: usize) -> f64 {
    found.value(column, pair).unwrap_or_else(|| panic!("no {column} of pair {pair}"))
}

/// The scores by their definition, in loops over strings.
fn directly(length: usize, groups: [&[&[u8]]; 2]) -> [f64; 4] {
    let divergence = |vectors: [Vec<f64>; 2]| {
        let [p, q] = vectors.map(|x| {
            let x: Vec<f64> = x.iter().map(|x| x + 1e-10).collect();
            let sum: f64 = x.iter().sum();
            x.iter().map(|x| x / sum).collect::<Vec<f64>>()
        });
        let of = |p: &[f64], q: &[f64]| p.iter().zip(q).map(|(p, q)| p * (p / q).ln()).sum::<f64>();
        0.5 * (of(&p, &q) + of(&q, &p))
    };
    let share = |strings: &[&[u8]], holds: &dyn Fn(&[u8]) -> bool| {
        strings.iter().filter(|bits| holds(bits)).count() as f64 / strings.len() as f64
    };
    let shares = groups.map(|own| (0..64).map(|i| share(own, &|bits| bits[i] == 1)).collect::<Vec<f64>>());
    let places = || (0..64).flat_map(|i| (0..64).map(move |j| (i, j)));
    let joint = groups.map(|own| places().map(|(i, j)| share(own, &|bits| bits[i] == 1 && bits[j] == 1)).collect());
    let differences = shares.each_ref().map(|f| places().map(|(i, j)| (f[i] - f[j]).abs()).collect());
    let histogram = groups.map(|own| {
        let bin = |bits: &[u8]| {
            let mean = bits.iter().filter(|&&bit| bit == 1).count() as f64 / length as f64;
            (0..20).filter(|&k| f64::from(k) * 0.05 <= mean).max().expect("a bin").min(19)
        };
        (0..20).map(|k| 20.0 * share(own, &|bits| bin(bits) == k)).collect()
    });
    [divergence(shares), divergence(joint), divergence(differences), divergence(histogram)]
}

/// Sums of 4096 products of numbers of about 1, with relative roundings of 1e-16 each.
const EXACT: f64 = 1e-12;

#[test]
fn divergences_are_those_of_direct_counts() {
    let length = 80;
    let bits = generated(400, 4, length, 5);
    // Groups of several sizes, none of which is a number of words.
    let places: Vec<u32> = (0..400).map(|i| [0, 1, 2, 1, 2, 2][i % 6]).collect();
    let names = vec!["a".to_owned(), "b".to_owned(), "c".to_owned()];
    let groups = Groups::of_bits(length, &bits, &places, names).expect("groups");
    let found = Kl::new().permutations(3).run(&cpu(2), &groups).expect("scores");
    for (place, pair) in found.pairs.iter().enumerate() {
        let strings: Vec<Vec<&[u8]>> = pair
            .groups
            .iter()
            .map(|&group| {
                let own = (0..400).filter(|&string| places[string] as usize == group);
                own.map(|string| &bits[string * length..][..length]).collect()
            })
            .collect();
        let want = directly(length, [&strings[0], &strings[1]]);
        let names = ["shares", "joint", "differences", "histogram"];
        for (name, want) in names.into_iter().zip(want) {
            assert!((value(&found, name, place) - want).abs() < EXACT, "{name} of {place}: {want}");
        }
        let composite = 0.2 * want[0] + 0.4 * want[1] + 0.4 * want[2];
        assert!((value(&found, "composite", place) - composite).abs() < EXACT);
        assert_eq!(found.matrix[pair.groups[1]][pair.groups[0]], found.value("composite", place));
    }
}

/// The groups of golden/tournament.py.
fn golden() -> (Groups, serde_json::Value) {
    let (length, mut state, mut bits, mut places) = (70, 1_u32, Vec::new(), Vec::new());
    for (group, (count, ones)) in [(40, 0.5), (50, 0.55), (37, 0.6)].into_iter().enumerate() {
        for _ in 0..count {
            places.push(group as u32);
            for i in 0..length {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                bits.push(u8::from(f64::from(state >> 8) / f64::from(1 << 24) < ones + f64::from(i) / 1000.0));
            }
        }
    }
    let names = (0..3).map(|group: usize| group.to_string()).collect();
    let groups = Groups::of_bits(length as usize, &bits, &places, names).expect("groups");
    (groups, serde_json::from_str(include_str!("golden/tournament.json")).expect("JSON"))
}

#[test]
fn divergences_are_those_of_numpy_and_scipy() {
    let (groups, golden) = golden();
    let found = Kl::new().permutations(0).run(&cpu(1), &groups).expect("scores");
    for (place, pair) in found.pairs.iter().enumerate() {
        let want = |column: usize| golden["pairs"][place][column].as_f64().expect("a number");
        for (column, name) in ["shares", "joint", "differences", "composite", "histogram"].into_iter().enumerate() {
            let own = value(&found, name, place);
            assert!((own - want(column)).abs() < EXACT, "{name} of {place}: {own} {}", want(column));
        }
        let [a, b] = pair.groups.map(|group| found.groups[group].strings as f64);
        let bias = (want(5) - 1.0) * (0.5 / a + 0.5 / b);
        assert!((value(&found, "histogram_plug_in_bias", place) - bias).abs() < 1e-15);
        assert!(found.value("composite_p", place).is_none());
        let target = Qgan::target(&groups, pair.groups[0], pair.groups[1]).expect("a target");
        let golden = &golden["targets"][place];
        for (own, want) in target.iter().step_by(97).zip(golden["entries"].as_array().expect("entries")) {
            assert!((own - want.as_f64().expect("a number")).abs() < 1e-15);
        }
        let divergence: f64 = target.iter().filter(|&&p| p > 0.0).map(|p| p * (p * 4096.0).ln()).sum();
        assert!((divergence - golden["divergence"].as_f64().expect("a number")).abs() < EXACT);
    }
}

/// 200 pairs of groups of one device. p <= 0.05 has the probability 0.05, and the mean of p is 0.505 with a deviation
/// of 0.289 for one. The bounds are 4 standard errors, which a right test exceeds once in 15,000 trials; the seeds are
/// fixed.
#[test]
fn p_values_of_equal_groups_are_uniform() {
    let ctx = cpu(1);
    let names = ["composite_p", "histogram_p"];
    let (mut small, mut sums) = ([0; 2], [0.0; 2]);
    for seed in 0..200 {
        let groups = grouped(&generated(61, 1, 64, seed), 64, 2);
        let found = Kl::new().permutations(99).seed(seed).run(&ctx, &groups).expect("scores");
        for (test, name) in names.into_iter().enumerate() {
            let p = value(&found, name, 0);
            small[test] += u32::from(p <= 0.05);
            sums[test] += p;
        }
    }
    assert!(small.iter().all(|&count| f64::from(count) / 200.0 < 0.05 + 4.0 * 0.0154), "{small:?}");
    // Means of histograms of few strings are often equal to those of the data, which makes p larger.
    assert!((sums[0] / 200.0 - 0.505).abs() < 4.0 * 0.0205 && sums[1] / 200.0 > 0.505 - 4.0 * 0.0205, "{sums:?}");
}

#[test]
fn divergences_follow_the_shares_of_ones() {
    let groups = devices(1800, 9, 100, 3);
    let found = Kl::new().permutations(199).run(&cpu(2), &groups).expect("scores");
    let relation = found.relation("histogram").expect("a relation");
    assert!(relation.spearman.expect("r").r > 0.9, "{relation:?}");
    let classes = relation.classes.expect("classes");
    assert!(classes.between > classes.within && classes.p < 0.01, "{classes:?}");
    // All positions of a generated device have one share of ones, so that the differences of shares within a device,
    // from which most of the composite comes, are noise.
    let composite = found.relation("composite").expect("a relation").spearman.expect("r").r;
    assert!(composite.abs() < 0.5, "{composite}");
    assert_eq!(classes.mann_whitney.sizes, [27, 9]);
    for pair in 0..found.pairs.len() {
        let [p, adjusted] = ["composite_p", "composite_p_holm"].map(|name| value(&found, name, pair));
        assert!((0.005..=adjusted).contains(&p) && adjusted <= 1.0);
        // The mean of relabelings is what equal groups have.
        assert!(value(&found, "composite_if_equal", pair) > 0.0);
    }
    assert!(found.notes.iter().any(|note| note.contains("no adjusted p can be below 0.180")), "{:?}", found.notes);
}

#[test]
fn scores_are_those_of_a_pair_of_networks() {
    let groups = devices(90, 3, 64, 8);
    let found = Qgan::new().steps(3).repeats(2).seed(7).run(&cpu(2), &groups).expect("scores");
    let relu = Activation::Relu;
    let generator = Mlp::builder(4096).layer(128, relu).layer(256, relu).output(4096).expect("a generator");
    let judge = Mlp::builder(2).layer(20, Activation::LeakyRelu(0.2)).output(1).expect("a discriminator");
    let hyper = Hyper { learning_rate: 0.01, beta_1: 0.7, weight_decay: 0.005, ..Optimizer::Adam.defaults() };
    assert_eq!(hyper.beta_2, 0.999);
    // Pair 2, of the groups 1 and 2, has the seeds 7 + 2 and 7 + 3 + 2.
    let target = Qgan::target(&groups, 1, 2).expect("a target");
    let narrow: Vec<f32> = target.iter().map(|&p| p as f32).collect();
    let scores: Vec<f64> = [9, 12]
        .into_iter()
        .map(|seed| {
            let runs = Runs::of_hyper(hyper, seed, 1).expect("runs");
            let gan = Gan::new(generator.clone(), judge.clone(), Optimizer::Adam, grid(64)).steps(3);
            let fit = gan.fit(&cpu(1), &narrow, &runs).expect("a fit");
            let clipped = |x: &f32| f64::from(*x).clamp(1e-10, 1.0);
            let g = fit.runs()[0].distribution();
            let sums = [&narrow, g].map(|x| x.iter().map(clipped).sum::<f64>());
            let terms = narrow.iter().zip(g).map(|(p, g)| (clipped(p) / sums[0], clipped(g) / sums[1]));
            terms.map(|(p, g)| p * (p / g).ln()).sum()
        })
        .collect();
    assert!((value(&found, "kl", 2) - 0.5 * (scores[0] + scores[1])).abs() < EXACT, "{scores:?}");
    let deviation = (scores[0] - scores[1]).abs() / 2.0_f64.sqrt();
    assert!((value(&found, "kl_sd", 2) - deviation).abs() < EXACT);
    assert_eq!(found.value("diverged", 2), Some(0.0));
    assert!(found.notes.iter().any(|note| note.contains("too few groups to tell whether it follows")));
    assert!(found.notes.iter().any(|note| note.starts_with("Between seeds")), "{:?}", found.notes);
}

#[test]
fn classifiers_rank_pairs() {
    let groups = devices(3600, 9, 64, 4);
    let found = C2st::new().repeats(3).run(&cpu(2), &groups).expect("scores");
    let relation = found.relation("mean_accuracy").expect("a relation");
    assert!(relation.spearman.expect("r").r > 0.9, "{relation:?}");
    for pair in 0..found.pairs.len() {
        let [accuracy, right, tested] = ["accuracy", "right", "tested"].map(|name| value(&found, name, pair));
        assert_eq!((accuracy, tested), (right / tested, 400.0));
        let [low, mean, high] = ["low", "mean_accuracy", "high"].map(|name| value(&found, name, pair));
        assert!(low < mean && mean < high);
    }
    // The pair of classes 1 and 3 is told apart, whatever its other numbers are.
    assert!(value(&found, "p_holm", 1) < 1e-6);
}

/// Groups of one device, of different sizes: no classifier is better than chance. 60 independent pairs with 2 x 40
/// strings that are tested have a standard error of 0.5 / sqrt(4800).
#[test]
fn equal_groups_are_not_told_apart() {
    let (ctx, mut right, mut tested) = (cpu(2), 0.0, 0.0);
    for seed in 0..60 {
        let bits = generated(280, 1, 32, seed);
        let places: Vec<u32> = (0..280).map(|string| u32::from(string % 7 < 2)).collect();
        let groups = Groups::of_bits(32, &bits, &places, vec!["a".to_owned(), "b".to_owned()]).expect("groups");
        let found = C2st::new().repeats(1).seed(seed).run(&ctx, &groups).expect("scores");
        right += value(&found, "right", 0);
        tested += value(&found, "tested", 0);
        assert!(found.value("low", 0).is_none());
    }
    assert_eq!(tested, 60.0 * 80.0);
    assert!((right / tested - 0.5_f64).abs() < 3.0 * 0.5 / tested.sqrt(), "{right} of {tested}");
}

#[test]
fn threads_change_nothing_and_progress_is_told() {
    let groups = devices(60, 4, 64, 2);
    let calls = Arc::new(AtomicUsize::new(0));
    let told = |calls: &Arc<AtomicUsize>| {
        let calls = calls.clone();
        Arc::new(move |done: usize, of: usize| {
            assert!(done <= of && of == 6);
            calls.fetch_add(1, Ordering::Relaxed);
        })
    };
    let all = |threads| {
        let ctx = cpu(threads);
        let kl = Kl::new().permutations(20).progress(told(&calls)).run(&ctx, &groups).expect("kl");
        let qgan = Qgan::new().steps(1).progress(told(&calls)).run(&ctx, &groups).expect("qgan");
        let c2st = C2st::new().repeats(2).hidden(4).epochs(2).progress(told(&calls)).run(&ctx, &groups).expect("c2st");
        [kl, qgan, c2st]
    };
    assert_eq!(all(1), all(3));
    assert_eq!(calls.load(Ordering::Relaxed), 2 * 3 * 6);
}

#[track_caller]
fn refused<T>(found: Result<T>, kind: fn(&ErrorKind) -> bool, what: &str) {
    let error = found.err().expect("an error");
    assert!(kind(error.kind()) && error.to_string().contains(what), "{error}");
}

#[test]
fn what_does_not_fit_is_refused() {
    let domain = |kind: &ErrorKind| matches!(kind, ErrorKind::Domain { .. });
    let shape = |kind: &ErrorKind| matches!(kind, ErrorKind::Shape { .. });
    let ctx = cpu(1);
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
    let of = |bits: &[u8], places: &[u32], all: &[&str]| Groups::of_bits(2, bits, places, names(all));
    refused(of(&[0, 1, 0, 2], &[0, 1], &["a", "b"]), domain, "found 2 at position 1 of string 1");
    refused(of(&[0, 1, 0], &[0, 1], &["a", "b"]), shape, "2 bits, at least 1, for each of 2 strings, found 3 bits");
    refused(of(&[0, 1, 0, 1], &[0, 2], &["a", "b"]), shape, "groups below 2, found group 2");
    refused(of(&[0, 1, 0, 1], &[0, 0], &["a"]), domain, "at least two groups, found 1");
    refused(of(&[0, 1, 0, 1], &[0, 0], &["a", "b"]), domain, "strings of every group, found none of b");
    let short = of(&[0, 1, 0, 1], &[0, 1], &["a", "b"]).expect("groups");
    refused(short.clone().with_classes(names(&["1"])), shape, "a class for each of 2 groups");
    refused(Kl::new().run(&ctx, &short), domain, "strings of at least 64 bits, found 2");
    refused(Qgan::new().run(&ctx, &short), domain, "strings of at least 64 bits, found 2");
    refused(C2st::new().run(&ctx, &short), domain, "at least two strings of every group, found one of a");
    let groups = devices(8, 2, 64, 1);
    refused(Qgan::new().steps(0).run(&ctx, &groups), domain, "at least 1 step");
    refused(Qgan::new().repeats(0).run(&ctx, &groups), domain, "at least 1 repeat");
    refused(C2st::new().repeats(0).run(&ctx, &groups), domain, "at least 1 repeat");
    refused(C2st::new().epochs(0).run(&ctx, &groups), domain, "at least 1 epoch");
    let ones = grouped(&[1; 256], 64, 2);
    refused(Qgan::new().run(&ctx, &ones), domain, "different shares of ones among the positions of 0 and 1");
    let gpu = ctx.with_backend(Backend::Gpu);
    refused(Kl::new().run(&gpu, &groups), domain, "the backend auto or cpu");
    let cancel = Cancel::new();
    let ctx = Context::builder().device(false).threads(2).cancel(cancel.clone()).build().expect("a context");
    cancel.cancel();
    let cancelled = |kind: &ErrorKind| matches!(kind, ErrorKind::Cancelled);
    refused(Kl::new().run(&ctx, &groups), cancelled, "cancelled");
    refused(Qgan::new().run(&ctx, &groups), cancelled, "cancelled");
    refused(C2st::new().run(&ctx, &groups), cancelled, "cancelled");
}

#[test]
fn strings_are_read_from_files() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("strings.txt");
    Strings::new(60, 6, 70, 9).expect("strings").write(&cpu(1), &path).expect("written");
    let open = |label| Layers::open_with(std::slice::from_ref(&path), label).expect("layers");
    let found = Groups::read(&open(LabelColumn::Auto), GroupBy::Index(6)).expect("groups");
    assert_eq!(found, {
        let classes = (0..6).map(|device| (device % 3 + 1).to_string()).collect();
        grouped(&generated(60, 6, 70, 9), 70, 6).with_classes(classes).expect("classes")
    });
    let classes = Groups::read(&open(LabelColumn::Auto), GroupBy::Class).expect("groups");
    assert_eq!((classes.len(), classes.name(2), classes.class(2), classes.strings(2)), (3, "3", Some("3"), 20));
    // The strings of a group by another number have several classes.
    let mixed = Groups::read(&open(LabelColumn::Auto), GroupBy::Index(4)).expect("groups");
    assert_eq!(mixed.class(0), None);
    let found = C2st::new().repeats(1).epochs(1).run(&cpu(1), &mixed).expect("scores");
    assert!(found.notes[0].contains("several labels") && found.pairs[0].same_class.is_none());
    let domain = |kind: &ErrorKind| matches!(kind, ErrorKind::Domain { .. });
    let unlabeled = open(LabelColumn::None);
    refused(Groups::read(&unlabeled, GroupBy::Class), domain, "a label for each string, or a number of devices");
    assert!(Groups::read(&unlabeled, GroupBy::Index(2)).expect("groups").class(0).is_none());
    refused(Groups::read(&unlabeled, GroupBy::Index(61)), domain, "2 to 60 devices");
    let table = folder.path().join("table.csv");
    std::fs::write(&table, "a,b,label\n0,1,x\n1,0.5,y\n").expect("written");
    let layers = Layers::open(&[table]).expect("a table");
    refused(Groups::read(&layers, GroupBy::Class), domain, "expected bits, found 0.5 at position 1 of string 1");
}

#[test]
fn files_have_every_pair() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let found = Kl::new().permutations(9).run(&cpu(1), &devices(48, 12, 64, 2)).expect("scores");
    let place = folder.path().join("out");
    found.write(&place).expect("written");
    let read = |name: &str| std::fs::read_to_string(place.join(name)).expect("a file");
    let csv = read("pairs.csv");
    let lines: Vec<&str> = csv.lines().collect();
    assert_eq!(lines.len(), 67);
    assert!(lines[0].starts_with("first,second,first_class,second_class,difference_of_shares,shares,joint,"));
    assert!(lines[66].starts_with("10,11,2,3,"));
    let json: serde_json::Value = serde_json::from_str(&read("report.json")).expect("JSON");
    assert_eq!((&json["kind"], json["pairs"].as_array().expect("pairs").len()), (&"kl".into(), 66));
    assert!(json["matrix"][3][3].is_null() && json["matrix"][3][4] == json["matrix"][4][3]);
    let markdown = read("report.md");
    for words in
        ["12 groups, 66 pairs; 48 strings of 64 bits", "The 20 pairs with the largest `composite`", "| 11 | 3 |"]
    {
        assert!(markdown.contains(words), "{words} in {markdown}");
    }
    let error = found.write(&place).expect_err("the folder exists");
    assert!(matches!(error.kind(), ErrorKind::Io { .. }), "{error}");
}

/// Strings of fewer than eight digits are text too, so the zeros at their front are digits.
#[test]
fn short_strings_are_text() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("short.txt");
    let open = |text: &str| {
        std::fs::write(&path, text).expect("written");
        BitStrings::open(&path)
    };
    let found = open("0101 1\n0011 10\n1111 9\n\n0001 9\n").expect("strings");
    let groups = found.groups(GroupBy::Class).expect("groups");
    assert_eq!((found.len(), groups.len(), groups.length(), groups.name(1)), (4, 3, 4, "9"));
    assert_eq!((groups.share_of_ones(0), groups.share_of_ones(1), groups.strings(1)), (0.5, 5.0 / 8.0, 2));
    let groups = open("01\n10\n11\n").expect("strings").groups(GroupBy::Index(3)).expect("groups");
    assert_eq!((groups.share_of_ones(2), groups.class(0)), (1.0, None));
    let error = open("01 a\n10\n").expect_err("no label").to_string();
    assert!(error.contains("short.txt:2") && error.contains("expected a label"), "{error}");
    // Other numbers are a table, whose values are no bits.
    let error = open("0102 1\n0011 2\n").expect("a table").groups(GroupBy::Index(2)).expect_err("no bits").to_string();
    assert!(error.contains("expected"), "{error}");
}
