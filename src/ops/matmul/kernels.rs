//! The kernels of products of matrices.

use crate::device::{Adapter, Overrides, kernels, mirrors, uniform};
use half::f16;

uniform! {
    /// What every kernel is told: see shaders/matmul/product.wgsl.
    pub(super) struct Params {
        first: u32, m: u32, n: u32, k: u32,
        a_stride: u32, b_stride: u32, c_stride: u32, bias_stride: u32,
        batch: u32, parts: u32, span: u32, raw: u32,
        activation: u32, bias_is: u32, together: u32, depth: u32,
        skip: u32, alpha: f32, beta: f32,
    }
}

uniform! {
    /// What splitting is told: see shaders/matmul/lines.wgsl.
    pub(super) struct Lines {
        first: u32, lines: u32, all: u32, terms: u32, chunk: u32, chunks: u32,
    }
}

/// Words that a workgroup of [`Sum`] makes.
pub(super) const SUMMED: u32 = 64;
/// Invocations of a workgroup without memory: software adapters take as long for wider ones, or longer.
pub(super) const DIRECT: u32 = 8;

/// Activations.
pub(super) const IDENTITY: u32 = 0;
pub(super) const RELU: u32 = 1;
pub(super) const GELU: u32 = 2;
pub(super) const TANH: u32 = 3;
pub(super) const SIGMOID: u32 = 4;

/// Which numbers of a product have a bias of their own.
pub(super) const NO_BIAS: u32 = 0;
pub(super) const BIAS_OF_ROWS: u32 = 1;
pub(super) const BIAS_OF_COLUMNS: u32 = 2;

/// Lines of a workgroup that splits f32 into f16.
pub(super) const LINES: u32 = 8;

/// Invocations of a workgroup of small products, and the fours of each factor that it has room for: 16 KiB altogether.
pub(super) const WIDTH: u32 = 128;
pub(super) const ROOM: u32 = 512;
/// The orders of square products that have a variant of their own.
pub(super) const ORDERS: [u32; 4] = [4, 8, 16, 32];

/// Tiles that ship: invocations a side, and terms a step. Both 16-deep and 8-deep halves of two factors fit 32 and 16 KiB.
pub(super) const TILES: [(u32, u32); 3] = [(8, 8), (16, 8), (16, 16)];

/// What is compiled into the kernels of a product: how the factors lie, whether in f16, and whether results are sums times alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Operands {
    pub(super) transpose_a: bool,
    pub(super) transpose_b: bool,
    pub(super) half: bool,
    pub(super) plain: bool,
}

impl Operands {
    /// A row of op(A) lies side by side where A is transposed, a column of op(B) where B is not.
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
    let variant = |(side, depth): (u32, u32), operands: Operands| {
        [&operands.overrides()[..], &[("SIDE", side.into()), ("DEPTH", depth.into())]].concat()
    };
    TILES.into_iter().flat_map(|tile| Operands::all().map(move |operands| variant(tile, operands))).collect()
}

/// Lanes of the subgroups that matrix units ship for: those of 16 x 16, and those of 8 x 8.
pub(super) const TEAMS: [u32; 3] = [16, 32, 64];
pub(super) const SMALL_TEAMS: [u32; 4] = [4, 8, 16, 32];

fn of_teams(teams: &[u32]) -> Vec<Vec<(&'static str, f64)>> {
    let variant = |lanes: u32, operands: Operands| [&operands.overrides()[..], &[("LANES", lanes.into())]].concat();
    let halves = || Operands::all().filter(|operands| operands.half);
    teams.iter().flat_map(|&lanes| halves().map(move |operands| variant(lanes, operands))).collect()
}

fn cooperative_variants() -> Vec<Vec<(&'static str, f64)>> {
    of_teams(&TEAMS)
}

fn small_cooperative_variants() -> Vec<Vec<(&'static str, f64)>> {
    of_teams(&SMALL_TEAMS)
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

/// Whether products on the adapter use such a variant.
pub(in super::super) fn is_given(adapter: &Adapter, kernel: &str, overrides: Overrides<'_>) -> bool {
    let lanes = overrides.iter().find(|(name, _)| *name == "LANES").map(|(_, lanes)| *lanes);
    let units = |order: u32| adapter.cooperative == Some(order) && lanes == adapter.subgroup().map(f64::from);
    match kernel {
        "Direct" => adapter.software,
        "Cooperative" => units(16),
        "SmallCooperative" => units(8),
        _ => true,
    }
}

kernels! {
    /// Several small products a workgroup.
    Tiny = [
        "shared/real.wgsl", "shared/half.wgsl", "matmul/product.wgsl", "matmul/factors.wgsl", "matmul/store_tile.wgsl",
        "matmul/tiny.wgsl"
    ] variants tiny_variants {
        uniform params: Params,
        read a: u32,
        read b: u32,
        read c: u32,
        read bias: u32,
        write out: u32,
    }
    /// A tile of a product a workgroup.
    Tile = [
        "shared/real.wgsl", "shared/half.wgsl", "matmul/product.wgsl", "matmul/factors.wgsl", "matmul/store_tile.wgsl",
        "matmul/tile.wgsl"
    ] variants tile_variants {
        uniform params: Params,
        read a: u32,
        read b: u32,
        read c: u32,
        read bias: u32,
        write out: u32,
    }
    /// A tile of a product an invocation, without workgroup memory.
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
    /// A tile of a product of f16 on matrix units of 16 x 16.
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
    /// A tile of a product of f16 on matrix units of 8 x 8.
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
    /// Results from sums that were made in parts.
    Sum = [
        "shared/real.wgsl", "shared/half.wgsl", "matmul/product.wgsl", "matmul/no_scaling.wgsl", "matmul/sum.wgsl"
    ] variants sum_variants {
        uniform params: Params,
        read sums: f32,
        read c: u32,
        read bias: u32,
        write out: u32,
    }
    /// The same of sums whose numbers were scaled.
    SumOfScaled = [
        "shared/real.wgsl", "shared/half.wgsl", "matmul/product.wgsl", "matmul/power.wgsl", "matmul/undo_scaling.wgsl",
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
    /// The largest magnitude of each chunk of each row of op(A), or column of op(B).
    Largest = ["shared/real.wgsl", "matmul/lines.wgsl", "matmul/largest.wgsl"] variants line_variants {
        uniform params: Lines,
        read numbers: u32,
        write largest: u32,
    }
    /// f32 as two f16, scaled by lines.
    Split = [
        "shared/real.wgsl", "shared/half.wgsl", "matmul/power.wgsl", "matmul/lines.wgsl", "matmul/split.wgsl"
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
