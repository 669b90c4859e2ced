//! The input of feature extraction: what is read of every format and type, and that no damaged file is read as
//! something else.

use fiedler::io::{Extent, LabelColumn, Layer, LayerRows, Layers, Numbers, TableTargets, TargetOrigin};
use fiedler::{ErrorKind, Result};
use half::{bf16, f16};
use std::fs;
use std::io::Write as _;
use std::ops::Range;
use std::path::PathBuf;
use tempfile::TempDir;
use zip::write::FileOptions;
use zip::{CompressionMethod, ZipWriter};

mod damage;
mod known;
mod tables;
mod targets;

struct Folder(TempDir);

impl Folder {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a folder"))
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(&path, bytes).expect("a file");
        path
    }
}

fn open(path: &PathBuf) -> Result<Layers> {
    Layers::open(std::slice::from_ref(path))
}

/// Returns the message of an error of parsing.
fn refusal<T: std::fmt::Debug>(result: Result<T>) -> String {
    let error = result.expect_err("an error");
    assert!(matches!(error.kind(), ErrorKind::Parse { .. }), "{error:?}");
    error.to_string()
}

/// An array of a file: its name, the type in NumPy's words, its shape and the bytes of its elements.
#[derive(Clone)]
struct Made {
    name: String,
    descr: String,
    shape: Vec<usize>,
    bytes: Vec<u8>,
}

fn made(name: &str, shape: &[usize], numbers: &[f32]) -> Made {
    assert_eq!(shape.iter().product::<usize>(), numbers.len());
    let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    Made { name: name.to_owned(), descr: "<f4".to_owned(), shape: shape.to_vec(), bytes }
}

fn integers(name: &str, numbers: &[i64]) -> Made {
    let bytes = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    Made { name: name.to_owned(), descr: "<i8".to_owned(), shape: vec![numbers.len()], bytes }
}

fn words(name: &str, words: &[&str]) -> Made {
    let width = words.iter().map(|word| word.chars().count()).max().expect("words");
    let word = |word: &&str| word.chars().map(u32::from).chain(std::iter::repeat(0)).take(width).collect::<Vec<_>>();
    let bytes = words.iter().flat_map(word).flat_map(u32::to_le_bytes).collect();
    Made { name: name.to_owned(), descr: format!("<U{width}"), shape: vec![words.len()], bytes }
}

impl Made {
    fn npy(&self, fortran: bool) -> Vec<u8> {
        let shape: String = self.shape.iter().map(|axis| format!("{axis}, ")).collect();
        let order = if fortran { "True" } else { "False" };
        let mut header = format!("{{'descr': '{}', 'fortran_order': {order}, 'shape': ({shape}), }}", self.descr);
        let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
        header.extend(std::iter::repeat_n(' ', padded - 1 - header.len()));
        header.push('\n');
        let mut file = b"\x93NUMPY\x01\x00".to_vec();
        file.extend(u16::try_from(header.len()).expect("a short header").to_le_bytes());
        file.extend(header.as_bytes());
        file.extend(&self.bytes);
        file
    }
}

fn npz(arrays: &[Made], method: CompressionMethod) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut archive = ZipWriter::new(&mut bytes);
    for array in arrays {
        let options = FileOptions::default().compression_method(method);
        archive.start_file(format!("{}.npy", array.name), options).expect("a member");
        archive.write_all(&array.npy(false)).expect("written");
    }
    archive.finish().expect("an archive");
    drop(archive);
    bytes.into_inner()
}

/// The bytes that the library of the format writes.
fn safetensors(arrays: &[Made]) -> Vec<u8> {
    use safetensors::Dtype;
    use safetensors::tensor::{TensorView, serialize};
    fn view(array: &Made) -> (String, TensorView<'_>) {
        let kind = match &array.descr[1..] {
            "b1" => Dtype::BOOL,
            "i1" => Dtype::I8,
            "u1" => Dtype::U8,
            "i2" => Dtype::I16,
            "u2" => Dtype::U16,
            "i4" => Dtype::I32,
            "u4" => Dtype::U32,
            "i8" => Dtype::I64,
            "u8" => Dtype::U64,
            "f2" => Dtype::F16,
            "bf" => Dtype::BF16,
            "f4" => Dtype::F32,
            _ => Dtype::F64,
        };
        (array.name.clone(), TensorView::new(kind, array.shape.clone(), &array.bytes).expect("a tensor"))
    }
    serialize(arrays.iter().map(view), None).expect("a file")
}

/// Returns the elements of a type for whole numbers, whether f32 holds them, and the numbers that they stand for.
fn elements(descr: &str, count: i64) -> (Vec<u8>, bool, Vec<f64>) {
    let (order, kind) = descr.split_at(1);
    let number = |i: i64| match kind {
        "b1" => f64::from(u8::from(i % 3 == 0)),
        "u1" | "u2" | "u4" | "u8" => i as f64,
        "i1" | "i2" | "i4" | "i8" => (i - 7) as f64,
        _ => (i - 7) as f64 / 4.0,
    };
    let numbers: Vec<f64> = (0..count).map(number).collect();
    let bytes = |x: &f64| {
        let x = *x;
        let mut bytes = match kind {
            "b1" | "u1" => vec![x as u8],
            "i1" => (x as i8).to_le_bytes().to_vec(),
            "i2" => (x as i16).to_le_bytes().to_vec(),
            "u2" => (x as u16).to_le_bytes().to_vec(),
            "i4" => (x as i32).to_le_bytes().to_vec(),
            "u4" => (x as u32).to_le_bytes().to_vec(),
            "i8" => (x as i64).to_le_bytes().to_vec(),
            "u8" => (x as u64).to_le_bytes().to_vec(),
            "f2" => f16::from_f64(x).to_le_bytes().to_vec(),
            "bf" => bf16::from_f64(x).to_le_bytes().to_vec(),
            "f4" => (x as f32).to_le_bytes().to_vec(),
            _ => x.to_le_bytes().to_vec(),
        };
        if order == ">" {
            bytes.reverse();
        }
        bytes
    };
    (numbers.iter().flat_map(bytes).collect(), ["i4", "u4", "i8", "u8", "f8"].contains(&kind), numbers)
}

fn numbers(rows: &LayerRows) -> (bool, Vec<f64>) {
    match &rows.numbers {
        Numbers::F32(numbers) => (false, numbers.iter().map(|&x| x.into()).collect()),
        Numbers::F64(numbers) => (true, numbers.clone()),
    }
}

fn read(data: &Layers, layer: usize, rows: Range<usize>) -> Vec<f64> {
    numbers(&data.read(&[layer], rows).expect("rows")[0]).1
}

const KINDS: [&str; 20] = [
    "|b1", "|i1", "|u1", "<i2", ">i2", "<u2", "<i4", ">i4", "<u4", "<i8", ">i8", "<u8", "<f2", ">f2", "<bf", "<f4",
    ">f4", "<f8", ">f8", ">u8",
];

/// Every type in every format, whole and in parts, and as files of one sample each.
#[test]
fn every_type_of_every_format() {
    let folder = Folder::new();
    for descr in KINDS {
        // 5 samples of 2 x 3 numbers.
        let (bytes, wide, truth) = elements(descr, 30);
        let array = |name: &str, shape: &[usize], bytes: &[u8]| Made {
            name: name.to_owned(),
            descr: descr.to_owned(),
            shape: shape.to_vec(),
            bytes: bytes.to_vec(),
        };
        let all = array("m", &[5, 2, 3], &bytes);
        let mut files = Vec::new();
        if descr != "<bf" {
            // In Fortran order, the sample varies fastest.
            let width = bytes.len() / 30;
            let place = |i: usize| (i % 5) * 6 + (i / 5 % 2) * 3 + i / 10;
            let turned: Vec<u8> = (0..30).flat_map(|i| bytes[place(i) * width..][..width].to_vec()).collect();
            files.push(folder.file("m.npy", all.npy(false)));
            files.push(folder.file("fortran/m.npy", array("m", &[5, 2, 3], &turned).npy(true)));
            files.push(folder.file("m.npz", npz(std::slice::from_ref(&all), CompressionMethod::Stored)));
            files.push(folder.file("pressed.npz", npz(std::slice::from_ref(&all), CompressionMethod::Deflated)));
        }
        if !descr.starts_with('>') {
            files.push(folder.file("m.safetensors", safetensors(std::slice::from_ref(&all))));
        }
        for path in files {
            let what = format!("{descr} {}", path.display());
            let data = open(&path).expect(&what);
            let layer = Layer { name: "m".to_owned(), extent: Extent::Matrix { rows: 2, columns: 3 }, wide };
            assert_eq!((data.len(), data.layers(), data.by_sample()), (5, &[layer][..], false), "{what}");
            for rows in [0..5, 0..0, 1..4, 4..5, 0..2, 2..5] {
                let got = numbers(&data.read(&[0], rows.clone()).expect(&what)[0]);
                assert_eq!(got, (wide, truth[rows.start * 6..rows.end * 6].to_vec()), "{what} {rows:?}");
            }
        }
        let each = bytes.len() / 5;
        for ending in ["npy", "npz", "safetensors"] {
            if descr == "<bf" && ending != "safetensors" || descr.starts_with('>') && ending == "safetensors" {
                continue;
            }
            for (i, bytes) in bytes.chunks(each).enumerate() {
                let one = [array("m", &[2, 3], bytes)];
                let file = match ending {
                    "npy" => one[0].npy(false),
                    "npz" => npz(&one, CompressionMethod::Stored),
                    _ => safetensors(&one),
                };
                folder.file(&format!("{ending}/{i}.{ending}"), file);
            }
            let data = open(&folder.at(ending)).expect(descr);
            assert!(data.by_sample() && data.len() == 5 && data.layers()[0].wide == wide, "{descr} {ending}");
            assert_eq!(data.layers()[0].name, if ending == "npy" { "values" } else { "m" });
            assert_eq!(read(&data, 0, 1..4), truth[6..24], "{descr} {ending}");
        }
    }
}

/// Conversions of half precision against the f64 values of all 65,536 patterns; NaN stays NaN.
#[test]
fn every_half_is_its_number() {
    let folder = Folder::new();
    let bytes: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
    for (descr, number) in [
        ("<f2", (|bits| f16::from_bits(bits).to_f64()) as fn(u16) -> f64),
        ("<bf", |bits| bf16::from_bits(bits).to_f64()),
    ] {
        let array = Made { name: "x".into(), descr: descr.into(), shape: vec![16, 4096], bytes: bytes.clone() };
        let data = open(&folder.file("x.safetensors", safetensors(&[array]))).expect("halves");
        for (bits, got) in (0..=u16::MAX).zip(read(&data, 0, 0..16)) {
            let want = number(bits);
            assert!(got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan(), "{descr} {bits}: {got} {want}");
        }
    }
}

#[test]
fn targets_and_ids_of_a_file() {
    let folder = Folder::new();
    let (x, z) = (made("x", &[3, 1], &[1.0, 2.0, 3.0]), made("z", &[3], &[4.0, 5.0, f32::NAN]));
    let labels = |data: &Layers| match data.targets() {
        TableTargets::Labels(places, names) => (places.clone(), names.clone()),
        other => panic!("{other:?}"),
    };
    let classes = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    for (y, names) in [(integers("labels", &[10, -3, 10]), ["-3", "10"]), (words("y", &["b", "aé", "b"]), ["aé", "b"])]
    {
        let ids = words("ids", &["one", "two", ""]);
        let all = [x.clone(), y, z.clone(), ids];
        let data = open(&folder.file("a.npz", npz(&all, CompressionMethod::Stored))).expect("arrays");
        assert_eq!(labels(&data), (vec![1, 0, 1], classes(&names)));
        assert_eq!(data.ids(), Some(&classes(&["one", "two", ""])[..]));
        let layers: Vec<(&str, Extent)> = data.layers().iter().map(|own| (&own.name[..], own.extent)).collect();
        assert_eq!(layers, [("x", Extent::Vector(1)), ("z", Extent::Vector(1))]);
        // Layers in any order and number.
        let rows = data.read(&[1, 0, 1], 1..3).expect("rows");
        assert!(numbers(&rows[0]).1[1].is_nan() && numbers(&rows[2]).1[0] == 5.0);
        assert_eq!(rows[1], LayerRows { numbers: Numbers::F32(vec![2.0, 3.0]), lengths: None });
        assert!(matches!(data.read(&[2], 0..1).expect_err("no layer").kind(), ErrorKind::Domain { .. }));
        assert!(matches!(data.read(&[0], 2..4).expect_err("no row").kind(), ErrorKind::Domain { .. }));
    }
    // Integers identify samples too, and floats are values.
    let all = [x.clone(), made("y", &[3], &[0.5, 1.0, 2.0]), integers("id", &[7, 8, 9])];
    let data = open(&folder.file("b.safetensors", safetensors(&all))).expect("arrays");
    assert!(matches!(data.targets(), TableTargets::Values(y, 1) if *y == [0.5, 1.0, 2.0]));
    assert_eq!(data.ids(), Some(&classes(&["7", "8", "9"])[..]));
    // What this library writes: text of a safetensors file is in its metadata.
    let own = |name, shape, data| fiedler::io::NamedArray { name, rows: fiedler::io::Rows::Other, shape, data };
    let (names, ids) = (classes(&["cat", "dog", "cat"]), classes(&["a", "b", "c"]));
    let x = [1.0_f32, 2.0, 3.0];
    let arrays = [
        own("x", vec![3, 1], fiedler::io::Data::F32(&x)),
        own("labels", vec![3], fiedler::io::Data::Text(&names)),
        own("ids", vec![3], fiedler::io::Data::Text(&ids)),
    ];
    for name in ["own.npz", "own.safetensors"] {
        fiedler::io::write(&folder.at(name), &arrays).expect("a file");
        let data = open(&folder.at(name)).expect(name);
        assert_eq!((labels(&data), data.ids()), ((vec![0, 1, 0], classes(&["cat", "dog"])), Some(&ids[..])), "{name}");
    }
}

#[test]
fn a_file_for_each_sample() {
    let folder = Folder::new();
    let sample = |i: usize| [made("b", &[2], &[i as f32, 0.5]), made("a", &[1, 3], &[1.0, i as f32, -1.0])];
    for i in [10, 2, 1] {
        folder.file(&format!("set/s{i}.safetensors"), safetensors(&sample(i)));
    }
    // A file whose header differs, and another order of the arrays.
    let mut turned = sample(3);
    turned.reverse();
    let mut text = safetensors(&turned);
    let length = u64::from_le_bytes(text[..8].try_into().expect("8 bytes")) as usize;
    text.splice(8 + length..8 + length, [b' '; 8]);
    text[..8].copy_from_slice(&(length as u64 + 8).to_le_bytes());
    folder.file("set/s3.safetensors", &text);
    folder.file("set/README.md", "ignored");
    folder.file("set/.hidden.safetensors", "ignored");
    let all: Vec<PathBuf> = [10, 3, 2, 1].map(|i| folder.at(&format!("set/s{i}.safetensors"))).into();
    for (what, paths) in [
        ("a folder", vec![folder.at("set")]),
        ("a pattern", vec![folder.at("set/s*.safetensors")]),
        ("files", all.clone()),
    ] {
        let data = Layers::open(&paths).expect(what);
        let names: Vec<&str> = data.layers().iter().map(|layer| &layer.name[..]).collect();
        assert_eq!((data.len(), names, data.targets()), (4, vec!["a", "b"], &TableTargets::None), "{what}");
        assert_eq!(data.ids().expect("ids"), ["s1", "s2", "s3", "s10"], "{what}");
        assert_eq!(data.layers()[0].extent, Extent::Matrix { rows: 1, columns: 3 });
        let rows = data.read(&[1, 0], 1..4).expect("rows");
        assert_eq!(numbers(&rows[0]).1, [2.0, 0.5, 3.0, 0.5, 10.0, 0.5], "{what}");
        assert_eq!(numbers(&rows[1]).1, [1.0, 2.0, -1.0, 1.0, 3.0, -1.0, 1.0, 10.0, -1.0], "{what}");
        assert_eq!(data.read(&[], 0..4).expect("nothing"), []);
    }
    // Folders that are classes, whose files may have the same names.
    for (name, i) in [("c10/1", 1), ("c2/1", 2), ("c2/0", 3)] {
        folder.file(&format!("classes/{name}.npz"), npz(&sample(i), CompressionMethod::Deflated));
    }
    let data = open(&folder.at("classes")).expect("classes");
    assert_eq!(data.ids().expect("ids"), ["c2/0", "c2/1", "c10/1"]);
    assert_eq!(data.targets(), &TableTargets::Labels(vec![1, 1, 0], vec!["c10".into(), "c2".into()]));
    assert_eq!(read(&data, 0, 0..3), [3.0, 0.5, 2.0, 0.5, 1.0, 0.5]);
    // Targets in the files.
    for (ending, i) in [("npz", 0), ("safetensors", 1)] {
        for k in 0..3 {
            let target = Made { shape: vec![], ..integers("label", &[k * 5]) };
            let arrays = [made("x", &[1], &[k as f32]), target];
            let file = if i == 0 { npz(&arrays, CompressionMethod::Stored) } else { safetensors(&arrays) };
            folder.file(&format!("{ending}/{k}.{ending}"), file);
        }
        let data = open(&folder.at(ending)).expect("targets");
        let names = ["0", "5", "10"].map(str::to_owned).to_vec();
        assert_eq!(data.targets(), &TableTargets::Labels(vec![0, 1, 2], names), "{ending}");
        assert_eq!((data.layers().len(), read(&data, 0, 0..3)), (1, vec![0.0, 1.0, 2.0]));
    }
}

/// Memory that is used again has what is read, whatever it had before.
#[test]
fn memory_is_used_again() {
    let folder = Folder::new();
    let (long, short) = (made("a", &[4, 3], &[1.0; 12]), Made { shape: vec![4, 1], ..integers("b", &[5, 6, 7, 8]) });
    let file = |arrays: &[Made]| safetensors(arrays);
    folder.file("set/0.safetensors", file(&[made("a", &[3], &[2.0; 3]), integers("b", &[9])]));
    let arrays = open(&folder.file("x.safetensors", file(&[long, short]))).expect("arrays");
    let (samples, table) =
        (open(&folder.at("set")).expect("samples"), open(&folder.file("t.csv", "1,2\n3\n")).expect("series"));
    let mut rows = Vec::new();
    let mut read = |data: &Layers, layers: &[usize], range: Range<usize>| {
        data.read_into(layers, range.clone(), &mut rows).expect("rows");
        assert_eq!(rows, data.read(layers, range).expect("rows"));
        rows.iter().map(numbers).collect::<Vec<_>>()
    };
    assert_eq!(read(&arrays, &[0, 1], 0..4), [(false, vec![1.0; 12]), (true, vec![5.0, 6.0, 7.0, 8.0])]);
    assert_eq!(read(&arrays, &[1, 0], 3..4), [(true, vec![8.0]), (false, vec![1.0; 3])]);
    assert_eq!(read(&table, &[0, 0], 0..2)[1], (true, vec![1.0, 2.0, 3.0]));
    assert_eq!(read(&samples, &[0, 1], 0..1), [(false, vec![2.0; 3]), (true, vec![9.0])]);
    assert_eq!(read(&table, &[0], 1..2), [(true, vec![3.0])]);
    assert_eq!(read(&arrays, &[0], 1..3), [(false, vec![1.0; 6])]);
}

/// Samples beyond the piece that is read at a time, of which a layer lies across its end.
#[test]
fn large_samples() {
    let folder = Folder::new();
    let long = |i: usize, n: usize| (0..n).map(|j| (i + j) as f32).collect::<Vec<_>>();
    for i in 0..2 {
        let arrays = [made("a", &[200_000], &long(i, 200_000)), made("b", &[200_000], &long(i, 200_000))];
        folder.file(&format!("set/{i}.safetensors"), safetensors(&arrays));
        folder.file(&format!("one/{i}.npy"), made("", &[300_000], &long(i, 300_000)).npy(false));
    }
    let data = open(&folder.at("set")).expect("samples");
    for rows in data.read(&[1, 0], 0..2).expect("rows") {
        let want = [long(0, 200_000), long(1, 200_000)].concat();
        assert!(rows.numbers == Numbers::F32(want));
    }
    let data = open(&folder.at("one")).expect("samples");
    assert!(data.read(&[0], 1..2).expect("rows")[0].numbers == Numbers::F32(long(1, 300_000)));
}
