//! The words of a type, and where they are in memory.

use super::super::program::CompileError;
use naga::proc::{IndexableLength, TypeResolution};
use naga::{ArraySize, Module, ScalarKind, TypeInner};

/// How the words of a composite are arranged.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Layout {
    /// One after the other, as in registers and in workgroup memory.
    Flat,
    /// With WGSL's alignment, as in buffers.
    Host,
}

/// The elements of an array, the components of a vector, or the columns of a matrix.
#[derive(Debug)]
pub(crate) struct Elements {
    pub(crate) ty: TypeResolution,
    /// The distance in words.
    pub(crate) stride: u32,
    /// The number, or `None` for a runtime-sized array.
    pub(crate) count: Option<u32>,
}

pub(super) fn unsupported<T>(what: impl Into<String>) -> Result<T, CompileError> {
    Err(CompileError::Unsupported(what.into()))
}

/// Returns the number of words of a value. A runtime-sized array counts as one element.
pub(crate) fn words(module: &Module, inner: &TypeInner) -> Result<u32, CompileError> {
    Ok(match *inner {
        TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => return scalar_words(scalar),
        TypeInner::Vector { size, scalar } => scalar_words(scalar)? * size as u32,
        TypeInner::Matrix { columns, rows, scalar } => scalar_words(scalar)? * columns as u32 * rows as u32,
        TypeInner::Array { base, size, .. } => {
            words(module, &module.types[base].inner)? * length(module, size)?.unwrap_or(1)
        }
        TypeInner::Struct { ref members, .. } => {
            let mut sum = 0;
            for member in members {
                sum += words(module, &module.types[member.ty].inner)?;
            }
            sum
        }
        ref other => return unsupported(format!("values of type {other:?}")),
    })
}

fn scalar_words(scalar: naga::Scalar) -> Result<u32, CompileError> {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) | (ScalarKind::Sint | ScalarKind::Uint | ScalarKind::Float, 4) => Ok(1),
        (kind, width) => unsupported(format!("{kind:?} of {} bits", u32::from(width) * 8)),
    }
}

/// Returns the number of elements, or `None` for a runtime-sized array.
fn length(module: &Module, size: ArraySize) -> Result<Option<u32>, CompileError> {
    match size.resolve(module.to_ctx()) {
        Ok(IndexableLength::Known(length)) => Ok(Some(length)),
        Ok(IndexableLength::Dynamic) => Ok(None),
        Err(e) => Err(CompileError::Invalid(e.to_string())),
    }
}

/// Returns what an index selects from.
pub(crate) fn elements(module: &Module, inner: &TypeInner, layout: Layout) -> Result<Elements, CompileError> {
    Ok(match *inner {
        TypeInner::Vector { size, scalar } => {
            Elements { ty: TypeResolution::Value(TypeInner::Scalar(scalar)), stride: 1, count: Some(size as u32) }
        }
        TypeInner::Matrix { columns, rows, scalar } => {
            let padded = if rows == naga::VectorSize::Bi { 2 } else { 4 };
            Elements {
                ty: TypeResolution::Value(TypeInner::Vector { size: rows, scalar }),
                stride: if layout == Layout::Flat { rows as u32 } else { padded },
                count: Some(columns as u32),
            }
        }
        TypeInner::Array { base, size, stride } => {
            let words = words(module, &module.types[base].inner)?;
            Elements {
                ty: TypeResolution::Handle(base),
                stride: if layout == Layout::Flat { words } else { stride / 4 },
                count: length(module, size)?,
            }
        }
        ref other => return unsupported(format!("an index into {other:?}")),
    })
}

/// Returns the type of a struct's member, or of an element with a constant index, and its offset in words.
pub(crate) fn member(
    module: &Module,
    inner: &TypeInner,
    index: u32,
    layout: Layout,
) -> Result<(TypeResolution, u32), CompileError> {
    let TypeInner::Struct { members, .. } = inner else {
        let elements = elements(module, inner, layout)?;
        return Ok((elements.ty, index * elements.stride));
    };
    let mut offset = 0;
    for before in &members[..index as usize] {
        offset += words(module, &module.types[before.ty].inner)?;
    }
    let member = &members[index as usize];
    let offset = if layout == Layout::Flat { offset } else { member.offset / 4 };
    Ok((TypeResolution::Handle(member.ty), offset))
}

/// Returns the offset in words of each word of a value.
pub(crate) fn offsets(module: &Module, inner: &TypeInner, layout: Layout) -> Result<Vec<u32>, CompileError> {
    let parts = match inner {
        TypeInner::Scalar(_) | TypeInner::Atomic(_) => return Ok(vec![0]),
        TypeInner::Struct { members, .. } => members.len() as u32,
        _ => elements(module, inner, layout)?.count.unwrap_or(1),
    };
    let mut all = Vec::new();
    for part in 0..parts {
        let (ty, offset) = member(module, inner, part, layout)?;
        all.extend(offsets(module, ty.inner_with(&module.types), layout)?.into_iter().map(|at| at + offset));
    }
    Ok(all)
}

/// Returns the member and the indices of a word of a variable, such as `[3].x`.
pub(crate) fn path(module: &Module, inner: &TypeInner, layout: Layout, word: u32) -> String {
    match inner {
        TypeInner::Struct { members, .. } => {
            let places = (0..members.len() as u32).filter_map(|i| Some((i, member(module, inner, i, layout).ok()?)));
            let before = |(_, (_, offset)): &(u32, (TypeResolution, u32))| *offset <= word;
            let Some((i, (ty, offset))) = places.rev().find(before) else {
                return format!("+{word}");
            };
            let name = members[i as usize].name.clone().unwrap_or_else(|| i.to_string());
            format!(".{name}{}", path(module, ty.inner_with(&module.types), layout, word - offset))
        }
        TypeInner::Vector { .. } => match word {
            0..4 => format!(".{}", ["x", "y", "z", "w"][word as usize]),
            _ => format!("+{word}"),
        },
        TypeInner::Scalar(_) | TypeInner::Atomic(_) if word == 0 => String::new(),
        _ => match elements(module, inner, layout) {
            Ok(Elements { ty, stride, .. }) if stride > 0 => {
                let rest = path(module, ty.inner_with(&module.types), layout, word % stride);
                format!("[{}]{rest}", word / stride)
            }
            _ => format!("+{word}"),
        },
    }
}
