//! Tests of dense matrices: decompositions and products, one suite per file.

mod blocked;
mod complex;
mod eigen;
mod forms;
mod graded;
mod gradient;
mod gradient_parts;
mod gradient_ties;
mod hermitian;
mod matmul;
mod matmul_split;
mod parts;
mod reports;
mod subnormal;
mod svd;

fn main() -> std::process::ExitCode {
    common::run([
        blocked::tests(),
        complex::tests(),
        eigen::tests(),
        forms::tests(),
        graded::tests(),
        gradient::tests(),
        gradient_parts::tests(),
        gradient_ties::tests(),
        hermitian::tests(),
        matmul::tests(),
        matmul_split::tests(),
        parts::tests(),
        reports::tests(),
        subnormal::tests(),
        svd::tests(),
    ])
}
