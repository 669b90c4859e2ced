//! The WGSL text that a browser receives for a variant of a kernel. Used only in tests (feature `testing`).

use super::kernel::Declaration;
use super::shader::{Overrides, validate};
use crate::error::Result;
use naga::back::wgsl::{WriterFlags, write_string};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// The directives that kernels with subgroups need in a browser. naga does not write the first one
/// (gfx-rs/wgpu#8180), and wgpu 30 offers no subgroups in browsers (gfx-rs/wgpu#10146).
///
/// The second one is needed because the loops of these kernels end by `subgroupAny`. Its result is the same in all
/// lanes, but tint does not assume that. Tint still checks barriers.
const SUBGROUPS: &str = "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n";

impl Declaration {
    /// Returns the WGSL of a variant, written as wgpu's WebGPU backend writes it: from the module that is passed to
    /// the driver, by naga, without options. Kernels that use subgroups have [`SUBGROUPS`] before it.
    pub(crate) fn browser_wgsl(&self, overrides: Overrides<'_>) -> Result<String> {
        let shader = &self.shader;
        let module = shader.reflect(overrides)?.module;
        let fail = |message: String| shader.error(overrides, message);
        let info = validate(&module).map_err(|e| fail(format!("{e:?}")))?;
        let text = write_string(&module, &info, WriterFlags::empty()).map_err(|e| fail(e.to_string()))?;
        let others = Capabilities::all() - Capabilities::SUBGROUP;
        let subgroups = Validator::new(ValidationFlags::all(), others).validate(&module).is_err();
        Ok(if subgroups { format!("{SUBGROUPS}{text}") } else { text })
    }
}
