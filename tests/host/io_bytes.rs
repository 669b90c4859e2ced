//! Files as bytes in memory, for places without files, and the arrays of encodings.

use fiedler::graph::molecules;
use fiedler::io::{Data, NamedArray, NodeIds, Rows, encoding_arrays, to_bytes, write};
use fiedler::{Context, SpectralEncoder};
use std::fs;
use std::path::Path;

/// The bytes that [`to_bytes`] returns are those of the file, and its errors are the same.
#[test]
fn bytes_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let graphs = molecules(5, 2).unwrap();
    let encoding = SpectralEncoder::new(3).encode(&Context::cpu(), &graphs).unwrap();
    let arrays = encoding_arrays(&encoding, None);
    for name in ["e.npz", "e.csv", "e.safetensors", "E.NPZ"] {
        let path = folder.path().join(name);
        write(&path, &arrays).unwrap();
        assert!(to_bytes(name, &arrays).unwrap() == fs::read(&path).unwrap(), "{name}");
    }
    let one = [NamedArray { name: "x", rows: Rows::Other, shape: vec![2], data: Data::F64(&[1.0, 2.0]) }];
    write(&folder.path().join("x.npy"), &one).unwrap();
    assert_eq!(to_bytes("x.npy", &one).unwrap(), fs::read(folder.path().join("x.npy")).unwrap());
    for (name, arrays) in [
        ("e.txt", &arrays[..]),
        ("e.npy", &arrays[..]),
        ("e.csv", &one[..]),
        ("e.npz", &[one[0].clone(), one[0].clone()]),
    ] {
        let (here, there) = (to_bytes(name, arrays).unwrap_err(), write(Path::new(name), arrays).unwrap_err());
        assert_eq!(here.to_string(), there.to_string());
    }
}

/// Encodings in f64 keep their precision in files.
#[test]
fn encodings_in_f64_are_stored_in_f64() {
    let graphs = molecules(3, 2).unwrap();
    let encoder = SpectralEncoder::new(2).walk_steps(1);
    let (encoding, _) = encoder.encode_f64(&Context::cpu(), &graphs, |_| ()).unwrap();
    let ids = NodeIds::Text(vec!["a".to_owned(); graphs.nodes()]);
    let arrays = encoding_arrays(&encoding, Some(&ids));
    for name in ["eigenvalues", "eigenvectors"] {
        let array = arrays.iter().find(|array| array.name == name).unwrap();
        let Data::F64(numbers) = array.data else { panic!("{:?}", array.data) };
        let truth = if name == "eigenvalues" { &encoding.eigenvalues } else { &encoding.eigenvectors };
        assert!(numbers.iter().zip(truth).all(|(a, b)| a.to_bits() == b.to_bits()));
    }
    assert!(arrays.iter().any(|array| array.name == "random_walk" && array.shape == [graphs.nodes(), 1]));
    assert!(matches!(arrays.last().unwrap().data, Data::Text(names) if names.len() == graphs.nodes()));
}
