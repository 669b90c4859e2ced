// Makes random numbers. numbers[i] holds four numbers. They are made of the words 4 i to 4 i + 3 of the random stream,
// counted from the stream's current position. Adapters may differ only in the rounding of the product and sum below;
// all other steps give the same bits everywhere. One invocation makes a vector of four numbers. Its loops are the ten
// rounds of one block, or of two blocks if the position is within a block. The values of LAW mean:
//   WORDS:     the words unchanged
//   UNIFORM:   min(offset + factor u, below), where u is made of the upper 24 bits of the word
//   NORMAL:    offset + factor x, where x is standard normal, by the inverse of its distribution function in integer
//              arithmetic (src/ops/random/quantile.rs)
//   BERNOULLI: 1 if `some` is set and the word is at most `last`, else 0

const WORDS: u32 = 0;
const UNIFORM: u32 = 1;
const NORMAL: u32 = 2;
const BERNOULLI: u32 = 3;
override LAW: u32 = WORDS;
override WIDTH: u32 = 64;

struct Params {
    key_low: u32, key_high: u32, upper_low: u32, upper_high: u32, block_low: u32, block_high: u32, inside: u32,
    first: u32, count: u32, offset: f32, factor: f32, below: f32, last: u32, some: u32,
}

@group(0) @binding(0) var<uniform> params: Params;
@group(0) @binding(1) var<storage, read> quantiles: array<vec4<u32>>;
@group(0) @binding(2) var<storage, read_write> numbers: array<vec4<u32>>;

fn block_of(i: u32) -> vec4<u32> {
    let low = params.block_low + i;
    let high = params.block_high + select(0u, 1u, low < i);
    return philox(vec4<u32>(low, high, params.upper_low, params.upper_high), vec2<u32>(params.key_low, params.key_high));
}

fn words_of(i: u32) -> vec4<u32> {
    let x = block_of(i);
    if params.inside == 0u { return x; }
    let y = block_of(i + 1u);
    if params.inside == 1u { return vec4<u32>(x.yzw, y.x); }
    if params.inside == 2u { return vec4<u32>(x.zw, y.xy); }
    return vec4<u32>(x.w, y.xyz);
}

fn standard_normal(word: u32) -> f32 {
    let t = (word << 1u) | 1u;
    let e = countLeadingZeros(t);
    let m = t << e;
    let interval = quantiles[e * 32u + ((m >> 26u) & 31u)];
    let r = m << 6u;
    let step = upper_half(r, interval.y - upper_half(r, interval.z - upper_half(r, interval.w)));
    let x = interval.x - ((step + 8u) >> 4u);
    // x is rounded to 24 bits here, so that the conversion is exact.
    let cut = 8u - min(8u, countLeadingZeros(x));
    let n = (x + ((1u << cut) >> 1u)) >> cut;
    let size = f32(n) * bitcast<f32>((98u + cut) << 23u);
    return bitcast<f32>(bitcast<u32>(size) | select(word & 0x80000000u, 0u, n == 0u));
}

fn number_of(word: u32) -> u32 {
    if LAW == UNIFORM {
        let u = f32(word >> 8u) * (1.0 / 16777216.0);
        return bitcast<u32>(min(params.offset + params.factor * u, params.below));
    }
    if LAW == NORMAL { return bitcast<u32>(params.offset + params.factor * standard_normal(word)); }
    if LAW == BERNOULLI { return select(0u, 0x3f800000u, params.some != 0u && word <= params.last); }
    return word;
}

@compute @workgroup_size(WIDTH)
fn main(@builtin(workgroup_id) group: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
    let i = (params.first + group.x) * WIDTH + lane;
    if i < params.count {
        let words = words_of(i);
        numbers[i] = vec4<u32>(number_of(words.x), number_of(words.y), number_of(words.z), number_of(words.w));
    }
}
