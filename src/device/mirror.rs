//! Compares constants that are stated in both Rust and WGSL. Used only in tests. The values in the WGSL are read by
//! naga.

use super::{Declaration, Shipped};
use crate::device::shader::Overrides;
use naga::{Expression, Literal, Module};
use std::collections::HashMap;

/// Checks that the WGSL of at least one of the kernels declares `name`, as a `const` or as an `override` with a
/// default, and that `name` has the given value in every kernel that declares it.
///
/// # Panics
/// Panics if the check fails.
pub(crate) fn check_constant(kernels: &[Shipped], name: &str, value: f64) {
    let mut seen = 0;
    for kernel in kernels.iter().flat_map(|kernel| kernel.declarations) {
        let Some(&found) = constants(kernel, &[]).get(name) else { continue };
        seen += 1;
        assert!(found == value, "{name} is {value} in Rust, {found} in the WGSL of {}", kernel.shader.name);
    }
    assert!(seen > 0, "no kernel's WGSL has a constant {name}");
}

/// Returns the values of a kernel's `const`s and `override`s by their names. `overrides` replaces the defaults of the
/// `override`s that it lists. Boolean values are represented by 1 and 0.
pub(crate) fn constants(kernel: &Declaration, overrides: Overrides<'_>) -> HashMap<String, f64> {
    let parsed = naga::front::wgsl::parse_str(&kernel.shader.source()).unwrap_or_else(|e| panic!("{e}"));
    let settled = kernel.shader.resolve(overrides).unwrap_or_else(|e| panic!("{e}")).0;
    named(&parsed).chain(named(&settled)).collect()
}

fn named(module: &Module) -> impl Iterator<Item = (String, f64)> + '_ {
    module.constants.iter().filter_map(|(_, constant)| {
        let value = match &module.global_expressions[constant.init] {
            Expression::Literal(literal) => match *literal {
                Literal::U32(x) => x.into(),
                Literal::I32(x) => x.into(),
                Literal::F32(x) => x.into(),
                Literal::Bool(x) => f64::from(u8::from(x)),
                _ => return None,
            },
            _ => return None,
        };
        Some((constant.name.clone()?, value))
    })
}
