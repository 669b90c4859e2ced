// Real input: single reals, or pairs of reals that are adjacent along the axis. A pair becomes one complex value. If
// there is a window, the reals are multiplied by it.

@group(0) @binding(2) var<storage, read> input: array<f32>;
@group(0) @binding(3) var<storage, read> window: array<f32>;

fn load(address: u32, place: u32) -> vec2<f32> {
    if PAIRS {
        let pair = vec2<f32>(input[address], input[address + params.in_stride]);
        if WINDOW { return pair * vec2<f32>(window[2u * place], window[2u * place + 1u]); }
        return pair;
    }
    if WINDOW { return vec2<f32>(input[address] * window[place], 0.0); }
    return vec2<f32>(input[address], 0.0);
}
