//! The kernels of matrix products.

use crate::device::{Adapter, Budget, Overrides, kernels, mirrors, uniform};
use half::f16;

uniform! {
    /// The parameters of every kernel, described in shaders/matmul/product.wgsl.
    pub(super) struct Params {
        first: u32, m: u32, n: u32, k: u32,
        a_stride: u32, b_stride: u32, c_stride: u32, bias_stride: u32,
        batch: u32, parts: u32, span: u32, raw: u32,
        activation: u32, bias_is: u32, together: u32, depth: u32,
        skip: u32, alpha: f32, beta: f32,
    }
}

uniform! {
    /// The parameters of splitting, described in shaders/matmul/lines.wgsl.
    pub(super) struct Lines {
        first: u32, lines: u32, all: u32, terms: u32, chunk: u32, chunks: u32,
    }
}

/// The number of words that a workgroup of [`Sum`] writes.
pub(super) const SUMMED: u32 = 64;
/// The number of invocations in a workgroup of [`Direct`]. On software adapters, wider workgroups take as long or
/// longer.
pub(super) const DIRECT: u32 = 8;

/// The activations.
pub(super) const IDENTITY: u32 = 0;
pub(super) const RELU: u32 = 1;
pub(super) const GELU: u32 = 2;
pub(super) const TANH: u32 = 3;
pub(super) const SIGMOID: u32 = 4;

/// The values of `bias_is`: whether there is a bias, and whether it has one value per row or per column.
pub(super) const NO_BIAS: u32 = 0;
pub(super) const BIAS_OF_ROWS: u32 = 1;
pub(super) const BIAS_OF_COLUMNS: u32 = 2;

/// The number of lines (rows of op(A) or columns of op(B)) that a workgroup splits from f32 into f16.
pub(super) const LINES: u32 = 8;

/// The number of invocations in a workgroup of [`Tiny`].
pub(super) const WIDTH: u32 = 128;
/// The capacity of the workgroup memory of [`Tiny`] for each factor, in groups of four elements. Both factors together
/// take 16 KiB.
pub(super) const ROOM: u32 = 512;
/// The orders of square products that have a separate variant.
pub(super) const ORDERS: [u32; 4] = [4, 8, 16, 32];

/// The shipped tiles: (invocations per dimension of a tile, terms per step). A workgroup stores each factor in two
/// halves: it loads the terms of the next step into one half while it multiplies the terms in the other half. The
/// halves of both factors together take 32 KiB for (16, 16), and at most 16 KiB otherwise.
pub(super) const TILES: [(u32, u32); 3] = [(8, 8), (16, 8), (16, 16)];

/// Returns whether the loop over the terms of a step stays a loop on an adapter that has few registers. No compiler
/// unrolls the loop over 16 terms.
pub(super) fn is_rolled(few_registers: bool, depth: u32) -> bool {
    few_registers && depth == 8
}

/// Returns the overrides of a tile that are not those of its operands.
pub(super) fn tile_overrides(side: u32, depth: u32, rolled: bool) -> [(&'static str, f64); 3] {
    [("SIDE", side.into()), ("DEPTH", depth.into()), ("ROLLED", rolled.into())]
}

/// The settings that are compiled into the kernels of a product: the storage order of the factors, whether elements are
/// f16, and whether results are just sums times alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operands {
    pub(super) transpose_a: bool,
    pub(super) transpose_b: bool,
    pub(super) half: bool,
    pub(super) plain: bool,
}

impl Operands {
    /// Returns the overrides. A row of op(A) is contiguous if A is transposed, and a column of op(B) is contiguous if B
    /// is not transposed.
    pub(super) fn overrides(self) -> [(&'static str, f64); 4] {
        let (a, b) = (self.transpose_a.into(), (!self.transpose_b).into());
        [("A_ALONG", a), ("B_ALONG", b), ("HALF", self.half.into()), ("PLAIN", self.plain.into())]
    }

    fn all() -> impl Iterator<Item = Self> {
        (0..16).map(|bits| {
            let bit = |bit: u32| bits & 1 << bit != 0;
            Self { transpose_a: bit(0), transpose_b: bit(1), half: bit(2), plain: bit(3) }
        })
    }
}

fn tiny_variants() -> Vec<Vec<(&'static str, f64)>> {
    let orders = [0].into_iter().chain(ORDERS);
    let variant = |order: u32, operands: Operands| [&operands.overrides()[..], &[("ORDER", order.into())]].concat();
    orders.flat_map(|order| Operands::all().map(move |operands| variant(order, operands))).collect()
}

fn tile_variants() -> Vec<Vec<(&'static str, f64)>> {
    let forms = TILES.into_iter().flat_map(|(side, depth)| {
        let rolled = [false, true].into_iter().filter(move |&rolled| is_rolled(rolled, depth) == rolled);
        rolled.map(move |rolled| (side, depth, rolled))
    });
    let variant = |(side, depth, rolled), operands: Operands| {
        [&operands.overrides()[..], &tile_overrides(side, depth, rolled)[..]].concat()
    };
    forms.flat_map(|form| Operands::all().map(move |operands| variant(form, operands))).collect()
}

/// The subgroup sizes for which the kernels on matrix units of 16 x 16 are shipped.
pub(super) const SUBGROUP_SIZES: [u32; 3] = [16, 32, 64];
/// The subgroup sizes for which the kernels on matrix units of 8 x 8 are shipped.
pub(super) const SMALL_SUBGROUP_SIZES: [u32; 4] = [4, 8, 16, 32];

fn of_teams(teams: &[u32]) -> Vec<Vec<(&'static str, f64)>> {
    let variant = |lanes: u32, operands: Operands| [&operands.overrides()[..], &[("LANES", lanes.into())]].concat();
    let halves = || Operands::all().filter(|operands| operands.half);
    teams.iter().flat_map(|&lanes| halves().map(move |operands| variant(lanes, operands))).collect()
}

fn cooperative_variants() -> Vec<Vec<(&'static str, f64)>> {
    of_teams(&SUBGROUP_SIZES)
}

fn small_cooperative_variants() -> Vec<Vec<(&'static str, f64)>> {
    of_teams(&SMALL_SUBGROUP_SIZES)
}

fn direct_variants() -> Vec<Vec<(&'static str, f64)>> {
    let sizes = [(false, false), (false, true), (true, false), (true, true)];
    let manners = || Operands::all().filter(|operands| !operands.half);
    let variant = |(tall, wide): (bool, bool), operands: Operands| {
        [&operands.overrides()[..], &[("TALL", tall.into()), ("WIDE", wide.into())]].concat()
    };
    sizes.into_iter().flat_map(|size| manners().map(move |operands| variant(size, operands))).collect()
}

fn sum_variants() -> Vec<Vec<(&'static str, f64)>> {
    let bits = [(0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0)];
    bits.map(|(half, plain)| vec![("HALF", half), ("PLAIN", plain)]).into()
}

fn undo_scaling_variants() -> Vec<Vec<(&'static str, f64)>> {
    [0.0, 1.0].map(|plain| vec![("HALF", 0.0), ("PLAIN", plain)]).into()
}

fn line_variants() -> Vec<Vec<(&'static str, f64)>> {
    [0.0, 1.0].map(|along| vec![("ALONG", along)]).into()
}

/// Returns whether products on the adapter use this variant.
pub(in super::super) fn is_given(adapter: &Adapter, kernel: &str, overrides: Overrides<'_>) -> bool {
    let of = |name: &str| overrides.iter().find(|(other, _)| *other == name).map(|(_, value)| *value);
    let lanes = of("LANES");
    let units = |order: u32| adapter.cooperative == Some(order) && lanes == adapter.subgroup().map(f64::from);
    match kernel {
        "Direct" => adapter.software,
        "Tile" => of("DEPTH") != Some(8.0) || of("ROLLED") == Some(f64::from(u8::from(adapter.few_registers))),
        "Cooperative" => units(16),
        "SmallCooperative" => units(8),
        _ => true,
    }
}

kernels! {
    /// Computes several small products per workgroup.
    Tiny = [
        "shared/real.wgsl", "shared/half.wgsl", "matmul/product.wgsl", "matmul/factors.wgsl", "matmul/store_tile.wgsl",
        "matmul/tiny.wgsl"
    ] variants tiny_variants {
        budget Budget {
            registers: 80,
            instructions: 2400,
            occupancy: 20,
            because: "16 KiB of workgroup memory for 128 invocations",
        };
        uniform params: Params,
        read a: u32,
        read b: u32,
        read c: u32,
        read bias: u32,
        write out: u32,
    }
    /// Computes a tile of a product per workgroup.
    Tile = [
        "shared/real.wgsl", "shared/half.wgsl", "matmul/product.wgsl", "matmul/factors.wgsl", "matmul/store_tile.wgsl",
        "matmul/tile.wgsl"
    ] variants tile_variants {
        budget Budget {
            registers: 160,
            instructions: 3800,
            occupancy: 10,
            because: "64 results are in the registers of an invocation, and the factors fill workgroup memory",
        };
        uniform params: Params,
        read a: u32,
        read b: u32,
        read c: u32,
        read bias: u32,
        write out: u32,
    }
    /// Computes a tile of a product per invocation, without workgroup memory.
    Direct = [
        "shared/real.wgsl", "shared/half.wgsl", "matmul/product.wgsl", "matmul/direct.wgsl"
    ] variants direct_variants {
        uniform params: Params,
        read a: [f32; 4],
        read b: [f32; 4],
        read c: u32,
        read bias: u32,
        write out: [f32; 4],
    }
    /// Computes a tile of a product of f16 per workgroup, on matrix units of 16 x 16.
    Cooperative = [
        "matmul/cooperative.wgsl", "matmul/fragment_16.wgsl", "shared/real.wgsl", "shared/half.wgsl",
        "matmul/product.wgsl", "matmul/store_tile.wgsl"
    ] variants cooperative_variants {
        uniform params: Params,
        read a: f16,
        read b: f16,
        read c: u32,
        read bias: u32,
        write out: u32,
    }
    /// Computes a tile of a product of f16 per workgroup, on matrix units of 8 x 8.
    SmallCooperative = [
        "matmul/cooperative.wgsl", "matmul/fragment_8.wgsl", "shared/real.wgsl", "shared/half.wgsl",
        "matmul/product.wgsl", "matmul/store_tile.wgsl"
    ] variants small_cooperative_variants {
        uniform params: Params,
        read a: f16,
        read b: f16,
        read c: u32,
        read bias: u32,
        write out: u32,
    }
    /// Computes results from the parts of sums.
    Sum = [
        "shared/real.wgsl", "shared/half.wgsl", "matmul/product.wgsl", "matmul/no_scaling.wgsl", "matmul/sum.wgsl"
    ] variants sum_variants {
        uniform params: Params,
        read sums: f32,
        read c: u32,
        read bias: u32,
        write out: u32,
    }
    /// Computes results from the parts of sums of scaled factors.
    SumOfScaled = [
        "shared/real.wgsl", "shared/half.wgsl", "matmul/product.wgsl", "matmul/undo_scaling.wgsl",
        "matmul/sum.wgsl"
    ] variants undo_scaling_variants {
        uniform params: Params,
        read sums: f32,
        read c: u32,
        read bias: u32,
        read down: u32,
        read across: u32,
        write out: u32,
    }
    /// Finds the largest magnitude of each chunk of each row of op(A), or column of op(B).
    Largest = ["shared/real.wgsl", "matmul/lines.wgsl", "matmul/largest.wgsl"] variants line_variants {
        uniform params: Lines,
        read numbers: u32,
        write largest: u32,
    }
    /// Splits each f32 into two f16. The elements of a line are scaled together.
    Split = [
        "shared/real.wgsl", "shared/half.wgsl", "matmul/lines.wgsl", "matmul/split.wgsl"
    ] variants line_variants {
        uniform params: Lines,
        read numbers: u32,
        read largest: u32,
        write high: u32,
        write low: u32,
        write exponents: u32,
    }
}

mirrors! {
    LINES = LINES,
    WIDTH = WIDTH,
    ROOM = ROOM,
    SUMMED = SUMMED,
    DIRECT = DIRECT,
    IDENTITY = IDENTITY,
    RELU = RELU,
    GELU = GELU,
    TANH = TANH,
    SIGMOID = SIGMOID,
    NO_BIAS = NO_BIAS,
    BIAS_OF_ROWS = BIAS_OF_ROWS,
    BIAS_OF_COLUMNS = BIAS_OF_COLUMNS,
}
