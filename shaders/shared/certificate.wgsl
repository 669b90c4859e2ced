// How a decomposition of a matrix ended: the last number of its certificate, the codes of `Status` in src/ops/certificate.rs.

const CONVERGED: f32 = 0.0;
const NOT_CONVERGED: f32 = 1.0;
const NON_FINITE: f32 = 2.0;

// The spacing of f32 at 1: residuals and departures from orthogonality are promised in multiples of it.
const EPSILON: f32 = 1.1920929e-7;
