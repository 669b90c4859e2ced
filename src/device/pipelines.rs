//! A cache of compiled kernels, with one pipeline for each variant.

use super::adapter::Adapter;
#[cfg(feature = "testing")]
use super::fault_injection::spoil;
use super::faults::{Faults, scoped};
use super::kernel::Declaration;
use super::shader::{Overrides, Reflection, Shader, VarKind, Variable, variant_text};
use crate::error::{ErrorKind, Result};
use crate::profile::Stopwatch;
use std::borrow::Cow;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};

/// A kernel's family, its name, and the bits of its override values. Names are unique only within a family.
type Key = (&'static str, &'static str, Vec<(&'static str, u64)>);

/// A compiled variant of a kernel.
#[derive(Debug)]
pub(super) struct Pipeline {
    pub(super) name: &'static str,
    pub(super) raw: wgpu::ComputePipeline,
    pub(super) layout: wgpu::BindGroupLayout,
    pub(super) workgroup_size: [u32; 3],
    /// The name and binding index of every variable.
    pub(super) bindings: Vec<(String, u32)>,
}

#[derive(Debug)]
pub(super) struct Pipelines {
    device: wgpu::Device,
    faults: Faults,
    /// Whether the shaders keep their run-time checks of indices, loops and divisions, as in tests.
    checked: bool,
    /// The compiled variants, shared by the contexts of a device.
    compiled: Arc<Mutex<HashMap<Key, Arc<Pipeline>>>>,
    stopwatch: Stopwatch,
    /// The name of a kernel that is made to compute wrong results on purpose.
    spoiled: Option<String>,
}

impl Pipelines {
    pub(super) fn new(
        device: &wgpu::Device,
        faults: &Faults,
        checked: bool,
        stopwatch: &Stopwatch,
        spoiled: Option<String>,
    ) -> Self {
        let (device, faults, stopwatch) = (device.clone(), faults.clone(), stopwatch.clone());
        Self { device, faults, checked, compiled: Arc::default(), stopwatch, spoiled }
    }

    /// Shares the variants that another context on the same device has compiled, if both contexts compile with the same
    /// settings.
    pub(super) fn for_context(self, other: &Self) -> Self {
        let alike = (self.checked, &self.spoiled) == (other.checked, &other.spoiled);
        let compiled = if alike { Arc::clone(&other.compiled) } else { self.compiled };
        Self { compiled, ..self }
    }

    /// Returns the compiled variant. The first call for a variant reads the WGSL, compares it with the Rust
    /// declaration, checks the adapter's limits and compiles.
    pub(super) fn get(
        &self,
        kernel: &Declaration,
        overrides: Overrides<'_>,
        adapter: &Adapter,
    ) -> Result<Arc<Pipeline>> {
        let shader = &kernel.shader;
        let bits = overrides.iter().map(|&(name, value)| (name, value.to_bits())).collect();
        let key = (shader.family, shader.name, bits);
        if let Some(found) = self.compiled.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(found));
        }
        let pipeline = Arc::new(self.make(kernel, overrides, adapter)?);
        self.compiled.lock().unwrap_or_else(PoisonError::into_inner).insert(key, Arc::clone(&pipeline));
        Ok(pipeline)
    }

    /// Compiles a variant without looking for it in the cache.
    pub(super) fn make(&self, kernel: &Declaration, overrides: Overrides<'_>, adapter: &Adapter) -> Result<Pipeline> {
        let shader = &kernel.shader;
        let began = self.stopwatch.begin();
        #[cfg_attr(not(feature = "testing"), expect(unused_mut, reason = "it is made wrong in tests alone"))]
        let mut reflection = shader.reflect(overrides)?;
        #[cfg(feature = "testing")]
        if self.spoiled.as_deref() == Some(shader.name) {
            let places = spoil(&mut reflection.module);
            log::warn!("kernel {} is made wrong in {places} places, as was asked for", shader.name);
        }
        kernel.agree(&reflection, overrides)?;
        check_limits(shader, &reflection, overrides, adapter)?;
        // Checks first whether the device was lost earlier, so that the loss is not attributed to this kernel.
        self.faults.ask(&self.device)?;
        let pipeline = self.compile(shader, reflection, overrides)?;
        self.stopwatch.end("compile", shader.name, began);
        Ok(pipeline)
    }

    fn compile(&self, shader: &Shader, reflection: Reflection, overrides: Overrides<'_>) -> Result<Pipeline> {
        let name = shader.name;
        let label = shader.label();
        let label = Some(label.as_str());
        let entries: Vec<_> = reflection.variables.iter().map(layout_entry).collect();
        let ((raw, layout), caught) = scoped(&self.device, || {
            let module = self.module(wgpu::ShaderModuleDescriptor {
                label,
                source: wgpu::ShaderSource::Naga(Cow::Owned(reflection.module)),
            });
            let layout =
                self.device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
            let pipeline_layout = self.device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label,
                bind_group_layouts: &[Some(&layout)],
                immediate_size: 0,
            });
            let raw = self.device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label,
                layout: Some(&pipeline_layout),
                module: &module,
                entry_point: Some("main"),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &[],
                    zero_initialize_workgroup_memory: false,
                },
                cache: None,
            });
            (raw, layout)
        });
        if let Some(error) = caught {
            return Err(shader.error(overrides, error.to_string()));
        }
        // On Vulkan, a pipeline that fails to compile also causes the loss of the device (gfx-rs/wgpu#10027).
        self.faults.check().map_err(|e| shader.error(overrides, format!("while compiling, {e}")))?;
        let bindings = reflection.variables.into_iter().map(|v| (v.name, v.binding)).collect();
        Ok(Pipeline { name, raw, layout, workgroup_size: reflection.workgroup_size, bindings })
    }

    #[expect(unsafe_code, reason = "unchecked modules: the checked build of every kernel passes the test suite")]
    fn module(&self, descriptor: wgpu::ShaderModuleDescriptor<'_>) -> wgpu::ShaderModule {
        if self.checked {
            return self.device.create_shader_module(descriptor);
        }
        // SAFETY: the shaders are part of this crate. They keep all indices within the arrays, end all loops and never
        // divide by zero, as the test suite shows with every check enabled. Each buffer is bound with the size that its
        // kernel expects.
        unsafe { self.device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
    }
}

fn layout_entry(variable: &Variable) -> wgpu::BindGroupLayoutEntry {
    let (ty, has_dynamic_offset, size) = match &variable.kind {
        VarKind::Uniform { size, .. } => (wgpu::BufferBindingType::Uniform, true, NonZeroU64::new(u64::from(*size))),
        VarKind::Read(_) => (wgpu::BufferBindingType::Storage { read_only: true }, false, None),
        VarKind::Write(_) => (wgpu::BufferBindingType::Storage { read_only: false }, false, None),
    };
    wgpu::BindGroupLayoutEntry {
        binding: variable.binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: size },
        count: None,
    }
}

/// Refuses a variant that exceeds the adapter's limits. This happens before the driver receives the variant.
pub(super) fn check_limits(
    shader: &Shader,
    reflection: &Reflection,
    overrides: Overrides<'_>,
    adapter: &Adapter,
) -> Result<()> {
    let order = reflection.module.types.iter().find_map(|(_, ty)| match ty.inner {
        naga::TypeInner::CooperativeMatrix { columns, .. } => Some(columns as u32),
        _ => None,
    });
    if let Some(order) = order.filter(|&order| adapter.cooperative != Some(order)) {
        let what = format!("the order of matrix units of kernel {} on {}", shader.name, adapter.name);
        let allowed = adapter.cooperative.unwrap_or(0);
        return Err(ErrorKind::Limit { what, needed: order.into(), allowed: allowed.into() }.into());
    }
    let storage = reflection.variables.iter().filter(|v| !matches!(v.kind, VarKind::Uniform { .. })).count();
    let limits = &adapter.limits;
    for (what, needed, allowed) in [
        ("workgroup memory in bytes", u64::from(reflection.workgroup_storage), limits.workgroup_storage),
        (
            "invocations in a workgroup",
            reflection.workgroup_size.iter().map(|&x| u64::from(x)).product(),
            limits.workgroup_invocations,
        ),
        ("storage buffers", storage as u64, limits.storage_buffers),
    ] {
        if needed > u64::from(allowed) {
            let what = format!("{what} of kernel {} {} on {}", shader.name, variant_text(overrides), adapter.name);
            return Err(ErrorKind::Limit { what, needed, allowed: u64::from(allowed) }.into());
        }
    }
    Ok(())
}
