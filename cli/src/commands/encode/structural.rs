//! The structural encodings that `fiedler encode` writes beside the eigenpairs.

use super::Encode;
use crate::commands::Failure;
use clap::{Args, ValueEnum};
use fiedler::array::Real;
use fiedler::encode::{StructuralEncoder, StructuralEncoding};
use fiedler::graph::GraphBatch;
use fiedler::io::{DataSet, structural_arrays};
use fiedler::ops::Normalization;
use fiedler::{Backend, Context};

/// The options of structural encodings.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Structural encodings, from the whole spectrum of each graph, on the CPU")]
pub(super) struct Structural {
    /// Write heat_kernel: the diagonals of exp(-t L) for these times. With --drop-trivial, the null space is left out
    /// of them, which makes them HKdiagSE of GraphGPS.
    #[arg(long, value_name = "T,...", value_delimiter = ',')]
    heat_times: Vec<f64>,
    /// Write wave_kernel: the wave kernel signatures at N energies.
    #[arg(long, value_name = "N", default_value_t = 0)]
    wave_energies: usize,
    /// The Laplacian of heat kernels and wave kernels.
    #[arg(long, value_enum, value_name = "LAPLACIAN", default_value_t = Kernel::Combinatorial)]
    kernel_laplacian: Kernel,
    /// Write pagerank: the diagonals of personalized PageRank for these restart probabilities.
    #[arg(long, value_name = "A,...", value_delimiter = ',')]
    pagerank: Vec<f64>,
    /// Write electrostatic: the ten columns of ElstaticSE of GraphGPS.
    #[arg(long)]
    electrostatic: bool,
    /// Write resistance and commute_time of each edge, and edge_index, which says which edges they are.
    #[arg(long)]
    resistances: bool,
    /// Write resistance_matrix: the effective resistances between all nodes of each graph.
    #[arg(long)]
    all_pairs: bool,
    /// Write spectral_gap, kirchhoff_index and log_spanning_trees of each graph.
    #[arg(long)]
    invariants: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Kernel {
    Combinatorial,
    Symmetric,
}

impl Structural {
    /// Returns whether the call computes any structural encoding.
    pub(super) fn is_any(&self) -> bool {
        !self.heat_times.is_empty()
            || !self.pagerank.is_empty()
            || self.wave_energies > 0
            || self.electrostatic
            || self.resistances
            || self.all_pairs
            || self.invariants
    }

    /// Refuses tables, which have columns for eigenpairs alone.
    pub(super) fn check_no_tables(&self) -> Result<(), Failure> {
        if self.is_any() {
            let what = "structural encodings are written to .npz, .safetensors and .csv, and read from files of graphs: \
                        expected neither --format nor a table, found one";
            return Err(Failure::Call(what.to_owned()));
        }
        Ok(())
    }

    /// Computes the structural encodings, if the call has any.
    pub(super) fn encoded<T: Real>(
        &self,
        ctx: &Context,
        data: &DataSet,
        drop_trivial: bool,
    ) -> Result<Option<StructuralEncoding<T>>, Failure> {
        if !self.is_any() {
            return Ok(None);
        }
        let encoder = self.encoder().drop_trivial(drop_trivial).first_graph(data.format.first_graph());
        let graphs: &GraphBatch = &data.graphs;
        Ok(Some(encoder.encode_with(&ctx.with_backend(Backend::Cpu), graphs, |_| ())?))
    }

    fn encoder(&self) -> StructuralEncoder {
        StructuralEncoder::new()
            .heat_kernel(&self.heat_times)
            .wave_kernel(self.wave_energies)
            .pagerank(&self.pagerank)
            .electrostatic(self.electrostatic)
            .resistances(self.resistances)
            .all_pairs(self.all_pairs)
            .invariants(self.invariants)
            .laplacian(match self.kernel_laplacian {
                Kernel::Combinatorial => Normalization::Combinatorial,
                Kernel::Symmetric => Normalization::Symmetric,
            })
    }

    /// Returns how many columns the call computes of each array, or of arrays with one axis, whether it computes them.
    /// `--resume` takes an output for finished only if it has the same.
    pub(super) fn columns(call: &Encode) -> [(&'static str, usize); 7] {
        let own = &call.structural;
        [
            ("heat_kernel", own.heat_times.len()),
            ("wave_kernel", own.wave_energies),
            ("pagerank", own.pagerank.len()),
            ("electrostatic", if own.electrostatic { StructuralEncoding::<f32>::ELECTROSTATIC } else { 0 }),
            ("resistance", own.resistances.into()),
            ("resistance_matrix", own.all_pairs.into()),
            ("spectral_gap", own.invariants.into()),
        ]
    }
}

/// Returns the arrays of a structural encoding, if there is one.
pub(super) fn arrays<T: Real>(encoding: Option<&StructuralEncoding<T>>) -> Vec<fiedler::io::NamedArray<'_>> {
    encoding.map(structural_arrays).unwrap_or_default()
}
