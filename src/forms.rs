//! The forms of kernels. Some families do the same work in several forms, and each adapter uses the one that suits it.

/// The forms of one-sided Jacobi, which [`eigh`](crate::ops::eigen::eigh) and [`svd`](crate::ops::svd::svd) use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JacobiForm {
    /// A matrix in the registers of one invocation; `eigh` only.
    Tiny,
    /// A pair of columns per lane of a subgroup; `eigh` only.
    Lane,
    /// A matrix in the registers of a workgroup; `eigh` only.
    Register,
    /// A matrix in workgroup memory.
    Workgroup,
    /// A matrix in global memory, in blocks of columns.
    Blocked,
}

/// The forms of matrix products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatmulForm {
    /// Several matrices per workgroup.
    Tiny,
    /// Tiles of 64 rows and columns.
    Tile64,
    /// Tiles of 128 rows and columns.
    Tile128,
    /// No workgroup memory, for software adapters.
    Direct,
    /// Matrix units, used only if [`ContextBuilder::kernels`](crate::ContextBuilder::kernels) names this form.
    Cooperative,
}

/// The forms of Fourier transforms, several of which may be used together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FftForm {
    /// One kernel for every length.
    General,
    /// Kernels for known lengths.
    Known,
    /// Long passes, if workgroups have the memory.
    Long,
    /// Narrow workgroups, for software adapters.
    Narrow,
}

/// A form of the kernels of a family.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
}

impl JacobiForm {
    const ALL: [Self; 5] = [Self::Tiny, Self::Lane, Self::Register, Self::Workgroup, Self::Blocked];

    /// Returns the form's name, as a [`Choice`](crate::policy::Choice) has it.
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

    /// Returns the form's name, as a [`Choice`](crate::policy::Choice) has it.
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

    /// Returns the form's name, as a [`Choice`](crate::policy::Choice) has it.
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

impl KernelForm {
    /// Returns every form of every family.
    pub fn all() -> impl Iterator<Item = Self> {
        let jacobi = JacobiForm::ALL.map(Self::Eigh).into_iter().chain(JacobiForm::ALL.map(Self::Svd));
        jacobi.chain(MatmulForm::ALL.map(Self::Matmul)).chain(FftForm::ALL.map(Self::Fft))
    }

    /// Returns the form `name` of the family `family`.
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
        }
    }

    /// Returns the form's name within the family.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Eigh(form) | Self::Svd(form) => form.name(),
            Self::Matmul(form) => form.name(),
            Self::Fft(form) => form.name(),
        }
    }
}
