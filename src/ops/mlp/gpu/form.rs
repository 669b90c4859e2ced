//! Where the kernels keep a run's numbers, by the shape of one run and by the forms that `fiedler tune` found to be
//! slower at its size. The number of runs plays no part, so it does not change a run's bits.

use super::super::Program;
use super::super::kernels::{FAR, FAR_INPUTS, LAYERED, OWN, STORED};
use super::super::layered_kernels;
use super::super::layout::{Block, Layout, Placed};
use super::super::mixed::MixedPrecision;
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
    pub(in crate::ops::mlp) mixed: MixedPrecision,
}

impl Form {
    /// The bytes of workgroup memory beside the vectors: a number per invocation, the keys of the order, two words.
    pub(in crate::ops::mlp) const OTHER_BYTES: f64 = 256.0 * 4.0 + 48.0 + 32.0;

    /// The form that computes a layer at a time, whose kernels have no variants by shape.
    pub(super) const LAYERED: Self =
        Self { width: layered_kernels::WIDTH, quads: 1, own_weights: false, rows: LAYERED, mixed: MixedPrecision::Off };

    pub(super) fn is_layered(self) -> bool {
        self.rows == LAYERED
    }

    /// Returns every form of the kernels that train one run in a workgroup in f32.
    pub(in crate::ops::mlp) fn all() -> Vec<Self> {
        let mut all = Self::in_workgroups(MixedPrecision::Off);
        all.extend(QUADS.map(|quads| Self { rows: FAR_INPUTS, own_weights: false, ..Self::new(WIDE, quads) }));
        all
    }

    /// Returns every form that some network has in mixed precision.
    pub(in crate::ops::mlp) fn all_mixed() -> Vec<Self> {
        [MixedPrecision::F16, MixedPrecision::Bf16].into_iter().flat_map(Self::in_workgroups).collect()
    }

    /// Returns the forms whose rows are all in workgroup memory, and those that do without it.
    fn in_workgroups(mixed: MixedPrecision) -> Vec<Self> {
        let mut all = Vec::new();
        for quads in QUADS {
            let width = if quads <= SMALL { NARROW } else { WIDE };
            all.push(Self { mixed, ..Self::new(width, quads) });
            let streamed = [NARROW, WIDE].into_iter().filter(|width| *width == WIDE || quads <= SMALL);
            all.extend(streamed.map(|width| Self { mixed, own_weights: false, ..Self::new(width, quads) }));
        }
        all.extend([NARROW, WIDE].map(|width| Self { mixed, ..Self::stored(width) }));
        all
    }

    fn new(width: u32, quads: u32) -> Self {
        Self { width, quads, own_weights: true, rows: OWN, mixed: MixedPrecision::Off }
    }

    /// Returns the form without workgroup memory, which every shape has.
    fn stored(width: u32) -> Self {
        Self { own_weights: false, rows: STORED, ..Self::new(width, 1) }
    }

    /// Chooses the form for a program on an adapter.
    pub(super) fn of(adapter: &Adapter, program: &Program) -> Self {
        let layout = Layout::new(&program.net);
        let parameters = Parameters::new(&layout);
        let mixed = program.mixed;
        // The vectors of workgroup memory that a form needs.
        let own = |form: Self| Rows::new(program, &layout, &parameters, &Self { mixed, ..form }).own;
        let resident = Self::new(NARROW, 1);
        let width = if own(resident) <= SMALL { NARROW } else { WIDE };
        let room = f64::from(adapter.limits.workgroup_storage) - Self::OTHER_BYTES;
        let class = |form: Self| {
            let needed = own(form);
            let quads = QUADS.into_iter().find(|&quads| quads >= needed && f64::from(quads) * 16.0 <= room)?;
            Some(Self { width, quads, mixed, ..form })
        };
        let stored = Self { mixed, ..Self::stored(width) };
        let streamed = Self { own_weights: false, ..resident };
        let within = |may: &dyn Fn(KernelForm) -> bool| {
            let given = |name: MlpForm| may(KernelForm::Mlp(name));
            let first = if given(MlpForm::Resident) { class(resident) } else { None };
            let with_inputs_far = || {
                let form = Self { rows: FAR_INPUTS, ..streamed };
                if mixed == MixedPrecision::Off { class(form) } else { None }
            };
            let second = || if given(MlpForm::Streamed) { class(streamed).or_else(with_inputs_far) } else { None };
            // A layer at a time is computed in f32 alone.
            let layered = || (given(MlpForm::Layered) && mixed == MixedPrecision::Off).then_some(Self::LAYERED);
            let third = || if program.products() > LAYERED_FROM { layered() } else { None };
            let last = || given(MlpForm::Stored).then_some(stored);
            first.or_else(second).or_else(third).or_else(last).or_else(layered)
        };
        adapter.form(program.size(), within).unwrap_or(stored)
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
    /// Places the rows of a batch, behind the parameters if these are in workgroup memory.
    pub(super) fn new(program: &Program, layout: &Layout, parameters: &Parameters, form: &Form) -> Self {
        let batch = to_u32(program.batch);
        let mut places = Places::new(parameters, form);
        let samples = places.exact(batch.div_ceil(4));
        let mut layers: Vec<OfLayer> = Vec::new();
        for (l, placed) in layout.layers.iter().enumerate() {
            let own = Self::of_layer(layout, l, placed, layers.last().copied(), batch, &mut places);
            layers.push(own);
        }
        let [own, stored] = places.quads();
        Self { samples, layers, own, stored }
    }

    fn of_layer(
        layout: &Layout,
        l: usize,
        placed: &Placed,
        before: Option<OfLayer>,
        batch: u32,
        places: &mut Places<'_>,
    ) -> OfLayer {
        let quads = to_u32(placed.layer.outputs.div_ceil(4));
        let normed = placed.layer.norm != Norm::None;
        // Layer normalization keeps a number behind each row.
        let pitch = if normed { (quads + 1) | 1 } else { quads | 1 };
        let (inputs, input_pitch) = match before {
            Some(before) => (before.outputs, before.pitch),
            None => {
                let pitch = self::pitch(placed.inputs);
                (places.inputs(batch * pitch), pitch)
            }
        };
        let derivatives = places.rows(batch * pitch);
        let is_last = l + 1 == layout.layers.len();
        let outputs = if is_last { 0 } else { places.rows(batch * pitch) };
        let (hats, sums) = if normed { (places.exact(batch * pitch), places.exact(5 * quads)) } else { (0, 0) };
        OfLayer { inputs, input_pitch, outputs, pitch, derivatives, hats, sums }
    }
}

/// Hands out places for vectors of four numbers, in workgroup memory or in storage. In mixed precision, those that are
/// factors of products have two words, as the parameters' copy has, and their places count pairs of words.
struct Places<'a> {
    form: &'a Form,
    /// The vectors, or pairs of words, that are taken.
    near: u32,
    far: u32,
    /// The vectors of the parameters' copy in storage, if it is not in front of the rows.
    copy: u32,
}

impl<'a> Places<'a> {
    fn new(parameters: &Parameters, form: &'a Form) -> Self {
        let is_mixed = form.mixed != MixedPrecision::Off;
        let in_front = if is_mixed { form.own_weights == (form.rows == OWN) } else { form.own_weights };
        let copy = if is_mixed && !in_front { parameters.quads.div_ceil(2) } else { 0 };
        Self { form, near: if in_front { parameters.quads } else { 0 }, far: 0, copy }
    }

    /// Returns a place for vectors that are factors of products.
    fn rows(&mut self, quads: u32) -> u32 {
        self.near += quads;
        self.near - quads
    }

    /// Returns a place for the inputs of the network.
    fn inputs(&mut self, quads: u32) -> u32 {
        if self.form.rows != FAR_INPUTS {
            return self.rows(quads);
        }
        self.far += quads;
        FAR + self.far - quads
    }

    /// Returns a place for vectors with all their bits.
    fn exact(&mut self, quads: u32) -> u32 {
        if self.form.mixed == MixedPrecision::Off {
            return self.rows(quads);
        }
        let at = self.near.div_ceil(2);
        self.near = 2 * (at + quads);
        at
    }

    /// Returns the vectors of four words that are taken in workgroup memory and in storage.
    fn quads(&self) -> [u32; 2] {
        let near = if self.form.mixed == MixedPrecision::Off { self.near } else { self.near.div_ceil(2) };
        let is_stored = self.form.rows == STORED || self.form.is_layered();
        if is_stored { [0, near] } else { [near, self.far + self.copy] }
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
