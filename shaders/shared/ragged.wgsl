// A ragged batch of square matrices. A shared file declares only functions and structs: no binding, no override, no
// entry point.

// One matrix: its order n, the offset of its n * n elements (column-major), the offset of its n rows in arrays that are
// indexed by row, and its index in arrays that are indexed by matrix.
struct Matrix { order: u32, elements: u32, rows: u32, place: u32 }

fn matrix_of(entry: vec4<u32>) -> Matrix { return Matrix(entry.x, entry.y, entry.z, entry.w); }
