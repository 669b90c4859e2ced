// The rotation of one-sided Jacobi. Needs shared/real.wgsl.

// Squared norms from here down are taken as 0: at their size a product no longer has eight digits, and what is scaled to 1 is never
// so small unless it is rounding.
const NOTHING: f32 = 1e-35;

// |cos| of the angle between two columns with the squared norms x, y and the inner product z; 0 where one of them is nothing.
fn cosine(x: f32, y: f32, z: f32) -> f32 {
    if x > NOTHING && y > NOTHING { return abs(z) * reciprocal_sqrt(x) * reciprocal_sqrt(y); }
    return 0.0;
}

// What makes them orthogonal: (c, s) with c x_i - s y_i and s x_i + c y_i the new columns. (1, 0) where they are orthogonal to
// `tolerance` already.
fn rotation(x: f32, y: f32, z: f32, tolerance: f32) -> vec2<f32> {
    var turn = vec2<f32>(1.0, 0.0);
    if cosine(x, y, z) > tolerance {
        let zeta = (y - x) / (2.0 * z);
        var t = select(-1.0, 1.0, zeta >= 0.0) / (abs(zeta) + sqrt(1.0 + zeta * zeta));
        // Its square overflows where one column is all but nothing beside the other.
        if abs(zeta) > 1e18 { t = 0.5 / zeta; }
        let c = inverseSqrt(1.0 + t * t);
        let s = c * t;
        // Division and inverseSqrt are loose; one Newton step makes the rotation orthogonal.
        turn = vec2<f32>(c, s) * (1.5 - 0.5 * (c * c + s * s));
    }
    return turn;
}
