// Complex arithmetic, and the conversion between half of a spectrum and the transform of pairs of reals.

fn times(a: vec2<f32>, b: vec2<f32>) -> vec2<f32> { return vec2<f32>(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x); }
fn conjugate(a: vec2<f32>) -> vec2<f32> { return vec2<f32>(a.x, -a.y); }

// Returns element k of the spectrum of 2 h reals. Here `z` is Z_k and `mirrored` is Z_(h-k), where Z is the transform
// of the reals taken as h complex values. `w` is exp(-i pi k / h). The result is
// `(Z_k + Z*_(h-k)) / 2 - i w (Z_k - Z*_(h-k)) / 2`.
fn unfolded(z: vec2<f32>, mirrored: vec2<f32>, w: vec2<f32>) -> vec2<f32> {
    let other = conjugate(mirrored);
    let turned = times(w, z - other);
    return 0.5 * (z + other + vec2<f32>(turned.y, -turned.x));
}

// Returns twice Z_k, from X_k (`z`) and X_(h-k) (`mirrored`) of the spectrum X, with the same `w`:
// `X_k + X*_(h-k) + i w* (X_k - X*_(h-k))`.
fn folded(z: vec2<f32>, mirrored: vec2<f32>, w: vec2<f32>) -> vec2<f32> {
    let other = conjugate(mirrored);
    let turned = times(conjugate(w), z - other);
    return z + other + vec2<f32>(-turned.y, turned.x);
}
