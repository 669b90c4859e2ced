//! A static model of GPUs: the time that a workload takes on a class of GPUs, from what the algorithm must do and from
//! published figures of the hardware. Its predictions apply until the adapter is measured. The page
//! `docs/static-model.md` states the model, its sources, and a comparison with published times.

use super::workload::{Family, Workload};
use crate::device::{AMD, NVIDIA};
use serde::{Deserialize, Serialize};

/// What the static model knows about a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hardware {
    /// The number of processors, which are called SM (NVIDIA), CU (AMD) or Xe core (Intel).
    pub processors: f64,
    /// The clock frequency of the processors, in Hz.
    pub clock: f64,
    /// The number of f32 multiply-adds that a processor starts in one clock.
    pub lanes: f64,
    /// The number of 32-bit words that a processor reads from or writes to workgroup memory, or exchanges by shuffles,
    /// in one clock.
    pub words: f64,
    /// The rate of the memory, in bytes/s.
    pub memory: f64,
    /// The rate of transfers between the host and the device, in bytes/s.
    pub transfer: f64,
}

/// Half the bandwidth of PCIe 4.0 x8, which cards of the middle class have.
const PCIE: f64 = 8e9;
/// The share of the peak rates that the kernels are assumed to reach. A kernel in WGSL takes 1.5 times as long as the
/// same kernel in CUDA (gpu.cpp#20) and reaches 0.72 of the peak at best (wgpu-mm#20). By the compilers' listings, a
/// sweep of `eigen/tiny_8` has 1.8 times as many instructions as its arithmetic (`benches/results/2026-11-24-isa.md`).
const SHARE: f64 = 0.5;

/// The clocks from the start of one round of Jacobi rotations to the start of the next, if the processor has only one
/// matrix: a fixed number for barriers and reductions, and a number per row for the column's dependent operations.
const ROUND: [f64; 2] = [300.0, 12.0];
/// The clocks of a step of training at least: about twenty phases between barriers, each of which begins with loads.
const STEP: f64 = 2000.0;
/// How many times as long a run takes that has a processor for itself as if other runs shared it all the time, because
/// a workgroup cannot keep a processor busy.
const ALONE: f64 = 2.0;
/// The clocks that a workgroup of any other kernel takes at least: a load from memory, and a few barriers.
const WORKGROUP: f64 = 4000.0;

/// The operations per byte of a family that the model does not know. Most of these families count about 20 operations
/// for each f32 that they read, as `describe` does.
pub(super) const OTHER: f64 = 5.0;

/// What one item of a workload needs.
struct Item {
    /// The clocks of one processor that processes many items at a time.
    clocks: f64,
    /// The clocks from the start to the end of an item.
    latency: f64,
    /// The bytes that are read from or written to the memory of the device.
    bytes: f64,
    /// The number of processors that process one item together.
    shared_by: f64,
}

impl Hardware {
    /// An NVIDIA GPU of the middle class: an RTX 4060 (Ada; vendor's data sheet).
    pub const NVIDIA: Self =
        Self { processors: 24.0, clock: 2.46e9, lanes: 128.0, words: 32.0, memory: 2.72e11, transfer: PCIE };
    /// An AMD GPU of the middle class: an RX 7600 (RDNA3; vendor's data sheet). The second multiply-add of a clock is
    /// not counted, because the compiler pairs few instructions.
    pub const AMD: Self =
        Self { processors: 32.0, clock: 2.6e9, lanes: 64.0, words: 32.0, memory: 2.88e11, transfer: PCIE };
    /// An Intel GPU of the middle class: an Arc A580 (Alchemist; vendor's data sheet).
    pub const INTEL: Self =
        Self { processors: 24.0, clock: 1.7e9, lanes: 128.0, words: 32.0, memory: 5.12e11, transfer: PCIE };
    /// A GPU that shares the memory of the CPU: eight processors and a memory of two channels.
    pub const INTEGRATED: Self =
        Self { processors: 8.0, clock: 1.6e9, lanes: 64.0, words: 32.0, memory: 6e10, transfer: 1e10 };

    /// Returns the hardware that is assumed of a discrete GPU with the given PCI vendor id. An unknown vendor counts as
    /// Intel, whose GPU has the slowest arithmetic.
    #[must_use]
    pub fn discrete(vendor: u32) -> Self {
        match vendor {
            NVIDIA => Self::NVIDIA,
            AMD => Self::AMD,
            _ => Self::INTEL,
        }
    }

    /// Returns the predicted time of a workload in seconds, without launches and transfers.
    ///
    /// The items are spread over the processors. The time is the largest of three: the clocks of all items on all
    /// processors, the time of one item from its start to its end, and the bytes divided by the rate of the memory.
    #[must_use]
    pub fn seconds(&self, work: &Workload) -> f64 {
        let items = work.items.max(1.0);
        let item = self.item(work, work.gpu_flops / items);
        let busy = self.processors.min((items * item.shared_by).max(1.0));
        let clocks = (item.clocks * items / busy).max(item.latency);
        (clocks / (self.clock * SHARE)).max(items * item.bytes / self.memory)
    }

    /// Returns what one item of `flops` operations needs. How the workloads of the families count their operations is
    /// stated where these workloads are made.
    fn item(&self, work: &Workload, flops: f64) -> Item {
        let n = work.size.max(1.0);
        let alone = |clocks: f64, bytes| Item { clocks, latency: WORKGROUP, bytes, shared_by: 1.0 };
        let spread = |clocks: f64, bytes| Item { clocks, latency: WORKGROUP, bytes, shared_by: f64::INFINITY };
        match work.family {
            Family::Eigh | Family::Eigvalsh | Family::Encode => self.rotations(n, 1.0),
            // The rotations are also applied to V, and the matrix is first reduced to a triangle.
            Family::Svd => self.rotations(n, 2.0),
            // One pass reads and writes each complex number once. Within a pass, every second radix-4 stage exchanges
            // numbers through workgroup memory.
            Family::Fft | Family::Rfft => {
                let numbers = if work.family == Family::Rfft { n / 2.0 } else { n };
                let exchanged = 4.0 * numbers * (n.log2() / 4.0).ceil();
                alone(flops / 2.0 / self.lanes + exchanged / self.words, 16.0 * numbers * work.dispatches.max(1.0))
            }
            // Every term needs one multiply-add. Tiles of 64 x 64 read each element of a factor n / 64 times, mostly
            // from a cache.
            Family::Matmul => {
                Item { shared_by: (n / 64.0).powi(2).max(1.0), ..alone(n.powi(3) / self.lanes, 12.0 * n * n) }
            }
            Family::Cov => spread(n * n / 2.0 / self.lanes, 4.0 * n),
            // Every element is set to 0 first.
            Family::Laplacian => spread(n * n / self.lanes, 8.0 * n * n),
            // The workload counts four operations for each of a product. A product has a multiply-add for each entry
            // and column. Half of the elements that it gathers come from a cache.
            Family::Spmm | Family::Eigsh => spread(flops / 8.0 / self.lanes, flops / 4.0),
            // Two passes over the series.
            Family::Describe => spread(flops / self.lanes, 8.0 * n),
            // A workgroup trains a run. Its kernels are assumed to reach half of what those of other families do,
            // because their products are small (0.13 Tflop/s a processor of an H200). Parameters stay in caches.
            Family::Train => {
                let steps = (work.cpu_flops - work.kept_flops) / work.items.max(1.0) / n;
                let clocks = flops / self.lanes;
                Item { latency: (ALONE * clocks).max(STEP * steps), ..alone(clocks, 0.0) }
            }
            Family::Other => spread(flops / 2.0 / self.lanes, flops / OTHER),
        }
    }

    /// Returns what the Jacobi rotations of a matrix of order n need. Each rotation is applied to `matrices` matrices.
    ///
    /// A sweep has about n rounds of n / 2 rotations. A rotation makes an inner product of two columns and applies 4 n
    /// multiplications. In each round, half of the columns move to another invocation. They move by shuffles up to
    /// order 32, and through workgroup memory, where they are written and read, from order 33 on. Matrices of order 8
    /// or less are held by one invocation. Graphs of 8 to 128 nodes need `2.4 + 0.95 log2 n` sweeps (simulated in f32
    /// on eight families of graphs, 2026-11-20).
    fn rotations(&self, n: f64, matrices: f64) -> Item {
        let sweeps = 2.4 + 0.95 * n.log2().max(1.0);
        let arithmetic = (0.5 + 2.5 * matrices) * n * n / self.lanes;
        let moved = if n <= 8.0 {
            0.0
        } else if n <= 32.0 {
            n * n / 2.0
        } else {
            n * n
        };
        let exchanges = matrices * moved / self.words;
        let blocks = (n / 128.0).powi(2).max(1.0);
        let round = ROUND[0] + ROUND[1] * n.min(128.0);
        // A blocked sweep reads and writes every column once for each pair of blocks of 16 columns.
        let bytes = if n > 128.0 { sweeps * n / 16.0 * 8.0 * matrices * n * n } else { 8.0 * n * n };
        Item { clocks: sweeps * n * arithmetic.max(exchanges), latency: sweeps * n * round, bytes, shared_by: blocks }
    }
}

#[cfg(test)]
mod tests {
    use super::{Family, Hardware, Workload};

    /// An H200 (vendor's data sheet; its memory copies at 4.3e12 bytes/s).
    const H200: Hardware = Hardware { processors: 132.0, clock: 1.98e9, memory: 4.3e12, ..Hardware::NVIDIA };

    /// The floors are the times of perfect kernels, which were counted by hand in 2026-11 (`docs/static-model.md`). The
    /// model assumes `SHARE` of the peak, and from order 33 on, `eigh` moves 1.5 times as many words as a perfect
    /// kernel. So the model must predict between 1 and 1.5 / `SHARE` times as long, and 10 % more for the number of
    /// sweeps.
    #[test]
    fn the_predictions_follow_the_floors() {
        let floors = [
            (Family::Eigh, 16.0, 1e4, 0.0, 0.0, 23e-6),
            (Family::Eigh, 32.0, 1e4, 0.0, 0.0, 0.19e-3),
            (Family::Eigh, 64.0, 1e4, 0.0, 0.0, 1.7e-3),
            (Family::Eigh, 128.0, 1e4, 0.0, 0.0, 14.5e-3),
            (Family::Fft, 1024.0, 131_072.0, 5.0 * 1024.0 * 10.0 * 131_072.0, 1.0, 0.5e-3),
            (Family::Fft, 1_048_576.0, 64.0, 5.0 * 1_048_576.0 * 20.0 * 64.0, 2.0, 0.5e-3),
            (Family::Matmul, 4096.0, 1.0, 0.0, 1.0, 2.05e-3),
            (Family::Matmul, 16.0, 1e5, 0.0, 1.0, 71e-6),
            (Family::Cov, 128.0, 1e6, 0.0, 1.0, 245e-6),
        ];
        for (family, size, items, gpu_flops, dispatches, floor) in floors {
            let work = Workload { family, size, items, gpu_flops, dispatches, ..Workload::default() };
            let ratio = H200.seconds(&work) / floor;
            assert!((1.0..=3.3).contains(&ratio), "{family} {size}: {ratio} times the floor");
        }
    }

    /// One item uses one processor, and items beyond the number of processors share them.
    #[test]
    fn items_are_spread_over_the_processors() {
        let seconds = |items| {
            let (family, size) = (Family::Eigh, 64.0);
            H200.seconds(&Workload { family, size, items, ..Workload::default() })
        };
        assert_eq!(seconds(1.0), seconds(132.0));
        assert!((seconds(1e5) / seconds(1e4) - 10.0).abs() < 1e-9);
    }

    #[test]
    fn an_unknown_vendor_has_the_slowest_arithmetic() {
        assert_eq!(Hardware::discrete(0x10de), Hardware::NVIDIA);
        assert_eq!(Hardware::discrete(0x1002), Hardware::AMD);
        assert_eq!(Hardware::discrete(0x8086), Hardware::INTEL);
        assert_eq!(Hardware::discrete(1), Hardware::INTEL);
    }
}
