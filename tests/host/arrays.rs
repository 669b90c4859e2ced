//! Tests of writing arrays to files. The reference readers of the formats read them back, the bytes are the same each
//! time, and a file is complete or absent.

use fiedler::ErrorKind;
use fiedler::io::{Data, NamedArray, Rows, write};
use npyz::npz::NpzArchive;
use safetensors::{Dtype, SafeTensors};
use std::fs;
use std::path::Path;

const VALUES: [f32; 4] = [0.1, f32::NAN, -1e-30, 3.0];
const VECTORS: [f64; 6] = [0.1, -2.0, 1e300, f64::INFINITY, 5e-324, 1.0 / 3.0];
const OFFSETS: [i64; 3] = [0, 1, 3];
const STATUS: [u8; 2] = [0, 2];

fn words() -> Vec<String> {
    ["Zürich", "a,\"b\"", "漢字"].map(str::to_owned).to_vec()
}

fn arrays(words: &[String]) -> Vec<NamedArray<'_>> {
    let array = |name, rows, shape: &[usize], data| NamedArray { name, rows, shape: shape.to_vec(), data };
    vec![
        array("eigenvalues", Rows::Graphs, &[2, 2], Data::F32(&VALUES)),
        array("eigenvectors", Rows::Nodes, &[3, 2], Data::F64(&VECTORS)),
        array("node_offsets", Rows::Other, &[3], Data::I64(&OFFSETS)),
        array("status", Rows::Graphs, &[2], Data::U8(&STATUS)),
        array("node_ids", Rows::Nodes, &[3], Data::Text(words)),
    ]
}

#[test]
fn npz_comes_back_through_npyz() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.npz");
    let words = words();
    write(&path, &arrays(&words)).unwrap();
    let mut archive = NpzArchive::open(&path).unwrap();
    let names: Vec<String> = archive.array_names().map(str::to_owned).collect();
    assert_eq!(names.len(), 5);
    let array = archive.by_name("eigenvalues").unwrap().unwrap();
    assert_eq!((array.shape(), array.order()), (&[2, 2][..], npyz::Order::C));
    let bits = |data: &[f32]| data.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
    assert_eq!(bits(&array.into_vec().unwrap()), bits(&VALUES));
    let array = archive.by_name("eigenvectors").unwrap().unwrap();
    assert_eq!(array.shape(), [3, 2]);
    assert_eq!(array.into_vec::<f64>().unwrap(), VECTORS);
    let array = archive.by_name("node_offsets").unwrap().unwrap();
    assert_eq!(array.shape(), [3]);
    assert_eq!(array.into_vec::<i64>().unwrap(), OFFSETS);
    assert_eq!(archive.by_name("status").unwrap().unwrap().into_vec::<u8>().unwrap(), STATUS);
    let array = archive.by_name("node_ids").unwrap().unwrap();
    assert_eq!(array.dtype().descr(), "'<U6'");
    assert_eq!(array.into_vec::<String>().unwrap(), words);
}

#[test]
fn safetensors_come_back_through_their_crate() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.safetensors");
    let words = words();
    write(&path, &arrays(&words)).unwrap();
    let bytes = fs::read(&path).unwrap();
    let (_, metadata) = SafeTensors::read_metadata(&bytes).unwrap();
    let ids = &metadata.metadata().as_ref().unwrap()["node_ids"];
    assert_eq!(serde_json::from_str::<Vec<String>>(ids).unwrap(), words);
    let tensors = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(tensors.len(), 4);
    let check = |name: &str, dtype, shape: &[usize], bytes: Vec<u8>| {
        let tensor = tensors.tensor(name).unwrap();
        assert_eq!((tensor.dtype(), tensor.shape(), tensor.data()), (dtype, shape, &bytes[..]), "{name}");
    };
    check("eigenvalues", Dtype::F32, &[2, 2], VALUES.iter().flat_map(|x| x.to_le_bytes()).collect());
    check("eigenvectors", Dtype::F64, &[3, 2], VECTORS.iter().flat_map(|x| x.to_le_bytes()).collect());
    check("node_offsets", Dtype::I64, &[3], OFFSETS.iter().flat_map(|x| x.to_le_bytes()).collect());
    check("status", Dtype::U8, &[2], STATUS.to_vec());
    // Every tensor is aligned to its elements, so that a mapped file can be used directly.
    let start = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    for (name, info) in metadata.tensors() {
        assert_eq!((start + info.data_offsets.0) % (info.dtype.bitsize() / 8), 0, "{name}");
    }
}

#[test]
fn csv_has_a_row_a_node() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("OUT.CSV");
    write(&path, &arrays(&words())).unwrap();
    let want = "\
graph,node,node_id,status,eigenvalue_1,eigenvalue_2,eigenvector_1,eigenvector_2
0,0,Zürich,0,0.1,NaN,0.1,-2.0
1,0,\"a,\"\"b\"\"\",2,-1e-30,3.0,1e300,inf
1,1,漢字,2,-1e-30,3.0,5e-324,0.3333333333333333
";
    assert_eq!(fs::read_to_string(&path).unwrap(), want);
}

#[test]
fn npy_holds_one_array() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.npy");
    let words = words();
    write(&path, &arrays(&words)[1..2]).unwrap();
    let file = npyz::NpyFile::new(fs::File::open(&path).unwrap()).unwrap();
    assert_eq!((file.shape().to_vec(), file.into_vec::<f64>().unwrap()), (vec![3, 2], VECTORS.to_vec()));
    write(&path, &[NamedArray { name: "one", rows: Rows::Other, shape: vec![], data: Data::I64(&[7]) }]).unwrap();
    let file = npyz::NpyFile::new(fs::File::open(&path).unwrap()).unwrap();
    assert_eq!((file.shape().to_vec(), file.into_vec::<i64>().unwrap()), (vec![], vec![7]));
}

#[test]
fn the_same_arrays_are_the_same_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let words = words();
    let mut several = arrays(&words);
    several.push(NamedArray { name: "more_words", ..several[4].clone() });
    several.push(NamedArray { name: "and_more", ..several[4].clone() });
    for ending in ["npz", "safetensors", "csv"] {
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name).with_extension(ending));
        write(&one, &several).unwrap();
        // Zip files store times in steps of two seconds.
        std::thread::sleep(std::time::Duration::from_millis(700));
        write(&two, &several).unwrap();
        assert_eq!(fs::read(one).unwrap(), fs::read(two).unwrap(), "{ending}");
    }
}

#[test]
fn empty_arrays_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let none = [
        NamedArray { name: "node_offsets", rows: Rows::Other, shape: vec![1], data: Data::I64(&[0]) },
        NamedArray { name: "eigenvectors", rows: Rows::Nodes, shape: vec![0, 2], data: Data::F32(&[]) },
        NamedArray { name: "node_ids", rows: Rows::Nodes, shape: vec![0], data: Data::Text(&[]) },
    ];
    for name in ["a.npz", "a.safetensors", "a.csv"] {
        write(&folder.path().join(name), &none).unwrap();
    }
    let mut archive = NpzArchive::open(folder.path().join("a.npz")).unwrap();
    assert_eq!(archive.by_name("eigenvectors").unwrap().unwrap().shape(), [0, 2]);
    let table = fs::read_to_string(folder.path().join("a.csv")).unwrap();
    assert_eq!(table, "graph,node,node_id,eigenvector_1,eigenvector_2\n");
}

#[test]
fn a_failed_write_leaves_the_old_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("out.csv");
    fs::write(&path, "before").unwrap();
    let words = words();
    let arrays = arrays(&words);
    let other = NamedArray { rows: Rows::Other, ..arrays[1].clone() };
    let cases: [(&str, Vec<NamedArray<'_>>, &str); 8] = [
        ("out.csv", vec![arrays[2].clone(), other], "eigenvectors has no row for each node or graph"),
        ("out.csv", vec![arrays[1].clone()], "a table needs the array node_offsets"),
        (
            "out.csv",
            vec![arrays[2].clone(), NamedArray { rows: Rows::Graphs, ..arrays[1].clone() }],
            "expected 2 rows of eigenvectors",
        ),
        ("out.csv", vec![arrays[3].clone(), arrays[3].clone()], "two arrays have the name \"status\""),
        (
            "out.csv",
            vec![NamedArray { shape: vec![3], ..arrays[3].clone() }],
            "expected [3] elements of status, found 2",
        ),
        ("out.hdf5", arrays.clone(), "expected a name that ends in .npz, .safetensors, .npy or .csv"),
        ("out.npy", arrays[..2].to_vec(), "found 2 (eigenvalues, eigenvectors); .npz holds them all"),
        ("out.npy", vec![], "expected one array"),
    ];
    for (name, arrays, words) in cases {
        let error = write(&folder.path().join(name), &arrays).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Domain { .. } | ErrorKind::Shape { .. }), "{error:?}");
        assert!(error.to_string().contains(words), "{error} does not say {words:?}");
    }
    let error = write(&folder.path().join("absent/out.npz"), &arrays).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io { path, .. } if path.ends_with("absent/out.npz")), "{error:?}");
    // A folder already has the name of the file, so the last step of writing fails, and the temporary file is removed.
    fs::create_dir(folder.path().join("taken.npz")).unwrap();
    assert!(matches!(write(&folder.path().join("taken.npz"), &arrays).unwrap_err().kind(), ErrorKind::Io { .. }));

    assert_eq!(fs::read_to_string(&path).unwrap(), "before");
    let mut left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["out.csv", "taken.npz"]);
    write(&path, &arrays).unwrap();
    assert!(fs::read_to_string(&path).unwrap().starts_with("graph,node"), "a good write replaces");
}

/// Files of results have the same permissions as any file that the user makes. Temporary files are private.
#[cfg(unix)]
#[test]
fn files_have_the_usual_permissions() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
    let (usual, ours) = (folder.path().join("usual"), folder.path().join("ours.npz"));
    fs::write(&usual, "").unwrap();
    write(&ours, &[]).unwrap();
    assert_eq!(mode(&ours), mode(&usual));
}
