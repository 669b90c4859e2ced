//! Tables and strings of bits as layers.

use super::*;
use fiedler::io::{Findings, LeftOut, Roles, Suspicion, Wanted, read_samples};

fn table(text: &str, label: LabelColumn<'_>) -> Result<Layers> {
    let folder = Folder::new();
    Layers::open_with(&[folder.file("t.csv", text)], label)
}

/// A table in short: its extent, its numbers, its classes, and its ids.
fn short(text: &str, label: LabelColumn<'_>) -> (Extent, Vec<f64>, Vec<String>, Vec<String>) {
    let data = table(text, label).expect(text);
    assert_eq!((data.layers().len(), &data.layers()[0].name[..], data.layers()[0].wide), (1, "values", true));
    let words = match data.targets() {
        TableTargets::Labels(places, names) => places.iter().map(|&place| names[place as usize].clone()).collect(),
        TableTargets::Values(..) => panic!("values of {text}"),
        TableTargets::None => Vec::new(),
    };
    (data.layers()[0].extent, read(&data, 0, 0..data.len()), words, data.ids().unwrap_or_default().to_vec())
}

#[test]
fn tables_with_and_without_labels() {
    let list = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let none = Vec::new;
    for (text, label, width, numbers, words, ids) in [
        // No labels.
        ("1,2.5\n3,-4e2\n", LabelColumn::Auto, 2, vec![1.0, 2.5, 3.0, -400.0], none(), none()),
        ("1 2\n\n3  4\n", LabelColumn::Auto, 2, vec![1.0, 2.0, 3.0, 4.0], none(), none()),
        ("a;b\r\n1;2.5\r\n3;4.5\r\n", LabelColumn::Auto, 2, vec![1.0, 2.5, 3.0, 4.5], none(), none()),
        ("7\n8\n", LabelColumn::Auto, 1, vec![7.0, 8.0], none(), none()),
        // Integers without a class that repeats; and if no labels are wanted.
        ("1,2\n3,4\n5,6\n", LabelColumn::Auto, 2, vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], none(), none()),
        ("1,2\n3,2\n", LabelColumn::None, 2, vec![1.0, 2.0, 3.0, 2.0], none(), none()),
        // Labels: integers that repeat, words, a named column anywhere, the last column if asked for.
        ("1,2\n3,2\n", LabelColumn::Auto, 1, vec![1.0, 3.0], list(&["2", "2"]), none()),
        ("1\t2\tx\n3\t4\ty\n", LabelColumn::Auto, 2, vec![1.0, 2.0, 3.0, 4.0], list(&["x", "y"]), none()),
        ("class,a\nu,1.5\nv,2.5\n", LabelColumn::Auto, 1, vec![1.5, 2.5], list(&["u", "v"]), none()),
        ("k,a\nu,1.5\nv,2.5\n", LabelColumn::Named("k"), 1, vec![1.5, 2.5], list(&["u", "v"]), none()),
        ("1,2\n3,4\n", LabelColumn::Needed, 1, vec![1.0, 3.0], list(&["2", "4"]), none()),
        // The first column, if the last has one number in all rows.
        (
            "3,7,0\n5,8,0\n3,9,0\n5,6,0\n",
            LabelColumn::Needed,
            2,
            vec![7., 0., 8., 0., 9., 0., 6., 0.],
            list(&["3", "5", "3", "5"]),
            none(),
        ),
        // Numbers as names, with a word as the name of the labels.
        ("0,1,kind\n5,6,1\n7,8,2\n", LabelColumn::Auto, 2, vec![5.0, 6.0, 7.0, 8.0], list(&["1", "2"]), none()),
        ("0,1,kind\n5,6,u\n7,8,v\n", LabelColumn::Auto, 2, vec![5.0, 6.0, 7.0, 8.0], list(&["u", "v"]), none()),
        ("0,2,u\n7,8,v\n5,6,v\n", LabelColumn::Auto, 2, vec![0., 2., 7., 8., 5., 6.], list(&["u", "v", "v"]), none()),
        // A header has no number, whether its fields are quoted or not, and only its first field may be empty.
        ("\"a, b\",\"c\"\n\"1\",\"2.5\"\n", LabelColumn::Auto, 2, vec![1.0, 2.5], none(), none()),
        ("\"1\",\"2.5\"\n3,4.5\n", LabelColumn::Auto, 2, vec![1.0, 2.5, 3.0, 4.5], none(), none()),
        (",a\n0,1.5\n1,2.5\n", LabelColumn::Auto, 1, vec![1.5, 2.5], none(), list(&["0", "1"])),
        ("1.5,cat\n2.5,dog\n", LabelColumn::Auto, 1, vec![1.5, 2.5], list(&["cat", "dog"]), none()),
        // Labels need not be numbers that f64 holds.
        (
            "1,9007199254740993\n2,9007199254740993\n",
            LabelColumn::Auto,
            1,
            vec![1.0, 2.0],
            list(&["9007199254740993", "9007199254740993"]),
            none(),
        ),
        // Ids.
        ("id,a,y\nr,1,5\ns,2,6\n", LabelColumn::Auto, 1, vec![1.0, 2.0], list(&["5", "6"]), list(&["r", "s"])),
        ("a,id\n1,r\n2,r\n", LabelColumn::Auto, 1, vec![1.0, 2.0], none(), list(&["r", "r"])),
        ("\u{feff}a,id,c\n1,r,x\n2,r,y\n", LabelColumn::Auto, 1, vec![1.0, 2.0], list(&["x", "y"]), list(&["r", "r"])),
    ] {
        assert_eq!(short(text, label), (Extent::Vector(width), numbers, words, ids), "{text:?} {label:?}");
    }
    // What is no finite number is kept.
    let (_, kept, ..) = short("1,nan\ninf,-Infinity\n", LabelColumn::Auto);
    assert!(kept[1].is_nan() && kept[2] == f64::INFINITY && kept[3] == f64::NEG_INFINITY, "{kept:?}");
}

/// The report of a command says where labels are from, since they may have been found by a rule.
#[test]
fn the_origin_of_labels_is_known() {
    let column = |place, name: Option<&str>| Some(TargetOrigin::Column { place, name: name.map(str::to_owned) });
    for (text, label, origin, shown) in [
        ("1,2\n3,2\n", LabelColumn::Auto, column(1, None), "column 2"),
        ("a,b\n1,2\n3,2\n", LabelColumn::Auto, column(1, Some("b")), "column `b`"),
        ("class,a\nu,1.5\nv,2.5\n", LabelColumn::Auto, column(0, Some("class")), "column `class`"),
        ("0,1,kind\n5,6,1\n7,8,2\n", LabelColumn::Auto, column(2, Some("kind")), "column `kind`"),
        ("1,2\n3,2\n", LabelColumn::Needed, column(1, None), "column 2"),
        ("01101001 2\n11111111 2\n", LabelColumn::Auto, Some(TargetOrigin::Words), "the words after the bits"),
        ("1,2\n3,2\n", LabelColumn::None, None, ""),
        ("1,2.5\n3,2.5\n", LabelColumn::Auto, None, ""),
        ("01101001 2\n11111111 2\n", LabelColumn::None, None, ""),
    ] {
        let data = table(text, label).expect(text);
        assert_eq!(data.target_origin(), origin.as_ref(), "{text:?}");
        assert_eq!(data.target_origin().map(ToString::to_string).unwrap_or_default(), shown);
        assert_eq!(data.targets() == &TableTargets::None, origin.is_none(), "{text:?}");
    }
    let said = refusal(table("01101001 2\n", LabelColumn::Named("y")));
    assert!(said.contains("labels named y, found strings of bits, whose labels have no name"), "{said}");
}

#[test]
fn series_of_their_own_lengths() {
    let data = table("1,2,3\n4\n5,6,7,8\n9.5,10\n", LabelColumn::Auto).expect("series");
    assert_eq!((data.len(), data.layers()[0].extent), (4, Extent::Ragged { longest: 4 }));
    let rows = data.read(&[0], 1..4).expect("rows").remove(0);
    assert_eq!(rows.lengths, Some(vec![1, 4, 2]));
    assert_eq!(rows.numbers, Numbers::F64(vec![4.0, 5.0, 6.0, 7.0, 8.0, 9.5, 10.0]));
    assert_eq!(data.read(&[0], 2..2).expect("none")[0].lengths, Some(vec![]));
}

#[test]
fn strings_of_bits() {
    let folder = Folder::new();
    let data = open(&folder.file("b.txt", "01101001 2\n\n11111111 10\n00000000 2\n")).expect("bits");
    assert_eq!(data.layers(), [Layer { name: "bits".into(), extent: Extent::Vector(8), wide: false }]);
    assert_eq!(data.targets(), &TableTargets::Labels(vec![0, 1, 0], vec!["2".into(), "10".into()]));
    assert_eq!(read(&data, 0, 0..2), [0., 1., 1., 0., 1., 0., 0., 1., 1., 1., 1., 1., 1., 1., 1., 1.]);
    let data = open(&folder.file("b.txt", "01101001\n11111111\n")).expect("bits without labels");
    assert_eq!((data.len(), data.targets()), (2, &TableTargets::None));
    for (text, words) in [
        ("01101001 2\n11111111\n", "b.txt:2: expected a label, as in the lines before, found none"),
        ("01101001\n11111111 1\n", "b.txt:2: expected no label"),
        ("01101001\n1111111\n", "b.txt:2: expected a string of bits"),
        ("01101001\n111111111\n", "b.txt:2: expected 8 bits, as in the first line, found 9 bits"),
        ("01101001\n0110x001\n", "b.txt:2: expected a string of bits"),
    ] {
        let said = refusal(open(&folder.file("b.txt", text)));
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn wrong_tables_name_the_line() {
    for (text, label, words) in [
        ("", LabelColumn::Auto, "at least one sample"),
        ("\n\n", LabelColumn::Auto, "at least one sample"),
        ("a,b\n", LabelColumn::Auto, "at least one sample"),
        (
            "1,2\n3,x\n5,6\n7,8\n",
            LabelColumn::Auto,
            ":2: expected a number, or words as labels in all rows, found \"x\"",
        ),
        (
            "1,x,2\n",
            LabelColumn::Auto,
            ":1: expected a number, or a header without any number, found \"x\" in column 2, which --label 2 takes as \
             the labels and --ignore 2 leaves out",
        ),
        ("1,2,3\n1,?,3\n", LabelColumn::Named("3"), ":2: expected a number, found \"?\" in column 2, which --ignore 2"),
        ("a,b,y,\n1,2,u,v\n", LabelColumn::Auto, "alone may have no name, found 1 column without a name"),
        ("1,2,\n3,4\n", LabelColumn::Auto, ":1: expected a number, or nan if it is missing"),
        // A row that mixes words and numbers is no header, so it is not lost.
        ("x,1\n2,3\n", LabelColumn::Auto, ":1: expected a number, or a header without any number, found \"x\""),
        ("x,1\n2,3\n", LabelColumn::Needed, ":1: expected a number, or a header without any number, found \"x\""),
        ("r1,1,u\nr2,2,v\n", LabelColumn::Auto, ":1: expected a number, or a header without any number, found \"r1\""),
        (",,u\n1,2,v\n", LabelColumn::Auto, ":1: expected a header in which the first column alone may have no name"),
        (",,a,b\n0,1,2,3\n", LabelColumn::Auto, "may have no name, found 2 columns without a name"),
        ("1,,u\n1,2,v\n", LabelColumn::Auto, ":1: expected a number, or nan if it is missing"),
        ("a,b\n1,2\nx,3\n", LabelColumn::None, "found \"x\" in column `a`, which --ignore with its name leaves out"),
        ("a,b,a\n1,2,3\n", LabelColumn::Auto, ":1: expected each column name once, found two columns named a"),
        ("a,y,label\n1,2,3\n", LabelColumn::Auto, "or --label with the name of one, found y and label"),
        ("1,x\n3,4\ny,5\n", LabelColumn::Auto, ":3: expected a number, found \"y\""),
        ("c0,1\n", LabelColumn::Named("3"), ":1: expected a column from 1 to 2, found 3"),
        ("c0,1\n", LabelColumn::Named("y"), ":1: expected a column named y, found a first row of words and numbers"),
        ("1,2\n3,4\n", LabelColumn::Named("0"), ":1: expected a column from 1 to 2, found 0"),
        // Decimal commas.
        (
            "a,b\n\"0,5\",1\n",
            LabelColumn::None,
            ":2: expected a number with a decimal point, or semicolons or tabs between the fields, found \"0,5\"",
        ),
        (
            "a;b\n1,234;1.5\n",
            LabelColumn::None,
            ":2: expected numbers that all have decimal commas or all have decimal points, found 1,234 in line 2",
        ),
        // Numbers that f64 does not hold.
        (
            "1.5,2\n9007199254740993,3\n",
            LabelColumn::Auto,
            ":2: expected an integer that f64 holds exactly, found 9007199254740993 in column 1",
        ),
        ("a,b\n1,1e400\n", LabelColumn::Auto, ":2: expected a number in the range of f64, found 1e400 in column `b`"),
        (
            "1,9007199254740993\n2,0.5\n",
            LabelColumn::Auto,
            ":1: expected an integer that f64 holds exactly, found 9007199254740993 in column 2",
        ),
        ("1,2,3\n1,,3\n", LabelColumn::Auto, ":2: expected a number, or nan if it is missing"),
        ("1,2\n1,\n", LabelColumn::Auto, ":2: expected a number, or nan"),
        ("a,b\n1,2\n1\n", LabelColumn::Auto, ":3: expected 2 columns, as in the first row, found 1"),
        ("1,x\n1,2,y\n", LabelColumn::Auto, ":2: expected 2 columns, as in the first row, found 3"),
        ("1,2\n1,2,3\n", LabelColumn::Needed, ":2: expected 2 columns"),
        ("1,2\n3,4\n", LabelColumn::Named("y"), ":1: expected a column named y, found a first row of numbers"),
        ("7\n8\n", LabelColumn::Needed, ":1: expected columns of inputs and a target"),
        ("id,y\na,b\n", LabelColumn::Auto, ":1: expected columns of numbers, found the columns id, y"),
        ("a,y\n1,\n", LabelColumn::Auto, ":2: expected a label, found an empty field, in column `y`; leave out rows"),
        ("a,y\n1,u\n2,NA\n", LabelColumn::Auto, ":3: expected a label, found \"NA\", which stands for a missing one"),
        (
            "1,u\n2,null\n3,u\n",
            LabelColumn::Auto,
            ":2: expected a label, found \"null\", which stands for a missing one",
        ),
        (
            "1,0\n2,nan\n3,0\n",
            LabelColumn::Needed,
            ":2: expected a label, found \"nan\", which stands for a missing one",
        ),
        ("a,y\n1,0.5\n2,1e400\n", LabelColumn::Auto, ":3: expected a label, found \"1e400\", which is not finite"),
        ("01101001 2\n11111111 None\n", LabelColumn::Auto, ":2: expected a label, found \"None\", which stands for"),
    ] {
        let said = refusal(table(text, label));
        assert!(said.contains(words), "{text:?}: {said}");
    }
    let folder = Folder::new();
    assert!(refusal(open(&folder.file("t.txt", b"\xff\xfe1,2\n"))).contains("UTF-8"));
    assert!(refusal(open(&folder.file("t.txt", b"1,2\n3,\xff\n"))).contains("UTF-8"));
    let said = refusal(open(&folder.file("t.csv", b"PAR1\x15\x04\x15\x10")));
    assert!(said.contains("found a Parquet file; write its numbers as CSV or .npz"), "{said}");
    let name = ["b".to_owned()];
    let both = |label, take| Roles { label, ignore: &name, take };
    let path = folder.file("t.csv", "a,b\n1,2\n");
    for (roles, part) in [
        (both(LabelColumn::Named("b"), &[]), "other names to leave out than that of the label, found b for both"),
        (both(LabelColumn::Auto, &name), "other names to leave out than that of an input to take"),
    ] {
        let said = refusal(Layers::open_with(std::slice::from_ref(&path), roles));
        assert!(said.contains(part), "{said}");
    }
}

/// The rule of arrays: floats are values. Where classes are asked for, all numbers are classes.
#[test]
fn labels_that_are_not_whole_are_values() {
    let folder = Folder::new();
    for text in ["a,y\n1,0.5\n2,3\n3,3\n", "y,a\n0.5,1\n3,2\n3,3\n", "01101001 0.5\n11111111 3\n11111110 3\n"] {
        let path = folder.file("t.csv", text);
        assert_eq!(open(&path).expect(text).targets(), &TableTargets::Values(vec![0.5, 3.0, 3.0], 1), "{text:?}");
        let read = |wanted| read_samples(&path, wanted).expect(text).targets;
        assert_eq!(read(Wanted::Values(Roles::default())), TableTargets::Values(vec![0.5, 3.0, 3.0], 1));
        let classes = TableTargets::Labels(vec![0, 1, 1], vec!["0.5".into(), "3".into()]);
        assert_eq!(read(Wanted::Labels(Roles::default())), classes, "{text:?}");
    }
    let whole = open(&folder.file("t.csv", "a,y\n1,1.0\n2,3\n")).expect("labels");
    assert_eq!(whole.targets(), &TableTargets::Labels(vec![0, 1], vec!["1.0".into(), "3".into()]));
}

/// A first row of numbers that count, as pandas writes those of an array, is a header if the others are unlike it.
#[test]
fn doubtful_rows_and_columns_are_told() {
    let folder = Folder::new();
    let read = |text: &str| {
        let found = read_samples(&folder.file("t.csv", text), Wanted::Labels(Roles::default())).expect(text);
        (found.names.join(" "), found.len(), found.findings)
    };
    for (text, names, samples, doubt) in [
        ("0,1,2\n0.5,-1,1\n1.5,2,0\n", "0 1", 2, "was read as names of the columns, not as a sample"),
        ("0,1,2\n-3,4,7\n5,6,7\n", "0 1", 2, "was read as names of the columns"),
        (
            "0,1,2\n3,4,2\n5,6,0\n",
            "",
            3,
            "line 1 counts the columns from 0, as a header of pandas does, and was read as a \
          sample",
        ),
        ("0,1\n0.5,1\n", "", 2, ""),
        ("0,2,1\n0.5,1,1\n", "", 2, ""),
    ] {
        let (found, count, findings) = read(text);
        assert_eq!(
            (&found[..], count, findings.doubts.len()),
            (names, samples, usize::from(!doubt.is_empty())),
            "{text:?}"
        );
        assert!(findings.doubts.iter().all(|own| own.contains(doubt)), "{findings:?}");
        assert_eq!(findings.warnings(|_| String::new()), findings.doubts);
    }
    for (text, label, coordinate) in [
        ("y,x,z\n1,2,3\n1,3,4\n", "column `y`", None),
        ("x,y\n1,2\n1,3\n", "column `y`", None),
        ("x,y,z\n1,2,3\n1,3,4\n", "column `z`", Some("y".to_owned())),
    ] {
        let (.., findings) = read(text);
        assert_eq!(findings.target.as_ref().map(ToString::to_string).as_deref(), Some(label), "{text:?}");
        assert_eq!(findings.notes().iter().any(|note| note.starts_with("`y` is an input")), coordinate.is_some());
        assert_eq!(findings.coordinate, coordinate, "{text:?}");
    }
}

/// In a table without a header that has words, numbers are the places of columns.
#[test]
fn places_of_columns_beside_words() {
    let folder = Folder::new();
    let list = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    for (text, label, ignore, numbers, classes) in [
        ("c0,0.5,-1\nc1,1.5,2\n", "1", &[][..], [0.5, -1.0, 1.5, 2.0], ["c0", "c1"]),
        ("0.5,-1,c0\n1.5,2,c1\n", "3", &[], [0.5, -1.0, 1.5, 2.0], ["c0", "c1"]),
        ("842302,M,17.5,2\n842517,B,20.5,3\n", "2", &["1"], [17.5, 2.0, 20.5, 3.0], ["B", "M"]),
        ("1,M,17.5,2\n2,B,20.5,3\n", "2", &["1"], [17.5, 2.0, 20.5, 3.0], ["B", "M"]),
        // A first row with numbers is a header if the call names one of its words, or if the labels below are numbers.
        ("400,401,kind\n1,2,u\n3,4,v\n", "kind", &[], [1.0, 2.0, 3.0, 4.0], ["u", "v"]),
        ("id,400,401,k\nr,1,2,u\ns,3,4,v\n", "k", &["id"], [1.0, 2.0, 3.0, 4.0], ["u", "v"]),
        ("400,401,kind\n1,2,5\n3,4,6\n", "3", &[], [1.0, 2.0, 3.0, 4.0], ["5", "6"]),
    ] {
        let (path, ignore) = (folder.file("t.csv", text), list(ignore));
        let roles = Roles { label: LabelColumn::Named(label), ignore: &ignore, take: &[] };
        let samples = read_samples(&path, Wanted::Labels(roles)).expect(text);
        let layers = Layers::open_with(&[path], roles).expect(text);
        assert_eq!((&samples.x[..], samples.findings.doubts.len()), (&numbers[..], 0), "{text:?}");
        assert_eq!(samples.x, read(&layers, 0, 0..layers.len()), "{text:?}");
        assert_eq!(&samples.targets, layers.targets());
        assert!(matches!(samples.targets, TableTargets::Labels(_, names) if names == classes), "{text:?}");
    }
    let ignore = list(&["1", "2"]);
    let roles = Roles { ignore: &ignore, ..Roles::default() };
    let path = folder.file("t.csv", "c0,1,2\nc1,3,4\n");
    let said = read_samples(&path, Wanted::Labels(roles)).expect_err("one column").to_string();
    assert!(said.contains("inputs and a target, found 1 of 3 columns, since the others are left out"), "{said}");
}

/// Semicolons and tabs leave commas to the decimals.
#[test]
fn decimal_commas() {
    for text in ["a;b\n0,5;-1,5e1\n2;3,25\n", "0,5\t-1,5e1\n2\t3,25\n", "0,5;-1,5e1;\n2;3,25;\n"] {
        let folder = Folder::new();
        let path = folder.file("t.csv", text.replace(";\n", ";u\n"));
        let found = Layers::open_with(&[path], LabelColumn::Auto).expect(text);
        assert_eq!(read(&found, 0, 0..2), [0.5, -15.0, 2.0, 3.25], "{text:?}");
        assert!(found.findings().doubts.is_empty());
    }
    let (findings, numbers) = found("a;b\n1,234;5\n-12,500;6\n", LabelColumn::None.into());
    assert_eq!(numbers, [1.234, 5.0, -12.5, 6.0]);
    assert!(findings.doubts[0].starts_with("line 2 has 1,234, which was read as 1.234: "), "{findings:?}");
}

/// What is found out about a table, and its numbers.
fn found(text: &str, roles: Roles<'_>) -> (Findings, Vec<f64>) {
    let folder = Folder::new();
    let data = Layers::open_with(&[folder.file("t.csv", text)], roles).expect(text);
    (data.findings().clone(), read(&data, 0, 0..data.len()))
}

#[test]
fn columns_that_are_no_inputs() {
    let names = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
    let (take, ignore, blank) = (names(&["index"]), names(&["b"]), names(&["Unnamed: 2"]));
    let blank = Roles { ignore: &blank, ..Roles::default() };
    let taken = Roles { take: &take, ..Roles::default() };
    let ignored = Roles { ignore: &ignore, ..Roles::default() };
    let own = |name: &str, why| vec![(name.to_owned(), why)];
    for (text, roles, left_out, numbers) in [
        (",a,b\n3,1.5,2\n9,2.5,1\n", Roles::default(), own("Unnamed: 0", LeftOut::Index), vec![1.5, 2.0, 2.5, 1.0]),
        (",a\nfirst,1.5\nsecond,2.5\n", Roles::default(), own("Unnamed: 0", LeftOut::Index), vec![1.5, 2.5]),
        ("index,a\n0,1.5\n1,2.5\n", Roles::default(), own("index", LeftOut::Index), vec![1.5, 2.5]),
        ("index,a\n0,1.5\n1,2.5\n", taken, vec![], vec![0.0, 1.5, 1.0, 2.5]),
        // A refractive index.
        ("index,a\n1.33,1.5\n1.5,2.5\n", Roles::default(), vec![], vec![1.33, 1.5, 1.5, 2.5]),
        ("index,a\n2,1.5\n2,2.5\n", Roles::default(), vec![], vec![2.0, 1.5, 2.0, 2.5]),
        ("a,b\n1,x y\n2,z\n", ignored, own("b", LeftOut::Ignored), vec![1.0, 2.0]),
        (",0,1\n0,5,6\n1,7,8\n", Roles::default(), own("Unnamed: 0", LeftOut::Index), vec![5.0, 6.0, 7.0, 8.0]),
        // Samples that were drawn several times.
        (",a\n3,1.5\n0,2.5\n3,1.5\n", Roles::default(), own("Unnamed: 0", LeftOut::Index), vec![1.5, 2.5, 1.5]),
        // Separators at the ends of all rows, as spreadsheets write them, or of the header.
        ("a,b,y,\n1,2,u,\n3,4,v,\n", Roles::default(), own("Unnamed: 3", LeftOut::Empty), vec![1.0, 2.0, 3.0, 4.0]),
        ("a,y,\"\"\n1,u\n3,v\n", Roles::default(), own("Unnamed: 2", LeftOut::Empty), vec![1.0, 3.0]),
        ("a,y,\n1,u\n3,v\n", blank, own("Unnamed: 2", LeftOut::Empty), vec![1.0, 3.0]),
        ("1;2;\n3;4;\n", Roles::from(LabelColumn::None), own("Unnamed: 2", LeftOut::Empty), vec![1.0, 2.0, 3.0, 4.0]),
        // R's write.table, whose header does not name the column of the rows.
        ("a b\n1 5.5 6\n2 7 8.5\n", Roles::default(), own("Unnamed: 0", LeftOut::Index), vec![5.5, 6.0, 7.0, 8.5]),
        (
            "\"a\" \"k\"\n\"r\" 5.5 \"u\"\n\"s\" 7 \"v\"\n",
            Roles::default(),
            own("Unnamed: 0", LeftOut::Index),
            vec![5.5, 7.0],
        ),
    ] {
        let (findings, found) = found(text, roles);
        assert_eq!((findings.left_out, found), (left_out, numbers), "{text:?}");
    }
    let place = names(&["1"]);
    let (findings, numbers) = found("7,1.5\n8,2.5\n", Roles { ignore: &place, ..Roles::default() });
    assert_eq!((findings.left_out, numbers), (own("1", LeftOut::Ignored), vec![1.5, 2.5]));
    let said = refusal(table("index,a\nu,1\nu,2\n", LabelColumn::None));
    assert!(said.contains(":2: expected a number, found \"u\" in column `index`"), "{said}");
}

#[test]
fn inputs_that_are_suspicious() {
    let text = "n,twice,c,free,y\n".to_owned()
        + &(0..6).map(|i| format!("{},{},3,{},{}\n", 6 - i, i / 3 * 2, i * i % 4, i / 3)).collect::<String>();
    let (findings, _) = found(&text, Roles::default());
    let wanted = [("n", Suspicion::Counts), ("twice", Suspicion::TellsLabel), ("c", Suspicion::Constant)];
    assert_eq!(findings.suspects, wanted.map(|(name, what)| (name.to_owned(), what)));
    assert_eq!(findings.warnings(|names| names.to_owned())[1], "the input `twice` determines the label; twice");
}

/// Both readers give a column the same role.
#[test]
fn samples_and_layers_agree() {
    let folder = Folder::new();
    for text in [
        ",a,label,b\n0,1,u,2\n1,3,v,4\n",
        "u,1,0.5\nv,3,1.5\nu,4,2.5\nv,4,3.5\n",
        "1,0.25,0.5\n2,3,1.5\n1,4,2.5\n2,4.5,3.5\n",
        "id,a,Target,index\nr,1,5,0\ns,2,6,1\n",
        "0,1,kind\n5,6,1\n7,8,1\n",
        "01101001 2\n11111111 3\n",
    ] {
        let path = folder.file("t.csv", text);
        let (samples, layers) = (read_samples(&path, Wanted::Labels(Roles::default())), open(&path));
        let (samples, layers) = (samples.expect(text), layers.expect(text));
        assert_eq!(samples.findings, *layers.findings(), "{text:?}");
        assert_eq!(&samples.targets, layers.targets(), "{text:?}");
        assert_eq!(samples.x, read(&layers, 0, 0..layers.len()), "{text:?}");
    }
}
