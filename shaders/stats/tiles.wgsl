// Returns the row and column of tile `number`, where the tiles of a lower triangle are numbered row by row.

fn tile_of(number: u32) -> vec2<u32> {
    var row = u32((sqrt(8.0 * f32(number) + 1.0) - 1.0) * 0.5);
    // The square root may be slightly off.
    if row * (row + 1u) / 2u > number { row -= 1u; }
    if (row + 1u) * (row + 2u) / 2u <= number { row += 1u; }
    return vec2<u32>(row, number - row * (row + 1u) / 2u);
}
