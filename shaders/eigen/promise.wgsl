// Residuals and departures from orthogonality are promised to stay under PROMISE n EPSILON.
const PROMISE: f32 = 10.0;
