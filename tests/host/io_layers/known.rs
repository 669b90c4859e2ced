//! The inputs of a model in tables.

use super::*;
use fiedler::io::{KnownInputs, LeftOut, Wanted, read_samples};

/// The inputs of a model in tables with and without what was left out in training.
#[test]
fn inputs_of_a_model() {
    let folder = Folder::new();
    let names = ["a", "b"].map(str::to_owned);
    // Trained on `id,a,y,b`.
    let known = KnownInputs { inputs: 2, names: &names, target: Some(2), left_out: &[0], ..KnownInputs::default() };
    for text in [
        "id,a,y,b\nr,1,u,2\n",
        "a,y,b\n1,u,2\n",
        "a,b\n1,2\n",
        "Unnamed: 0,a,b,more\n0,1,2,9\n",
        "r,1,u,2\n",
        "1,u,2\n",
        "1,2\n",
    ] {
        let found = read_samples(&folder.file("t.csv", text), Wanted::Inputs(known)).expect(text);
        assert_eq!((found.inputs, found.x), (2, vec![1.0, 2.0]), "{text:?}");
    }
    for (text, part) in [
        ("b,a\n1,2\n", "t.csv:1: expected the inputs a, b in this order, found b, a"),
        ("a,c\n1,2\n", "expected the inputs a, b, found a, c"),
        ("1,2,3,4,5\n", "expected 2 columns of inputs, or one more with labels, found 5"),
    ] {
        let said = read_samples(&folder.file("t.csv", text), Wanted::Inputs(known)).expect_err(text).to_string();
        assert!(said.contains(part), "{said}");
    }
    // One column more is the label if it has classes, what was left out in training otherwise, and else what counts.
    let classes = ["u", "v"].map(str::to_owned);
    let last = KnownInputs { inputs: 2, target: Some(3), left_out: &[0], classes: &classes, ..KnownInputs::default() };
    let plain = KnownInputs { target: Some(2), left_out: &[], ..last };
    for (text, known, left_out) in [
        ("7,0.5,2\n8,0.5,2\n", last, ("1", LeftOut::Other)),
        ("0.5,2,v\n0.5,2,u\n", last, ("3", LeftOut::Label)),
        ("0,0.5,2\n1,0.5,2\n", plain, ("1", LeftOut::Index)),
    ] {
        let found = read_samples(&folder.file("t.csv", text), Wanted::Inputs(known)).expect(text);
        let left_out = vec![(left_out.0.to_owned(), left_out.1)];
        assert_eq!((found.x, found.findings.left_out), ([0.5, 2.0].repeat(2), left_out), "{text:?}");
    }
    // All rows are looked at, and what may be either is an error.
    let (digits, values) = (["0", "1"].map(str::to_owned), KnownInputs { classes: &[], ..plain });
    let classes = KnownInputs { classes: &digits, ..plain };
    let index = |names: &str| names.to_owned() + &(0..6).map(|i| format!("{i},{},1\n", i * i)).collect::<String>();
    for (text, known, part) in [
        ("7.5,0.5,2\n8,0.5,2\n", plain, "found \"2\" in column 3, which is no class; use --ignore for a column"),
        ("7.5,0.5,2\n8,0.5,2\n", KnownInputs { classes: &[], ..last }, "found 3; either column 1 or column 3"),
        ("5,8,1\n6,9,0\n7,7,2\n", classes, "found \"2\" in column 3, which is no class"),
        (&index("")[..], classes, "found 3; either column 1 or column 3 is not an input; name"),
        (&index("")[..], values, "found 3; either column 1 or column 3 is not an input; name"),
        (&index("t,a,b\n")[..], values, "found 3; either column `t` or column `b` is not an input"),
        ("9,1,2\n3,1,2\n7,1,2\n2,1,2\n11,1,2\n", values, "either column 1 or column 3"),
    ] {
        let path = folder.file("t.csv", text);
        let said = read_samples(&path, Wanted::Inputs(known)).expect_err(text).to_string();
        assert!(
            said.contains("expected 2 columns of inputs, or one more with labels, ") && said.contains(part),
            "{said}"
        );
    }
    for (text, known, left_out) in [
        ("0,5,1\n1,5,1\n2,5,3\n", classes, ("1", LeftOut::Index)),
        ("5,1,0\n5,1,1\n5,1,nan\n5,1,1.0\n", classes, ("3", LeftOut::Label)),
        ("0,5,u\n1,5,v\n", values, ("3", LeftOut::Label)),
        ("5,1,0.25\n5,1,7\n", values, ("3", LeftOut::Label)),
    ] {
        let found = read_samples(&folder.file("t.csv", text), Wanted::Inputs(known)).expect(text);
        assert_eq!(found.findings.left_out, [(left_out.0.to_owned(), left_out.1)], "{text:?}");
    }
    // What a header names as labels, an index or ids is no input, unless it is taken by name.
    let bare = KnownInputs { inputs: 2, target: Some(2), ..KnownInputs::default() };
    for (header, told) in
        [("a,label", "`label` (label)"), ("Unnamed: 0,a", "`Unnamed: 0` (index)"), ("id,a", "`id` (ids)")]
    {
        let path = folder.file("t.csv", format!("{header}\n1,2\n3,4\n"));
        let said = read_samples(&path, Wanted::Inputs(bare)).expect_err(header).to_string();
        let part =
            format!("or one more with labels, found 1 without {told}, which --take with the name takes as inputs");
        assert!(said.contains(&part), "{said}");
        let take: Vec<String> = header.split(',').map(str::to_owned).collect();
        let found = read_samples(&path, Wanted::Inputs(KnownInputs { take: &take, ..bare })).expect(header);
        assert_eq!(found.x, [1.0, 2.0, 3.0, 4.0]);
    }
    // A model whose inputs have no names knows labels, ids and an index by theirs.
    for (text, left_out) in [
        ("target,a,b\nu,1,2\n", vec![("target", LeftOut::Label)]),
        ("a,Species,b\n1,u,2\n", vec![("Species", LeftOut::Label)]),
        (",id,a,b,y\n0,r,1,2,u\n", vec![("Unnamed: 0", LeftOut::Index), ("id", LeftOut::Ids), ("y", LeftOut::Label)]),
        ("a,b,kind\n1,2,u\n", vec![("kind", LeftOut::Label)]),
        ("a b\nr 1 2\n", vec![("Unnamed: 0", LeftOut::Index)]),
    ] {
        let found = read_samples(&folder.file("t.csv", text), Wanted::Inputs(bare)).expect(text);
        let left_out = left_out.into_iter().map(|(name, why)| (name.to_owned(), why)).collect::<Vec<_>>();
        assert_eq!((found.x, found.findings.left_out), (vec![1.0, 2.0], left_out), "{text:?}");
    }
    // The first row is a sample or names as it is in a training.
    for (text, rows, doubts) in [
        ("0,1,2\n3,4,2\n", vec![0.0, 1.0, 3.0, 4.0], 1),
        ("0,1,2\n3.5,4,2\n", vec![3.5, 4.0], 1),
        ("0,1\n3,4\n", vec![0.0, 1.0, 3.0, 4.0], 1),
        ("0,1\n3,-4\n", vec![3.0, -4.0], 1),
        ("400,401,kind\n3,4,5\n", vec![3.0, 4.0], 0),
        ("0,1,label\n3,4,5\n", vec![3.0, 4.0], 0),
    ] {
        let found = read_samples(&folder.file("t.csv", text), Wanted::Inputs(bare)).expect(text);
        assert_eq!((found.x, found.findings.doubts.len()), (rows, doubts), "{text:?}");
    }
    // Words are no inputs, wherever they stand.
    let found = read_samples(&folder.file("t.csv", "u,1,2\nv,3,4\n"), Wanted::Inputs(bare)).expect("words");
    assert_eq!((found.x, found.findings.left_out), (vec![1.0, 2.0, 3.0, 4.0], vec![("1".to_owned(), LeftOut::Label)]));
    let said = read_samples(&folder.file("t.csv", "?,1,2\n3,4,5\n"), Wanted::Inputs(bare)).expect_err("a number");
    assert!(said.to_string().contains(":2: expected words in all rows of column 1, as in the first row"), "{said}");
    let names = ["", "a"].map(str::to_owned);
    let known = KnownInputs { inputs: 2, names: &names, ..KnownInputs::default() };
    let said = read_samples(&folder.file("t.csv", "0,1,2\n0.5,1,2\n"), Wanted::Inputs(known)).expect_err("names");
    assert!(said.to_string().contains("expected the inputs Unnamed: 0, a, found 0, 1, 2"), "{said}");
    let said = read_samples(&folder.file("t.csv", "b,c\n1,2\n"), Wanted::Inputs(known)).expect_err("names").to_string();
    assert!(said.contains("expected the inputs Unnamed: 0, a, found b, c"), "{said}");
}
