//! Targets that are arrays with a given name.

use super::*;
use fiedler::io::{LeftOut, Roles, RowTable, SampleRows, Suspicion, Wanted, read_samples};

fn labels(data: &Layers) -> Vec<String> {
    match data.targets() {
        TableTargets::Labels(places, names) => places.iter().map(|&place| names[place as usize].clone()).collect(),
        other => panic!("{other:?}"),
    }
}

fn names(data: &Layers) -> Vec<&str> {
    data.layers().iter().map(|layer| &layer.name[..]).collect()
}

#[test]
fn arrays_with_a_given_name_are_the_targets() {
    let folder = Folder::new();
    let array = |name: &str| Some(TargetOrigin::Array(name.to_owned()));
    let all = [made("x", &[3, 1], &[1.0, 2.0, 3.0]), integers("kind", &[4, 5, 4]), integers("y", &[7, 8, 9])];
    let paths =
        [folder.file("a.npz", npz(&all, CompressionMethod::Stored)), folder.file("a.safetensors", safetensors(&all))];
    for path in &paths {
        let open = |label| Layers::open_with(std::slice::from_ref(path), label);
        for (label, origin, layers, words) in [
            (LabelColumn::Auto, "y", ["kind", "x"], ["7", "8", "9"]),
            (LabelColumn::Needed, "y", ["kind", "x"], ["7", "8", "9"]),
            (LabelColumn::Named("kind"), "kind", ["x", "y"], ["4", "5", "4"]),
        ] {
            let data = open(label).expect("arrays");
            let mut found = names(&data);
            found.sort_unstable();
            assert_eq!(
                (data.target_origin(), labels(&data)),
                (array(origin).as_ref(), words.map(str::to_owned).into())
            );
            assert_eq!(found, layers);
        }
        let data = open(LabelColumn::None).expect("arrays");
        assert_eq!((data.targets(), data.target_origin(), data.layers().len()), (&TableTargets::None, None, 3));
        let said = refusal(open(LabelColumn::Named("shade")));
        assert!(said.contains("expected an array named shade with the targets, found the arrays "), "{said}");
    }
    // Text in the metadata of a safetensors file.
    let own = |name, shape, data| fiedler::io::NamedArray { name, rows: fiedler::io::Rows::Other, shape, data };
    let words = ["cat", "dog", "cat"].map(str::to_owned);
    let (x, path) = ([1.0_f32, 2.0, 3.0], folder.at("own.safetensors"));
    let arrays =
        [own("x", vec![3, 1], fiedler::io::Data::F32(&x)), own("pet", vec![3], fiedler::io::Data::Text(&words))];
    fiedler::io::write(&path, &arrays).expect("a file");
    let data = Layers::open_with(&[path], LabelColumn::Named("pet")).expect("arrays");
    assert_eq!((labels(&data), data.target_origin()), (words.to_vec(), array("pet").as_ref()));
}

/// As scikit-learn's data sets have them.
#[test]
fn arrays_of_text_beside_numbers_are_no_layers() {
    let folder = Folder::new();
    let arrays = [
        made("data", &[2, 1], &[1.0, 2.0]),
        integers("target", &[0, 1]),
        words("feature_names", &["a"]),
        words("target_names", &["u", "v"]),
    ];
    let data = open(&folder.file("a.npz", npz(&arrays, CompressionMethod::Stored))).expect("arrays");
    assert_eq!((names(&data), labels(&data)), (vec!["data"], vec!["0".to_owned(), "1".to_owned()]));
    let left_out = ["feature_names", "target_names"].map(|name| (name.to_owned(), LeftOut::Other));
    assert_eq!(data.findings().left_out, left_out);
}

#[test]
fn arrays_of_samples_with_a_given_name_are_the_targets() {
    let folder = Folder::new();
    let one = |name: &str, number| Made { shape: vec![], ..integers(name, &[number]) };
    for k in 0..3 {
        let arrays = [made("x", &[2], &[k as f32, 1.0]), one("kind", k % 2), one("y", k)];
        folder.file(&format!("set/{}/{k}.npz", k % 2), npz(&arrays[..2], CompressionMethod::Stored));
        folder.file(&format!("both/{k}.npz"), npz(&arrays, CompressionMethod::Stored));
    }
    let open = |name: &str, label| Layers::open_with(&[folder.at(name)], label);
    let data = open("both", LabelColumn::Named("kind")).expect("samples");
    assert_eq!((labels(&data), names(&data)), (["0", "1", "0"].map(str::to_owned).into(), vec!["x", "y"]));
    assert_eq!(data.target_origin(), Some(&TargetOrigin::Array("kind".to_owned())));
    let data = open("set", LabelColumn::Auto).expect("classes");
    assert_eq!(data.target_origin(), Some(&TargetOrigin::Folders));
    // A name that is given counts, and not the folders.
    let data = open("set", LabelColumn::Named("kind")).expect("samples");
    assert_eq!((labels(&data), names(&data)), (["0", "0", "1"].map(str::to_owned).into(), vec!["x"]));
    let data = open("set", LabelColumn::None).expect("samples");
    assert_eq!((data.targets(), data.target_origin(), names(&data)), (&TableTargets::None, None, vec!["x", "kind"]));
    let said = refusal(open("both", LabelColumn::Named("shade")));
    assert!(said.contains("expected an array named shade with the target, found the arrays x, kind, y"), "{said}");
}

/// Parts of a data set are one layer, whose samples are those of the parts, one after another.
#[test]
fn parts_of_a_data_set() {
    let folder = Folder::new();
    let all = [
        made("X_test", &[1, 2], &[7.0, 8.0]),
        integers("y_test", &[5]),
        made("X_train", &[2, 2], &[1.0, 2.0, 3.0, 4.0]),
        integers("y_train", &[4, 5]),
        made("other", &[1], &[0.0]),
    ];
    for path in
        [folder.file("a.npz", npz(&all, CompressionMethod::Deflated)), folder.file("a.safetensors", safetensors(&all))]
    {
        let data = open(&path).expect("parts");
        assert_eq!((names(&data), labels(&data)), (vec!["X"], ["4", "5", "5"].map(str::to_owned).into()));
        assert_eq!(read(&data, 0, 0..3), [1.0, 2.0, 3.0, 4.0, 7.0, 8.0]);
        assert_eq!((data.findings().parts, data.findings().left_out.len()), (Some([2, 0, 1]), 1));
        let origin = TargetOrigin::Arrays(["y_train", "y_test"].map(str::to_owned).to_vec());
        assert_eq!(data.target_origin(), Some(&origin));
        assert_eq!(data.first(1).findings().parts, None);
    }
    let said = refusal(open(
        &folder.file("b.npz", npz(&[integers("y", &[1]), integers("label", &[1])], CompressionMethod::Stored)),
    ));
    assert!(said.contains("--label with the name of one, found y and label"), "{said}");
}

/// Images of colors become rows of numbers, as in a training.
#[test]
fn more_axes_become_one() {
    let folder = Folder::new();
    let numbers: Vec<f32> = (0..16).map(|i| i as f32).collect();
    let path = folder.file("a.npz", npz(&[made("x", &[2, 2, 2, 2], &numbers)], CompressionMethod::Stored));
    let mut data = open(&path).expect("images");
    data.search();
    assert_eq!((data.layers()[0].extent, data.findings().flattened.clone()), (Extent::Vector(8), Some(vec![2, 2, 2])));
    assert_eq!(read(&data, 0, 1..2), (8..16).map(f64::from).collect::<Vec<_>>());
    assert!(data.findings().suspects.is_empty() && data.findings().notes()[0].contains("samples of 2 x 2 x 2"));
}

/// Arrays are searched for suspicious inputs as tables are, but no option leaves out a column of an array.
#[test]
fn suspicious_inputs_of_arrays() {
    let folder = Folder::new();
    let rows: Vec<f32> = (0..6).flat_map(|i| [i as f32, 3.0, (i / 3) as f32, (i * i % 4) as f32]).collect();
    let arrays = [made("x", &[6, 4], &rows), integers("y", &[7, 7, 7, 9, 9, 9]), words("id", &["a"; 6])];
    let wanted = [("x[0]", Suspicion::Counts), ("x[1]", Suspicion::Constant), ("x[2]", Suspicion::TellsLabel)];
    let wanted = wanted.map(|(name, what)| (name.to_owned(), what)).to_vec();
    let labels = Wanted::Labels(Roles::default());
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let path = folder.file("a.npz", npz(&arrays, method));
        assert_eq!(read_samples(&path, labels).expect("samples").findings.suspects, wanted);
        let mut data = open(&path).expect("layers");
        assert!(data.findings().suspects.is_empty(), "nothing is read when a file is opened");
        data.search();
        assert_eq!(data.findings().suspects, wanted);
        let warning = &data.findings().warnings(|_| String::new())[0];
        assert_eq!(warning, "the input `x[0]` numbers the samples; leave it out of the array if it is no input");
    }
    let path = folder.file("a.npz", npz(&arrays[..2], CompressionMethod::Stored));
    let rows = SampleRows::open(&path, labels).expect("a file").expect("rows that are read later");
    assert_eq!(rows.findings().suspects, wanted);
    // What cannot be taken is no input in silence.
    let path = folder.file("a.npz", npz(&arrays, CompressionMethod::Stored));
    for (name, part) in [
        ("id", "expected one array of inputs, which others cannot join, found id to take"),
        ("k", "an array named k to take"),
    ] {
        let take = [name.to_owned()];
        let roles = Roles { take: &take, ..Roles::default() };
        let said = read_samples(&path, Wanted::Labels(roles)).expect_err(name).to_string();
        assert!(said.contains(part), "{said}");
    }
}

/// Numbers are the same classes in arrays of any type as in a table, whether the rows are read together or apart.
#[test]
fn numbers_of_arrays_are_labels_as_in_a_table() {
    let folder = Folder::new();
    let wanted = Wanted::Labels(Roles::default());
    let of_text = |text: &str| read_samples(&folder.file("t.csv", text), wanted).expect("samples").targets;
    let in_f64 = |numbers: &[f64]| Made {
        descr: "<f8".to_owned(),
        bytes: numbers.iter().flat_map(|x| x.to_le_bytes()).collect(),
        ..made("y", &[numbers.len()], &vec![0.0; numbers.len()])
    };
    let table = of_text("a,y\n1,0.1\n2,0\n3,-0\n4,0.1\n");
    let classes = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    assert_eq!(table, TableTargets::Labels(vec![1, 0, 0, 1], classes(&["0", "0.1"])));
    for (y, targets) in [
        (made("y", &[4], &[0.1, 0.0, -0.0, 0.1]), table.clone()),
        (in_f64(&[0.1, 0.0, -0.0, 0.1]), table.clone()),
        (in_f64(&[2.5, 1e15, -3.0, 2.5]), of_text("a,y\n1,2.5\n2,1000000000000000\n3,-3\n4,2.5\n")),
        (integers("y", &[7, 10, -3, 7]), of_text("a,y\n1,7\n2,10\n3,-3\n4,7\n")),
    ] {
        let arrays = [made("x", &[4, 1], &[1.0, 2.0, 3.0, 4.0]), y];
        for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
            let path = folder.file("a.npz", npz(&arrays, method));
            assert_eq!(read_samples(&path, wanted).expect("samples").targets, targets);
        }
        let path = folder.file("a.npz", npz(&arrays, CompressionMethod::Stored));
        let rows = SampleRows::open(&path, wanted).expect("a file").expect("rows that are read later");
        let labels = rows.labels_of(0..4).expect("labels");
        assert_eq!(TableTargets::Labels(labels, rows.classes().to_vec()), targets);
    }
    for method in [CompressionMethod::Stored, CompressionMethod::Deflated] {
        let arrays = [made("x", &[2, 1], &[1.0, 2.0]), made("y", &[2], &[0.5, f32::NAN])];
        let path = folder.file("nan.npz", npz(&arrays, method));
        let said = refusal(read_samples(&path, wanted));
        assert!(said.contains("expected finite numbers as labels, found NaN as label of sample 1"), "{said}");
        let said = refusal(open(&path));
        assert!(said.contains("expected finite numbers as targets, found NaN as target of sample 1"), "{said}");
        let rows = SampleRows::open(&path, wanted);
        assert!(method != CompressionMethod::Stored || refusal(rows).contains("NaN as label of sample 1"));
    }
}

/// A label that is missing is an error in arrays of text, too, and in a file of a sample.
#[test]
fn missing_targets_of_arrays_are_errors() {
    let folder = Folder::new();
    let arrays = [made("x", &[2, 1], &[1.0, 2.0]), words("y", &["u", "None"])];
    let said = refusal(open(&folder.file("a.npz", npz(&arrays, CompressionMethod::Stored))));
    assert!(said.contains("found \"None\", which stands for a missing one, as label of sample 1"), "{said}");
    for (name, y) in [("0", 1.0), ("1", f32::INFINITY)] {
        let arrays = [made("x", &[2], &[1.0, 2.0]), made("y", &[], &[y])];
        folder.file(&format!("set/{name}.npz"), npz(&arrays, CompressionMethod::Stored));
    }
    let said = refusal(Layers::open(&[folder.at("set")]));
    assert!(said.contains("1.npz: expected a finite number as y, found inf"), "{said}");
}

/// An array of one number in each sample can be left out, unlike a column of an array; so can one without axes.
#[test]
fn whole_arrays_are_left_out_by_name() {
    let folder = Folder::new();
    let all =
        [made("index", &[6], &[0., 1., 2., 3., 4., 5.]), made("x", &[6, 2], &[0.5; 12]), integers("epochs", &[3])];
    let path = folder.file("a.npz", npz(&all[..2], CompressionMethod::Stored));
    let mut data = open(&path).expect("layers");
    data.search();
    let warnings = data.findings().warnings(|names| format!("--ignore {names}"));
    assert_eq!(warnings[0], "the input `index` numbers the samples; --ignore index");
    assert!(warnings[1].ends_with("leave it out of the array if it is no input"), "{warnings:?}");
    let scalar = Made { shape: vec![], ..all[2].clone() };
    let said = refusal(open(&folder.file("b.npz", npz(&[all[1].clone(), scalar], CompressionMethod::Stored))));
    assert!(said.contains("found epochs without axes; --ignore epochs leaves it out"), "{said}");
}

/// The parts of a data set, and whether targets are values, are the same in the file of its features.
#[test]
fn features_keep_parts_and_values() {
    let folder = Folder::new();
    let path = folder.at("f.npz");
    let names = ["a".to_owned()];
    let write = |targets: &TableTargets| {
        let table = RowTable { samples: 3, columns: &names, targets, ids: None, parts: Some([2, 0, 1]) };
        table.write(&path, |take| take(&[1.0, 2.0, 4.0], &[0; 3])).expect("written");
    };
    write(&TableTargets::Values(vec![0.5, 1.0, 2.0], 1));
    let (labels, values) = (Wanted::Labels(Roles::default()), Wanted::Values(Roles::default()));
    let found = read_samples(&path, values).expect("samples");
    assert_eq!((found.targets, found.findings.parts), (TableTargets::Values(vec![0.5, 1.0, 2.0], 1), Some([2, 0, 1])));
    assert!(!found.findings.left_out.iter().any(|(name, _)| name == "parts"), "{:?}", found.findings.left_out);
    let rows = SampleRows::open(&path, values).expect("a file").expect("rows that are read later");
    assert_eq!((rows.values(), rows.findings().parts), (1, Some([2, 0, 1])));
    let classes = ["0.5", "1", "2"].map(str::to_owned).to_vec();
    assert_eq!(read_samples(&path, labels).expect("labels").targets, TableTargets::Labels(vec![0, 1, 2], classes));
    write(&TableTargets::Labels(vec![0, 1, 0], vec!["0.5".into(), "u".into()]));
    let said = read_samples(&path, values).expect_err("codes").to_string();
    assert!(said.contains("expected values as targets, found numbers of the classes"), "{said}");
    assert_eq!(read_samples(&path, labels).expect("samples").findings.parts, Some([2, 0, 1]));
}
