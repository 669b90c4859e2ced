//! A compiled entry point.

use super::compile;
use super::coverage::Coverage;
use super::finding::Location;
use super::op::{Code, Op};
use crate::mutation::Mutation;
use crate::profile::Profile;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

/// Why a module can't be compiled.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CompileError {
    /// naga refuses the module or the constants.
    Invalid(String),
    /// The module has no compute entry point of that name.
    NoEntryPoint(String),
    /// The machine doesn't support something that the module uses.
    Unsupported(String),
    /// The entry point exceeds a limit of the profile.
    Limit(String),
}

impl fmt::Display for CompileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Invalid(message) => write!(f, "invalid module: {message}"),
            Self::NoEntryPoint(name) => write!(f, "no compute entry point `{name}`"),
            Self::Unsupported(what) => write!(f, "unsupported: {what}"),
            Self::Limit(message) => write!(f, "limit exceeded: {message}"),
        }
    }
}

impl std::error::Error for CompileError {}

/// A buffer that the entry point uses.
#[derive(Clone, Debug)]
pub struct Binding {
    /// The bind group.
    pub group: u32,
    /// The index in the bind group.
    pub binding: u32,
    /// The variable.
    pub name: String,
    /// Whether it is `var<uniform>` rather than `var<storage>`.
    pub uniform: bool,
    /// Whether the kernel may write to it.
    pub writable: bool,
    /// The smallest size in bytes. A runtime-sized array counts as one element.
    pub min_size: u64,
}

/// A compute entry point, compiled for the machine.
#[derive(Debug)]
pub struct Program {
    pub(crate) module: naga::Module,
    pub(crate) entry: String,
    pub(crate) workgroup_size: [u32; 3],
    pub(crate) code: Code,
    pub(crate) source: Option<Arc<str>>,
}

impl Program {
    /// Compiles an entry point, with values for its overrides by name or by id.
    ///
    /// # Errors
    /// If the module is invalid, uses what the machine doesn't support, or exceeds the profile's limits.
    pub fn compile(
        module: &naga::Module,
        entry: &str,
        constants: &HashMap<String, f64>,
        profile: &Profile,
    ) -> Result<Self, CompileError> {
        Self::of(module, entry, constants, profile, None)
    }

    /// Compiles an entry point that is changed at one place, if it has the place.
    ///
    /// # Errors
    /// Those of [`Program::compile`].
    pub fn mutant(
        module: &naga::Module,
        entry: &str,
        constants: &HashMap<String, f64>,
        profile: &Profile,
        mutation: Mutation,
    ) -> Result<Self, CompileError> {
        let mut module = module.clone();
        mutation.apply(&mut module);
        Self::of(&module, entry, constants, profile, Some(mutation))
    }

    fn of(
        module: &naga::Module,
        entry: &str,
        constants: &HashMap<String, f64>,
        profile: &Profile,
        mutation: Option<Mutation>,
    ) -> Result<Self, CompileError> {
        let invalid = |error: &dyn fmt::Display| CompileError::Invalid(error.to_string());
        let stage = naga::ShaderStage::Compute;
        if !module.entry_points.iter().any(|point| point.stage == stage && point.name == entry) {
            return Err(CompileError::NoEntryPoint(entry.into()));
        }
        let info = Validator::new(ValidationFlags::all(), Capabilities::all())
            .validate(module)
            .map_err(|e| invalid(&e.into_inner()))?;
        let constants = constants.iter().map(|(name, &value)| (name.clone(), value)).collect();
        let (module, info) =
            naga::back::pipeline_constants::process_overrides(module, &info, Some((stage, entry)), &constants)
                .map_err(|e| invalid(&e))?;
        let (module, info) = (module.into_owned(), info.into_owned());
        let index = module.entry_points.iter().position(|point| point.stage == stage && point.name == entry);
        let index = index.ok_or_else(|| CompileError::NoEntryPoint(entry.into()))?;
        let code = compile::compile(&module, &info, index, mutation)?;
        let workgroup_size = module.entry_points[index].workgroup_size;
        let program = Self { entry: entry.into(), workgroup_size, code, source: None, module };
        program.check_limits(profile)?;
        Ok(program)
    }

    /// Adds the source, so that findings and coverage name lines. It has to be the text that the module was parsed
    /// from.
    pub fn with_source(self, source: Arc<str>) -> Self {
        Self { source: Some(source), ..self }
    }

    /// Returns all mutations of the program, with overrides resolved.
    pub fn mutations(&self) -> BTreeSet<Mutation> {
        Mutation::all(&self.module)
    }

    /// Returns the buffers that the entry point uses.
    pub fn bindings(&self) -> &[Binding] {
        &self.code.bindings
    }

    /// Returns the workgroup size.
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.workgroup_size
    }

    /// Returns the bytes of workgroup memory that the entry point uses.
    pub fn workgroup_memory(&self) -> u32 {
        self.code.workgroup_bytes
    }

    /// Whether the entry point has subgroup operations or built-in values of subgroups.
    pub fn uses_subgroups(&self) -> bool {
        self.code.uses_subgroups
    }

    /// Returns which statements and branches have been executed by all dispatches so far.
    pub fn coverage(&self) -> Coverage {
        Coverage::of(self)
    }

    /// Returns the number of operations, of which each is executed for all invocations of a subgroup at a time.
    pub fn operations(&self) -> usize {
        self.code.ops.len()
    }

    pub(crate) fn invocations(&self) -> u32 {
        self.workgroup_size.iter().product()
    }

    fn check_limits(&self, profile: &Profile) -> Result<(), CompileError> {
        let limits = &profile.limits;
        let [x, y, z] = self.workgroup_size;
        let storage = self.code.bindings.iter().filter(|b| !b.uniform).count();
        let uniform = self.code.bindings.len() - storage;
        for (what, value, limit) in [
            ("invocations of a workgroup", self.invocations(), limits.max_compute_invocations_per_workgroup),
            ("invocations of a workgroup that the machine supports", self.invocations(), 1024),
            ("workgroup size in x", x, limits.max_compute_workgroup_size_x),
            ("workgroup size in y", y, limits.max_compute_workgroup_size_y),
            ("workgroup size in z", z, limits.max_compute_workgroup_size_z),
            ("bytes of workgroup memory", self.code.workgroup_bytes, limits.max_compute_workgroup_storage_size),
            ("storage buffers", storage as u32, limits.max_storage_buffers_per_shader_stage),
            ("uniform buffers", uniform as u32, limits.max_uniform_buffers_per_shader_stage),
        ] {
            if value > limit {
                return Err(CompileError::Limit(format!("{what}: {value} of at most {limit}")));
            }
        }
        if self.code.uses_subgroups && !profile.features.contains(wgpu::Features::SUBGROUP) {
            return Err(CompileError::Limit(format!("`{}` has no subgroups", profile.name)));
        }
        Ok(())
    }

    /// Returns the place of an operation.
    pub(crate) fn location(&self, pc: u32) -> Location {
        let site = &self.code.sites[self.code.site_of[pc as usize] as usize];
        let text = match self.code.ops[pc as usize] {
            Op::Barrier { .. } => "barrier".into(),
            ref op => op.name(),
        };
        self.locate(&self.code.functions[site.function as usize], site.span, text)
    }

    pub(crate) fn locate(&self, function: &str, span: naga::Span, text: String) -> Location {
        let range = span.to_range();
        let place =
            self.source.as_deref().zip(range.clone()).filter(|(source, range)| source.is_char_boundary(range.start));
        let (line_column, text) = match place {
            Some((source, range)) => {
                let before = &source[..range.start];
                let begin = before.rfind('\n').map_or(0, |at| at + 1);
                let line = before.matches('\n').count() + 1;
                let text = source[begin..].lines().next().unwrap_or_default().trim();
                (Some((line as u32, (range.start - begin + 1) as u32)), text.to_owned())
            }
            None => (None, text),
        };
        let span = range.map(|range| (range.start as u32, range.end as u32));
        Location { function: function.into(), span, line_column, text }
    }
}
