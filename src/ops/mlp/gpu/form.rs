//! Where the kernels keep a run's numbers, by the shape of one run and by the forms that `fiedler tune` found to be
//! slower at its size. The number of runs plays no part, so it does not change a run's bits.

use super::super::Program;
use super::super::kernels::{FAR, LAYERED, MIXED, OWN, STORED};
use super::super::layered_kernels;
use super::super::layout::{Block, Layout, Placed};
use super::super::spec::Norm;
use crate::array::Real;
use crate::device::Adapter;
use crate::forms::{KernelForm, MlpForm};
use crate::shape::to_u32;

/// The vectors of workgroup memory of the variants, so that there are few of them. With those of the largest workgroup
/// that are not listed here, they fit in 4, 8, 16, 32 and 48 KiB.
const QUADS: [u32; 5] = [180, 436, 948, 1_972, 2_996];
/// The widths of workgroups. The narrow one is for runs whose parameters and rows fit the smaller classes of [`QUADS`]:
/// others have work for more invocations, and only few of their workgroups fit a processor at the same time.
const NARROW: u32 = 64;
const WIDE: u32 = 256;
const SMALL: u32 = QUADS[1];

/// The least number of operations of a step for which the default is to compute a layer at a time, if the rows do not
/// fit workgroup memory. No GPU has been measured. A workgroup alone is expected to reach about 0.2 Tflop/s, and less
/// where it reads rows from storage, so 50 Mflop take it 250 us or more. About 20 dispatches of 4 to 10 us each take 80
/// to 200 us, and the products that all processors share little more. Where rows fit, a workgroup reaches its rate, and
/// runs at the same time fill the processors; then, `fiedler tune` has to find the other form faster.
const LAYERED_FROM: f64 = 50e6;

/// What a variant of the kernels is compiled for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::ops::mlp) struct Form {
    /// The number of invocations of a workgroup.
    pub(in crate::ops::mlp) width: u32,
    /// The number of vectors in workgroup memory.
    pub(in crate::ops::mlp) quads: u32,
    /// Whether the parameters are in workgroup memory.
    pub(in crate::ops::mlp) own_weights: bool,
    /// Where the rows of the batch are.
    pub(in crate::ops::mlp) rows: u32,
}

impl Form {
    /// The bytes of workgroup memory beside the vectors: a number for each invocation, the keys of the order, a flag.
    pub(in crate::ops::mlp) const OTHER_BYTES: f64 = 256.0 * 4.0 + 48.0 + 16.0;

    /// The form that computes a layer at a time, whose kernels have no variants by shape.
    pub(super) const LAYERED: Self =
        Self { width: layered_kernels::WIDTH, quads: 1, own_weights: false, rows: LAYERED };

    pub(super) fn is_layered(self) -> bool {
        self.rows == LAYERED
    }

    /// Returns every form of the kernels that train one run in a workgroup.
    pub(in crate::ops::mlp) fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for quads in QUADS {
            let width = if quads <= SMALL { NARROW } else { WIDE };
            all.push(Self { width, quads, own_weights: true, rows: OWN });
            if quads <= SMALL {
                all.push(Self { width: NARROW, quads, own_weights: false, rows: OWN });
            }
            for rows in [OWN, MIXED] {
                all.push(Self { width: WIDE, quads, own_weights: false, rows });
            }
        }
        all.extend([NARROW, WIDE].map(|width| Self { width, quads: 1, own_weights: false, rows: STORED }));
        all
    }

    /// Chooses the form for a program on an adapter.
    pub(super) fn of(adapter: &Adapter, program: &Program) -> Self {
        let layout = Layout::new(&program.net);
        let parameters = Parameters::new(&layout);
        let rows = |rows| {
            let form = Self { width: NARROW, quads: 1, own_weights: false, rows };
            Rows::new(program, &layout, 0, &form).own
        };
        let width = if parameters.quads.saturating_add(rows(OWN)) <= SMALL { NARROW } else { WIDE };
        let room = f64::from(adapter.limits.workgroup_storage) - Self::OTHER_BYTES;
        let class = |needed: u32| QUADS.into_iter().find(|&quads| quads >= needed && f64::from(quads) * 16.0 <= room);
        let within = |may: &dyn Fn(KernelForm) -> bool| {
            let form = |own_weights, rows, quads| Self { width, quads, own_weights, rows };
            let resident = || class(parameters.quads + rows(OWN)).map(|quads| form(true, OWN, quads));
            let streamed = || class(rows(OWN)).map(|quads| form(false, OWN, quads));
            let mixed = || class(rows(MIXED)).map(|quads| form(false, MIXED, quads));
            let given = |name: MlpForm| may(KernelForm::Mlp(name));
            let first = if given(MlpForm::Resident) { resident() } else { None };
            let second = || if given(MlpForm::Streamed) { streamed().or_else(mixed) } else { None };
            let layered = || given(MlpForm::Layered).then_some(Self::LAYERED);
            let third = || if program.products() > LAYERED_FROM { layered() } else { None };
            let stored = || given(MlpForm::Stored).then(|| form(false, STORED, 1));
            first.or_else(second).or_else(third).or_else(stored).or_else(layered)
        };
        // Every shape has the form without workgroup memory.
        adapter.form(program.size(), within).unwrap_or(Self { width, quads: 1, own_weights: false, rows: STORED })
    }

    /// Returns the name of the form.
    pub(super) fn name(self) -> &'static str {
        match (self.own_weights, self.rows) {
            (true, _) => MlpForm::Resident,
            (_, STORED) => MlpForm::Stored,
            (_, LAYERED) => MlpForm::Layered,
            _ => MlpForm::Streamed,
        }
        .name()
    }
}

/// A block of parameters on the device, in vectors of four numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Laid {
    pub(super) block: Block,
    pub(super) at: u32,
    /// The distance between rows.
    pub(super) pitch: u32,
}

/// Where the parameters of a run are on the device.
#[derive(Clone, Debug)]
pub(super) struct Parameters {
    pub(super) blocks: Vec<Laid>,
    /// The vectors of the parameters.
    pub(super) quads: u32,
    /// The vectors of the parameters and of the running statistics.
    pub(super) stride: u32,
    /// For every layer with batch normalization: where its running means are here, where they are on the host, the
    /// number of features, and the distance from the means to the variances on the host.
    running: Vec<(u32, usize, usize, usize)>,
}

/// Returns the number of vectors of a row, padded to an odd number.
fn pitch(cols: usize) -> u32 {
    to_u32(cols.div_ceil(4)) | 1
}

impl Parameters {
    pub(super) fn new(layout: &Layout) -> Self {
        let mut at = 0;
        let blocks = layout.blocks.iter().map(|&block| {
            let laid = Laid { block, at, pitch: pitch(block.cols) };
            // Kernels read four rows of a matrix of weights at a time.
            let is_matrix = layout.layers.iter().any(|placed| placed.weights.at == block.at);
            let rows = if is_matrix { block.rows.next_multiple_of(4) } else { block.rows };
            at += to_u32(rows) * laid.pitch;
            laid
        });
        let blocks = blocks.collect();
        let quads = at;
        let mut running = Vec::new();
        for placed in &layout.layers {
            if let Some(host) = placed.running {
                let outputs = placed.layer.outputs;
                running.push((at, host, outputs, placed.stride));
                at += 2 * to_u32(outputs.div_ceil(4));
            }
        }
        Self { blocks, quads, stride: at, running }
    }

    /// Returns where a block of the host's layout is.
    pub(super) fn laid(&self, block: &Block) -> Laid {
        let found = self.blocks.iter().find(|laid| laid.block.at == block.at);
        found.copied().unwrap_or(Laid { block: *block, at: 0, pitch: 1 })
    }

    /// Returns where the running means of the layer whose statistics begin at `host` are.
    pub(super) fn running(&self, host: usize) -> u32 {
        self.running.iter().find(|(_, own, ..)| *own == host).map_or(0, |(at, ..)| *at)
    }

    /// Writes a vector of the host's layout to `to`, which is zero.
    pub(super) fn pack<T: Real>(&self, vector: &[T], to: &mut [f32]) {
        for Laid { block, at, pitch } in &self.blocks {
            for row in 0..block.rows {
                let to = &mut to[4 * (*at as usize + row * *pitch as usize)..][..block.cols];
                to.iter_mut().zip(&vector[block.row(row)]).for_each(|(to, from)| *to = narrow(*from));
            }
        }
    }

    /// Reads a vector of the host's layout.
    pub(super) fn unpack<T: Real>(&self, from: &[f32], vector: &mut [T]) {
        for Laid { block, at, pitch } in &self.blocks {
            for row in 0..block.rows {
                let from = &from[4 * (*at as usize + row * *pitch as usize)..][..block.cols];
                vector[block.row(row)].iter_mut().zip(from).for_each(|(to, from)| *to = T::from_f64((*from).into()));
            }
        }
    }

    /// Writes the running statistics.
    pub(super) fn pack_running<T: Real>(&self, running: &[T], to: &mut [f32]) {
        for (place, host, len) in self.statistics() {
            to[place..][..len].iter_mut().zip(&running[host..]).for_each(|(to, from)| *to = narrow(*from));
        }
    }

    /// Reads the running statistics.
    pub(super) fn unpack_running<T: Real>(&self, from: &[f32], running: &mut [T]) {
        for (place, host, len) in self.statistics() {
            let from = &from[place..][..len];
            running[host..].iter_mut().zip(from).for_each(|(to, from)| *to = T::from_f64((*from).into()));
        }
    }

    /// Returns the places of all means and variances here and on the host, and their numbers.
    fn statistics(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        self.running.iter().flat_map(|&(at, host, len, stride)| {
            let at = 4 * at as usize;
            [(at, host, len), (at + 4 * len.div_ceil(4), host + stride, len)]
        })
    }
}

/// Narrows to the kernels' precision. The numbers are f32 already: nothing else is given to a device.
#[expect(clippy::cast_possible_truncation, reason = "f32 in f64")]
pub(super) fn narrow<T: Real>(x: T) -> f32 {
    x.to_f64() as f32
}

/// Returns a bound on the vectors of one run in any buffer. The other numbers of this module are counted in u32, so a
/// larger run is to be refused before.
pub(super) fn most_quads(program: &Program) -> u64 {
    let layout = Layout::new(&program.net);
    let row = |cols: usize| cols.div_ceil(4) as u64 + 2;
    let parameters: u64 = layout.blocks.iter().map(|block| (block.rows as u64 + 3) * row(block.cols)).sum();
    // Outputs, derivatives and normalized elements.
    let rows =
        layout.layers.iter().map(|placed| 3 * row(placed.layer.outputs)).sum::<u64>() + row(program.net.inputs());
    let noise = layout.parameters as u64 / 4 + 64;
    3 * parameters + (program.batch as u64 + 16) * rows + noise
}

/// Where the rows of a layer are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct OfLayer {
    pub(super) inputs: u32,
    pub(super) input_pitch: u32,
    pub(super) outputs: u32,
    pub(super) pitch: u32,
    pub(super) derivatives: u32,
    pub(super) hats: u32,
    pub(super) sums: u32,
}

/// Where the rows of a batch are.
#[derive(Clone, Debug)]
pub(super) struct Rows {
    /// The numbers of the samples.
    pub(super) samples: u32,
    pub(super) layers: Vec<OfLayer>,
    /// The vectors of workgroup memory.
    pub(super) own: u32,
    /// The vectors of storage.
    pub(super) stored: u32,
}

impl Rows {
    /// Places the rows of a batch behind `first` vectors of workgroup memory.
    pub(super) fn new(program: &Program, layout: &Layout, first: u32, form: &Form) -> Self {
        let batch = to_u32(program.batch);
        let is_stored = form.rows == STORED || form.is_layered();
        let (mut near, mut far) = (if is_stored { 0 } else { first }, 0);
        let mut take = |quads: u32, is_input: bool| {
            if is_input && form.rows == MIXED {
                far += quads;
                return FAR + far - quads;
            }
            near += quads;
            near - quads
        };
        let samples = take(batch.div_ceil(4), false);
        let mut layers: Vec<OfLayer> = Vec::new();
        for (l, placed) in layout.layers.iter().enumerate() {
            let own = Self::of_layer(layout, l, placed, layers.last().copied(), batch, &mut take);
            layers.push(own);
        }
        let (own, stored) = if is_stored { (0, near) } else { (near, far) };
        Self { samples, layers, own, stored }
    }

    fn of_layer(
        layout: &Layout,
        l: usize,
        placed: &Placed,
        before: Option<OfLayer>,
        batch: u32,
        take: &mut impl FnMut(u32, bool) -> u32,
    ) -> OfLayer {
        let quads = to_u32(placed.layer.outputs.div_ceil(4));
        let normed = placed.layer.norm != Norm::None;
        // Layer normalization keeps a number behind each row.
        let pitch = if normed { (quads + 1) | 1 } else { quads | 1 };
        let (inputs, input_pitch) = match before {
            Some(before) => (before.outputs, before.pitch),
            None => {
                let pitch = self::pitch(placed.inputs);
                (take(batch * pitch, true), pitch)
            }
        };
        let derivatives = take(batch * pitch, false);
        let is_last = l + 1 == layout.layers.len();
        let outputs = if is_last { 0 } else { take(batch * pitch, false) };
        let (hats, sums) = if normed { (take(batch * pitch, false), take(5 * quads, false)) } else { (0, 0) };
        OfLayer { inputs, input_pitch, outputs, pitch, derivatives, hats, sums }
    }
}

/// Returns the mean number of walks to the number of a sample in the order, rounded up.
pub(super) fn walks(samples: usize) -> u64 {
    samples.next_power_of_two().max(64).div_ceil(samples.max(1)) as u64
}

/// Returns a bound on the loop iterations of one invocation in one step of a run with `samples` training samples, or in
/// any of its dispatches if there are several in a step.
pub(super) fn iterations(program: &Program, form: &Form, samples: usize) -> u64 {
    let layout = Layout::new(&program.net);
    if form.is_layered() {
        return super::layered::iterations(program, &layout, samples);
    }
    let (batch, width) = (program.batch as u64, u64::from(form.width));
    let each = |items: u64| items.div_ceil(width);
    // The order: an item has four samples. Each walk has a loop of three rounds, and the number of walks is on average
    // the size of the permuted range over the number of samples. Twice as many are rare.
    let walks = walks(samples);
    let mut count = each(batch.div_ceil(4)) * 4 * (1 + 8 * walks);
    count += each(batch * layout.layers.first().map_or(0, |first| first.inputs).div_ceil(4) as u64);
    for placed in &layout.layers {
        let (inputs, outputs) = (placed.inputs.div_ceil(4) as u64, placed.layer.outputs.div_ceil(4) as u64);
        // Products forward and backward, with the rounds of dropout; normalizations.
        count += each(batch * outputs) * (inputs + 12) + each(batch * inputs) * (outputs + 12);
        count += each(outputs) * 6 * batch + each(batch) * (5 * outputs + 4);
    }
    // The loss passes over the outputs up to six times; class weights are added up over the batch.
    count += each(batch) * 6 * program.net.outputs() as u64 + batch;
    for block in &layout.blocks {
        // The gradient is computed twice, once for its length.
        count += 2 * each(block.rows as u64 * block.cols.div_ceil(4) as u64) * (batch + 6);
    }
    // Noise: the rounds of two blocks for eight numbers. The partial sums of the length.
    count + each(layout.parameters.div_ceil(8) as u64 + 8) * 21 + width / 4 + 64
}
