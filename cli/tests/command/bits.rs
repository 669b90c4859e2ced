//! The output of the command depends on its input and its settings, not on the number of threads or the memory
//! budget.

use crate::call::{Files, fiedler, run};

/// Runs `call` with the given number of threads and memory budget. Returns the bytes of the output file, or the error
/// message if the call fails.
fn written(files: &Files, call: &str, threads: usize, budget: &str) -> Result<Vec<u8>, String> {
    let out = files.at("out.npz");
    let words: Vec<String> = call
        .split_whitespace()
        .map(|word| if word.ends_with(".npy") || word.ends_with(".txt") { files.at(word) } else { word.to_owned() })
        .chain(["-o".to_owned(), out.clone(), "--overwrite".to_owned()])
        .collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let output = fiedler(&words)
        .args(["--threads", &threads.to_string()])
        .env("FIEDLER_MEMORY_BUDGET", budget)
        .output()
        .expect("the command starts");
    // Exit code 3 means that some results did not converge. They are written nevertheless, and have to be the same too.
    if matches!(output.status.code(), Some(0 | 3)) {
        Ok(std::fs::read(&out).expect("written"))
    } else {
        let words = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{call}: {words}");
        Err(words)
    }
}

/// Returns values in (-1, 1).
fn noise(count: usize) -> Vec<f64> {
    let mut state = 7_u64;
    let next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

fn inputs() -> Files {
    let files = Files::new();
    let generate = |call: &[&str], name: &str| {
        let output = run(&[&["generate"], call, &["-o", &files.at(name)]].concat());
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    generate(&["grid", "--rows", "24", "--columns", "24"], "grid.txt");
    generate(&["grid", "--rows", "200", "--columns", "200"], "mesh.txt");
    generate(&["preferential", "--nodes", "3000", "--links", "6", "--seed", "1"], "social.txt");
    let n = 200;
    let any = noise(n * n);
    let symmetric: Vec<f64> = (0..n * n).map(|at| any[at] + any[at % n * n + at / n]).collect();
    let narrow: Vec<f32> = symmetric.iter().map(|&x| x as f32).collect();
    files.f64s("symmetric.npy", &[n, n], &symmetric);
    files.f32s("narrow.npy", &[n, n], &narrow);
    files.f64s("batch.npy", &[5, 64, 80], &noise(5 * 64 * 80));
    files.f64s("tall.npy", &[6000, 24], &noise(6000 * 24));
    files.f64s("wide.npy", &[24, 6000], &noise(6000 * 24));
    files.f64s("square.npy", &[300, 300], &noise(300 * 300));
    files
}

#[test]
fn results_do_not_depend_on_the_threads() {
    let files = inputs();
    for call in [
        "encode grid.txt -k 6 --method exact",
        "encode grid.txt -k 6 --method exact --precision f64 --walk-steps 5",
        "encode mesh.txt -k 6",
        "encode social.txt -k 6 --method fast",
        "encode social.txt -k 6 --which largest",
        "encode grid.txt -k 6 --method exact --charge 0.2",
        "encode social.txt -k 4 --charge 0.01",
        "run eigh symmetric.npy",
        "run eigh narrow.npy",
        "run eigvalsh symmetric.npy",
        "run svd square.npy",
        "run svd narrow.npy",
        "run svd tall.npy",
        "run svdvals square.npy",
        "run matmul square.npy square.npy",
        "run matmul wide.npy tall.npy",
        "run matmul batch.npy batch.npy --transpose-b",
        "run cov tall.npy",
        "run pca tall.npy -k 4",
        "run stats tall.npy --axis rows",
        "run quantiles tall.npy --axis rows -q 0.1,0.5",
        "run fft batch.npy --axis 1",
        "run rfft square.npy",
        "run eigsh mesh.txt -k 5",
        "run eigsh social.txt -k 5 --method chebyshev",
        "run eigsh social.txt -k 5 --method lanczos",
        "run eigsh mesh.txt -k 5 --sigma 1.5",
    ] {
        let of = |threads| written(&files, call, threads, "2G").unwrap_or_else(|e| panic!("{call}: {e}"));
        let one = of(1);
        for threads in [2, 3, 8] {
            assert!(of(threads) == one, "{call}: {threads} threads write other bits than one");
        }
    }
}

/// Every memory budget gives the same bits, or an error that names the budget.
#[test]
fn results_do_not_depend_on_the_budget() {
    let files = inputs();
    for call in [
        "encode grid.txt -k 6 --method exact",
        "encode mesh.txt -k 6",
        "encode mesh.txt -k 6 --method fast",
        "encode social.txt -k 6",
        "run eigsh mesh.txt -k 5",
        "run eigsh social.txt -k 5",
        "run svd square.npy",
        "run cov tall.npy",
    ] {
        let whole = written(&files, call, 2, "4G").unwrap_or_else(|e| panic!("{call}: {e}"));
        for budget in ["2G", "64M", "35M", "16M", "4M"] {
            match written(&files, call, 2, budget) {
                Ok(bytes) => assert!(bytes == whole, "{call}: {budget} gives other bits than 4G"),
                Err(words) => assert!(words.to_lowercase().contains("budget"), "{call}: {budget}: {words}"),
            }
        }
    }
}
