// Residuals and departures from orthogonality are promised to be at most PROMISE n EPSILON.
const PROMISE: f32 = 10.0;
