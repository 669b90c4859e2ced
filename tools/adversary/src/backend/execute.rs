//! The execution of submitted work.

use super::command::{Command, Dispatch, Size};
use super::shared::Shared;
use super::timeline::Work;
use crate::machine::{Bound, Setup};
use std::sync::Arc;

impl Shared {
    pub(crate) fn execute(&self, work: Work) {
        match work {
            Work::Write { memory, offset, bytes } => match self.settings.undefined_word {
                Some(word) if offset == 0 && bytes.len() as u64 == memory.len() && consists_of(&bytes, word) => {
                    memory.poison();
                }
                _ => memory.write(offset, &bytes),
            },
            Work::Commands(commands) => {
                for command in commands {
                    if self.is_lost() {
                        return;
                    }
                    self.run(command);
                }
            }
        }
    }

    fn run(&self, command: Command) {
        match command {
            Command::Dispatch(dispatch) => self.dispatch(dispatch),
            Command::Copy { source, source_offset, target, offset, size } => {
                target.memory.copy_from(&source.memory, source_offset, offset, size);
            }
            Command::Clear { buffer, offset, size } => buffer.memory.clear(offset, size),
            Command::Timestamp { queries, index } => queries.stamp(index),
            Command::Resolve { queries, first, count, target, offset } => {
                target.memory.write(offset, &queries.resolve(first, count));
            }
        }
    }

    fn dispatch(&self, Dispatch { pipeline, bound, size }: Dispatch) {
        let groups = match size {
            Size::Direct(groups) => groups,
            Size::Indirect(buffer, offset) => {
                let mut bytes = [0; 12];
                buffer.memory.read(offset, &mut bytes);
                let groups =
                    [0, 4, 8].map(|at| bytes[at..].first_chunk().map_or(0, |word: &[u8; 4]| u32::from_le_bytes(*word)));
                // More workgroups than the limit are none.
                let most = self.limits.max_compute_workgroups_per_dimension;
                if groups.iter().all(|&count| count <= most) { groups } else { [0; 3] }
            }
        };
        if groups.contains(&0) {
            return;
        }
        let bound: Vec<_> = bound
            .into_iter()
            .map(|(group, binding, slot)| Bound {
                group,
                binding,
                memory: Arc::clone(&slot.buffer.memory),
                offset: slot.offset,
                size: slot.size,
            })
            .collect();
        let setup = Setup {
            profile: self.settings.profile.clone(),
            seed: self.settings.seed,
            order: self.seed().0,
            zero_workgroup_memory: pipeline.zero_workgroup_memory,
            step_budget: self.settings.step_budget,
            label: pipeline.label.clone(),
        };
        self.report.add(pipeline.program.dispatch(groups, &bound, &setup));
    }
}

/// Returns whether the bytes are nothing but this word.
fn consists_of(bytes: &[u8], word: u32) -> bool {
    bytes.chunks(4).all(|chunk| *chunk == word.to_le_bytes())
}
