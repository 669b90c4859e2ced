//! Tests of graphs: Laplacians, sparse products and pairs, encodings; one suite per file.

mod eigsh;
mod encode;
mod encode_fast;
mod laplacian;
mod sameness;
mod spmm;
mod weak;

fn main() -> std::process::ExitCode {
    common::run([
        eigsh::tests(),
        encode::tests(),
        encode_fast::tests(),
        laplacian::tests(),
        sameness::tests(),
        spmm::tests(),
        weak::tests(),
    ])
}
