// Undoes the scaling of a sum. Before the product, matmul/split.wgsl scaled the row of op(A) by 2^down and the column
// of op(B) by 2^across. Needs matmul/product.wgsl.

@group(0) @binding(5) var<storage, read> down: array<u32>;
@group(0) @binding(6) var<storage, read> across: array<u32>;

fn undo_scaling(sum: f32, matrix: u32, row: u32, column: u32) -> f32 {
    let of_row = down[select(matrix * params.m, 0u, params.a_stride == 0u) + row];
    let of_column = across[select(matrix * params.n, 0u, params.b_stride == 0u) + column];
    return times_power_of_two(bitcast<u32>(sum), -(bitcast<i32>(of_row) + bitcast<i32>(of_column)));
}
