//! Tests of `fiedler run matmul` as a user runs it: numpy's order of elements, preserved element types, and exit codes.

use crate::call::run;
use half::f16;
use npyz::npz::NpzArchive;
use std::path::Path;
use tempfile::TempDir;

/// Writes a C-order .npy file.
fn write_npy(path: &Path, descr: &str, shape: &str, bytes: &[u8]) {
    let mut header = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}), }}");
    let padded = (10 + header.len() + 1).next_multiple_of(64) - 10;
    header.extend(std::iter::repeat_n(' ', padded - 1 - header.len()));
    header.push('\n');
    let mut file = b"\x93NUMPY\x01\x00".to_vec();
    file.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    file.extend(header.as_bytes());
    file.extend(bytes);
    std::fs::write(path, file).unwrap();
}

#[test]
fn products_have_numpys_order() {
    let folder = TempDir::new().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (a, b, out) = (place("a.npy"), place("b.npy"), place("c.npz"));
    // [[1, 2, 3], [4, 5, 6]] times two matrices of (3, 2).
    write_npy(Path::new(&a), "<f8", "2, 3", bytemuck::cast_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0_f64]));
    let right = [1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0_f64];
    write_npy(Path::new(&b), "<f8", "2, 3, 2", bytemuck::cast_slice(&right));
    let output = run(&["run", "matmul", &a, &b, "-o", &out, "--overwrite", "--alpha", "-2", "--time", "2"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains("resident_ms"));
    let read = || {
        let mut archive = NpzArchive::open(&out).unwrap();
        let array = archive.by_name("c").unwrap().unwrap();
        (array.shape().to_vec(), array.into_vec::<f64>().unwrap())
    };
    assert_eq!(read(), (vec![2, 2, 2], vec![-2.0, -4.0, -8.0, -10.0, -12.0, -18.0, -30.0, -42.0]));

    // A' A of one matrix, which is not a batch, has the shape (3, 3).
    let output = run(&["run", "matmul", &a, &a, "-o", &out, "--overwrite", "--transpose-a"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(read(), (vec![3, 3], vec![17.0, 22.0, 27.0, 22.0, 29.0, 36.0, 27.0, 36.0, 45.0]));
    // A A' has the shape (2, 2).
    let output = run(&["run", "matmul", &a, &a, "-o", &out, "--overwrite", "--transpose-b"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(read(), (vec![2, 2], vec![14.0, 32.0, 32.0, 77.0]));

    // Shapes that cannot be multiplied are a wrong call, and the message has both shapes.
    let output = run(&["run", "matmul", &a, &a, "-o", &out, "--overwrite"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && text.contains("(2, 3)"), "{text}");
}

#[test]
fn f16_stays_f16() {
    let folder = TempDir::new().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (a, b, out) = (place("a.npy"), place("b.npy"), place("c.npz"));
    let halves = |numbers: &[f32]| numbers.iter().flat_map(|&x| f16::from_f32(x).to_le_bytes()).collect::<Vec<u8>>();
    write_npy(Path::new(&a), "<f2", "1, 3", &halves(&[0.5, 256.0, 1.0]));
    write_npy(Path::new(&b), "<f2", "3, 2", &halves(&[2.0, 4.0, 1.0, 256.0, 0.25, 0.0]));
    let output = run(&["run", "matmul", &a, &b, "-o", &out, "--overwrite"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let mut archive = NpzArchive::open(&out).unwrap();
    let array = archive.by_name("c").unwrap().unwrap();
    assert_eq!(array.shape(), [1, 2]);
    assert!(array.dtype().descr().contains("<f2"), "{}", array.dtype().descr());
    // The results are 257.25, which f16 can hold, and 65538, which it cannot.
    let bytes = std::fs::read(&out).unwrap();
    let begin = bytes.windows(6).position(|w| w == b"\x93NUMPY").expect("an array, stored as it is");
    let header = usize::from(u16::from_le_bytes([bytes[begin + 8], bytes[begin + 9]]));
    assert_eq!(bytes[begin + 10 + header..][..4], halves(&[257.25, f32::INFINITY]));

    // Factors of different types are a wrong call.
    write_npy(Path::new(&b), "<f4", "3, 2", &[0; 24]);
    let output = run(&["run", "matmul", &a, &b, "-o", &out, "--overwrite"]);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && text.contains("float16 and ") && text.contains("float32: expected one type"),
        "{text}"
    );
}
