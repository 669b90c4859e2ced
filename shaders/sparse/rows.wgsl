// Computes sums over the entries of rows. A workgroup handles TEAMS rows, with LANES invocations per row. Each
// invocation handles four columns of a row-major slab of 4 LANES columns. A sum is always made in the same order, which
// does not depend on the slab: the entries of a row form groups of four, the terms of a group are added, and then the
// sums of the groups are added one after another.
//
// Loop iterations of an invocation and row: entries / 4 + 3.

override LANES: u32 = 8;
override TEAMS: u32 = 8;
override WEIGHTED: bool = false;
override SCALED: bool = false;

// Returns the term that one entry of W contributes to W S x. `scale` is the diagonal of S; without SCALED, S is the
// identity. Without WEIGHTED, the entries of W are 1.
fn term(entry: u32, part: u32) -> vec4<f32> {
    let column = columns[entry];
    let value = x[column * LANES + part];
    if WEIGHTED {
        var weight = weights[entry];
        if SCALED { weight *= scale[column]; }
        return value * weight;
    }
    if SCALED { return value * scale[column]; }
    return value;
}

fn sum_of_row(begin: u32, end: u32, part: u32) -> vec4<f32> {
    var sum = vec4<f32>(0.0);
    let fours = begin + (end - begin) / 4u * 4u;
    for (var entry = begin; entry < fours; entry += 4u) {
        let one = term(entry, part) + term(entry + 1u, part);
        let other = term(entry + 2u, part) + term(entry + 3u, part);
        sum += one + other;
    }
    for (var entry = fours; entry < end; entry += 1u) { sum += term(entry, part); }
    return sum;
}
