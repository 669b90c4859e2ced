// One step of a recurrence at one row: y <- `product` A x + `own` x + `before` y, where A = diag(d) + `coupling` S W S.
//
// coefficients[base + problem] = (product, own, before, 1 + the first column that takes part); the last component is 0
// if no column takes part. The slab starts at column `column` of the block, and the block ends before column `width`.
// Columns and problems that do not take part keep their values in y. In the first step (`fresh`), these values are
// copied from x, because y is not defined yet.

struct Params { first: u32, end: u32, base: u32, fresh: u32, coupling: f32, column: u32, width: u32 }

// Returns which of the four columns of an invocation take part.
fn taking_part(problem: u32, part: u32) -> vec4<bool> {
    let column = params.column + 4u * part + vec4<u32>(0u, 1u, 2u, 3u);
    let place = u32(coefficients[params.base + problem].w);
    return vec4<bool>(place != 0u) & (column + 1u >= vec4<u32>(place)) & (column < vec4<u32>(params.width));
}

// Keeps the values of a row in which no column takes part.
fn pass_over(row: u32, part: u32) {
    if params.fresh != 0u { y[row * LANES + part] = x[row * LANES + part]; }
}

// Computes the step for four columns of a row; `sum` is W S x at the row.
fn advance(row: u32, problem: u32, part: u32, sum: vec4<f32>) {
    let place = row * LANES + part;
    let factors = coefficients[params.base + problem];
    let here = x[place];
    var coupled = params.coupling * sum;
    if SCALED { coupled *= scale[row]; }
    var next = factors.x * (diagonal[row] * here + coupled) + factors.y * here;
    var kept = here;
    if params.fresh == 0u {
        kept = y[place];
        next += factors.z * kept;
    }
    y[place] = select(kept, next, taking_part(problem, part));
}
