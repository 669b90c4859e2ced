//! Shader modules, and what a pipeline has to know of their entry points.

use super::errors::{Failure, Outcome, ensure, invalid};
use super::shared::Shared;
use naga::valid::{ModuleInfo, ValidationError, ValidationFlags, Validator};
use naga::{AddressSpace, Module, ShaderStage, StorageAccess, TypeInner, WithSpan};
use std::borrow::Cow;
use std::pin::Pin;
use std::sync::Arc;
use wgpu::custom::{ShaderCompilationInfoFuture, ShaderModuleInterface};
use wgpu::{BufferBindingType, CompilationInfo, CompilationMessage, CompilationMessageType, ShaderSource};

/// A shader module, as pipelines use it.
#[derive(Debug)]
pub(crate) struct ShaderInner {
    pub(crate) label: String,
    pub(crate) module: Module,
    pub(crate) info: ModuleInfo,
    /// The WGSL that the module was made from, if it is known.
    pub(crate) source: Option<Arc<str>>,
    shared: Arc<Shared>,
}

/// What [`wgpu::ShaderModule`] holds. An invalid module has nothing within.
#[derive(Debug)]
pub(crate) struct ShaderModule {
    inner: Option<Arc<ShaderInner>>,
    messages: Vec<CompilationMessage>,
}

impl ShaderModule {
    pub(crate) fn create(shared: &Arc<Shared>, descriptor: wgpu::ShaderModuleDescriptor<'_>) -> Self {
        let label = descriptor.label;
        let mut messages = Vec::new();
        let inner = shared.call("Device::create_shader_module", label, || {
            let (module, source) = parse(descriptor.source, &mut messages)?;
            let told = || label.and_then(|label| shared.settings.sources.get(label)).into_iter().flatten();
            let source = source.or_else(|| told().find(|text| is_source(text, &module)).cloned());
            let info = validate(shared.features, &module).map_err(|error| {
                let text = source.as_deref().unwrap_or_default();
                let location = error.location(text).map(Into::into);
                let message = if text.is_empty() { chain(&error) } else { error.emit_to_string(text) };
                messages.push(message_of(&message, location));
                Failure::Validation(message)
            })?;
            let label = label.unwrap_or_default().to_owned();
            Ok(Arc::new(ShaderInner { label, module, info, source, shared: Arc::clone(shared) }))
        });
        Self { inner, messages }
    }

    /// Returns the module, if it is valid and of this device.
    pub(crate) fn get<'a>(shared: &Arc<Shared>, module: Option<&'a Self>) -> Outcome<&'a Arc<ShaderInner>> {
        match module.and_then(|module| module.inner.as_ref()) {
            Some(inner) if Arc::ptr_eq(&inner.shared, shared) => Ok(inner),
            _ => invalid("a shader module is invalid, or of another device"),
        }
    }

    /// Returns the module of a program that passes what no driver validates.
    pub(crate) fn invalid() -> Self {
        Self { inner: None, messages: Vec::new() }
    }
}

impl ShaderModuleInterface for ShaderModule {
    fn get_compilation_info(&self) -> Pin<Box<dyn ShaderCompilationInfoFuture>> {
        Box::pin(std::future::ready(CompilationInfo { messages: self.messages.clone() }))
    }
}

fn message_of(message: &str, location: Option<wgpu::SourceLocation>) -> CompilationMessage {
    CompilationMessage { message: message.to_owned(), message_type: CompilationMessageType::Error, location }
}

/// Returns the module and the WGSL that it was made from, if any.
fn parse(source: ShaderSource<'_>, messages: &mut Vec<CompilationMessage>) -> Outcome<(Module, Option<Arc<str>>)> {
    match source {
        ShaderSource::Naga(module) => Ok((module.into_owned(), None)),
        ShaderSource::Wgsl(text) => match naga::front::wgsl::parse_str(&text) {
            Ok(module) => Ok((module, Some(text.into()))),
            Err(error) => {
                let message = error.emit_to_string(&text);
                messages.push(message_of(&message, error.location(&text).map(Into::into)));
                invalid(message)
            }
        },
        _ => invalid("this adapter reads WGSL and naga's modules alone"),
    }
}

fn validate(features: wgpu::Features, module: &Module) -> Result<ModuleInfo, Box<WithSpan<ValidationError>>> {
    let downlevel = wgpu::DownlevelFlags::all();
    let capabilities = wgpu_naga_bridge::features_to_naga_capabilities(features, downlevel);
    Validator::new(ValidationFlags::all(), capabilities).validate(module).map_err(Box::new)
}

/// Returns whether the text has the variables of the module at their places.
fn is_source(text: &str, module: &Module) -> bool {
    module.global_variables.iter().all(|(handle, variable)| {
        let place = module.global_variables.get_span(handle).to_range();
        let words = place.and_then(|place| text.get(place));
        words.zip(variable.name.as_deref()).is_some_and(|(words, name)| words.contains(name))
    })
}

/// Joins the messages of an error and its sources.
fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

/// A buffer that an entry point uses.
#[derive(Clone, Debug)]
pub(crate) struct Resource {
    pub(crate) name: String,
    pub(crate) group: u32,
    pub(crate) binding: u32,
    pub(crate) ty: BufferBindingType,
    /// The smallest size that the shader is content with: one element, where an array has any number of them.
    pub(crate) min_size: u64,
}

/// What a pipeline's layout and limits are checked against.
#[derive(Debug)]
pub(crate) struct Reflection {
    pub(crate) resources: Vec<Resource>,
    pub(crate) workgroup_size: [u32; 3],
    pub(crate) workgroup_storage: u64,
}

impl ShaderInner {
    /// Returns the name of the compute entry point that is meant.
    pub(crate) fn entry_point(&self, name: Option<&str>) -> Outcome<String> {
        let mut entries = self.module.entry_points.iter().filter(|entry| entry.stage == ShaderStage::Compute);
        match name {
            Some(name) => match entries.find(|entry| entry.name == name) {
                Some(_) => Ok(name.to_owned()),
                None => invalid(format!("the shader has no compute entry point `{name}`")),
            },
            None => match (entries.next(), entries.next()) {
                (Some(entry), None) => Ok(entry.name.clone()),
                _ => invalid("without a name, the shader has to have a single compute entry point"),
            },
        }
    }

    /// Resolves the overrides and describes the entry point.
    pub(crate) fn reflect(&self, entry: &str, constants: &[(&str, f64)]) -> Outcome<Reflection> {
        for (key, value) in constants {
            let known = self.module.overrides.iter().any(|(_, known)| match known.id {
                Some(id) => *key == id.to_string(),
                None => known.name.as_deref() == Some(key),
            });
            ensure!(known, "the shader has no override `{key}`");
            ensure!(value.is_finite(), "the value {value} of the override `{key}` is not finite");
        }
        let constants = constants.iter().map(|&(key, value)| (key.to_owned(), value)).collect();
        let chosen = Some((ShaderStage::Compute, entry));
        let resolved = naga::back::pipeline_constants::process_overrides(&self.module, &self.info, chosen, &constants);
        let (module, info): (Cow<'_, Module>, Cow<'_, ModuleInfo>) =
            resolved.map_err(|error| Failure::Validation(chain(&error)))?;
        let places = &mut module.entry_points.iter();
        let Some(index) = places.position(|found| found.name == entry && found.stage == ShaderStage::Compute) else {
            return invalid(format!("the shader has no compute entry point `{entry}`"));
        };
        let used = info.get_entry_point(index);
        let mut reflection = Reflection {
            resources: Vec::new(),
            workgroup_size: module.entry_points[index].workgroup_size,
            workgroup_storage: 0,
        };
        for (handle, variable) in module.global_variables.iter() {
            if used[handle].is_empty() {
                continue;
            }
            let size = size_of(&module, variable.ty);
            let ty = match variable.space {
                AddressSpace::WorkGroup => {
                    // Each variable begins at a multiple of 16 bytes, as the validation of WebGPU counts.
                    reflection.workgroup_storage += size.next_multiple_of(16);
                    continue;
                }
                AddressSpace::Uniform => BufferBindingType::Uniform,
                AddressSpace::Storage { access } => {
                    BufferBindingType::Storage { read_only: !access.contains(StorageAccess::STORE) }
                }
                AddressSpace::Private | AddressSpace::Function => continue,
                _ => return invalid("this adapter binds buffers alone"),
            };
            let name = variable.name.clone().unwrap_or_default();
            let Some(place) = &variable.binding else { return invalid(format!("`{name}` has no binding")) };
            let (group, binding) = (place.group, place.binding);
            reflection.resources.push(Resource { name, group, binding, ty, min_size: size });
        }
        Ok(reflection)
    }
}

/// Returns the size in bytes of a type, with one element where an array has any number of them.
fn size_of(module: &Module, ty: naga::Handle<naga::Type>) -> u64 {
    match module.types[ty].inner {
        TypeInner::Struct { span, .. } => span.into(),
        TypeInner::Array { size: naga::ArraySize::Dynamic, stride, .. } => stride.into(),
        ref inner => inner.try_size(module.to_ctx()).unwrap_or(u32::MAX).into(),
    }
}
