// Complex input: all elements, or half of the spectrum of reals.

@group(0) @binding(2) var<storage, read> input: array<vec2<f32>>;

// The imaginary parts at frequency 0 and, for an even number of reals, at the last frequency are ignored, as in NumPy.
fn load(address: u32, place: u32) -> vec2<f32> {
    // The address of the mirrored position. The distance to it may be negative, which is correct because u32 arithmetic
    // wraps.
    let mirrored = address + (params.whole - 2u * place) * params.in_stride;
    if FOLD {
        var z = input[address];
        var other = input[mirrored];
        if place == 0u {
            z.y = 0.0;
            other.y = 0.0;
        }
        return folded(z, other, tables[params.folds + place]);
    }
    if MIRROR {
        if place > params.whole / 2u { return conjugate(input[mirrored]); }
        if place == 0u { return vec2<f32>(input[address].x, 0.0); }
    }
    return input[address];
}
