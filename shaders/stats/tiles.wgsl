// Tiles of a lower triangle, row by row: which row and column of tiles the one of that number has.

fn tile_of(number: u32) -> vec2<u32> {
    var row = u32((sqrt(8.0 * f32(number) + 1.0) - 1.0) * 0.5);
    // The root may be off by a little.
    if row * (row + 1u) / 2u > number { row -= 1u; }
    if (row + 1u) * (row + 2u) / 2u <= number { row += 1u; }
    return vec2<u32>(row, number - row * (row + 1u) / 2u);
}
