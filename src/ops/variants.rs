//! The list of all kernel variants that ship, and a method that compiles one variant. `fiedler doctor --compile`
//! compiles all of them.

use super::FAMILIES;
use crate::context::Context;
use crate::device::{Adapter, Budget, Declaration, Overrides};
use crate::error::Result;
use std::fmt::{self, Display, Formatter};

/// A kernel with values for the `override`s of its WGSL.
#[derive(Clone, Debug)]
pub struct KernelVariant {
    family: &'static str,
    declaration: &'static Declaration,
    overrides: Vec<(&'static str, f64)>,
    is_given: fn(&Adapter, &'static str, Overrides<'_>) -> bool,
    budget: Budget,
}

impl KernelVariant {
    /// Returns all variants that ship, family by family.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = Vec::new();
        for &(family, kernels, is_given) in FAMILIES {
            for kernel in kernels {
                for declaration in kernel.declarations {
                    let of = |overrides| Self { family, declaration, overrides, is_given, budget: kernel.budget };
                    all.extend((kernel.variants)().into_iter().map(of));
                }
            }
        }
        all
    }

    /// Returns the name of the family of operations that the kernel belongs to, such as `eigen`.
    #[must_use]
    pub fn family(&self) -> &'static str {
        self.family
    }

    /// Returns whether calls may use the variant on `adapter`, without checking the adapter's limits. Some variants are
    /// only for software adapters, and others only for hardware adapters.
    #[must_use]
    pub fn is_for(&self, adapter: &Adapter) -> bool {
        (self.is_given)(adapter, self.declaration.shader.name, &self.overrides)
    }

    /// Returns what the compilers of GPUs may make of the variant, in the words of `benches/isa.py`: the maximum number
    /// of registers per invocation, the maximum number of instructions, the least occupancy in percent, and the reason
    /// for a low occupancy.
    #[must_use]
    pub fn budget(&self) -> String {
        let Budget { registers, instructions, occupancy, because } = self.budget;
        format!("registers={registers};instructions={instructions};occupancy={occupancy};because={because}")
    }

    /// Compiles the variant on the adapter of `ctx` and discards the result.
    ///
    /// # Errors
    /// [`Limit`](crate::ErrorKind::Limit) if the variant exceeds a limit of the adapter, in which case calls never use
    /// the variant on that adapter; [`Kernel`](crate::ErrorKind::Kernel) if the driver rejects the variant (on Vulkan,
    /// the device may also be lost, so further variants must be compiled on a new context);
    /// [`NoAdapter`](crate::ErrorKind::NoAdapter) if `ctx` has no adapter; [`Cancelled`](crate::ErrorKind::Cancelled).
    pub fn compile(&self, ctx: &Context) -> Result<()> {
        ctx.cancel().check()?;
        ctx.gpu()?.compile(self.declaration, &self.overrides)
    }

    /// Returns the label of the kernel's shader modules, and the WGSL from which they are parsed (feature `testing`).
    #[cfg(feature = "testing")]
    #[must_use]
    pub fn source(&self) -> (String, String) {
        (self.declaration.shader.label(), self.declaration.shader.source())
    }

    /// Returns the WGSL text that a browser receives for the variant (feature `testing`).
    ///
    /// # Errors
    /// [`Kernel`](crate::ErrorKind::Kernel) if naga rejects the variant or cannot write it.
    #[cfg(feature = "testing")]
    pub fn browser_wgsl(&self) -> Result<String> {
        self.declaration.browser_wgsl(&self.overrides)
    }
}

/// Writes the family, the kernel, and, in parentheses, the values of its overrides, as in `stats Gram (SIDE=16)`.
impl Display for KernelVariant {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} (", self.family, self.declaration.shader.name)?;
        for (i, (name, value)) in self.overrides.iter().enumerate() {
            write!(f, "{}{name}={value}", if i > 0 { ", " } else { "" })?;
        }
        write!(f, ")")
    }
}

#[cfg(test)]
mod tests {
    use super::KernelVariant;
    use crate::device::Budget;
    use std::collections::HashSet;
    use std::path::Path;

    /// A kernel that may leave most of a processor idle says why.
    #[test]
    fn a_low_occupancy_has_a_reason() {
        for variant in KernelVariant::all() {
            let Budget { occupancy, because, .. } = variant.budget;
            assert_eq!(occupancy < Budget::USUAL.occupancy, !because.is_empty(), "{variant}");
        }
    }

    /// A label has one text, so that what a tool says of a label is said of one kernel.
    #[test]
    #[cfg(feature = "testing")]
    fn a_label_is_a_kernel() {
        let sources: HashSet<(String, String)> = KernelVariant::all().iter().map(KernelVariant::source).collect();
        let labels: HashSet<&String> = sources.iter().map(|(label, _)| label).collect();
        assert_eq!(labels.len(), sources.len());
    }

    /// Every family that has shaders is in the table, and every variant has a unique name.
    #[test]
    fn all_families_and_each_variant_once() {
        let all = KernelVariant::all();
        let names: HashSet<String> = all.iter().map(ToString::to_string).collect();
        assert_eq!(names.len(), all.len());
        let families: HashSet<&str> = all.iter().map(KernelVariant::family).collect();
        let ops = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/ops");
        for folder in std::fs::read_dir(ops).expect("src/ops") {
            let folder = folder.expect("a folder");
            let name = folder.file_name().into_string().expect("a name");
            assert_eq!(folder.path().join("kernels.rs").is_file(), families.contains(name.as_str()), "{name}");
        }
    }
}
