// A ragged batch of square matrices. A shared file declares functions and structs only: no binding, no override, no entry point.

// One matrix: its order n, where its n * n elements begin (column-major), where its n rows begin in arrays by row, and its
// place in arrays by matrix.
struct Matrix { order: u32, elements: u32, rows: u32, place: u32 }

fn matrix_of(entry: vec4<u32>) -> Matrix { return Matrix(entry.x, entry.y, entry.z, entry.w); }
