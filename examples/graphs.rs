//! Laplacian encodings of many graphs of different sizes in one call.

use fiedler::prelude::*;

fn main() -> fiedler::Result<()> {
    let conventions = Conventions::pyg();
    let ring: Vec<(u32, u32)> = (0..6).flat_map(|i| [(i, (i + 1) % 6), ((i + 1) % 6, i)]).collect();
    let path: Vec<(u32, u32)> = (0..3).flat_map(|i| [(i, i + 1), (i + 1, i)]).collect();
    let graphs = GraphBatch::from_graphs(&[
        Graph::from_edges(6, &ring, &conventions)?,
        Graph::from_edges(4, &path, &conventions)?,
    ])?;

    let encoder = SpectralEncoder::new(4).laplacian(Normalization::Symmetric).drop_trivial(true).walk_steps(3);
    let encoding = encoder.encode(&Context::new()?, &graphs)?;

    for i in 0..encoding.graphs() {
        println!("graph {i}: eigenvalues {:?}", encoding.eigenvalues(i));
        println!("eigenvectors {}", encoding.eigenvectors(i));
        println!("return probabilities {}", encoding.random_walk(i));
        println!("{:?}", encoding.certificate(i));
    }
    // Most eigenvalues of the ring are double. The two eigenvectors of a double eigenvalue are the canonical basis of
    // the plane that they span, which is the same on every machine.
    assert_eq!(encoding.tie_group[0], encoding.tie_group[1]);
    // The path has three eigenpairs in addition to its zero mode, so the fourth column is masked.
    assert_eq!(encoding.mask[4..], [1, 1, 1, 0]);
    Ok(())
}
