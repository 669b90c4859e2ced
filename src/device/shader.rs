//! The WGSL text of a kernel and the information that naga reads from it. Bindings, layouts and workgroup sizes are
//! stated only in the WGSL.

use super::fold::fold;
use crate::error::{Error, ErrorKind, Result};
use naga::WithSpan;
use naga::common::wgsl::TypeContext as _;
use naga::valid::{Capabilities, ModuleInfo, ValidationError, ValidationFlags, Validator};
use naga::{AddressSpace, ShaderStage, StorageAccess, TypeInner};

/// The values of a kernel's WGSL `override`s, which define its variant. An override that is not listed keeps its
/// default.
pub(crate) type Overrides<'a> = &'a [(&'static str, f64)];

/// The WGSL text of a kernel, which is the text of all its files, one after the other. The order of the files does not
/// matter, because WGSL allows declarations at module scope in any order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shader {
    /// The path of the Rust module that declares the kernel.
    pub(crate) family: &'static str,
    /// The kernel's name, which is unique within the Rust module.
    pub(crate) name: &'static str,
    /// The texts of the files, apart, so that the binary does not have a shared file once for each kernel.
    pub(crate) files: &'static [&'static str],
}

/// The information that naga reads from the WGSL after the overrides are resolved.
#[derive(Debug)]
pub(crate) struct Reflection {
    pub(crate) workgroup_size: [u32; 3],
    /// The number of bytes of workgroup memory that the entry point uses.
    pub(crate) workgroup_storage: u32,
    pub(crate) variables: Vec<Variable>,
    /// The naga module of the variant, without the code that never runs.
    pub(crate) module: naga::Module,
}

/// A WGSL variable with a binding.
#[derive(Debug)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) binding: u32,
    pub(crate) kind: VarKind,
}

/// The address space, access and type of a bound variable, on which Rust and WGSL must agree.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum VarKind {
    /// A `var<uniform>` of a struct, with the size of the struct and the name and offset of each member. The size and
    /// the offsets are in bytes.
    Uniform { size: u32, members: Vec<(String, u32)> },
    /// A `var<storage, read>` of an array, with the WGSL name of the element type.
    Read(String),
    /// A `var<storage, read_write>` of an array, with the WGSL name of the element type.
    Write(String),
}

impl Shader {
    /// Returns the label that wgpu shows: the name of the family's folder and of the kernel, as in `jacobi Gram`.
    pub(crate) fn label(&self) -> String {
        let folder = self.family.rsplit("::").nth(1).unwrap_or(self.family);
        format!("{folder} {}", self.name)
    }

    /// Returns the text of all files, joined.
    pub(crate) fn source(&self) -> String {
        self.files.iter().flat_map(|file| [*file, "\n"]).collect()
    }

    /// Returns the naga module with the given overrides resolved, and naga's analysis of the module.
    pub(super) fn resolve(&self, overrides: Overrides<'_>) -> Result<(naga::Module, ModuleInfo)> {
        let fail = |message: String| self.error(overrides, message);
        let source = self.source();
        let module =
            naga::front::wgsl::parse_str(&source).map_err(|e| fail(e.emit_to_string_with_path(&source, self.name)))?;
        let info = validate(&module).map_err(|e| fail(e.emit_to_string_with_path(&source, self.name)))?;
        for (name, _) in overrides {
            if !module.overrides.iter().any(|(_, o)| o.name.as_deref() == Some(name)) {
                return Err(fail(format!("the WGSL has no override `{name}`")));
            }
        }
        let constants = overrides.iter().map(|&(name, value)| (name.to_owned(), value)).collect();
        let entry = Some((ShaderStage::Compute, "main"));
        let (module, info) = naga::back::pipeline_constants::process_overrides(&module, &info, entry, &constants)
            .map_err(|e| fail(e.to_string()))?;
        Ok((module.into_owned(), info.into_owned()))
    }

    /// Reads bindings, layouts, workgroup size and workgroup memory from the WGSL.
    pub(crate) fn reflect(&self, overrides: Overrides<'_>) -> Result<Reflection> {
        let (module, info) = self.resolve(overrides)?;
        let mut layouter = naga::proc::Layouter::default();
        layouter.update(module.to_ctx()).map_err(|e| self.error(overrides, e.to_string()))?;
        let entry = &module.entry_points[0];
        let used = info.get_entry_point(0);
        let mut workgroup_storage = 0;
        let mut variables = Vec::new();
        for (handle, variable) in module.global_variables.iter() {
            if used[handle].is_empty() {
                continue;
            }
            if variable.space == AddressSpace::WorkGroup {
                // As WebGPU counts: each variable begins at a multiple of 16 bytes.
                workgroup_storage += layouter[variable.ty].size.next_multiple_of(16);
            }
            let (Some(binding), Some(name)) = (&variable.binding, &variable.name) else { continue };
            let kind = match (&variable.space, &module.types[variable.ty].inner) {
                (AddressSpace::Uniform, TypeInner::Struct { members, span }) => VarKind::Uniform {
                    size: *span,
                    members: members.iter().map(|m| (m.name.clone().unwrap_or_default(), m.offset)).collect(),
                },
                (AddressSpace::Storage { access }, TypeInner::Array { base, .. }) => {
                    let element = module.to_ctx().type_to_string(*base);
                    if access.contains(StorageAccess::STORE) { VarKind::Write(element) } else { VarKind::Read(element) }
                }
                _ => {
                    return Err(
                        self.error(overrides, format!("`{name}` is neither a uniform struct nor a storage array"))
                    );
                }
            };
            variables.push(Variable { name: name.clone(), binding: binding.binding, kind });
        }
        let workgroup_size = entry.workgroup_size;
        Ok(Reflection { workgroup_size, workgroup_storage, variables, module: fold(module) })
    }

    pub(crate) fn error(&self, overrides: Overrides<'_>, message: String) -> Error {
        ErrorKind::Kernel { kernel: self.name, variant: variant_text(overrides), message }.into()
    }
}

/// Returns naga's analysis of a module.
pub(super) fn validate(module: &naga::Module) -> std::result::Result<ModuleInfo, Box<WithSpan<ValidationError>>> {
    let capabilities = Capabilities::default()
        | Capabilities::SUBGROUP
        | Capabilities::SHADER_FLOAT16
        | Capabilities::COOPERATIVE_MATRIX;
    Validator::new(ValidationFlags::all(), capabilities).validate(module).map_err(Box::new)
}

/// Formats the override values of a variant for error messages.
pub(super) fn variant_text(overrides: Overrides<'_>) -> String {
    let pairs: Vec<_> = overrides.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("({})", pairs.join(", "))
}
