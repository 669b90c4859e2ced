//! The forms of kernels. Some kernel families have several forms that do the same work, and each adapter uses the form
//! that is fastest there.

use serde::{Deserialize, Serialize};

/// The forms of one-sided Jacobi, which [`eigh`](crate::ops::eigen::eigh) and [`svd`](crate::ops::svd::svd) use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum JacobiForm {
    /// The matrix is in the registers of one invocation. Only `eigh` has this form.
    Tiny,
    /// Each lane of a subgroup has a pair of columns. Only `eigh` has this form.
    Lane,
    /// The matrix is in the registers of a workgroup. Only `eigh` has this form.
    Register,
    /// The matrix is in workgroup memory.
    Workgroup,
    /// The matrix is in global memory and is processed in blocks of columns.
    Blocked,
}

/// The forms of matrix products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum MatmulForm {
    /// Several matrices are multiplied per workgroup.
    Tiny,
    /// A workgroup computes a tile of 64 rows and 64 columns.
    Tile64,
    /// A workgroup computes a tile of 128 rows and 128 columns.
    Tile128,
    /// The kernel uses no workgroup memory. This form is for software adapters.
    Direct,
    /// The kernel uses matrix units. This form runs only if [`ContextBuilder::kernels`](crate::ContextBuilder::kernels)
    /// names it.
    Cooperative,
}

/// The forms of Fourier transforms. One transform may use several of these forms together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum FftForm {
    /// One kernel handles every length.
    General,
    /// The radices of the transform's length are compiled into the kernel.
    Known,
    /// A workgroup holds 4096 complex values instead of 2048. This form requires 32 KiB of workgroup memory.
    Long,
    /// The workgroups have few invocations. This form is for software adapters.
    Narrow,
}

/// The forms of training. In all but the last, a workgroup trains one run through many steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum MlpForm {
    /// The parameters of a run and the rows of its batch are in workgroup memory.
    Resident,
    /// The parameters are in storage; the rows of the batch, or all but the inputs, are in workgroup memory.
    Streamed,
    /// The parameters and the rows are in storage. Every network has this form.
    Stored,
    /// All workgroups together compute one layer of all runs after the other. Every network has this form, which is for
    /// those that are too wide for one workgroup.
    Layered,
}

/// A form of the kernels of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum KernelForm {
    /// A form for eigendecompositions.
    Eigh(JacobiForm),
    /// A form for singular value decompositions.
    Svd(JacobiForm),
    /// A form for matrix products.
    Matmul(MatmulForm),
    /// A form for Fourier transforms.
    Fft(FftForm),
    /// A form for training.
    Mlp(MlpForm),
}

impl JacobiForm {
    const ALL: [Self; 5] = [Self::Tiny, Self::Lane, Self::Register, Self::Workgroup, Self::Blocked];

    /// Returns the form's name, as it appears in [`Choice::algorithm`](crate::policy::Choice::algorithm).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Lane => "lane",
            Self::Register => "register",
            Self::Workgroup => "workgroup",
            Self::Blocked => "blocked",
        }
    }
}

impl MatmulForm {
    const ALL: [Self; 5] = [Self::Tiny, Self::Tile64, Self::Tile128, Self::Direct, Self::Cooperative];

    /// Returns the form's name, as it appears in [`Choice::algorithm`](crate::policy::Choice::algorithm).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tiny => "tiny",
            Self::Tile64 => "tile_64",
            Self::Tile128 => "tile_128",
            Self::Direct => "direct",
            Self::Cooperative => "cooperative",
        }
    }
}

impl FftForm {
    const ALL: [Self; 4] = [Self::General, Self::Known, Self::Long, Self::Narrow];

    /// Returns the form's name, as it appears in [`Choice::algorithm`](crate::policy::Choice::algorithm).
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::General => "general",
            Self::Known => "known",
            Self::Long => "long",
            Self::Narrow => "narrow",
        }
    }
}

impl MlpForm {
    const ALL: [Self; 4] = [Self::Resident, Self::Streamed, Self::Stored, Self::Layered];

    /// Returns the form's name.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Resident => "resident",
            Self::Streamed => "streamed",
            Self::Stored => "stored",
            Self::Layered => "layered",
        }
    }
}

impl KernelForm {
    /// Returns every form of every family.
    pub fn all() -> impl Iterator<Item = Self> {
        let jacobi = JacobiForm::ALL.map(Self::Eigh).into_iter().chain(JacobiForm::ALL.map(Self::Svd));
        let others = MatmulForm::ALL.map(Self::Matmul).into_iter().chain(FftForm::ALL.map(Self::Fft));
        jacobi.chain(others).chain(MlpForm::ALL.map(Self::Mlp))
    }

    /// Returns the form with the given name in the given family, if there is one.
    #[must_use]
    pub fn named(family: &str, name: &str) -> Option<Self> {
        Self::all().find(|form| form.family() == family && form.name() == name)
    }

    /// Returns the name of the form's family, as in [`Family::name`](crate::policy::Family::name).
    #[must_use]
    pub fn family(self) -> &'static str {
        match self {
            Self::Eigh(_) => "eigh",
            Self::Svd(_) => "svd",
            Self::Matmul(_) => "gemm",
            Self::Fft(_) => "fft",
            Self::Mlp(_) => "train",
        }
    }

    /// Returns the form's name within the family.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Eigh(form) | Self::Svd(form) => form.name(),
            Self::Matmul(form) => form.name(),
            Self::Fft(form) => form.name(),
            Self::Mlp(form) => form.name(),
        }
    }
}
