// The state of a matrix, which the kernels of one decomposition share: the flags and the number of sweeps
// (shared/state.wgsl), the exponent e, and whether a column of V is missing.

// A column is missing if its squared length is at most this bound, 2^-80. A length of 2^-40 is negligible relative to
// the largest element of the matrix, which is in [1, 2) after scaling. The inner products of longer columns are far
// enough from underflow to keep their digits.
const MISSING: f32 = 8.271806e-25;

// The shape of the matrix that is solved. It is the transpose of the given matrix if the given matrix is wide.
struct Given { long: u32, short: u32, wide: u32 }

fn given_at(g: Given, matrix: u32, i: u32, j: u32) -> u32 {
    return matrix * g.long * g.short + select(i + j * g.long, j + i * g.short, g.wide != 0u);
}
