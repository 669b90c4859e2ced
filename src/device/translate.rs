//! Checks that every shipped variant of a kernel agrees with its Rust declaration, and that naga's SPIR-V, MSL, HLSL
//! and GLSL ES 3.1 writers accept the variant. Used only in tests. The checks need no device, and they reject a
//! shader that only Vulkan accepts.

use super::shader::{Overrides, validate};
use super::{Declaration, Shipped};
use naga::back::{glsl, hlsl, msl, spv};
use naga::proc::BoundsCheckPolicies;
use naga::{Module, ShaderStage, valid::ModuleInfo};

/// Checks all variants of one kernel.
///
/// # Panics
/// If a variant is refused. The message contains the kernel, the variant and the message of naga's back end.
pub(crate) fn check_kernel(&Shipped { declarations, variants, .. }: &Shipped) {
    let variants = variants();
    assert!(!variants.is_empty(), "{} ships no variant", declarations[0].shader.name);
    declarations.iter().for_each(|kernel| check_variants(kernel, &variants));
}

fn check_variants(kernel: &Declaration, variants: &[Vec<(&'static str, f64)>]) {
    for overrides in variants {
        let reflection = kernel.shader.reflect(overrides).unwrap_or_else(|e| panic!("{e}"));
        kernel.agree(&reflection, overrides).unwrap_or_else(|e| panic!("{e}"));
        // This is the module that is passed to the driver.
        let module = reflection.module;
        let info = validate(&module).unwrap_or_else(|e| panic!("{}: {e:?}", kernel.shader.name));
        for (language, result) in [
            ("SPIR-V", to_spirv as fn(&Module, &ModuleInfo) -> Result<usize, String>),
            ("MSL", to_msl),
            ("HLSL", to_hlsl),
            ("GLSL ES 3.1", to_glsl),
        ] {
            // Kernels with matrix units are translated to SPIR-V for all sizes, and to MSL only for 8 x 8 matrices.
            // HLSL and GLSL do not support matrix units.
            let source = kernel.shader.source();
            let small = language == "MSL" && source.contains("coop_mat8x8");
            if language != "SPIR-V" && source.contains("enable wgpu_cooperative_matrix;") && !small {
                continue;
            }
            let result = result(&module, &info);
            let size = result.unwrap_or_else(|e| panic!("{e}", e = refused(kernel, overrides, language, &e)));
            assert!(size > 0, "{}", refused(kernel, overrides, language, "an empty translation"));
        }
    }
}

fn refused(kernel: &Declaration, overrides: Overrides<'_>, language: &str, words: &str) -> String {
    format!("{}: {language} {words}", kernel.shader.error(overrides, "refused".into()))
}

fn to_spirv(module: &Module, info: &ModuleInfo) -> Result<usize, String> {
    let entry = spv::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".into() };
    spv::write_vec(module, info, &spv::Options::default(), Some(&entry)).map(|v| v.len()).map_err(|e| e.to_string())
}

fn to_msl(module: &Module, info: &ModuleInfo) -> Result<usize, String> {
    let mut options = msl::Options { fake_missing_bindings: true, ..Default::default() };
    if module.types.iter().any(|(_, t)| matches!(t.inner, naga::TypeInner::CooperativeMatrix { .. })) {
        // MSL 2.3 is the first version that supports matrix units.
        options.lang_version = (2, 3);
    }
    msl::write_string(module, info, &options, &msl::PipelineOptions::default())
        .map(|(text, _)| text.len())
        .map_err(|e| e.to_string())
}

fn to_hlsl(module: &Module, info: &ModuleInfo) -> Result<usize, String> {
    let options = hlsl::Options { fake_missing_bindings: true, ..Default::default() };
    let pipeline = hlsl::PipelineOptions::default();
    let mut text = String::new();
    hlsl::Writer::new(&mut text, &options, &pipeline).write(module, info, None).map_err(|e| e.to_string())?;
    Ok(text.len())
}

fn to_glsl(module: &Module, info: &ModuleInfo) -> Result<usize, String> {
    let options =
        glsl::Options { version: glsl::Version::Embedded { version: 310, is_webgl: false }, ..Default::default() };
    let pipeline =
        glsl::PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: "main".into(), multiview: None };
    let mut text = String::new();
    glsl::Writer::new(&mut text, module, info, &options, &pipeline, BoundsCheckPolicies::default())
        .and_then(|mut writer| writer.write())
        .map_err(|e| e.to_string())?;
    Ok(text.len())
}
