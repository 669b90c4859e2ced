// A point holds the complex values of two consecutive transforms at the same position. The text of this file is joined
// to fft/pass.wgsl.

alias Point = vec4<f32>;
alias Digits = vec2<u32>;

struct Lines { one: Line, other: Line }

fn by(p: Point, w: vec2<f32>) -> Point { return vec4<f32>(times(p.xy, w), times(p.zw, w)); }
fn by_each(p: Point, w: Point) -> Point { return vec4<f32>(times(p.xy, w.xy), times(p.zw, w.zw)); }
fn mirror(p: Point) -> Point { return vec4<f32>(conjugate(p.xy), conjugate(p.zw)); }
// Returns the point times -i.
fn quarter(p: Point) -> Point { return vec4<f32>(p.y, -p.x, p.w, -p.z); }

// If the number of transforms is odd, the last transform is paired with itself.
fn other(line: u32) -> u32 { return min(line + 1u, params.count - 1u); }

// Returns the number of pairs.
fn transforms() -> u32 { return (params.count + 1u) / 2u; }

fn sources(two: u32) -> Lines {
    let line = 2u * (group * params.group + two);
    return Lines(source(line), source(other(line)));
}

fn sinks(two: u32) -> Lines {
    let line = 2u * (group * params.group + two);
    return Lines(sink(line), sink(other(line)));
}

fn digits_of(lines: Lines) -> Digits { return vec2<u32>(lines.one.digit, lines.other.digit); }
fn roots(powers: Digits) -> Point { return vec4<f32>(root(powers.x), root(powers.y)); }

fn brought(lines: Lines, element: u32) -> Point {
    return vec4<f32>(loaded(lines.one, element), loaded(lines.other, element));
}

fn put_out(lines: Lines, element: u32, p: Point) {
    put(lines.one, element, p.xy);
    put(lines.other, element, p.zw);
}

fn unfold(lines: Lines, k: u32, z: Point, here: u32, mirrored: Point, there: u32) {
    unfold_of(lines.one, k, z.xy, here, mirrored.xy, there);
    unfold_of(lines.other, k, z.zw, here, mirrored.zw, there);
}
