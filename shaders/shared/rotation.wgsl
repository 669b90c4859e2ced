// The rotation of one-sided Jacobi. Needs shared/real.wgsl.

// Squared norms up to this bound count as 0. Products of this size no longer have the full precision of f32. In data
// whose largest elements are about 1, squared norms are this small only if the columns are rounding errors.
const NEGLIGIBLE: f32 = 1e-35;

// Returns |cos| of the angle between two columns with the squared norms x and y and the inner product z. Returns 0 if
// either squared norm is negligible.
fn cosine(x: f32, y: f32, z: f32) -> f32 {
    let some = min(x, y) > NEGLIGIBLE;
    return select(0.0, abs(z), some) * reciprocal_sqrt(select(1.0, x, some)) * reciprocal_sqrt(select(1.0, y, some));
}

// Returns the rotation (c, s) that makes two columns u and v orthogonal. The new columns are c u - s v and s u + c v.
// The squared norms of the columns are x and y, and their inner product is z. The rotation is (1, 0) if the cosine of
// the columns is at most `tolerance`. The function has no branch, so that a compiler may interleave the rotations of
// disjoint pairs.
fn rotation(x: f32, y: f32, z: f32, tolerance: f32) -> vec2<f32> {
    let turns = cosine(x, y, z) > tolerance;
    let zeta = (y - x) / (2.0 * select(1.0, z, turns));
    // The square of zeta overflows if one column is negligible relative to the other.
    let large = abs(zeta) > 1e18;
    let bounded = select(zeta, 0.0, large);
    let near = select(-1.0, 1.0, zeta >= 0.0) / (abs(bounded) + sqrt(1.0 + bounded * bounded));
    let t = select(near, 0.5 / select(1.0, zeta, large), large);
    let c = inverseSqrt(1.0 + t * t);
    let s = c * t;
    // Division and inverseSqrt are imprecise, so one Newton step makes the rotation orthogonal.
    return select(vec2<f32>(1.0, 0.0), vec2<f32>(c, s) * (1.5 - 0.5 * (c * c + s * s)), turns);
}

// Returns the squared norms after the rotation `turn`. A rotation by a tiny angle changes the norms only slightly.
fn turned_squares(x: f32, y: f32, z: f32, turn: vec2<f32>) -> vec2<f32> {
    let change = turn.y / turn.x * z;
    return vec2<f32>(x - change, y + change);
}
