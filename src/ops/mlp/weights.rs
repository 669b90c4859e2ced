//! Initial weights, and weights by name: in the layout and under the names of torch.

use super::cpu::Moved;
use super::layout::{Layout, Placed};
use super::noise::{Purpose, RUNS, Words};
use super::spec::{Mlp, NAME};
use super::{Hyper, Program, Replica, Scaler};
use crate::array::Real;
use crate::error::{Error, Result};

/// The law of initial weights. Gains of normalizations start at 1, shifts at 0.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Init {
    /// Weights and biases are uniform on (-a, a) with a = 1 / sqrt(inputs), as in `torch.nn.Linear`.
    #[default]
    Torch,
    /// Weights are uniform on (-a, a) with a = sqrt(6 / (inputs + outputs)), biases are 0 (Glorot and Bengio, AISTATS
    /// 2010).
    Xavier,
    /// Weights are uniform on (-a, a) with a = sqrt(6 / inputs), biases are 0 (He, Zhang, Ren and Sun, ICCV 2015).
    Kaiming,
    /// Weights and biases are normal with mean 0 and this standard deviation.
    Normal(f64),
}

/// A tensor of a run, in row-major order.
#[derive(Clone, Debug, PartialEq)]
pub struct Tensor<T> {
    /// Its name: `layers.0.weight`, `layers.0.bias`, and for normalizations `norms.0.weight`, `norms.0.bias`,
    /// `norms.0.running_mean` and `norms.0.running_var`.
    pub name: String,
    /// The length of each axis. A weight has the axes outputs and inputs, as in torch.
    pub shape: Vec<usize>,
    /// The elements.
    pub data: Vec<T>,
}

/// Where a tensor is in the vectors of a run.
enum Place<'a> {
    /// The weights of a layer, whose stored order may be the transpose.
    Weights(&'a Placed),
    /// A row of a vector of parameters.
    Row(usize, usize),
    /// A row of the running statistics.
    Running(usize, usize),
}

impl Layout {
    /// Returns every tensor's name, shape and place.
    fn tensors(&self) -> Vec<(String, Vec<usize>, Place<'_>)> {
        let mut made = Vec::new();
        for (number, placed) in self.layers.iter().enumerate() {
            let outputs = placed.layer.outputs;
            made.push((format!("layers.{number}.weight"), vec![outputs, placed.inputs], Place::Weights(placed)));
            made.push((format!("layers.{number}.bias"), vec![outputs], Place::Row(placed.bias.at, outputs)));
            for (block, name) in placed.scaling.iter().flatten().zip(["weight", "bias"]) {
                made.push((format!("norms.{number}.{name}"), vec![outputs], Place::Row(block.at, outputs)));
            }
            for (place, name) in placed.running.into_iter().flat_map(|at| [(at, "mean"), (at + placed.stride, "var")]) {
                made.push((format!("norms.{number}.running_{name}"), vec![outputs], Place::Running(place, outputs)));
            }
        }
        made
    }
}

/// Calls `each` with the place in the stored block of every weight, in the order of torch's tensor.
fn in_order(placed: &Placed, mut each: impl FnMut(usize)) {
    for output in 0..placed.layer.outputs {
        for input in 0..placed.inputs {
            let (row, col) = if placed.by_output { (output, input) } else { (input, output) };
            each(placed.weights.at + row * placed.weights.stride + col);
        }
    }
}

impl<T: Real> Replica<T> {
    /// Creates a run with its initial weights.
    pub(crate) fn new(program: &Program, init: Init, seed: u64, hyper: Hyper) -> Self {
        Self::drawn(program, init, Words::new(seed, RUNS), hyper)
    }

    /// Creates a run with initial weights from the given words.
    pub(super) fn drawn(program: &Program, init: Init, words: Words, hyper: Hyper) -> Self {
        let layout = Layout::new(&program.net);
        let zeros = |len: usize| vec![T::from_f64(0.0); len];
        let moments = program.optimizer.moments(&hyper);
        let mut weights = zeros(layout.len);
        let mut running = zeros(layout.running);
        for (l, placed) in layout.layers.iter().enumerate() {
            let (inputs, outputs) = (placed.inputs, placed.layer.outputs);
            #[expect(clippy::cast_precision_loss, reason = "numbers of neurons")]
            let (inputs_f, outputs_f) = (inputs as f64, outputs as f64);
            let (bound, has_bias) = match init {
                Init::Torch => (1.0 / inputs_f.sqrt(), true),
                Init::Xavier => ((6.0 / (inputs_f + outputs_f)).sqrt(), false),
                Init::Kaiming => ((6.0 / inputs_f).sqrt(), false),
                Init::Normal(deviation) => (deviation, true),
            };
            let mut drawn = words.drawn(l, inputs * outputs + outputs, matches!(init, Init::Normal(_))).into_iter();
            let mut next = || T::from_f64(bound * drawn.next().unwrap_or(0.0));
            in_order(placed, |at| weights[at] = next());
            for at in placed.bias.row(0) {
                weights[at] = if has_bias { next() } else { T::from_f64(0.0) };
            }
            for at in placed.scaling.iter().flat_map(|[gain, _]| gain.row(0)) {
                weights[at] = T::from_f64(1.0);
            }
            if let Some(at) = placed.running {
                running[at + placed.stride..][..outputs].fill(T::from_f64(1.0));
            }
        }
        let moved = Moved {
            weights,
            first: zeros(if moments > 0 { layout.len } else { 0 }),
            second: zeros(if moments > 1 { layout.len } else { 0 }),
            running,
        };
        Self { words, hyper, moved, steps: 0, scaler: Scaler::default(), scaling: None }
    }

    /// Returns all tensors of the network.
    pub(crate) fn tensors(&self, net: &Mlp) -> Vec<Tensor<T>> {
        self.named(net, &self.moved.weights, "")
    }

    /// Returns the tensors of the network, and those of `moments` vectors of the optimizer, whose names begin with `m.`
    /// and `v.`. A vector that the run does not have is zero.
    pub(crate) fn all_tensors(&self, net: &Mlp, moments: usize) -> Vec<Tensor<T>> {
        let mut made = self.tensors(net);
        let zeros = vec![T::from_f64(0.0); self.moved.weights.len()];
        for (vector, prefix) in [(&self.moved.first, "m."), (&self.moved.second, "v.")].into_iter().take(moments) {
            made.append(&mut self.named(net, if vector.is_empty() { &zeros } else { vector }, prefix));
        }
        made
    }

    fn named(&self, net: &Mlp, vector: &[T], prefix: &str) -> Vec<Tensor<T>> {
        let layout = Layout::new(net);
        let mut made = Vec::new();
        for (name, shape, place) in layout.tensors() {
            let data = match place {
                Place::Weights(placed) => {
                    let mut data = Vec::with_capacity(placed.inputs * placed.layer.outputs);
                    in_order(placed, |at| data.push(vector[at]));
                    data
                }
                Place::Row(at, len) => vector[at..at + len].to_vec(),
                Place::Running(..) if !prefix.is_empty() => continue,
                Place::Running(at, len) => self.moved.running[at..at + len].to_vec(),
            };
            made.push(Tensor { name: format!("{prefix}{name}"), shape, data });
        }
        made
    }

    /// Sets all tensors that [`Replica::all_tensors`] returns. `find` returns the elements of a tensor.
    ///
    /// # Errors
    /// The errors of `find`; [`crate::ErrorKind::Shape`] if it returns a wrong number of elements.
    pub(crate) fn set_tensors(
        &mut self,
        net: &Mlp,
        mut find: impl FnMut(&str, &[usize]) -> Result<Vec<T>>,
    ) -> Result<()> {
        let layout = Layout::new(net);
        let Moved { weights, first, second, running } = &mut self.moved;
        for (vector, prefix) in [(weights, ""), (first, "m."), (second, "v.")] {
            if vector.is_empty() {
                continue;
            }
            for (name, shape, place) in layout.tensors() {
                if matches!(place, Place::Running(..)) && !prefix.is_empty() {
                    continue;
                }
                let name = format!("{prefix}{name}");
                let data = find(&name, &shape)?;
                let len: usize = shape.iter().product();
                if data.len() != len {
                    return Err(Error::shape(NAME, format!("{len} elements of {name}"), data.len().to_string()));
                }
                match place {
                    Place::Weights(placed) => {
                        let mut data = data.into_iter();
                        in_order(placed, |at| vector[at] = data.next().unwrap_or(T::from_f64(0.0)));
                    }
                    Place::Row(at, len) => vector[at..at + len].copy_from_slice(&data),
                    Place::Running(at, len) => running[at..at + len].copy_from_slice(&data),
                }
            }
        }
        Ok(())
    }
}

impl Words {
    /// Returns uniforms on [-1, 1), or standard normals, for the parameters of a layer.
    fn drawn(self, layer: usize, len: usize, normal: bool) -> Vec<f64> {
        if normal {
            return self.normals(Purpose::Weights, layer, len);
        }
        self.uniforms(Purpose::Weights, layer, len).map(|x| 2.0 * x - 1.0).collect()
    }
}
