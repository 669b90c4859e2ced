// Finds the largest magnitude of each chunk of each line, as bits. Needs matmul/lines.wgsl.
//
// Iterations of an invocation: chunk / 32 + 5.

@group(0) @binding(2) var<storage, read_write> largest: array<u32>;

@compute @workgroup_size(256)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) index: u32) {
    let unit = params.first + group.x;
    let own = place_of(index);
    let line = unit / params.chunks * LINES + own.x;
    let chunk = unit % params.chunks;
    let end = min((chunk + 1u) * params.chunk, params.terms);
    var most = 0u;
    if line < params.all {
        for (var p = chunk * params.chunk + own.y; p < end; p += LANES) {
            most = max(most, bits_at(line, p) & 0x7fffffffu);
        }
    }
    most = largest_of(own, most);
    if line < params.all && own.y == 0u { largest[line * params.chunks + chunk] = most; }
}
