//! What `fiedler run` reports about a wrong call, about a call that it cannot do, and about a call that succeeded. The
//! messages have to refer to the caller's files and arguments.

use crate::call::{Files, fiedler, run};
use npyz::npz::NpzArchive;
use std::path::Path;

fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A path of two nodes.
const PATH: &str = "%%MatrixMarket matrix coordinate real symmetric\n2 2 1\n2 1 1\n";

/// Runs calls that fail, and checks the exit code and the words of each message. None of the calls may leave a file.
fn refused(files: &Files, code: i32, cases: &[(&str, &[&str])]) {
    for (call, words) in cases {
        let out = files.at("refused.npz");
        let arguments: Vec<String> = call
            .split_whitespace()
            .map(|word| if word.ends_with(".npy") || word.ends_with(".mtx") { files.at(word) } else { word.to_owned() })
            .collect();
        let arguments: Vec<&str> = ["run"]
            .into_iter()
            .chain(arguments.iter().map(String::as_str))
            .chain(["-o", &out, "--overwrite"])
            .collect();
        let output = run(&arguments);
        let text = said(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{call}: {text}");
        for word in *words {
            assert!(text.contains(word), "{call}: no `{word}` in {text}");
        }
        let library = [") x 1", ") x 2", "describe", "spectral_centroid", "band_powers", "eigh_subset", "Array::"];
        assert!(!library.iter().any(|word| text.contains(word)), "{call}: {text}");
        assert!(!Path::new(&out).exists() && output.stdout.is_empty(), "{call} left something");
    }
}

#[test]
fn a_wrong_shape_or_type_is_a_wrong_call_in_numpys_words() {
    let files = Files::new();
    files.f32s("v.npy", &[5], &[]);
    files.f32s("one.npy", &[1], &[]);
    files.f32s("none.npy", &[0], &[]);
    files.f32s("wide.npy", &[2, 3], &[]);
    files.f32s("square.npy", &[3, 3], &[]);
    files.f32s("row.npy", &[1, 4], &[]);
    files.f32s("batch.npy", &[2, 3, 3], &[]);
    files.f32s("three.npy", &[3, 3, 3], &[]);
    files.f32s("flat.npy", &[8, 0], &[]);
    files.f32s("axes.npy", &[1, 2, 3, 4], &[]);
    files.npy("dates.npy", "<M8", &[2, 2], &[]);
    files.npy("bytes.npy", "|S1", &[2, 2], &[]);
    files.npy("complex.npy", "<c8", &[2, 2], &[]);
    files.f64s("double.npy", &[3, 3], &[]);
    files.npy("half.npy", "<f2", &[3, 3], &[]);
    std::fs::write(files.at("path.mtx"), PATH).unwrap();
    let reals = "float16, float32 or float64, integers or booleans, found";
    let numbers = "float16, float32, float64, complex64 or complex128, integers or booleans, found <M8";
    refused(
        &files,
        2,
        &[
            ("eigh dates.npy", &["eigh: ", "dates.npy: expected ", reals, "<M8"]),
            ("svd bytes.npy", &[reals, "|S1"]),
            ("stats complex.npy", &[reals, "complex64"]),
            ("rfft complex.npy", &["rfft: ", reals, "complex64"]),
            ("power-spectrum complex.npy", &[reals, "complex64"]),
            ("divergence dates.npy", &[reals, "<M8"]),
            ("matmul dates.npy dates.npy", &[reals, "<M8"]),
            ("fft dates.npy", &[numbers]),
            ("irfft dates.npy", &[numbers]),
            ("spmm path.mtx --block dates.npy", &[reals, "<M8"]),
            ("matmul square.npy double.npy", &["square.npy (3, 3) float32", "double.npy (3, 3) float64", "one type"]),
            ("matmul half.npy square.npy", &["float16", "float32"]),
            ("eigh axes.npy", &["(m, n) or (batch, m, n), found (1, 2, 3, 4)"]),
            ("eigh v.npy", &["found (5,)"]),
            ("fft axes.npy", &["one to three axes, found (1, 2, 3, 4)"]),
            ("stats axes.npy", &["(n,), (m, n) or (batch, m, n), found (1, 2, 3, 4)"]),
            ("matmul v.npy wide.npy", &["v.npy: ", "found (5,)"]),
            ("cov v.npy", &["(m, n) or (batch, m, n), found (5,)"]),
            ("pca batch.npy -k 1", &["(m, n), found (2, 3, 3)"]),
            ("pca row.npy -k 1", &["at least two rows, found (1, 4)"]),
            ("pca wide.npy -k 3", &["-k: ", "at most 2", "wide.npy (2, 3)", "found 3"]),
            ("eigh wide.npy", &["square", "found (2, 3)"]),
            ("eigvalsh wide.npy", &["eigvalsh: ", "square", "found (2, 3)"]),
            ("eigh square.npy -k 4", &["-k: ", "at most 3", "(3, 3)", "found 4"]),
            ("matmul wide.npy wide.npy", &["wide.npy (2, 3) and ", "columns", "found 3 and 2"]),
            ("matmul batch.npy three.npy", &["(2, 3, 3)", "(3, 3, 3)", "batches", "found 2 and 3"]),
            (
                "divergence wide.npy square.npy",
                &["square.npy: expected (2, 3)", "wide.npy", "(1, 3) or (3,), found (3, 3)"],
            ),
            ("divergence wide.npy square.npy --samples 2", &["2 sets of samples", "found (3, 3)"]),
            ("divergence flat.npy", &["bin", "found (8, 0)"]),
            ("divergence v.npy wide.npy", &["(5,)", "found (2, 3)"]),
            ("fft2 v.npy", &["fft2: ", "two or three axes, found (5,)"]),
            ("ifft2 v.npy", &["two or three axes, found (5,)"]),
            ("fft none.npy", &["at least one element along axis -1, found (0,)"]),
            ("fft flat.npy", &["along axis -1, found (8, 0)"]),
            ("fft2 flat.npy", &["at least one element", "found (8, 0)"]),
            ("fft wide.npy --axis 2", &["--axis", "-2 to 1", "(2, 3)", "found 2"]),
            ("irfft v.npy -n 30", &["-n: expected 8 or 9", "5 frequencies", "v.npy (5,)", "found 30"]),
            ("irfft v.npy -n 0", &["-n: expected 8 or 9", "found 0"]),
            ("irfft one.npy -n 2", &["-n: expected 1,", "found 2"]),
            ("stats wide.npy --axis batch", &["--axis batch", "(batch, m, n)", "found (2, 3)"]),
            ("stats v.npy --axis batch", &["--axis batch", "found (5,)"]),
            ("eigsh path.mtx -k 3", &["-k: ", "at most 2", "found 3"]),
            ("spmm path.mtx --block square.npy", &["(2, columns)", "found (3, 3)"]),
        ],
    );
}

#[test]
fn a_value_out_of_its_domain_is_a_wrong_call_that_names_the_option() {
    let files = Files::new();
    files.f32s("x.npy", &[4, 3], &[]);
    files.f32s("y.npy", &[4, 3], &[]);
    files.f32s("one.npy", &[1], &[]);
    let whole = "expected a whole number of 0 or more";
    refused(
        &files,
        2,
        &[
            ("stats x.npy --ddof -1", &["--ddof", "'-1'", whole]),
            ("stats x.npy --time -1", &["--time", whole]),
            ("random --shape 3 --seed -1", &["--seed", whole]),
            ("random --shape -3,2", &["--shape", whole]),
            ("random --shape 3 --skip -1", &["--skip", whole]),
            ("random --shape 3 --distribution normal --std -1", &["--std", "finite number of 0 or more"]),
            ("random --shape 3 --distribution bernoulli -p -1", &["-p", "from 0 to 1"]),
            ("random --shape 3 --low 2 --high 1", &["--low", "--high", "found 2 and 1"]),
            ("random --shape 3 --high 1e39", &["--high", "float32"]),
            ("random --shape 3 --low -3e38 --high 3e38", &["HIGH - LOW within float32"]),
            ("matmul x.npy y.npy --transpose-b --alpha inf", &["--alpha", "finite"]),
            ("matmul x.npy y.npy --transpose-b --alpha 1e39", &["--alpha", "within float32"]),
            ("random --shape 3 --distribution normal --mean 1e39", &["--mean", "float32"]),
            ("quantiles x.npy -q 0.5,1.1", &["-q", "from 0 to 1"]),
            ("quantiles x.npy -q -0.5", &["-q", "from 0 to 1"]),
            ("histogram x.npy --bins 0", &["--bins", "1 or more"]),
            ("histogram x.npy --bins -1", &["--bins", "1 or more"]),
            ("histogram x.npy --bins 99999999999999999999", &["--bins", "smaller whole number"]),
            ("irfft one.npy", &["-n: expected 1, for 1 frequencies", "found no -n"]),
            ("histogram x.npy --range 1,0", &["--range", "ascend", "1,0"]),
            ("histogram x.npy --range 0", &["--range", "LOW,HIGH"]),
            ("histogram x.npy --range 1,1.0000000000000002 --bins 9", &["--bins", "narrower"]),
            ("divergence x.npy --base 1", &["--base", "above 1"]),
            ("divergence x.npy --smoothing -1", &["--smoothing", "finite number of 0 or more"]),
            ("divergence x.npy y.npy --samples 0", &["--samples", "1 or more"]),
            ("power-spectrum x.npy --rate 0", &["--rate", "above 0"]),
            ("power-spectrum x.npy --bands 1", &["power-spectrum: ", "--bands", "two edges"]),
            ("power-spectrum x.npy --bands 2,1", &["--bands", "ascend", "2,1"]),
            ("power-spectrum x.npy --bands -1,1", &["--bands", "0 or more"]),
            ("eigh x.npy -k -1", &["-k", whole]),
            ("pca x.npy -k -1", &["-k", whole]),
            ("irfft x.npy -n -1", &["-n", whole]),
        ],
    );
    // The misleading tips of clap (the parser of the command line) are not shown.
    let output = run(&["run", "stats", &files.at("x.npy"), "-o", "no.npz", "--ddof", "-1"]);
    assert!(!said(&output.stderr).contains("tip"), "{}", said(&output.stderr));
    let output = run(&["run", "ceilings", "--rounds", "0"]);
    assert!(output.status.code() == Some(2) && said(&output.stderr).contains("--rounds"), "{}", said(&output.stderr));
}

#[test]
fn options_that_the_choice_makes_meaningless_are_refused() {
    let files = Files::new();
    files.f32s("x.npy", &[4, 3], &[]);
    std::fs::write(files.at("path.mtx"), PATH).unwrap();
    refused(
        &files,
        2,
        &[
            ("random --shape 3 --distribution normal --low 3", &["--low", "uniform", "normal"]),
            ("random --shape 3 --distribution normal --high 3", &["--high", "uniform"]),
            ("random --shape 3 --std 3", &["--std", "--distribution normal", "--distribution uniform"]),
            ("random --shape 3 --mean 3", &["--mean", "normal"]),
            ("random --shape 3 -p 0.5", &["-p", "bernoulli"]),
            ("random --shape 3 --distribution words --wide", &["--wide", "32 bits"]),
            ("divergence x.npy x.npy --samples 3 --normalize", &["--samples", "--normalize"]),
            ("divergence x.npy --kind tv --base 10", &["--base", "kl, js or js-distance", "tv"]),
            ("divergence x.npy --kind symmetric-chi-square --base 2", &["--base", "symmetric-chi-square"]),
            ("eigsh path.mtx -k 1 --which largest --method shift-invert", &["shift-invert", "--which smallest"]),
            ("stats x.npy --backend cpu --adapter llvmpipe", &["--adapter llvmpipe", "--backend cpu"]),
        ],
    );
    let out = files.at("out.npz");
    let karate = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/data/karate.txt");
    let output = run(&["encode", karate, "-o", &out, "--overwrite", "--backend", "cpu", "--adapter", "llvmpipe"]);
    assert_eq!(output.status.code(), Some(2), "{}", said(&output.stderr));
}

#[test]
fn faults_of_the_data_and_of_the_system_are_failures() {
    let files = Files::new();
    files.f32s("p.npy", &[2, 2], &[0.5, 0.5, f32::INFINITY, 0.5]);
    files.f32s("q.npy", &[2, 2], &[0.5, 0.5, 0.5, 0.5]);
    files.f32s("sums.npy", &[2, 2], &[0.5, 0.5, 0.5, 0.75]);
    std::fs::write(files.at("junk.npy"), "no array").unwrap();
    refused(
        &files,
        1,
        &[
            (
                "divergence p.npy q.npy",
                &["divergence: ", "finite entries of 0 or more, found inf in bin 0 of histogram 1 of p"],
            ),
            ("divergence q.npy sums.npy", &["sums of 1, to 1e-3, found 1.25 of histogram 1 of q", "normalize"]),
            ("stats junk.npy", &["stats: ", "junk.npy", "an .npy file"]),
            ("stats absent.npy", &["stats: ", "absent.npy"]),
        ],
    );
    // The message names the memory budget. It counts the memory that the call needs: the results in f32, and one matrix
    // of products in f64.
    let few = files.f32s("few.npy", &[2, 1000], &[]);
    let out = files.at("cov.npz");
    let output =
        fiedler(&["run", "cov", &few, "-o", &out, "--overwrite"]).env("FIEDLER_MEMORY_BUDGET", "8M").output().unwrap();
    let text = said(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    for word in ["cov: ", "FIEDLER_MEMORY_BUDGET", "12000000 needed", "8388608 allowed"] {
        assert!(text.contains(word), "no `{word}` in {text}");
    }
    let output = fiedler(&["run", "random", "--shape", "10000000", "-o", &out, "--overwrite"])
        .env("FIEDLER_MEMORY_BUDGET", "8M")
        .output();
    let text = said(&output.unwrap().stderr);
    assert!(text.contains("FIEDLER_MEMORY_BUDGET") && text.contains("40000000 needed"), "{text}");
    // Results that are no larger than the input are not limited by the budget.
    let square = files.f32s("square.npy", &[1000, 1000], &[]);
    let output = fiedler(&["run", "cov", &square, "-o", &out, "--overwrite"])
        .env("FIEDLER_MEMORY_BUDGET", "8M")
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", said(&output.stderr));
}

#[cfg(target_os = "linux")]
#[test]
fn a_file_that_cannot_be_written_is_named_as_it_was_given() {
    let files = Files::new();
    let x = files.f32s("x.npy", &[4], &[]);
    // No user can create files in /proc, not even root.
    let out = "/proc/fiedler.npz";
    let output = run(&["run", "fft", &x, "-o", out, "--overwrite"]);
    let text = said(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains(out) && text.contains("not found") && !text.contains(".tmp"), "{text}");
}

#[test]
fn a_vector_and_f16_have_their_moments() {
    let files = Files::new();
    let vector = files.f64s("v.npy", &[4], &[1.0, 2.0, 3.0, 6.0]);
    let out = files.at("out.npz");
    let floats = |name: &str| -> (Vec<u64>, Vec<f64>) {
        let mut archive = NpzArchive::open(&out).unwrap();
        let array = archive.by_name(name).unwrap().unwrap();
        (array.shape().to_vec(), array.into_vec().unwrap())
    };
    let done = |arguments: &[&str]| {
        let output = run(&[&["run"], arguments, &["-o", &out, "--overwrite"]].concat());
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", said(&output.stderr));
        said(&output.stdout)
    };
    for axis in ["rows", "cols", "all"] {
        done(&["stats", &vector, "--axis", axis, "--ddof", "0"]);
        assert_eq!((floats("mean"), floats("variance")), ((vec![], vec![3.0]), (vec![], vec![3.5])));
    }
    done(&["quantiles", &vector, "-q", "0,0.5"]);
    assert_eq!(floats("quantiles"), (vec![2], vec![1.0, 2.5]));
    done(&["histogram", &vector, "--bins", "5"]);
    let mut archive = NpzArchive::open(&out).unwrap();
    let counts = archive.by_name("counts").unwrap().unwrap();
    assert_eq!((counts.shape().to_vec(), counts.into_vec::<i64>().unwrap()), (vec![5], vec![1, 1, 1, 0, 1]));
    // The numbers are 1.5, -2 and 65504, which is the largest f16. They are converted to f32.
    let half = files.npy("h.npy", "<f2", &[3, 1], &[0x00, 0x3e, 0x00, 0xc0, 0xff, 0x7b]);
    done(&["stats", &half]);
    let most = NpzArchive::open(&out).unwrap().by_name("max").unwrap().unwrap().into_vec::<f32>().unwrap();
    assert_eq!(most, [65504.0]);
    done(&["quantiles", &half, "--precision", "refined", "-q", "0,0.5"]);
    assert_eq!(floats("quantiles").1, [-2.0, 1.5]);
}

#[test]
fn the_last_line_names_operation_side_outcome_and_time() {
    let files = Files::new();
    let x = files.f64s("x.npy", &[2, 2], &[2.0, 1.0, 1.0, 2.0]);
    let p = files.f32s("p.npy", &[2, 2], &[0.5, 0.5, 0.25, 0.75]);
    files.f32s("bad.npy", &[2, 2], &[1.0, f32::NAN, f32::NAN, 1.0]);
    let mtx = files.at("path.mtx");
    std::fs::write(&mtx, PATH).unwrap();
    let bad = files.at("bad.npy");
    let out = files.at("out.npz");
    for (call, code, words) in [
        (
            vec!["eigh", &x],
            0,
            vec!["eigh: ", "x.npy (2, 2) float64", ": 1 matrix, ", "all converged, largest residual "],
        ),
        (vec!["svd", &bad], 3, vec!["svd: ", "1 NOT converged"]),
        (vec!["matmul", &x, &x], 0, vec!["matmul: ", "x.npy (2, 2) float64, ", "done"]),
        (vec!["fft", &x], 0, vec!["fft: ", "done"]),
        (vec!["fft2", &x], 0, vec!["fft2: "]),
        (vec!["irfft", &x], 0, vec!["irfft: "]),
        (vec!["power-spectrum", &x], 0, vec!["power-spectrum: "]),
        (vec!["stats", &x], 0, vec!["stats: ", "done"]),
        (vec!["cov", &p], 0, vec!["cov: ", "p.npy (2, 2) float32"]),
        (vec!["pca", &x, "-k", "1"], 0, vec!["pca: ", "converged, largest residual "]),
        (vec!["pca", &x, "-k", "2", "--whiten"], 0, vec!["1 of 2 directions within rounding, whitened to 0"]),
        (vec!["divergence", &p], 0, vec!["divergence: kl of ", "p.npy (2, 2) float32"]),
        (vec!["random", "--shape", "2,3"], 0, vec!["random: uniform (2, 3) float32"]),
        (
            vec!["eigsh", &mtx, "-k", "1"],
            0,
            vec!["eigsh: ", "path.mtx: 2 rows, 2 entries: 1 eigenpair by ", "null space of dimension 1"],
        ),
        (vec!["spmm", &mtx, "-k", "1"], 0, vec!["spmm: ", "path.mtx: 2 rows, 2 entries, times 1 column,"]),
    ] {
        let arguments = [&["run"], &call[..], &["-o", &out, "--overwrite"]].concat();
        let output = run(&arguments);
        let line = said(&output.stdout);
        assert_eq!(output.status.code(), Some(code), "{call:?}: {}", said(&output.stderr));
        assert_eq!(line.lines().count(), 1, "{call:?}: {line}");
        for word in words.into_iter().chain([", on the CPU (asked for); ", "done in ", " s\n"]) {
            assert!(line.contains(word), "{call:?}: no `{word}` in {line}");
        }
        let output = run(&[&arguments[..], &["--quiet"]].concat());
        assert_eq!((output.status.code(), output.stdout.len(), output.stderr.len()), (Some(code), 0, 0), "{call:?}");
        // Requested times are printed even with `--quiet`.
        let output = run(&[&arguments[..], &["--quiet", "--time", "1"]].concat());
        assert!(said(&output.stdout).starts_with("{\"first_ms\""), "{call:?}: {}", said(&output.stdout));
    }
}

/// Runs calls on every adapter that this machine has.
#[test]
fn the_last_line_names_the_adapter_and_f64_has_none() {
    let files = Files::new();
    let narrow = files.f32s("x.npy", &[2, 3], &[1.0; 6]);
    let wide = files.f64s("wide.npy", &[2, 3], &[1.0; 6]);
    let out = files.at("out.npz");
    let report: serde_json::Value =
        serde_json::from_slice(&run(&["doctor", "--json"]).stdout).expect("one JSON object");
    for adapter in report["adapters"].as_array().expect("a list") {
        let name = adapter["name"].as_str().expect("a name");
        let on = |call: &[&str]| {
            let output =
                run(&[&["run"], call, &["-o", &out, "--overwrite", "--backend", "gpu", "--adapter", name]].concat());
            (output.status.code(), said(&output.stdout) + &said(&output.stderr))
        };
        let calls: [&[&str]; 6] =
            [&["stats"], &["fft"], &["svd"], &["cov"], &["quantiles"], &["power-spectrum", "--rate", "4"]];
        for call in calls {
            let (code, text) = on(&[call, &[narrow.as_str()]].concat());
            assert!(code == Some(0) && text.contains(&format!(", on {name} (asked for); ")), "{call:?}: {text}");
            let (code, text) = on(&[call, &[wide.as_str()]].concat());
            assert_eq!(code, Some(2), "{call:?}: {text}");
            assert!(text.contains("wide.npy (2, 3) float64") && text.contains("--precision f32"), "{call:?}: {text}");
            let (code, text) = on(&[call, &[wide.as_str(), "--precision", "f32"]].concat());
            assert!(code == Some(0) && text.contains(&format!(", on {name} (asked for); ")), "{call:?}: {text}");
        }
        let (code, text) = on(&["pca", &narrow, "-k", "1", "--solver", "truncated"]);
        assert!(code == Some(2) && text.contains("--solver truncated is computed on the CPU alone"), "{text}");
        let (code, text) = on(&["random", "--shape", "3", "--wide"]);
        assert!(code == Some(2) && text.contains("--wide"), "{text}");
        let (code, text) = on(&["matmul", &wide, &wide, "--transpose-b"]);
        assert!(code == Some(2) && text.contains("wide.npy (2, 3) float64"), "{text}");
    }
}

#[test]
fn help_states_the_input_and_the_output() {
    let complex = "complex64";
    for (operation, there, not) in [
        ("fft", vec!["One to three axes", complex], vec![]),
        ("rfft", vec!["One to three axes", "float16 as float32"], vec![complex]),
        (
            "power-spectrum",
            vec!["periodogram", "the last edge included", "with length 1", "for a signal of zeros"],
            vec![complex],
        ),
        ("fft2", vec!["Two or three axes", complex], vec!["One to three"]),
        ("pca", vec!["`(m, n)` in", "`residual`", "`orthogonality`", "`status`"], vec!["(batch"]),
        ("stats", vec!["`(n,)`, `(m, n)` or `(batch, m, n)`"], vec![complex]),
        ("cov", vec!["`(m, n)` or `(batch, m, n)`"], vec!["`(n,)`"]),
        ("eigh", vec!["`(n, n)`", "`residual`", "integers and booleans as float64"], vec![]),
        ("eigsh", vec!["|A v - l v|_2 / |A|_1", "connected component", "makes both canonical"], vec![]),
        ("svd", vec!["`(m, n)`", "`residual`"], vec!["`(n, n)`", "triangle"]),
        ("irfft", vec!["2 (m - 1) or 2 m - 1"], vec![]),
        (
            "divergence",
            vec!["sum p log(p / q) - p + q", "0 log 0 is 0", "(p - q)^2 / (p + q) / 2", "BINS equal bins"],
            vec![],
        ),
    ] {
        let text = said(&run(&["run", operation, "--help"]).stdout);
        for word in there {
            assert!(text.contains(word), "{operation}: no `{word}` in {text}");
        }
        for word in not {
            assert!(!text.contains(word), "{operation}: `{word}` in {text}");
        }
    }
}
