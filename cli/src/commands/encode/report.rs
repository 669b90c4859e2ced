//! The report that `fiedler encode` prints at the end: one line, or one JSON object.

use super::{Encode, Precision};
use crate::commands::stores::Stores;
use crate::commands::{IN_F64, many};
use fiedler::array::Real;
use fiedler::encode::{Encoding, Report};
use fiedler::graph::{GraphBatch, Isolated};
use fiedler::io::DataSet;
use fiedler::{Backend, Context};
use serde_json::Value;

/// The facts about the graphs and their encodings that the report states.
#[derive(Debug)]
pub(super) struct Facts {
    edges: usize,
    uncertified: usize,
    residual: f32,
    orthogonality: f32,
    components: i64,
    /// The number of graphs with fewer pairs than requested.
    fewer: usize,
    /// The minimum number of pairs of a graph; k if no graph has fewer than k.
    fewest: usize,
    /// The smallest nonzero eigenvalue, if there is only one graph and its pairs include a nonzero eigenvalue.
    smallest: Option<f64>,
    /// The number of graphs that have nonzero eigenvalues but whose computed eigenvalues are all 0.
    zeros_alone: usize,
}

impl Facts {
    pub(super) fn of<T: Real>(graphs: &GraphBatch, encoding: &Encoding<T>) -> Self {
        let worst =
            |values: &[f32]| values.iter().copied().fold(0.0, |m: f32, x| if x.is_nan() || x > m { x } else { m });
        let k = encoding.k;
        let pairs = |i: usize| encoding.mask[i * k..(i + 1) * k].iter().filter(|&&there| there == 1).count();
        let zeros = |i: usize| encoding.eigenvalues(i)[..pairs(i)].iter().take_while(|x| x.to_f64() == 0.0).count();
        let zeros_alone = |i: &usize| {
            // All eigenvalues of a graph without edges are 0.
            let more = graphs.graph(*i).entries() > 0;
            more && pairs(*i) > 0 && zeros(*i) == pairs(*i)
        };
        let loops = |row: usize, neighbors: &[u32]| neighbors.iter().filter(|&&column| column as usize == row).count();
        let loops: usize = graphs
            .iter()
            .map(|graph| (0..graph.nodes()).map(|row| loops(row, graph.neighbors(row))).sum::<usize>())
            .sum();
        let few = (0..graphs.len()).map(pairs).filter(|&pairs| pairs < k);
        Self {
            edges: (graphs.entries() + loops) / 2,
            uncertified: encoding.uncertified(),
            residual: worst(&encoding.residual),
            orthogonality: worst(&encoding.orthogonality),
            components: encoding.components.iter().sum(),
            fewer: few.clone().count(),
            fewest: few.min().unwrap_or(k),
            smallest: (graphs.len() == 1)
                .then(|| encoding.eigenvalues(0)[zeros(0)..pairs(0)].first().map(|x| x.to_f64()))
                .flatten()
                .filter(|x| x.is_finite()),
            zeros_alone: (0..graphs.len()).filter(zeros_alone).count(),
        }
    }
}

/// The results of a finished call, for the report.
pub(super) struct Done<'a> {
    pub(super) ctx: &'a Context,
    pub(super) data: &'a DataSet,
    /// The number of nodes in the input.
    pub(super) listed: usize,
    pub(super) report: &'a Report,
    pub(super) stores: &'a Stores,
    pub(super) seconds: [(&'static str, f64); 4],
    pub(super) facts: Facts,
    /// The nodes without edges of the input.
    pub(super) isolated: Isolated,
}

impl Done<'_> {
    pub(super) fn as_json(&self, call: &Encode) -> String {
        let Self { ctx, data, report, stores, facts, .. } = self;
        let times: serde_json::Map<_, _> =
            self.seconds.iter().map(|(stage, s)| ((*stage).to_owned(), Value::from(*s))).collect();
        serde_json::json!({
            "input": call.input, "output": call.output, "format": format!("{:?}", data.format),
            "graphs": data.graphs.len(), "nodes": data.graphs.nodes(), "listed_nodes": self.listed,
            "edges": facts.edges, "entries": data.graphs.entries(), "k": call.k,
            "graphs_with_fewer_pairs": facts.fewer, "fewest_pairs": facts.fewest,
            "nodes_without_edges": self.isolated.nodes, "ids_seem_to_begin_at_1": self.isolated.seems_from_one(),
            "components": facts.components, "smallest_nonzero": self.smallest(call), "graphs_of_zeros_alone": self.zeros_alone(call),
            "on_gpu": report.on_gpu, "on_cpu": report.on_cpu, "solved_again": report.solved_again, "stored": report.stored,
            "blocks": stores.as_json(), "chunks": report.chunks, "adapter": ctx.adapter().map(|a| a.name.as_str()),
            "without_adapter": ctx.without_adapter_because(), "choice": report.choice.to_string(),
            "predicted": {"cpu": report.choice.cpu_seconds, "gpu": Some(report.choice.gpu_seconds).filter(|s| s.is_finite())},
            "uncertified": facts.uncertified, "residual": facts.residual,
            "orthogonality": facts.orthogonality, "seconds": times, "notices": data.all_notices().collect::<Vec<_>>(),
        })
        .to_string()
    }

    /// Returns the smallest nonzero eigenvalue; `None` if the call asks for the largest pairs.
    fn smallest(&self, call: &Encode) -> Option<f64> {
        self.facts.smallest.filter(|_| call.wants_smallest())
    }

    fn zeros_alone(&self, call: &Encode) -> usize {
        if call.wants_smallest() { self.facts.zeros_alone } else { 0 }
    }

    /// Returns the last line of the output. It says what was encoded, the number of pairs, where the call ran and why,
    /// how it ended, what the eigenvalues say about the graph, and how long the call took.
    pub(super) fn words(&self, call: &Encode) -> String {
        let Self { data, facts, .. } = self;
        let of = [
            many(data.graphs.len(), "graph", "graphs"),
            many(data.graphs.nodes(), "node", "nodes"),
            many(facts.edges, "edge", "edges"),
        ];
        let mut parts = vec![format!("{}: {}{}", data.name, of.join(", "), self.left(call))];
        parts.extend(Some(self.isolated.to_string()).filter(|words| !words.is_empty()));
        parts.push(format!(
            "{}, {}",
            pairs(call.k, data.graphs.len() == 1, facts.fewer, facts.fewest),
            self.place(call)
        ));
        let state = match facts.uncertified {
            0 => "all converged".to_owned(),
            some => format!("{some} NOT converged"),
        };
        parts.push(format!("{state}, largest residual {:.1e}", facts.residual));
        if data.graphs.len() == 1 {
            let smallest = self.smallest(call).map(|x| format!(", smallest non-zero eigenvalue {}", four_digits(x)));
            let count = usize::try_from(facts.components).unwrap_or(0);
            parts.push(many(count, "component", "components") + &smallest.unwrap_or_default());
        }
        parts.extend(self.hint(call));
        let total: f64 = self.seconds.iter().map(|(_, s)| s).sum();
        let opened = self.ctx.adapter().is_some();
        let stages = self.seconds.iter().filter(|(stage, _)| opened || *stage != "open");
        let stages: Vec<String> = stages.map(|(stage, s)| format!("{stage} {s:.3}")).collect();
        parts.push(format!("{}{total:.3} s ({})", self.stores.words(), stages.join(", ")));
        parts.join("; ")
    }

    /// Describes which nodes of the input were left out.
    fn left(&self, call: &Encode) -> String {
        if !call.largest_component {
            return String::new();
        }
        let each = if self.data.graphs.len() == 1 { "" } else { " of each" };
        format!(" (the largest component{each}, of {} nodes)", self.listed)
    }

    /// Says on which side the pairs were computed, and why on that side.
    fn place(&self, call: &Encode) -> String {
        let report = self.report;
        let name = self.ctx.adapter().map_or("the adapter", |adapter| adapter.name.as_str());
        let place = match (report.on_gpu, report.on_cpu) {
            (0, 0) if report.stored > 0 => return "computed before and stored".to_owned(),
            (0, _) => "on the CPU".to_owned(),
            (_, 0) => format!("on {name}"),
            (gpu, cpu) => format!("{gpu} graphs on {name} and {cpu} on the CPU"),
        };
        let again = match report.solved_again {
            0 => String::new(),
            some => format!(", {} solved again in f64 on the CPU", many(some, "graph", "graphs")),
        };
        let in_f64 = call.precision == Precision::F64 && call.place.backend() != Backend::Cpu;
        let why = if in_f64 { IN_F64.to_owned() } else { report.choice.reason.to_string() };
        format!("{place} ({why}){again}")
    }

    /// If all computed eigenvalues of a graph are 0, which says little about the graph, returns which options help.
    fn hint(&self, call: &Encode) -> Option<String> {
        let some = self.zeros_alone(call);
        if some == 0 {
            return None;
        }
        let whose = match (self.data.graphs.len(), some) {
            (1, _) => "all eigenvalues here are 0, one for each component".to_owned(),
            (_, some) => {
                format!("in {} all eigenvalues here are 0, one for each component", many(some, "graph", "graphs"))
            }
        };
        let several = usize::try_from(self.facts.components).is_ok_and(|count| count > self.data.graphs.len());
        let or = if several { ", --largest-component keeps only the largest component" } else { "" };
        Some(format!("{whose}: --drop-trivial leaves them out{or}"))
    }
}

/// Says how many pairs each graph has, if `fewer` graphs have fewer than k, and at least one of them `fewest`.
pub(super) fn pairs(k: usize, single: bool, fewer: usize, fewest: usize) -> String {
    match (fewer, single) {
        (0, true) => many(k, "eigenpair", "eigenpairs"),
        (0, false) => format!("{} each", many(k, "eigenpair", "eigenpairs")),
        (_, true) => {
            let all = many(fewest, "eigenpair", "eigenpairs");
            format!("all {all} (-k asks for {k}: the columns beyond are masked)")
        }
        (some, false) => format!(
            "{k} eigenpairs each, except for {} with as few as {fewest} (the columns beyond are masked)",
            many(some, "graph", "graphs")
        ),
    }
}

/// Formats a value with four significant digits. Values from 1e-3 up to 1e4 are written without an exponent.
fn four_digits(x: f64) -> String {
    if !(1e-3..1e4).contains(&x) {
        return format!("{x:.3e}");
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "from -3 to 3")]
    let decimals = (3 - x.log10().floor() as i32).max(0) as usize;
    format!("{x:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::four_digits;

    #[test]
    fn numbers_are_shown_with_four_digits() {
        for (x, want) in [
            (0.132_272_3, "0.1323"),
            (1.0, "1.000"),
            (0.001_234_56, "0.001235"),
            (1234.5, "1234"),
            (1.234_56e-7, "1.235e-7"),
            (2e9, "2.000e9"),
        ] {
            assert_eq!(four_digits(x), want);
        }
    }
}
