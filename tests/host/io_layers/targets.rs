//! Targets that are arrays with a given name.

use super::*;

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
        assert_eq!(data.first(1).findings().parts, None);
    }
    let said = refusal(open(
        &folder.file("b.npz", npz(&[integers("y", &[1]), integers("label", &[1])], CompressionMethod::Stored)),
    ));
    assert!(said.contains("--label with the name of one, found y and label"), "{said}");
}
