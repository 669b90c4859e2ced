// A point is one complex value of one transform. The text of this file is joined to fft/pass.wgsl.

alias Point = vec2<f32>;
alias Lines = Line;
alias Digits = u32;

fn by(p: Point, w: vec2<f32>) -> Point { return times(p, w); }
fn by_each(p: Point, w: Point) -> Point { return times(p, w); }
fn mirror(p: Point) -> Point { return conjugate(p); }
// Returns the point times -i.
fn quarter(p: Point) -> Point { return vec2<f32>(p.y, -p.x); }

fn transforms() -> u32 { return params.count; }
fn sources(one: u32) -> Lines { return source(group * params.group + one); }
fn sinks(one: u32) -> Lines { return sink(group * params.group + one); }
fn digits_of(lines: Lines) -> Digits { return lines.digit; }
fn roots(powers: Digits) -> Point { return root(powers); }
fn brought(lines: Lines, element: u32) -> Point { return loaded(lines, element); }
fn put_out(lines: Lines, element: u32, p: Point) { put(lines, element, p); }

fn unfold(lines: Lines, k: u32, z: Point, here: u32, mirrored: Point, there: u32) {
    unfold_of(lines, k, z, here, mirrored, there);
}
