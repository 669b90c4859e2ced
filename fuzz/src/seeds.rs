//! Valid inputs of every format, which a target starts from. The files are those of the tests.

#[path = "../../tests/host/io_formats/samples.rs"]
#[allow(dead_code, reason = "the tests need more of it")]
mod samples;

use crate::{ARRAYS, GRAPHS, MODELS, SAMPLES, TABLES};
use fiedler::Context;
use fiedler::arrow::{Kind, TableWriter, batches_of};
use fiedler::graph::molecules;
use fiedler::ops::mlp::{Activation, Loss, Mlp, Optimizer, Samples, Targets};
use fiedler::train::{Origin, Runs, Trainer};
use std::fs;
use std::path::Path;

/// Writes the inputs of a target to the folder that the environment variable `FUZZ_CORPUS` names, if there is one.
pub(crate) fn write(target: &str) {
    let Some(folder) = std::env::var_os("FUZZ_CORPUS") else { return };
    for (name, input) in of(target) {
        fs::write(Path::new(&folder).join(name), input).expect("a seed");
    }
}

/// Returns the input that chooses the name with this ending.
fn input(names: &[&str], name: &str, content: &[u8]) -> Vec<u8> {
    let ending = |name: &str| name.rsplit('.').next().map(str::to_owned);
    let place = names
        .iter()
        .position(|own| ending(own) == ending(name))
        .unwrap_or_else(|| panic!("no target has the ending of {name}"));
    [&[u8::try_from(place).expect("few names")], content].concat()
}

fn of(target: &str) -> Vec<(&'static str, Vec<u8>)> {
    let text = |text: &str| text.as_bytes().to_vec();
    let (names, all): (&[&str], _) = match target {
        "arrays" => (
            &ARRAYS,
            vec![
                ("a.npy", samples::index()),
                ("stored.npz", samples::stored(&samples::arrays())),
                ("deflated.npz", samples::deflated(&samples::arrays())),
                ("a.safetensors", samples::tensors()),
            ],
        ),
        "graphs" => {
            let mut all = samples::all();
            all.extend(samples::unweighted());
            all.push(("z.gz", samples::gzip(samples::GRAPHML.as_bytes())));
            all.push(("z.zst", samples::zstd(samples::GML.as_bytes())));
            (&GRAPHS, all)
        }
        "models" => (&MODELS, vec![("m.safetensors", model())]),
        "samples" => (
            &SAMPLES,
            vec![
                ("x.csv", text("id,width,color,label\n1,0.5,red,yes\n2,,blue,no\n3,1e3,red,yes\n")),
                ("x.tsv", text("1,5\t2,5\ta\n3,5\t4,5\tb\n")),
                ("x.txt", text("01101001 2\n11110000 1\n")),
            ],
        ),
        "tables" => (
            &TABLES,
            vec![
                ("t.parquet", table(Kind::Parquet)),
                ("t.arrow", table(Kind::File)),
                ("t.arrows", table(Kind::Stream)),
            ],
        ),
        "arguments" => {
            return vec![
                ("encode", text("encode\ng.txt\n-k\n8\n--laplacian\nmagnetic\n--charge\n0.25\n--output\ng.npz")),
                ("train", text("train\nx.csv\n--hidden\n64,32\n--lr\n0.1,0.01\n--seeds\n3\n--epochs\n2")),
                ("run", text("run\nmatmul\na.npy\nb.npy\n--memory-budget\n1G\n--threads\n2")),
                ("bench", text("bench\neigh\n--shapes\n1000x8,3x300\n--json")),
            ];
        }
        _ => {
            return vec![
                ("lora", text(include_str!("../../examples/lora.toml"))),
                ("series", text(include_str!("../../examples/series.toml"))),
                ("list", text("core33, quantiles(q=[0.1, 0.9], mad=false), stats")),
            ];
        }
    };
    all.into_iter().map(|(name, content)| (name, input(names, name, &content))).collect()
}

/// What `write` writes to a file.
fn written(write: impl FnOnce(&Path) -> fiedler::Result<()>) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("seed.safetensors");
    write(&path).expect("a file");
    fs::read(&path).expect("a file")
}

fn table(kind: Kind) -> Vec<u8> {
    let graphs = molecules(4, 1).expect("graphs");
    let batches: Vec<_> = batches_of(&graphs, None).map(|batch| batch.expect("a batch")).collect();
    let fill = |out: &mut TableWriter<'_>| batches.iter().try_for_each(|batch| out.write(batch));
    written(|path| TableWriter::create(path, kind, &batches[0].schema(), fill))
}

fn model() -> Vec<u8> {
    let labels = (0..20).map(|i| i % 2).collect();
    let samples = Samples::new(1, (0..20_u8).map(f32::from).collect(), Targets::Labels(labels)).expect("samples");
    let net = Mlp::builder(1).layer(2, Activation::Relu).output(2).expect("a network");
    let runs = Runs::seeds(Optimizer::Adam, 1, 2).expect("runs");
    let trainer = Trainer::new(net, Loss::CROSS_ENTROPY, Optimizer::Adam).epochs(1);
    let fit = trainer.fit(&Context::cpu(), &samples, &runs).expect("a training");
    written(|path| fit.write_weights(path, &Origin::default()))
}
