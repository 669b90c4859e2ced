// Residuals and departures from orthogonality are promised to be at most PROMISE n EPSILON for a matrix of order n.
const PROMISE: f32 = 10.0;
