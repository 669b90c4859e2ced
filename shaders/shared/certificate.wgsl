// The status of a decomposition, which is the last number of its certificate. The codes are those of `Status` in
// src/ops/certificate.rs.

const CONVERGED: f32 = 0.0;
const NOT_CONVERGED: f32 = 1.0;
const NON_FINITE: f32 = 2.0;

// The spacing of f32 at 1. Residuals and departures from orthogonality are promised in multiples of it.
const EPSILON: f32 = 1.1920929e-7;

// Returns the certificate: the largest residual divided by the norm, the departure from orthogonality, the number of
// sweeps, and the status. The residual and the departure are passed as bits, because infinity and NaN can be detected
// in bits whatever a compiler assumes about numbers. Residual and departure are promised to be at most promise * order
// * EPSILON.
fn judge(
    order: u32, promise: f32, norm: f32, residual: u32, departure: u32, sweeps: u32, orthogonal: bool, finite: bool,
) -> vec4<f32> {
    // A matrix of zeros has residual 0.
    let relative = bitcast<f32>(residual) / select(norm, 1.0, norm == 0.0);
    let away = bitcast<f32>(departure);
    let allowed = promise * EPSILON * f32(max(order, 1u));
    var status = CONVERGED;
    if !orthogonal || relative > allowed || away > allowed || max(residual, departure) >= INFINITE { status = NOT_CONVERGED; }
    if !finite { status = NON_FINITE; }
    return vec4<f32>(relative, away, f32(sweeps), status);
}
