//! Files that are not what they should be.

use super::*;

/// Opens and reads everything.
fn all(paths: &[PathBuf]) -> Result<Vec<LayerRows>> {
    let data = Layers::open(paths)?;
    data.read(&(0..data.layers().len()).collect::<Vec<_>>(), 0..data.len())
}

#[test]
fn what_is_wrong_is_named() {
    let folder = Folder::new();
    let x = || made("x", &[2, 2], &[1.0, 2.0, 3.0, 4.0]);
    let plain = |arrays: &[Made]| npz(arrays, CompressionMethod::Stored);
    let other = |name: &str, descr: &str, shape: &[usize], bytes: usize| Made {
        name: name.into(),
        descr: descr.into(),
        shape: shape.to_vec(),
        bytes: vec![0; bytes],
    };
    for (name, file, words) in [
        ("a.npy", made("", &[3], &[1.0, 2.0, 3.0]).npy(false), "reshape one sample to (1, n)"),
        ("a.npy", made("", &[2, 1, 0, 1], &[]).npy(false), "numbers in every sample, found a of shape [2, 1, 0, 1]"),
        ("a.npy", made("", &[0, 3], &[]).npy(false), "at least one sample, found a of shape [0, 3]"),
        ("a.npy", made("", &[3, 0], &[]).npy(false), "a of shape [3, 0]"),
        ("a.npy", other("", "<c8", &[1, 1], 8).npy(false), "a of type <c8"),
        ("a.npy", other("", "|O", &[1, 1], 8).npy(false), "a of type |O"),
        ("a.npy", other("", "<f4", &[1, 1], 8).npy(false), "expected 4 bytes of a for the shape [1, 1], found 8 bytes"),
        ("a.npy", other("", "<f4", &[1 << 62, 1 << 62], 8).npy(false), "a shape that a file can hold"),
        ("a.npy", b"\x93NUMPX\x01\x00".to_vec(), "an .npy file"),
        ("a.npz", b"PK\x03\x04 and more".to_vec(), "an .npz archive"),
        (
            "a.npz",
            plain(&[x(), made("z", &[3, 1], &[1.0, 2.0, 3.0])]),
            "2 samples of z, as x has, found the shape [3, 1]",
        ),
        ("a.npz", plain(&[x(), integers("y", &[1, 2, 3])]), "2 targets, one for each sample, found the shape [3]"),
        ("a.npz", plain(&[x(), words("ids", &["a"])]), "2 ids, one for each sample of x, found 1"),
        ("a.npz", plain(&[words("names", &["a", "b"])]), "found names of shape [2]"),
        ("a.npz", plain(&[x(), made("id", &[2], &[1.0, 2.0])]), "ids that are integers or text"),
        ("a.npz", plain(&[integers("y", &[1, 2, 3])]), "an array that is a layer, found none"),
        ("a.npz", plain(&[x(), x()]), "each name once, found two arrays named x"),
        ("a.npz", plain(&[]), "an array that is a layer, found none"),
        ("a.npz", plain(&[Made { shape: vec![], ..made("z", &[1], &[1.0]) }, x()]), "samples"),
        ("a.safetensors", vec![1, 2, 3], "a safetensors file with its header, found a file of 3 bytes"),
        ("a.safetensors", vec![255; 20], "a header of 18446744073709551615 bytes in a file of 20 bytes"),
        ("a.safetensors", safetensors(&[x(), made("z", &[3, 1], &[0.0; 3])]), "2 samples of z, as x has"),
    ] {
        let said = refusal(all(&[folder.file(name, file)]));
        assert!(said.contains(words) && said.contains(name), "{name}: {said}, not {words}");
    }
    // Two tensors of one name: the library of the format does not write them.
    let header = r#"{"x":{"dtype":"F32","shape":[1,1],"data_offsets":[0,4]},"x":{"dtype":"F32","shape":[1,1],"data_offsets":[4,8]}}"#;
    let bytes = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0; 8]].concat();
    assert!(refusal(all(&[folder.file("a.safetensors", bytes)])).contains("each name once"));
    // Integers beyond 2^53, in the second row.
    let y = Made { shape: vec![2, 1], ..integers("n", &[1, (1 << 53) + 1]) };
    let said = refusal(all(&[folder.file("a.npz", plain(&[y]))]));
    assert!(said.contains("9007199254740993 in row 1 of n"), "{said}");
    assert!(matches!(all(&[folder.at("none.npz")]).expect_err("no file").kind(), ErrorKind::Io { .. }));
    assert!(matches!(all(&[]).expect_err("no paths").kind(), ErrorKind::Domain { .. }));
}

#[test]
fn samples_that_differ_are_named() {
    let folder = Folder::new();
    let first = [made("a", &[2], &[1.0, 2.0]), made("b", &[1], &[3.0])];
    for (arrays, words) in [
        (vec![made("a", &[2], &[1.0, 2.0])], "the array b, as in"),
        (vec![made("a", &[3], &[1.0; 3]), made("b", &[1], &[3.0])], "a of shape [2], as in"),
        (vec![made("a", &[1, 2], &[1.0; 2]), made("b", &[1], &[3.0])], "found the shape [1, 2]"),
        (vec![integers("a", &[1, 2]), made("b", &[1], &[3.0])], "found the type I64"),
        ([&first[..], &[made("c", &[1], &[3.0])]].concat(), "no arrays but those of"),
        (vec![], "the array a, as in"),
    ] {
        for ending in ["npz", "safetensors"] {
            let file = |arrays: &[Made]| match ending {
                "npz" => npz(arrays, CompressionMethod::Stored),
                _ => safetensors(arrays),
            };
            let (one, two) = (format!("s/1.{ending}"), format!("s/2.{ending}"));
            let paths = [folder.file(&one, file(&first)), folder.file(&two, file(&arrays))];
            let said = refusal(Layers::open(&paths));
            assert!(said.contains(words) && said.contains(&two), "{said}, not {words}");
        }
    }
    let plain = npz(&first, CompressionMethod::Stored);
    let cases: [(&str, &[&str], &str); 8] = [
        ("nothing", &[], "in it or in its folders, found none"),
        ("both", &["1.npz", "c/2.npz"], "samples, or folders of classes with samples"),
        ("formats", &["1.npz", "2.npy"], "samples of one format"),
        ("classes", &["c/1.npz", "d/2.safetensors"], "samples of one format"),
        ("labeled", &["1.npz"], ""),
        ("texts", &["1.txt", "2.csv"], "found none"),
        ("deep", &["c/d/1.npz"], "found none"),
        ("hidden", &[".1.npz"], "found none"),
    ];
    for (dir, files, words) in cases {
        fs::create_dir_all(folder.at(dir)).expect("a folder");
        for file in files {
            folder.file(&format!("{dir}/{file}"), &plain);
        }
        match open(&folder.at(dir)) {
            Ok(data) => assert!(words.is_empty() && data.len() == 1, "{dir}"),
            other => assert!(refusal(other).contains(words), "{dir}"),
        }
    }
    let text = folder.file("t.csv", "1,2\n");
    let npz_file = folder.file("t.npz", &plain);
    for (paths, words) in [
        (vec![npz_file.clone(), text], "another ending"),
        (vec![npz_file.clone(), folder.at("labeled")], "a folder beside others"),
        (vec![npz_file.clone(), npz_file], "each file once"),
        (vec![folder.at("*.parquet")], "files that match, found none"),
    ] {
        let said = refusal(Layers::open(&paths));
        assert!(said.contains(words), "{said}, not {words}");
    }
    let label = Made { shape: vec![], ..integers("label", &[1]) };
    folder.file("twice/c/1.npz", npz(&[first[0].clone(), label], CompressionMethod::Stored));
    assert!(refusal(open(&folder.at("twice"))).contains("classes that are folders or an array, not both"));
}

/// A file that ends early, wherever it ends, is an error; so is one that became shorter after it was opened.
#[test]
fn files_that_end_early() {
    let folder = Folder::new();
    let arrays = [made("a", &[2, 3], &[1.0; 6]), Made { shape: vec![2, 1], ..integers("b", &[5, 6]) }];
    for (name, whole) in [
        ("x.npy", arrays[0].npy(false)),
        ("x.npz", npz(&arrays, CompressionMethod::Stored)),
        ("y.npz", npz(&arrays, CompressionMethod::Deflated)),
        ("x.safetensors", safetensors(&arrays)),
    ] {
        let path = folder.file(name, &whole);
        assert!(all(std::slice::from_ref(&path)).is_ok(), "{name}");
        let other = folder.file(&format!("2{name}"), &whole);
        let both = [path.clone(), other];
        assert!(all(&both).is_ok(), "{name}");
        for end in 0..whole.len() {
            folder.file(name, &whole[..end]);
            assert!(all(std::slice::from_ref(&path)).is_err(), "{name} of {end} bytes");
            assert!(all(&both).is_err(), "{name} of {end} bytes as a sample");
        }
        folder.file(name, &whole);
        let (one, samples) = (open(&path).expect("whole"), Layers::open(&both).expect("whole"));
        folder.file(name, &whole[..whole.len() / 2]);
        // What is compressed was read before.
        assert!(name == "y.npz" || one.read(&[0], 1..2).is_err() || one.read(&[1], 1..2).is_err(), "{name}");
        assert!(samples.read(&[0], 0..2).is_err(), "{name}");
        assert!(samples.read(&[0], 0..1).is_ok(), "{name}: the other file is whole");
    }
}

/// No byte that is changed leads to a panic. In an archive that is read from the first row to the last, it leads to an
/// error wherever it changes a number.
#[test]
fn garbled_files() {
    let folder = Folder::new();
    let arrays = [made("a", &[2, 2], &[1.0, 2.0, 3.0, 4.0]), Made { shape: vec![2, 1], ..integers("b", &[5, 6]) }];
    for (name, whole) in [
        ("x.npy", arrays[0].npy(false)),
        ("x.npz", npz(&arrays, CompressionMethod::Stored)),
        ("y.npz", npz(&arrays, CompressionMethod::Deflated)),
        ("x.safetensors", safetensors(&arrays)),
    ] {
        let other = folder.file(&format!("2{name}"), &whole);
        let truth = all(&[folder.file(name, &whole)]).expect("whole");
        for at in 0..whole.len() {
            for change in [1, 0x20, 0x80, 0xff] {
                let mut bytes = whole.clone();
                bytes[at] ^= change;
                let path = folder.file(name, &bytes);
                if let Ok(rows) = all(std::slice::from_ref(&path)) {
                    assert!(!name.ends_with("npz") || rows == truth || rows.len() < 2, "{name}: byte {at}, {change}");
                }
                if let Ok(rows) = all(&[path, other.clone()]) {
                    assert_eq!(rows[0].numbers.len(), 2 * truth[0].numbers.len(), "{name}: byte {at}, {change}");
                }
            }
        }
    }
}

/// A checksum is compared when the last rows are read, unless rows were read in another order.
#[test]
fn checksums_of_archives() {
    let folder = Folder::new();
    let numbers: Vec<f32> = (0..600_000).map(|i| i as f32).collect();
    let mut whole = npz(&[made("a", &[300, 2000], &numbers)], CompressionMethod::Stored);
    let path = folder.file("x.npz", &whole);
    let data = open(&path).expect("an archive");
    for rows in [0..300, 0..100, 100..250, 250..300, 0..1, 1..300, 200..300] {
        let want = Numbers::F32(numbers[rows.start * 2000..rows.end * 2000].to_vec());
        assert!(data.read(&[0], rows).expect("whole")[0].numbers == want);
    }
    let middle = whole.len() / 2;
    whole[middle] ^= 1;
    let data = open(&folder.file("x.npz", &whole)).expect("an archive");
    let said = refusal(data.read(&[0], 0..300));
    assert!(said.contains("the checksum of the archive, found another one, so a is damaged"), "{said}");
    assert!(data.read(&[0], 0..200).is_ok());
    assert!(refusal(data.read(&[0], 200..300)).contains("checksum"));
    assert!(data.read(&[0], 100..300).is_ok(), "the first rows were not read before");
    // A read that failed does not count.
    whole[middle] ^= 1;
    let data = open(&folder.file("x.npz", &whole)).expect("an archive");
    assert!(data.read(&[0], 0..100).is_ok());
    folder.file("x.npz", &whole[..middle + 1]);
    assert!(data.read(&[0], 100..300).is_err());
    folder.file("x.npz", &whole);
    assert!(data.read(&[0], 100..300).is_ok() && data.read(&[0], 0..300).is_ok());
}
