//! The forms of kernels. Some families do the same work in several ways, and each adapter uses the one that suits it.

/// Forms of one-sided Jacobi, which [`eigh`](crate::ops::eigen::eigh) and [`svd`](crate::ops::svd::svd) do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum JacobiForm {
    /// A matrix in the registers of an invocation; `eigh` alone.
    Tiny,
    /// A pair of columns a lane of a subgroup; `eigh` alone.
    Lane,
    /// Registers of a workgroup; `eigh` alone.
    Register,
    /// Workgroup memory.
    Workgroup,
    /// Global memory, blocks of columns.
    Blocked,
}

/// Forms of products.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MatmulForm {
    /// Several matrices a workgroup.
    Tiny,
    /// Tiles of 64 rows and columns.
    Tile64,
    /// Tiles of 128 rows and columns.
    Tile128,
    /// Without workgroup memory, for software adapters.
    Direct,
    /// Matrix units, used only if [`ContextBuilder::kernels`](crate::ContextBuilder::kernels) names this form.
    Cooperative,
}

/// Forms of Fourier transforms, of which several go together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FftForm {
    /// One kernel for every length.
    General,
    /// Kernels of known lengths.
    Known,
    /// Long passes, where workgroups have the memory.
    Long,
    /// Narrow workgroups, for software adapters.
    Narrow,
}

/// A form of a family's kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum KernelForm {
    /// Of eigendecompositions.
    Eigh(JacobiForm),
    /// Of singular value decompositions.
    Svd(JacobiForm),
    /// Of products.
    Matmul(MatmulForm),
    /// Of Fourier transforms.
    Fft(FftForm),
}

impl JacobiForm {
    const ALL: [Self; 5] = [Self::Tiny, Self::Lane, Self::Register, Self::Workgroup, Self::Blocked];

    /// Its name, as a [`Choice`](crate::policy::Choice) has it.
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

    /// Its name, as a [`Choice`](crate::policy::Choice) has it.
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

    /// Its name, as a [`Choice`](crate::policy::Choice) has it.
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
    /// Every form of every family.
    pub fn all() -> impl Iterator<Item = Self> {
        let jacobi = JacobiForm::ALL.map(Self::Eigh).into_iter().chain(JacobiForm::ALL.map(Self::Svd));
        jacobi.chain(MatmulForm::ALL.map(Self::Matmul)).chain(FftForm::ALL.map(Self::Fft))
    }

    /// The form of that name of the family of that name.
    #[must_use]
    pub fn named(family: &str, name: &str) -> Option<Self> {
        Self::all().find(|form| form.family() == family && form.name() == name)
    }

    /// The name of its family, as in [`Family::name`](crate::policy::Family::name).
    #[must_use]
    pub fn family(self) -> &'static str {
        match self {
            Self::Eigh(_) => "eigh",
            Self::Svd(_) => "svd",
            Self::Matmul(_) => "gemm",
            Self::Fft(_) => "fft",
        }
    }

    /// Its name within the family.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Eigh(form) | Self::Svd(form) => form.name(),
            Self::Matmul(form) => form.name(),
            Self::Fft(form) => form.name(),
        }
    }
}
