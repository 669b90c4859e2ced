//! Which files and element types `fiedler run` takes and writes, and when it looks for an adapter.

use crate::call::{Files, fiedler, run};
use npyz::npz::NpzArchive;
use npyz::{Deserialize, NpyFile};
use std::fs::File;
use std::path::Path;
use std::process::Output;

/// A path of two nodes.
const PATH: &str = "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 1\n";

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned()
}

fn done(arguments: &[&str]) -> String {
    let output = run(&[&["run"], arguments].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", text(&output));
    text(&output)
}

fn archived<T: Deserialize>(path: &str, name: &str) -> Vec<T> {
    NpzArchive::open(path)
        .expect("an npz")
        .by_name(name)
        .expect("readable")
        .expect(name)
        .into_vec()
        .expect("of this type")
}

#[test]
fn integers_and_booleans_are_taken_as_f64() {
    let files = Files::new();
    let out = files.at("out.npz");
    let ints = files.npy("ints.npy", "<i8", &[2, 2], bytemuck::cast_slice(&[2_i64, 1, 1, 2]));
    let line = done(&["eigh", &ints, "-o", &out, "--overwrite"]);
    assert!(line.contains("ints.npy (2, 2) int64 as float64"), "{line}");
    let values = archived::<f64>(&out, "w");
    assert!(values.iter().zip([1.0, 3.0]).all(|(x, want)| (x - want).abs() < 1e-14), "{values:?}");
    let bytes = files.npy("bytes.npy", "|u1", &[4], &[1, 2, 3, 6]);
    let line = done(&["stats", &bytes, "-o", &out, "--overwrite"]);
    assert!(line.contains("uint8 as float64") && archived::<f64>(&out, "mean") == [3.0], "{line}");
    let bools = files.npy("bools.npy", "|b1", &[4], &[1, 0, 1, 1]);
    let line = done(&["fft", &bools, "-o", &out, "--overwrite"]);
    assert!(line.contains("bool as float64"), "{line}");
    let line = done(&["stats", &bools, "-o", &out, "--overwrite", "--precision", "f32"]);
    assert!(line.contains("bool as float32") && archived::<f32>(&out, "mean") == [0.75], "{line}");
    done(&["matmul", &ints, &ints, "-o", &out, "--overwrite"]);
    assert_eq!(archived::<f64>(&out, "c"), [5.0, 4.0, 4.0, 5.0]);
    // No f64 equals 2^53 + 1.
    let large = files.npy("large.npy", "<i8", &[2], bytemuck::cast_slice(&[0, (1_i64 << 53) + 1]));
    let output = run(&["run", "stats", &large, "-o", &out, "--overwrite"]);
    let said = text(&output);
    assert!(output.status.code() == Some(1) && said.contains("9007199254740993 as element 1"), "{said}");
}

#[test]
fn one_array_is_written_as_npy_and_several_are_not() {
    let files = Files::new();
    let x = files.f64s("x.npy", &[2, 2], &[2.0, 1.0, 1.0, 2.0]);
    let p = files.f64s("p.npy", &[2, 2], &[0.5, 0.5, 0.25, 0.75]);
    let mtx = files.at("path.mtx");
    std::fs::write(&mtx, PATH).unwrap();
    let out = files.at("out.npy");
    for (call, shape) in [
        (vec!["eigvalsh", &x], vec![2]),
        (vec!["svdvals", &x], vec![2]),
        (vec!["matmul", &x, &x], vec![2, 2]),
        (vec!["spmm", &mtx, "-k", "3", "--laplacian", "none"], vec![2, 3]),
        (vec!["divergence", &p], vec![2, 2]),
        (vec!["random", "--shape", "3,2", "--wide"], vec![3, 2]),
        (vec!["quantiles", &x, "-q", "0.5"], vec![1, 2]),
        (vec!["cov", &x], vec![2, 2]),
        (vec!["corr", &x], vec![2, 2]),
        (vec!["irfft", &x], vec![2, 2]),
    ] {
        done(&[&call[..], &["-o", &out, "--overwrite"]].concat());
        let file = NpyFile::new(File::open(&out).unwrap()).unwrap();
        assert_eq!(file.shape(), shape, "{call:?}");
        assert_eq!(file.into_vec::<f64>().expect("f64").len() as u64, shape.iter().product::<u64>(), "{call:?}");
        std::fs::remove_file(&out).unwrap();
    }
    for call in ["fft", "ifft", "rfft", "fft2", "ifft2"] {
        done(&[call, &x, "-o", &out, "--overwrite"]);
    }
    done(&["eigvalsh", &x, "-o", &out, "--overwrite"]);
    let values = NpyFile::new(File::open(&out).unwrap()).unwrap().into_vec::<f64>().unwrap();
    assert!((values[0] - 1.0).abs() < 1e-14 && (values[1] - 3.0).abs() < 1e-14, "{values:?}");
    std::fs::remove_file(&out).unwrap();
    // These mistakes are reported before any file is read. The test shows this with the name of a file that does not
    // exist.
    for (call, arrays) in [
        (vec!["eigh", "absent.npy"], "w, v, residual, orthogonality, status"),
        (vec!["svd", "absent.npy"], "u, s, vh, residual, orthogonality, status"),
        (vec!["eigsh", "absent.mtx", "-k", "1"], "w, v, residual, status, null_space"),
        (vec!["stats", "absent.npy"], "count, mean, variance"),
        (vec!["histogram", "absent.npy"], "counts, edges, below, above, nan"),
        (vec!["pca", "absent.npy", "-k", "1"], "components, explained_variance"),
        (vec!["power-spectrum", "absent.npy"], "power, frequencies, spectral_centroid;"),
        (vec!["power-spectrum", "absent.npy", "--bands", "0,1"], "spectral_centroid, band_powers;"),
    ] {
        let output = run(&[&["run"], &call[..], &["-o", &out, "--overwrite"]].concat());
        let said = text(&output);
        assert_eq!(output.status.code(), Some(2), "{call:?}: {said}");
        assert!(said.contains(arrays) && said.contains(".npz") && said.contains(".npy holds one"), "{call:?}: {said}");
        assert!(!Path::new(&out).exists(), "{call:?}");
    }
}

/// No decomposition writes a negative zero.
#[test]
fn zeros_have_one_sign() {
    let files = Files::new();
    let out = files.at("out.npz");
    let data = [0.0, -0.0, 0.0, -0.0, -2.0, -0.0, 0.0, -0.0, 0.0];
    let (x, zeros) = (files.f64s("x.npy", &[3, 3], &data), files.f64s("zeros.npy", &[3, 3], &[-0.0; 9]));
    let mtx = files.at("m.mtx");
    std::fs::write(&mtx, "%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 2 -2\n3 3 -0.0\n").unwrap();
    for (call, arrays) in [
        (vec!["eigh", &x], vec!["w", "v"]),
        (vec!["eigh", &zeros], vec!["w", "v"]),
        (vec!["eigvalsh", &x], vec!["w"]),
        (vec!["svd", &x], vec!["u", "s", "vh"]),
        (vec!["svd", &zeros], vec!["u", "s", "vh"]),
        (vec!["svdvals", &x], vec!["s"]),
        (vec!["eigsh", &mtx, "-k", "3", "--laplacian", "none"], vec!["w", "v"]),
        (vec!["pca", &x, "-k", "2"], vec!["components", "singular_values", "transformed"]),
    ] {
        // The exit code is not checked, because a matrix that is practically zero may not count as converged.
        run(&[&["run"], &call[..], &["-o", &out, "--overwrite"]].concat());
        for name in arrays {
            let numbers = archived::<f64>(&out, name);
            assert!(numbers.iter().all(|x| *x != 0.0 || x.is_sign_positive()), "{call:?}: {name} {numbers:?}");
        }
        std::fs::remove_file(&out).unwrap();
    }
}

/// Runs a call with the backend `auto` on a machine without any driver. If the call searched for an adapter, it would
/// report that there is none.
#[cfg(target_os = "linux")]
fn on_auto(arguments: &[&str]) -> Output {
    let mut command = fiedler(&[&["run"], arguments].concat());
    command.env_remove("FIEDLER_BACKEND").env("VK_DRIVER_FILES", "none").output().expect("the command starts")
}

#[cfg(target_os = "linux")]
#[test]
fn small_calls_do_not_look_for_an_adapter() {
    let files = Files::new();
    let x = files.npy("x.npy", "<f4", &[4, 4], &[0; 64]);
    let halves = files.npy("halves.npy", "<f4", &[1, 2], bytemuck::cast_slice(&[0.5_f32, 0.5]));
    let mtx = files.at("path.mtx");
    std::fs::write(&mtx, PATH).unwrap();
    let out = files.at("out.npz");
    for call in [
        vec!["eigh", &x],
        vec!["eigvalsh", &x],
        vec!["svd", &x],
        vec!["svdvals", &x],
        vec!["matmul", &x, &x],
        vec!["eigsh", &mtx, "-k", "1"],
        vec!["spmm", &mtx, "-k", "1"],
        vec!["divergence", &halves],
        vec!["random", "--shape", "3"],
        vec!["stats", &x],
        vec!["quantiles", &x],
        vec!["histogram", &x],
        vec!["cov", &x],
        vec!["corr", &x],
        vec!["pca", &x, "-k", "1"],
        vec!["fft", &x],
        vec!["ifft", &x],
        vec!["rfft", &x],
        vec!["irfft", &x],
        vec!["fft2", &x],
        vec!["ifft2", &x],
        vec!["power-spectrum", &x],
    ] {
        let said = text(&on_auto(&[&call[..], &["-o", &out, "--overwrite"]].concat()));
        assert!(said.contains(", on the CPU (too small to be worth opening a GPU); "), "{call:?}: {said}");
    }
    // There are no kernels for f64, however much work there is, so no adapter is searched for.
    let wide = files.f64s("wide.npy", &[2, 2], &[1.0; 4]);
    let said = text(&on_auto(&["fft", &wide, "-o", &out, "--overwrite"]));
    assert!(said.contains(", on the CPU (f64 is computed there); "), "{said}");
    // At the default rate of a thread, the 9 n^3 flop of this call take more than half a second, so an adapter is
    // searched for.
    let large = files.npy("large.npy", "<f4", &[1100, 1100], &vec![0; 4 * 1100 * 1100]);
    let said = text(&on_auto(&["eigvalsh", &large, "-o", &out, "--overwrite"]));
    assert!(said.contains(", on the CPU (there is no GPU); "), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_wrong_call_is_reported_before_a_missing_device() {
    let files = Files::new();
    let x = files.npy("x.npy", "<f4", &[2, 3], &[0; 24]);
    let wide = files.f64s("wide.npy", &[2, 3], &[1.0; 6]);
    let mtx = files.at("path.mtx");
    std::fs::write(&mtx, PATH).unwrap();
    let out = files.at("out.npz");
    for (call, words) in [
        (vec!["eigh", &x], "square"),
        (vec!["stats", &wide], "--precision f32"),
        (vec!["matmul", &x, &x], "as many columns"),
        (vec!["fft", &x, "--axis", "2"], "--axis"),
        (vec!["pca", &x, "-k", "3"], "at most 2"),
        (vec!["pca", &x, "-k", "1", "--solver", "truncated"], "--solver truncated"),
        (vec!["random", "--shape", "3", "--wide"], "--wide"),
        (vec!["random", "--shape", "3", "--wide", "--distribution", "words"], "32 bits"),
        (vec!["divergence", &x, &wide, "--samples", "2"], "--precision f32"),
        (vec!["eigsh", &mtx, "-k", "3"], "at most 2"),
        (vec!["eigsh", &mtx, "-k", "1", "--which", "largest", "--method", "shift-invert"], "--which smallest"),
        (vec!["eigsh", &mtx, "-k", "1", "--laplacian", "none"], "--precision f32"),
        (vec!["spmm", &mtx, "--block", &wide], "--precision f32"),
    ] {
        let arguments = [&["run"], &call[..], &["-o", &out, "--overwrite", "--backend", "gpu"]].concat();
        let output = fiedler(&arguments).env("VK_DRIVER_FILES", "none").output().unwrap();
        let said = text(&output);
        assert!(output.status.code() == Some(2) && said.contains(words), "{call:?}: {:?} {said}", output.status.code());
    }
    // A correct call reports the missing device.
    let output = fiedler(&["run", "stats", &x, "-o", &out, "--overwrite", "--backend", "gpu"])
        .env("VK_DRIVER_FILES", "none")
        .output();
    assert_eq!(output.unwrap().status.code(), Some(1));
}
