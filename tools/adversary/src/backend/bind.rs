//! Layouts of bind groups and pipelines, and bind groups.

use super::buffer::{Buffer, BufferInner};
use super::errors::{Outcome, ensure, invalid};
use super::shared::Shared;
use std::collections::BTreeMap;
use std::sync::Arc;
use wgpu::custom::{BindGroupInterface, BindGroupLayoutInterface, PipelineLayoutInterface};
use wgpu::{BindingResource, BindingType, BufferBindingType, BufferUsages, ShaderStages};

/// One binding of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) ty: BufferBindingType,
    pub(crate) dynamic: bool,
    /// The minimum size of the binding, or 0 if it is checked at each dispatch.
    pub(crate) min_size: u64,
    pub(crate) visibility: ShaderStages,
}

impl Entry {
    pub(crate) fn is_writable(self) -> bool {
        self.ty == BufferBindingType::Storage { read_only: false }
    }

    fn usage(self) -> BufferUsages {
        match self.ty {
            BufferBindingType::Uniform => BufferUsages::UNIFORM,
            BufferBindingType::Storage { .. } => BufferUsages::STORAGE,
        }
    }

    pub(crate) fn alignment(self, limits: &wgpu::Limits) -> u64 {
        u64::from(match self.ty {
            BufferBindingType::Uniform => limits.min_uniform_buffer_offset_alignment,
            BufferBindingType::Storage { .. } => limits.min_storage_buffer_offset_alignment,
        })
    }

    fn most(self, limits: &wgpu::Limits) -> u64 {
        match self.ty {
            BufferBindingType::Uniform => limits.max_uniform_buffer_binding_size,
            BufferBindingType::Storage { .. } => limits.max_storage_buffer_binding_size,
        }
    }
}

/// The bindings of a group.
#[derive(Debug)]
pub(crate) struct LayoutInner {
    pub(crate) entries: BTreeMap<u32, Entry>,
    /// The pipeline that made the layout for itself. No other layout is equivalent to it.
    pub(crate) exclusive: Option<u64>,
    pub(crate) shared: Arc<Shared>,
}

impl LayoutInner {
    /// Returns whether a group with one layout can be bound where the other is expected.
    pub(crate) fn is_equivalent(&self, other: &Self) -> bool {
        self.entries == other.entries && self.exclusive == other.exclusive
    }

    /// Returns the bindings with dynamic offsets, in the order of the offsets.
    pub(crate) fn dynamic(&self) -> impl Iterator<Item = (u32, Entry)> {
        self.entries.iter().filter(|(_, entry)| entry.dynamic).map(|(&binding, &entry)| (binding, entry))
    }
}

/// What [`wgpu::BindGroupLayout`] holds. An invalid layout has nothing within.
#[derive(Debug)]
pub(crate) struct BindGroupLayout(pub(crate) Option<Arc<LayoutInner>>);

impl BindGroupLayoutInterface for BindGroupLayout {}

impl BindGroupLayout {
    pub(crate) fn create(shared: &Arc<Shared>, descriptor: &wgpu::BindGroupLayoutDescriptor<'_>) -> Self {
        Self(shared.call("Device::create_bind_group_layout", descriptor.label, || {
            let mut entries = BTreeMap::new();
            let limits = &shared.limits;
            for entry in descriptor.entries {
                let binding = entry.binding;
                let BindingType::Buffer { ty, has_dynamic_offset, min_binding_size } = entry.ty else {
                    return invalid(format!("binding {binding}: this adapter computes only, and binds buffers alone"));
                };
                ensure!(entry.count.is_none(), "binding {binding}: this adapter has no arrays of bindings");
                let most = limits.max_bindings_per_bind_group;
                ensure!(binding < most, "binding {binding} is not below max_bindings_per_bind_group, {most}");
                let min_size = min_binding_size.map_or(0, std::num::NonZero::get);
                let made = Entry { ty, dynamic: has_dynamic_offset, min_size, visibility: entry.visibility };
                let writes = made.is_writable() && entry.visibility.contains(ShaderStages::VERTEX);
                ensure!(!writes, "binding {binding} may be written by a vertex shader");
                ensure!(entries.insert(binding, made).is_none(), "binding {binding} is there twice");
            }
            check_counts(shared, entries.values())?;
            Ok(Arc::new(LayoutInner { entries, exclusive: None, shared: Arc::clone(shared) }))
        }))
    }

    fn get<'a>(shared: &Arc<Shared>, layout: Option<&'a Self>) -> Outcome<&'a Arc<LayoutInner>> {
        match layout.and_then(|layout| layout.0.as_ref()) {
            Some(inner) if Arc::ptr_eq(&inner.shared, shared) => Ok(inner),
            _ => invalid("a bind group layout is invalid, or of another device"),
        }
    }
}

/// Fails if there are more bindings of a kind than the limits allow.
pub(crate) fn check_counts<'a>(shared: &Shared, entries: impl Iterator<Item = &'a Entry>) -> Outcome<()> {
    let limits = &shared.limits;
    let (mut uniform, mut storage, mut dynamic_uniform, mut dynamic_storage) = (0, 0, 0, 0);
    for entry in entries {
        let (all, dynamic) = match entry.ty {
            BufferBindingType::Uniform => (&mut uniform, &mut dynamic_uniform),
            BufferBindingType::Storage { .. } => (&mut storage, &mut dynamic_storage),
        };
        *all += u32::from(entry.visibility.contains(ShaderStages::COMPUTE));
        *dynamic += u32::from(entry.dynamic);
    }
    for (what, count, most) in [
        ("uniform buffers of a stage", uniform, limits.max_uniform_buffers_per_shader_stage),
        ("storage buffers of a stage", storage, limits.max_storage_buffers_per_shader_stage),
        ("dynamic uniform buffers", dynamic_uniform, limits.max_dynamic_uniform_buffers_per_pipeline_layout),
        ("dynamic storage buffers", dynamic_storage, limits.max_dynamic_storage_buffers_per_pipeline_layout),
    ] {
        ensure!(count <= most, "{count} {what} are more than the limit, {most}");
    }
    Ok(())
}

/// What [`wgpu::PipelineLayout`] holds. An invalid layout has nothing within.
#[derive(Debug)]
pub(crate) struct PipelineLayout(pub(crate) Option<Arc<Groups>>);

/// The layouts of the groups of a pipeline, by their numbers.
pub(crate) type Groups = Vec<Option<Arc<LayoutInner>>>;

impl PipelineLayoutInterface for PipelineLayout {}

impl PipelineLayout {
    pub(crate) fn create(shared: &Arc<Shared>, descriptor: &wgpu::PipelineLayoutDescriptor<'_>) -> Self {
        Self(shared.call("Device::create_pipeline_layout", descriptor.label, || {
            let groups = descriptor.bind_group_layouts.iter().map(|layout| {
                layout.map(|layout| BindGroupLayout::get(shared, layout.as_custom()).cloned()).transpose()
            });
            let groups: Groups = groups.collect::<Outcome<_>>()?;
            let (count, most) = (groups.len(), shared.limits.max_bind_groups);
            ensure!(count <= most as usize, "{count} bind groups are more than max_bind_groups, {most}");
            ensure!(descriptor.immediate_size == 0, "this adapter has no immediates");
            check_counts(shared, groups.iter().flatten().flat_map(|group| group.entries.values()))?;
            let exclusive = groups.iter().flatten().any(|group| group.exclusive.is_some());
            ensure!(!exclusive, "a layout that a pipeline made for itself is good for that pipeline alone");
            Ok(Arc::new(groups))
        }))
    }
}

/// A bound range of a buffer.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) buffer: Arc<BufferInner>,
    pub(crate) offset: u64,
    pub(crate) size: u64,
}

/// A bind group, as passes use it.
#[derive(Debug)]
pub(crate) struct GroupInner {
    pub(crate) layout: Arc<LayoutInner>,
    pub(crate) slots: BTreeMap<u32, Slot>,
}

/// What [`wgpu::BindGroup`] holds. An invalid group has nothing within.
#[derive(Debug)]
pub(crate) struct BindGroup(pub(crate) Option<Arc<GroupInner>>);

impl BindGroupInterface for BindGroup {}

impl BindGroup {
    pub(crate) fn create(shared: &Arc<Shared>, descriptor: &wgpu::BindGroupDescriptor<'_>) -> Self {
        Self(shared.call("Device::create_bind_group", descriptor.label, || {
            let layout = BindGroupLayout::get(shared, descriptor.layout.as_custom())?;
            let (count, expected) = (descriptor.entries.len(), layout.entries.len());
            ensure!(count == expected, "{count} bindings, where the layout has {expected}");
            let mut slots = BTreeMap::new();
            for entry in descriptor.entries {
                let binding = entry.binding;
                let Some(expected) = layout.entries.get(&binding) else {
                    return invalid(format!("the layout has no binding {binding}"));
                };
                let BindingResource::Buffer(resource) = &entry.resource else {
                    return invalid(format!("binding {binding}: this adapter computes only, and binds buffers alone"));
                };
                let slot = slot(shared, binding, *expected, resource)?;
                ensure!(slots.insert(binding, slot).is_none(), "binding {binding} is there twice");
            }
            Ok(Arc::new(GroupInner { layout: Arc::clone(layout), slots }))
        }))
    }

    /// Returns the group, if it is valid and of this device.
    pub(crate) fn get<'a>(shared: &Arc<Shared>, group: Option<&'a Self>) -> Outcome<&'a Arc<GroupInner>> {
        match group.and_then(|group| group.0.as_ref()) {
            Some(inner) if Arc::ptr_eq(&inner.layout.shared, shared) => Ok(inner),
            _ => invalid("a bind group is invalid, or of another device"),
        }
    }
}

/// Checks one binding of a group.
fn slot(shared: &Arc<Shared>, binding: u32, entry: Entry, resource: &wgpu::BufferBinding<'_>) -> Outcome<Slot> {
    let buffer = Buffer::get(shared, resource.buffer.as_custom())?;
    buffer.check_usage(entry.usage())?;
    let (offset, limits) = (resource.offset, &shared.limits);
    let alignment = entry.alignment(limits);
    ensure!(offset.is_multiple_of(alignment), "binding {binding}: the offset {offset} is no multiple of {alignment}");
    let size = resource.size.map_or(buffer.size.saturating_sub(offset), std::num::NonZero::get);
    ensure!(size > 0, "binding {binding} has no bytes");
    ensure!(
        offset.checked_add(size).is_some_and(|end| end <= buffer.size),
        "binding {binding}: {size} bytes from {offset} are not all in buffer `{}`, which has {}",
        buffer.label,
        buffer.size
    );
    let most = entry.most(limits);
    ensure!(size <= most, "binding {binding}: {size} bytes are more than the limit of its kind, {most}");
    let whole = entry.ty == BufferBindingType::Uniform || size.is_multiple_of(4);
    ensure!(whole, "binding {binding}: {size} bytes of a storage buffer are no multiple of 4");
    let least = entry.min_size;
    ensure!(size >= least, "binding {binding}: {size} bytes are less than the minimum of the layout, {least}");
    Ok(Slot { buffer: Arc::clone(buffer), offset, size })
}
