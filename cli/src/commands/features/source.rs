//! The data set of a call: samples that consist of layers, or graphs.

use super::{Features, plain, show, with_facts};
use crate::commands::columns;
use crate::commands::reading::{is_stream, notify};
use crate::commands::stores::{Form, Stores};
use crate::commands::{Failure, Where, many};
use fiedler::arrow::Kind;
use fiedler::encode::Progress;
use fiedler::features::{Edges, Extracted, Extractor, GraphExtractor, Part, Report, Representation};
use fiedler::graph::Conventions;
use fiedler::io::{DataSet, Extent, Findings, Format, Layer, Layers, TableTargets, TargetOrigin};
use fiedler::ops::series::Status;
use fiedler::policy::Side;
use fiedler::{Context, ErrorKind, Result};
use indicatif::ProgressBar;
use serde_json::{Value, json};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// The graphs whose columns are passed on together.
const TOGETHER: usize = 4096;

/// A data set, and what computes its columns.
pub(super) enum Source {
    Layers(Box<Layers>, Extractor),
    Graphs(Box<Graphs>),
}

/// The graphs of a data set, each of which is a sample.
pub(super) struct Graphs {
    data: DataSet,
    ids: Vec<String>,
    extractor: GraphExtractor,
    /// What was computed. Steps are fitted in further passes, which do not encode the graphs again.
    found: Option<Extracted>,
}

impl Source {
    /// Opens the data set, and the stores in which results are looked up before they are computed.
    pub(super) fn open(
        call: &Features,
        output: &Path,
        representations: Vec<Representation>,
    ) -> Result<(Self, Stores), Failure> {
        let stores = |form| Stores::open(form, call.storing, output);
        let of_graphs = |one: &Representation| matches!(one.parts().first(), Some(Part::Graph(_)));
        if let Some(first) = representations.iter().find(|one| of_graphs(one)) {
            if let Some(other) = representations.iter().find(|one| !of_graphs(one)) {
                return Err(Failure::Call(format!(
                    "--representations: expected representations of graphs, as {} is, or of numbers, as {} is; each in \
                     a call of its own",
                    first.name(),
                    other.name()
                )));
            }
            let (data, first) = Graphs::read(call, first.name())?;
            let stores = stores(Form::Files)?;
            let extractor = GraphExtractor::new(representations)?.first_graph(first);
            let extractor = stores.all().fold(extractor, |extractor, store| extractor.cache(Arc::clone(store)));
            let numbers = || (first..first + data.graphs.len()).map(|graph| graph.to_string()).collect();
            let ids = match data.format {
                Format::TuDataset | Format::Ogb | Format::Table => numbers(),
                _ if data.graphs.len() != 1 => numbers(),
                _ => vec![data.name.clone()],
            };
            let found = None;
            return Ok((Self::Graphs(Box::new(Graphs { data, ids, extractor, found })), stores));
        }
        check_numbers(call, &representations)?;
        let mut data = Layers::open_with(&call.inputs, call.roles())?;
        data.search();
        if !call.printing.quiet && !call.printing.json {
            columns::warn(data.findings(), &call.inputs[0].display(), columns::ignoring);
        }
        let stores = stores(Form::Packs)?;
        let extractor = Extractor::new(representations).layers(&call.layers);
        let extractor = stores.all().fold(extractor, |extractor, store| extractor.cache(Arc::clone(store)));
        Ok((Self::Layers(Box::new(data), extractor), stores))
    }

    pub(super) fn len(&self) -> usize {
        match self {
            Self::Layers(data, _) => data.len(),
            Self::Graphs(graphs) => graphs.data.graphs.len(),
        }
    }

    pub(super) fn names(&self, place: &Where) -> Result<Vec<String>, Failure> {
        match self {
            Self::Layers(data, extractor) => {
                let names = extractor.names(&place.with(Context::builder().device(false))?, data);
                names.map_err(|error| Failure::Call(plain(&error)))
            }
            Self::Graphs(graphs) => Ok(graphs.extractor.names()),
        }
    }

    /// Opens the context of the call, and returns it with the name of the adapter if a device computes.
    pub(super) fn context(&self, place: &Where) -> Result<(Context, Option<String>), Failure> {
        let Self::Layers(data, extractor) = self else {
            if place.insists() {
                return Err(Failure::Call(
                    "--backend gpu: representations of graphs are computed on the CPU".to_owned(),
                ));
            }
            return Ok((place.with(Context::builder().device(false))?, None));
        };
        let opens = place.opens_device(|ctx| extractor.choose(ctx, data))?;
        let ctx = place.with(Context::builder().device(opens))?;
        let on_device = extractor.choose(&ctx, data)?.side == Side::Gpu;
        let adapter = ctx.adapter().filter(|_| on_device).map(|adapter| adapter.name.clone());
        Ok((ctx, adapter))
    }

    pub(super) fn targets(&self) -> &TableTargets {
        match self {
            Self::Layers(data, _) => data.targets(),
            Self::Graphs(graphs) => &graphs.data.labels,
        }
    }

    /// Describes what the targets are, and where they were found.
    pub(super) fn targets_as_json(&self) -> Value {
        let kind = match self.targets() {
            TableTargets::Labels(..) => "labels",
            TableTargets::Values(..) => "values",
            TableTargets::None => return Value::Null,
        };
        let Self::Layers(data, _) = self else { return json!({"are": kind, "from": "graph_labels"}) };
        match data.target_origin() {
            Some(TargetOrigin::Column { place, name }) => {
                json!({"are": kind, "from": "column", "place": place, "name": name})
            }
            Some(TargetOrigin::Array(name)) => json!({"are": kind, "from": "array", "name": name}),
            Some(TargetOrigin::Arrays(names)) => json!({"are": kind, "from": "arrays", "names": names}),
            Some(TargetOrigin::Folders) => json!({"are": kind, "from": "folders"}),
            _ => json!({"are": kind, "from": "lines"}),
        }
    }

    /// Says what the targets are, and where they were found.
    pub(super) fn targets_in_words(&self) -> String {
        match (self.findings(), self.targets()) {
            (Some(findings), targets) => columns::targets_in_words(findings, columns::classes(targets)),
            (None, TableTargets::None) => "no labels".to_owned(),
            (None, TableTargets::Values(..)) => "targets from graph_labels".to_owned(),
            (None, TableTargets::Labels(..)) => "labels from graph_labels".to_owned(),
        }
    }

    /// Returns what was found out about the columns or arrays; nothing of graphs.
    pub(super) fn findings(&self) -> Option<&Findings> {
        match self {
            Self::Layers(data, _) => Some(data.findings()),
            Self::Graphs(_) => None,
        }
    }

    /// Returns the number of inputs of a sample in all layers, if all samples have as many.
    pub(super) fn inputs(&self) -> Option<usize> {
        let Self::Layers(data, _) = self else { return None };
        let ragged = |layer: &Layer| matches!(layer.extent, Extent::Ragged { .. });
        let layers = data.layers();
        (!layers.iter().any(ragged)).then(|| layers.iter().map(|layer| layer.extent.numbers()).sum())
    }

    /// Says how many nodes of the graphs have no edge.
    pub(super) fn isolated_in_words(&self) -> Option<String> {
        let Self::Graphs(graphs) = self else { return None };
        Some(graphs.data.isolated().to_string()).filter(|words| !words.is_empty())
    }

    pub(super) fn ids(&self) -> Option<&[String]> {
        match self {
            Self::Layers(data, _) => data.ids(),
            Self::Graphs(graphs) => Some(&graphs.ids),
        }
    }

    /// Returns whether a histogram has a range that is fitted.
    pub(super) fn wants_edges(&self) -> bool {
        matches!(self, Self::Layers(_, extractor) if extractor.wants_edges())
    }

    /// Fits the edges of histograms to some samples, and uses them from now on.
    pub(super) fn fit_edges(&mut self, ctx: &Context, rows: Range<usize>) -> Result<Option<Edges>> {
        let edges = match self {
            Self::Layers(data, extractor) if extractor.wants_edges() => extractor.fit_edges(ctx, data, rows)?,
            _ => return Ok(None),
        };
        self.use_edges(edges.clone());
        Ok(Some(edges))
    }

    /// Uses these edges of histograms from now on.
    pub(super) fn use_edges(&mut self, edges: Edges) {
        if let Self::Layers(_, extractor) = self {
            *extractor = extractor.clone().edges(edges);
        }
    }

    /// Computes what is kept in memory before the first pass.
    pub(super) fn prepare(&mut self, ctx: &Context, bar: &ProgressBar) -> Result<()> {
        if let Self::Graphs(graphs) = self {
            let progress = |Progress { done, .. }| bar.set_position(done as u64);
            graphs.found = Some(graphs.extractor.extract(ctx, &graphs.data.graphs, progress)?);
        }
        Ok(())
    }

    /// Passes on the columns of all samples, some samples at a time.
    pub(super) fn stream(
        &self,
        ctx: &Context,
        shown: Option<(&ProgressBar, Instant)>,
        mut take: impl FnMut(&[f32], &[Status]) -> Result<()>,
    ) -> Result<Report> {
        match self {
            Self::Layers(data, extractor) => extractor.stream(ctx, data, |values, status, progress| {
                if let Some((bar, began)) = shown {
                    show(bar, progress, began);
                }
                take(values, status)
            }),
            Self::Graphs(graphs) => {
                let Some(found) = &graphs.found else { return Ok(Report::default()) };
                let width = found.names().len();
                let mut chunks = found.values().chunks(TOGETHER * width).zip(found.status().chunks(TOGETHER));
                chunks.try_for_each(|(values, status)| take(values, status))?;
                Ok(found.report())
            }
        }
    }

    /// Describes the columns, and the data set.
    pub(super) fn description(&self, ctx: &Context, names: &[String], report: Report) -> Result<Value> {
        let mut about = match self {
            Self::Layers(data, extractor) => extractor.description(ctx, data)?,
            Self::Graphs(graphs) => graphs.extractor.description(),
        };
        self.add_data(&mut about);
        if let Self::Graphs(_) = self {
            about["graphs"]["not_converged"] = report.uncertified.into();
        }
        with_facts(&mut about, self.len(), names, report);
        Ok(about)
    }

    /// Adds the data set to a description.
    pub(super) fn add_data(&self, about: &mut Value) {
        match self {
            Self::Layers(data, _) => {
                let layer = |layer: &Layer| json!({"name": layer.name, "shape": shape(layer.extent)});
                about["layers"] = data.layers().iter().map(layer).collect();
                about["left_out"] = data.findings().left_out.iter().map(|(name, _)| name.as_str()).collect();
            }
            Self::Graphs(graphs) => {
                let all = &graphs.data.graphs;
                about["graphs"] = json!({"name": graphs.data.name, "nodes": all.nodes(), "entries": all.entries()});
            }
        }
        about["targets"] = self.targets_as_json();
        about["samples"] = self.len().into();
    }

    /// Returns the number of layers; graphs have none.
    pub(super) fn layers(&self) -> usize {
        match self {
            Self::Layers(data, _) => data.layers().len(),
            Self::Graphs(_) => 0,
        }
    }
}

impl Graphs {
    /// Reads the graphs of a call, and returns them with the number by which its files refer to the first.
    fn read(call: &Features, representation: &str) -> Result<(DataSet, usize), Failure> {
        let [input] = &call.inputs[..] else {
            let found = many(call.inputs.len(), "input", "inputs");
            return Err(Failure::Call(format!("{representation}: expected one data set of graphs, found {found}")));
        };
        if call.label.is_some() {
            return Err(Failure::Call(format!(
                "--label: the labels of graphs are in their data set, found {representation}"
            )));
        }
        if !call.layers.is_empty() {
            return Err(Failure::Call(format!("--layers: graphs have no layers, which {representation} is of")));
        }
        let advised = |failure: Failure| match failure {
            Failure::Failed(error) if matches!(error.kind(), ErrorKind::Parse { .. }) => Failure::Said(format!(
                "{error}; {representation} is of graphs, and the other kinds that --list shows are of numbers"
            )),
            other => other,
        };
        let format = match is_stream(input) || Kind::of_file(input).is_some() {
            true => None,
            false => Some(Format::detect(input).map_err(|error| advised(error.into()))?),
        };
        let read = call.reading.read_labeled(input, &Conventions::default());
        // Arrays may be samples of numbers as well.
        let mut data = if format == Some(Format::Arrays) { read.map_err(advised)? } else { read? };
        if call.no_labels {
            data.labels = TableTargets::None;
        }
        if !call.printing.quiet && !call.printing.json {
            notify(&data);
        }
        let first = data.format.first_graph();
        Ok((data, first))
    }
}

/// Checks that the inputs of representations of numbers are no graphs.
fn check_numbers(call: &Features, representations: &[Representation]) -> Result<(), Failure> {
    if call.reading.edge_weight_column.is_some() {
        return Err(Failure::Call("--edge-weight-column: expected a representation of graphs".to_owned()));
    }
    let [input] = &call.inputs[..] else { return Ok(()) };
    let what = match Format::detect(input) {
        // These may also be samples of numbers.
        Ok(Format::EdgeList | Format::Arrays | Format::Files) | Err(_) => return Ok(()),
        Ok(Format::TuDataset) => "the graphs of a TUDataset".to_owned(),
        Ok(Format::Ogb) => "the graphs of an OGB folder".to_owned(),
        Ok(format) => format!("a graph in {}", format.name()),
    };
    let name = representations.first().map_or("none", Representation::name);
    let shown = input.display();
    Err(Failure::Call(format!(
        "{shown}: expected samples of numbers for {name}, found {what}; --representations graph is for graphs"
    )))
}

fn shape(extent: Extent) -> Vec<usize> {
    match extent {
        Extent::Vector(n) | Extent::Ragged { longest: n } => vec![n],
        Extent::Matrix { rows, columns } => vec![rows, columns],
    }
}
