//! Compute pipelines.

use super::bind::{BindGroupLayout, Entry, Groups, LayoutInner, PipelineLayout, check_counts};
use super::errors::{Failure, Outcome, ensure, invalid};
use super::shader::{Reflection, Resource, ShaderInner, ShaderModule};
use super::shared::Shared;
use crate::faults::Fault;
use crate::machine::Program;
use std::collections::BTreeMap;
use std::sync::Arc;
use wgpu::ShaderStages;
use wgpu::custom::{ComputePipelineInterface, DispatchBindGroupLayout};

/// A pipeline, as passes use it.
#[derive(Debug)]
pub(crate) struct PipelineInner {
    pub(crate) label: String,
    pub(crate) program: Arc<Program>,
    pub(crate) zero_workgroup_memory: bool,
    pub(crate) groups: Groups,
    pub(crate) resources: Vec<Resource>,
}

/// What [`wgpu::ComputePipeline`] holds. An invalid pipeline has nothing within.
#[derive(Debug)]
pub(crate) struct ComputePipeline {
    shared: Arc<Shared>,
    inner: Option<Arc<PipelineInner>>,
}

impl ComputePipeline {
    pub(crate) fn create(shared: &Arc<Shared>, descriptor: &wgpu::ComputePipelineDescriptor<'_>) -> Self {
        let made = shared.call("Device::create_compute_pipeline", descriptor.label, || make(shared, descriptor));
        Self { shared: Arc::clone(shared), inner: made.map(Arc::new) }
    }

    /// Returns the pipeline, if it is valid and of this device.
    pub(crate) fn get<'a>(shared: &Arc<Shared>, pipeline: Option<&'a Self>) -> Outcome<&'a Arc<PipelineInner>> {
        match pipeline.and_then(|pipeline| Some((&pipeline.shared, pipeline.inner.as_ref()?))) {
            Some((owner, inner)) if Arc::ptr_eq(owner, shared) => Ok(inner),
            _ => invalid("a compute pipeline is invalid, or of another device"),
        }
    }
}

impl ComputePipelineInterface for ComputePipeline {
    fn get_bind_group_layout(&self, index: u32) -> DispatchBindGroupLayout {
        let layout = self.shared.call("ComputePipeline::get_bind_group_layout", None, || {
            let Some(inner) = &self.inner else { return invalid("the pipeline is invalid") };
            match inner.groups.get(index as usize) {
                Some(Some(layout)) => Ok(Arc::clone(layout)),
                _ => invalid(format!("the pipeline has no bind group {index}")),
            }
        });
        DispatchBindGroupLayout::custom(BindGroupLayout(layout))
    }
}

fn make(shared: &Arc<Shared>, descriptor: &wgpu::ComputePipelineDescriptor<'_>) -> Outcome<PipelineInner> {
    let shader = ShaderModule::get(shared, descriptor.module.as_custom())?;
    let entry = shader.entry_point(descriptor.entry_point)?;
    let options = &descriptor.compilation_options;
    let reflection = shader.reflect(&entry, options.constants)?;
    check_limits(&shared.limits, &reflection)?;
    let groups = match descriptor.layout {
        Some(layout) => match layout.as_custom::<PipelineLayout>().and_then(|layout| layout.0.as_ref()) {
            Some(groups) => groups.to_vec(),
            None => return invalid("the pipeline layout is invalid"),
        },
        None => derived(shared, &reflection.resources)?,
    };
    for resource in &reflection.resources {
        check_resource(&groups, resource)?;
    }
    if shared.injector.strikes(Fault::PipelineFailed, "Device::create_compute_pipeline") {
        return Err(Failure::Internal("injected fault: the shader compiler gave up".to_owned()));
    }
    let label = match descriptor.label {
        Some(label) if !label.is_empty() => label.to_owned(),
        _ => shader.label.clone(),
    };
    Ok(PipelineInner {
        label,
        program: compile(shared, shader, &entry, options.constants)?,
        zero_workgroup_memory: options.zero_initialize_workgroup_memory,
        groups,
        resources: reflection.resources,
    })
}

fn compile(shared: &Shared, shader: &ShaderInner, entry: &str, constants: &[(&str, f64)]) -> Outcome<Arc<Program>> {
    let constants = constants.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
    let (module, profile) = (&shader.module, &shared.settings.profile);
    let program = match &shared.settings.mutation {
        Some((label, mutation)) if *label == shader.label => {
            Program::mutant(module, entry, &constants, profile, *mutation)
        }
        _ => Program::compile(module, entry, &constants, profile),
    };
    // What the machine cannot execute is no mistake of the program under test.
    let program = program.map_err(|error| Failure::Internal(error.to_string()))?;
    let program = Arc::new(match &shader.source {
        Some(source) => program.with_source(Arc::clone(source)),
        None => program,
    });
    shared.programs.add(&shader.label, &program);
    Ok(program)
}

fn check_limits(limits: &wgpu::Limits, reflection: &Reflection) -> Outcome<()> {
    let [x, y, z] = reflection.workgroup_size.map(u64::from);
    for (what, needed, most) in [
        ("invocations along x", x, limits.max_compute_workgroup_size_x),
        ("invocations along y", y, limits.max_compute_workgroup_size_y),
        ("invocations along z", z, limits.max_compute_workgroup_size_z),
        ("invocations", x * y * z, limits.max_compute_invocations_per_workgroup),
        ("bytes of workgroup memory", reflection.workgroup_storage, limits.max_compute_workgroup_storage_size),
    ] {
        ensure!(needed <= most.into(), "a workgroup of {needed} {what} exceeds the limit, {most}");
    }
    ensure!(x * y * z > 0, "a workgroup has no invocations");
    Ok(())
}

/// Fails unless the layout has what the shader uses.
fn check_resource(groups: &Groups, resource: &Resource) -> Outcome<()> {
    let Resource { name, group, binding, ty, min_size } = resource;
    let place = format!("`{name}` (group {group}, binding {binding})");
    let layout = groups.get(*group as usize).and_then(Option::as_ref);
    let Some(entry) = layout.and_then(|layout| layout.entries.get(binding)) else {
        return invalid(format!("the pipeline layout lacks {place}"));
    };
    ensure!(entry.visibility.contains(ShaderStages::COMPUTE), "the layout hides {place} from compute shaders");
    ensure!(entry.ty == *ty, "{place} is {ty:?} in the shader, and {:?} in the layout", entry.ty);
    ensure!(
        entry.min_size == 0 || entry.min_size >= *min_size,
        "the layout's minimum of {} bytes for {place} is less than the {min_size} of the shader",
        entry.min_size
    );
    Ok(())
}

/// Makes the layouts of a pipeline that comes without.
fn derived(shared: &Arc<Shared>, resources: &[Resource]) -> Outcome<Groups> {
    let count = resources.iter().map(|resource| resource.group + 1).max().unwrap_or(0);
    let most = shared.limits.max_bind_groups;
    ensure!(count <= most, "{count} bind groups are more than max_bind_groups, {most}");
    let mut groups = vec![BTreeMap::new(); count as usize];
    for &Resource { group, binding, ty, min_size, ref name } in resources {
        let entry = Entry { ty, dynamic: false, min_size, visibility: ShaderStages::COMPUTE };
        let other = groups[group as usize].insert(binding, entry);
        ensure!(other.is_none(), "`{name}` shares group {group}, binding {binding} with another variable");
    }
    check_counts(shared, groups.iter().flat_map(BTreeMap::values))?;
    let exclusive = Some(shared.id());
    let layout = |entries| Some(Arc::new(LayoutInner { entries, exclusive, shared: Arc::clone(shared) }));
    Ok(groups.into_iter().map(layout).collect())
}
