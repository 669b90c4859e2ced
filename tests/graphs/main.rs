//! Tests of graphs, one suite per file: Laplacians, sparse products, eigenpairs of sparse matrices, and encodings.

mod arrow;
mod by_graph;
mod eigsh;
mod encode;
mod encode_fast;
mod laplacian;
mod magnetic;
mod relative;
mod sameness;
mod signed;
mod spmm;
mod structural;
mod structural_walks;
mod weak;
mod weights;

fn main() -> std::process::ExitCode {
    common::run([
        arrow::tests(),
        by_graph::tests(),
        eigsh::tests(),
        encode::tests(),
        encode_fast::tests(),
        laplacian::tests(),
        magnetic::tests(),
        relative::tests(),
        sameness::tests(),
        signed::tests(),
        spmm::tests(),
        structural::tests(),
        structural_walks::tests(),
        weak::tests(),
        weights::tests(),
    ])
}
