//! Vectors as those of low-rank adapters of a diffusion model.

use super::{OPERATION, check, ending};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::io::{SampleFolder, StreamedArray, StreamedData, write_streamed};
use crate::ops::random::{Stream, fill_normals, fill_words};
use crate::parallel;
use std::path::Path;

/// The attention blocks of the U-net of Stable Diffusion 1.5, each with the number of its features.
const BLOCKS: [(&str, usize); 16] = [
    ("down_blocks.0.attentions.0", 320),
    ("down_blocks.0.attentions.1", 320),
    ("down_blocks.1.attentions.0", 640),
    ("down_blocks.1.attentions.1", 640),
    ("down_blocks.2.attentions.0", 1280),
    ("down_blocks.2.attentions.1", 1280),
    ("mid_block.attentions.0", 1280),
    ("up_blocks.1.attentions.0", 1280),
    ("up_blocks.1.attentions.1", 1280),
    ("up_blocks.1.attentions.2", 1280),
    ("up_blocks.2.attentions.0", 640),
    ("up_blocks.2.attentions.1", 640),
    ("up_blocks.2.attentions.2", 640),
    ("up_blocks.3.attentions.0", 320),
    ("up_blocks.3.attentions.1", 320),
    ("up_blocks.3.attentions.2", 320),
];
/// The features of the text, which the values of the cross attention read.
const TEXT: usize = 768;

/// The scale of the numbers, and how far the class and the sample move it, as parts of it.
const SCALE: [f32; 3] = [0.01, 0.05, 0.3];
/// The weight of the previous number, and how far the class and the sample move it.
const WEIGHT: [f32; 3] = [0.4, 0.035, 0.2];

/// The rows that a thread makes at a time.
const RUN: usize = 16;

/// Vectors as those of low-rank adapters (LoRA) of rank 1 for Stable Diffusion 1.5: 128 layers of 320 to 1280 numbers,
/// 99,648 in all. The layers are 16 attention blocks x (`attn1`, `attn2`) x (`to_q`, `to_v`) x (`down`, `up`). A `down`
/// layer is a row, an `up` layer is a column.
///
/// Sample i has the class i mod `classes`. In layer l, a sample s of class c has the numbers `x_j = a (e_j + b
/// e_(j-1))`, where the e are standard normals and `e_(-1)` is the last of them. So the expected power at frequency k
/// of n is `n a^2 (1 + b^2 + 2 b cos(2 pi k / n))`. The scale is `a = 0.01 (1 + 0.05 u + 0.3 v)` and the weight is `b =
/// 0.4 + 0.035 u' + 0.2 v'`. The u are uniform on `[-1, 1)` for every class and layer, and the v for every sample and
/// layer. What a class changes is small beside what a sample changes, so one layer tells little of the class, and 128
/// layers together tell much of it, but not all.
///
/// ```
/// use fiedler::features::generate::Vectors;
///
/// let vectors = Vectors::new(20, 10, 1)?;
/// let layers = vectors.layers();
/// assert_eq!((layers.len(), layers.iter().map(|layer| layer.numbers).sum::<usize>()), (128, 99_648));
/// let mut one = vec![0.0; layers[5].numbers];
/// vectors.fill(5, 7, &mut one); // layer 5 of sample 7
/// # Ok::<(), fiedler::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Vectors {
    samples: usize,
    classes: usize,
    layers: Vec<VectorLayer>,
    /// Of each layer: the noise, what samples change, and what classes change.
    streams: Vec<[Stream; 3]>,
}

/// A layer of [`Vectors`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorLayer {
    /// The name, such as `mid_block.attentions.0.attn1.to_q.down`.
    pub name: String,
    /// How many numbers a sample has.
    pub numbers: usize,
    /// Whether they are a column; otherwise they are a row.
    pub is_column: bool,
}

impl VectorLayer {
    /// Returns the number of rows and columns of a sample.
    #[must_use]
    pub fn shape(&self) -> [usize; 2] {
        if self.is_column { [self.numbers, 1] } else { [1, self.numbers] }
    }
}

impl Vectors {
    /// Describes a data set.
    ///
    /// # Errors
    /// [`Domain`](crate::ErrorKind::Domain) if there are no samples or no classes.
    pub fn new(samples: usize, classes: usize, seed: u64) -> Result<Self> {
        check("samples", samples, 1, usize::MAX)?;
        check("classes", classes, 1, usize::MAX)?;
        let layers = lora();
        let streams = ["vectors", "samples of vectors", "classes of vectors"].map(|name| Stream::new(seed, name));
        let streams =
            (0..layers.len() as u64).map(|layer| streams.each_ref().map(|own| own.substream(layer))).collect();
        Ok(Self { samples, classes, layers, streams })
    }

    /// Returns the layers.
    #[must_use]
    pub fn layers(&self) -> &[VectorLayer] {
        &self.layers
    }

    /// Returns the class of a sample.
    #[must_use]
    pub fn class(&self, sample: usize) -> usize {
        sample % self.classes
    }

    /// Fills `out` with the numbers of consecutive samples in a layer, from sample `first` on, on the threads of the
    /// current pool.
    ///
    /// # Panics
    /// If there is no such layer, or `out` does not end with a sample.
    pub fn fill(&self, layer: usize, first: usize, out: &mut [f32]) {
        let numbers = self.layers[layer].numbers;
        assert_eq!(out.len() % numbers, 0, "whole samples of {numbers} numbers");
        parallel::for_each(out.chunks_mut(RUN * numbers), |run, out| {
            self.fill_run(layer, numbers, first + run * RUN, out);
        });
    }

    fn fill_run(&self, layer: usize, numbers: usize, first: usize, out: &mut [f32]) {
        let [mut noise, mut samples, classes] = self.streams[layer].clone();
        noise.skip(first as u128 * numbers as u128);
        fill_normals(&noise, out);
        samples.skip(2 * first as u128);
        let mut own = [0; 2 * RUN];
        fill_words(&samples, &mut own);
        for (row, (out, own)) in out.chunks_mut(numbers).zip(own.as_chunks::<2>().0).enumerate() {
            let mut class = classes.clone();
            class.skip(2 * self.class(first + row) as u128);
            let mut shared = [0; 2];
            fill_words(&class, &mut shared);
            let moved = |[_, of_class, of_sample]: [f32; 3], i: usize| {
                of_class * signed(shared[i]) + of_sample * signed(own[i])
            };
            let (scale, weight) = (SCALE[0] * (1.0 + moved(SCALE, 0)), WEIGHT[0] + moved(WEIGHT, 1));
            let last = out[numbers - 1];
            for j in (1..numbers).rev() {
                out[j] = scale * (out[j] + weight * out[j - 1]);
            }
            out[0] = scale * (out[0] + weight * last);
        }
    }

    /// Writes the data set on the threads of a context. A path that ends in `.safetensors` or `.npz` becomes a file
    /// with the layers as arrays `(samples, 1, numbers)` or `(samples, numbers, 1)`, and the classes as `labels`. Any
    /// other path becomes a folder, with a folder for each class and a safetensors file for each sample. At most 100
    /// MiB of memory are used.
    ///
    /// # Errors
    /// [`Io`](crate::ErrorKind::Io) if the operating system reports an error, such as a full disk, or a folder exists;
    /// [`Cancelled`](crate::ErrorKind::Cancelled).
    pub fn write(&self, ctx: &Context, path: &Path) -> Result<()> {
        match &ending(path)[..] {
            "npz" | "safetensors" => ctx.on_host(|| self.write_file(ctx, path)),
            _ => ctx.on_host(|| self.write_folder(ctx, path)),
        }
    }

    fn write_file(&self, ctx: &Context, path: &Path) -> Result<()> {
        let label = |sample| i64::try_from(self.class(sample));
        let Ok(labels) = (0..self.samples).map(label).collect::<Result<Vec<_>, _>>() else {
            return Err(Error::domain(OPERATION, "expected classes of 64 bits"));
        };
        let make: Vec<_> = (0..self.layers.len())
            .map(|layer| {
                move |first: usize, out: &mut [f32]| {
                    ctx.cancel().check()?;
                    self.fill(layer, first, out);
                    Ok(())
                }
            })
            .collect();
        let mut arrays =
            vec![StreamedArray { name: "labels", shape: vec![self.samples], data: StreamedData::I64(&labels) }];
        for (layer, make) in self.layers.iter().zip(&make) {
            let [rows, columns] = layer.shape();
            let (name, shape) = (&layer.name[..], vec![self.samples, rows, columns]);
            arrays.push(StreamedArray { name, shape, data: StreamedData::F32(make) });
        }
        write_streamed(path, &arrays)
    }

    fn write_folder(&self, ctx: &Context, path: &Path) -> Result<()> {
        let arrays: Vec<(&str, Vec<usize>)> =
            self.layers.iter().map(|layer| (&layer.name[..], layer.shape().to_vec())).collect();
        let make = |sample: usize, out: &mut [f32]| {
            ctx.cancel().check()?;
            let mut rest = out;
            for (i, layer) in self.layers.iter().enumerate() {
                let (own, others) = rest.split_at_mut(layer.numbers);
                self.fill_run(i, layer.numbers, sample, own);
                rest = others;
            }
            Ok(())
        };
        let class = |sample: usize| self.class(sample).to_string();
        SampleFolder { arrays: &arrays, samples: self.samples, class: &class, make: &make }.create(path)
    }
}

/// Returns the layers of an adapter of rank 1.
fn lora() -> Vec<VectorLayer> {
    let mut layers = Vec::with_capacity(128);
    for (block, features) in BLOCKS {
        for (attention, matrix) in [("attn1", "to_q"), ("attn1", "to_v"), ("attn2", "to_q"), ("attn2", "to_v")] {
            let reads_text = (attention, matrix) == ("attn2", "to_v");
            let read = if reads_text { TEXT } else { features };
            for (half, numbers, is_column) in [("down", read, false), ("up", features, true)] {
                let name = format!("{block}.{attention}.{matrix}.{half}");
                layers.push(VectorLayer { name, numbers, is_column });
            }
        }
    }
    layers
}

/// Returns the number on `[-1, 1)` that the upper 24 bits of a word stand for.
fn signed(word: u32) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "24 bits")]
    let number = (word >> 8) as f32;
    number / 8_388_608.0 - 1.0
}
