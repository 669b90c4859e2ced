//! Compute passes.

use super::bind::{BindGroup, GroupInner, Slot};
use super::buffer::Buffer;
use super::command::{Command, Dispatch, Size};
use super::encoder::Recording;
use super::errors::{Outcome, ensure, invalid};
use super::pipeline::{ComputePipeline, PipelineInner};
use super::query::{QueryInner, QuerySet};
use super::shared::Shared;
use std::collections::BTreeMap;
use std::sync::Arc;
use wgpu::Features;
use wgpu::custom::{
    ComputePassInterface, DispatchBindGroup, DispatchBuffer, DispatchComputePipeline, DispatchQuerySet,
    DispatchTextureView,
};

/// What [`wgpu::ComputePass`] holds.
#[derive(Debug)]
pub(crate) struct ComputePass {
    shared: Arc<Shared>,
    recording: Arc<Recording>,
    pipeline: Option<Arc<PipelineInner>>,
    groups: BTreeMap<u32, (Arc<GroupInner>, Vec<u32>)>,
    debug_groups: u32,
    /// The query that the end of the pass writes.
    end: Option<(Arc<QueryInner>, u32)>,
}

impl ComputePass {
    pub(crate) fn begin(
        shared: &Arc<Shared>,
        recording: &Arc<Recording>,
        descriptor: &wgpu::ComputePassDescriptor<'_>,
    ) -> Self {
        let mut pass = Self {
            shared: Arc::clone(shared),
            recording: Arc::clone(recording),
            pipeline: None,
            groups: BTreeMap::new(),
            debug_groups: 0,
            end: None,
        };
        let begun = recording.begin_pass().and_then(|()| {
            let Some(writes) = &descriptor.timestamp_writes else { return Ok(()) };
            shared.require(Features::TIMESTAMP_QUERY)?;
            let set = writes.query_set.as_custom::<QuerySet>();
            let query = |index: Option<u32>| -> Outcome<_> {
                index.map(|index| Ok((Arc::clone(QuerySet::get(shared, set, index, 1)?), index))).transpose()
            };
            let (first, last) = (query(writes.beginning_of_pass_write_index)?, query(writes.end_of_pass_write_index)?);
            ensure!(first.is_some() || last.is_some(), "the timestamps of the pass are to be written nowhere");
            let same = first.as_ref().map(|(_, index)| index) == last.as_ref().map(|(_, index)| index);
            ensure!(!same, "both timestamps of the pass are to be written into one query");
            if let Some((queries, index)) = first {
                recording.push(Command::Timestamp { queries, index });
            }
            pass.end = last;
            Ok(())
        });
        recording.note("CommandEncoder::begin_compute_pass", begun);
        pass
    }

    fn note(&self, call: &'static str, outcome: Outcome<()>) {
        self.recording.note(call, outcome);
    }

    fn set_group(&mut self, index: u32, group: Option<&DispatchBindGroup>, offsets: &[u32]) -> Outcome<()> {
        let most = self.shared.limits.max_bind_groups;
        ensure!(index < most, "the bind group {index} is not below max_bind_groups, {most}");
        let Some(group) = group else {
            self.groups.remove(&index);
            return Ok(());
        };
        let group = BindGroup::get(&self.shared, group.as_custom())?;
        let expected = group.layout.dynamic().count();
        ensure!(offsets.len() == expected, "{} dynamic offsets, where the layout has {expected}", offsets.len());
        for ((binding, entry), &offset) in group.layout.dynamic().zip(offsets) {
            let alignment = entry.alignment(&self.shared.limits);
            let aligned = u64::from(offset).is_multiple_of(alignment);
            ensure!(aligned, "binding {binding}: the dynamic offset {offset} is no multiple of {alignment}");
            if let Some(Slot { buffer, offset: base, size }) = group.slots.get(&binding) {
                let end = base + size + u64::from(offset);
                ensure!(
                    end <= buffer.size,
                    "binding {binding}: with the dynamic offset {offset}, it ends at {end} in a buffer of {} bytes",
                    buffer.size
                );
            }
        }
        self.groups.insert(index, (Arc::clone(group), offsets.to_vec()));
        Ok(())
    }

    /// Checks all that is bound, and records the dispatch.
    fn dispatch(&self, size: Size) -> Outcome<()> {
        let Some(pipeline) = &self.pipeline else { return invalid("no pipeline is set") };
        let mut bound = Vec::new();
        let mut uses = Uses::default();
        for (number, layout) in (0_u32..).zip(&pipeline.groups) {
            let Some(layout) = layout else { continue };
            let Some((group, offsets)) = self.groups.get(&number) else {
                ensure!(layout.entries.is_empty(), "the bind group {number} is not set");
                continue;
            };
            let fits = layout.is_equivalent(&group.layout);
            ensure!(fits, "the bind group {number} has another layout than the pipeline expects");
            let mut offsets = offsets.iter();
            for (&binding, entry) in &layout.entries {
                let Some(slot) = group.slots.get(&binding) else { continue };
                let dynamic = if entry.dynamic { offsets.next().copied().unwrap_or(0) } else { 0 };
                let slot = Slot { offset: slot.offset + u64::from(dynamic), ..slot.clone() };
                uses.add(&slot, entry.is_writable())?;
                bound.push((number, binding, slot));
            }
        }
        if let Size::Indirect(buffer, offset) = &size {
            uses.add(&Slot { buffer: Arc::clone(buffer), offset: *offset, size: 12 }, false)?;
        }
        for resource in &pipeline.resources {
            let place = (resource.group, resource.binding);
            if let Some((.., slot)) = bound.iter().find(|(group, binding, _)| (*group, *binding) == place) {
                ensure!(
                    slot.size >= resource.min_size,
                    "`{}` is bound to {} bytes, and the shader needs {}",
                    resource.name,
                    slot.size,
                    resource.min_size
                );
            }
        }
        self.recording.push(Command::Dispatch(Dispatch { pipeline: Arc::clone(pipeline), bound, size }));
        Ok(())
    }
}

/// What a dispatch uses of its buffers, to find uses that exclude each other.
#[derive(Default)]
struct Uses(Vec<(Slot, bool)>);

impl Uses {
    fn add(&mut self, slot: &Slot, writable: bool) -> Outcome<()> {
        for (other, other_writable) in self.0.iter().filter(|(other, _)| Arc::ptr_eq(&other.buffer, &slot.buffer)) {
            let label = &slot.buffer.label;
            ensure!(writable == *other_writable, "buffer `{label}` is bound to be read and to be written");
            let apart = other.offset + other.size <= slot.offset || slot.offset + slot.size <= other.offset;
            ensure!(!writable || apart, "two bindings write to the same bytes of buffer `{label}`");
        }
        self.0.push((slot.clone(), writable));
        Ok(())
    }
}

impl ComputePassInterface for ComputePass {
    fn set_pipeline(&mut self, pipeline: &DispatchComputePipeline) {
        let found = ComputePipeline::get(&self.shared, pipeline.as_custom());
        let set = found.map(|pipeline| self.pipeline = Some(Arc::clone(pipeline)));
        self.note("ComputePass::set_pipeline", set);
    }

    fn set_bind_group(&mut self, index: u32, bind_group: Option<&DispatchBindGroup>, offsets: &[wgpu::DynamicOffset]) {
        let set = self.set_group(index, bind_group, offsets);
        self.note("ComputePass::set_bind_group", set);
    }

    fn set_immediates(&mut self, _: u32, _: &[u8]) {
        self.note("ComputePass::set_immediates", invalid("this adapter has no immediates"));
    }

    fn insert_debug_marker(&mut self, _: &str) {}

    fn push_debug_group(&mut self, _: &str) {
        self.debug_groups += 1;
    }

    fn pop_debug_group(&mut self) {
        match self.debug_groups.checked_sub(1) {
            Some(left) => self.debug_groups = left,
            None => self.note("ComputePass::pop_debug_group", invalid("no debug group is open")),
        }
    }

    fn write_timestamp(&mut self, query_set: &DispatchQuerySet, query_index: u32) {
        let query = self.shared.require(Features::TIMESTAMP_QUERY_INSIDE_PASSES).and_then(|()| {
            let queries = Arc::clone(QuerySet::get(&self.shared, query_set.as_custom(), query_index, 1)?);
            self.recording.push(Command::Timestamp { queries, index: query_index });
            Ok(())
        });
        self.note("ComputePass::write_timestamp", query);
    }

    fn begin_pipeline_statistics_query(&mut self, _: &DispatchQuerySet, _: u32) {
        let no = invalid("this adapter has no pipeline statistics");
        self.note("ComputePass::begin_pipeline_statistics_query", no);
    }

    fn end_pipeline_statistics_query(&mut self) {
        let no = invalid("this adapter has no pipeline statistics");
        self.note("ComputePass::end_pipeline_statistics_query", no);
    }

    fn dispatch_workgroups(&mut self, x: u32, y: u32, z: u32) {
        let most = self.shared.limits.max_compute_workgroups_per_dimension;
        let checked = match [x, y, z].iter().find(|&&count| count > most) {
            Some(count) => invalid(format!("{count} workgroups are more than the limit of a dimension, {most}")),
            None => self.dispatch(Size::Direct([x, y, z])),
        };
        self.note("ComputePass::dispatch_workgroups", checked);
    }

    fn dispatch_workgroups_indirect(&mut self, buffer: &DispatchBuffer, offset: wgpu::BufferAddress) {
        let checked = Buffer::get(&self.shared, buffer.as_custom()).and_then(|buffer| {
            buffer.check_usage(wgpu::BufferUsages::INDIRECT)?;
            buffer.check_copy(offset, 12)?;
            self.dispatch(Size::Indirect(Arc::clone(buffer), offset))
        });
        self.note("ComputePass::dispatch_workgroups_indirect", checked);
    }

    fn transition_resources<'a>(
        &mut self,
        _: &mut dyn Iterator<Item = wgpu::BufferTransition<&'a DispatchBuffer>>,
        _: &mut dyn Iterator<Item = wgpu::TextureTransition<&'a DispatchTextureView>>,
    ) {
    }
}

impl Drop for ComputePass {
    /// Ends the pass.
    fn drop(&mut self) {
        if self.debug_groups > 0 {
            self.note("ComputePass::end", invalid("a debug group is still open"));
        }
        if let Some((queries, index)) = self.end.take() {
            self.recording.push(Command::Timestamp { queries, index });
        }
        self.recording.end_pass();
    }
}
