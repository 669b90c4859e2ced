//! Tests that every disagreement between the Rust and the WGSL of a kernel is reported by a message that names the
//! variable, before a device receives the kernel. Also tests that a variant that exceeds the limits of an adapter is
//! refused before the driver receives it.

use super::adapter::Adapter;
use super::pipelines::check_limits;
use super::shader::Overrides;
use super::{Budget, Declaration, Shader, Shipped, Uniform as _, check_kernel, read_kind, uniform, write_kind};
use crate::error::{Error, ErrorKind};

uniform! {
    struct Pair { count: u32, factor: f32 }
}

/// The correct kernel, which computes `y[i] = factor x[i]`.
const RIGHT: &str = "
override WIDTH: u32 = 64;
override TILE: u32 = 16;
struct Pair { count: u32, factor: f32 }
@group(0) @binding(0) var<uniform> params: Pair;
@group(0) @binding(1) var<storage, read> x: array<f32>;
@group(0) @binding(2) var<storage, read_write> y: array<f32>;
var<workgroup> tile: array<vec4<f32>, TILE>;
@compute @workgroup_size(WIDTH)
fn main(@builtin(global_invocation_id) id: vec3<u32>) {
    tile[id.x % TILE] = vec4<f32>(1.0);
    if id.x < params.count { y[id.x] = params.factor * x[id.x] * tile[id.x % TILE].x; }
}
";

/// Declares a kernel with the given WGSL and signature, which need not agree. The default is the signature of the
/// correct kernel.
macro_rules! kernel {
    ($name:ident, $wgsl:expr) => {
        kernel!($name, $wgsl, [("params", Pair::kind()), ("x", read_kind::<f32>()), ("y", write_kind::<f32>())]);
    };
    ($name:ident, $wgsl:expr, $signature:expr) => {
        const $name: Declaration = Declaration {
            shader: Shader { family: module_path!(), name: stringify!($name), files: &[$wgsl] },
            signature: || $signature.into(),
        };
    };
}

/// Returns the result of the checks that a kernel must pass before a device receives it.
fn judged(kernel: &Declaration, overrides: Overrides<'_>) -> Result<(), Error> {
    kernel.agree(&kernel.shader.reflect(overrides)?, overrides)
}

/// Checks that the kernel is refused with an error that contains its name, and returns the message.
fn refused(kernel: &Declaration, overrides: Overrides<'_>) -> String {
    let name = kernel.shader.name;
    let error = judged(kernel, overrides).expect_err(name);
    assert!(matches!(error.kind(), ErrorKind::Kernel { kernel, .. } if *kernel == name), "{error}");
    error.to_string()
}

#[test]
fn what_agrees_passes() {
    kernel!(RIGHT_KERNEL, RIGHT);
    judged(&RIGHT_KERNEL, &[]).unwrap();
    judged(&RIGHT_KERNEL, &[("WIDTH", 32.0), ("TILE", 8.0)]).unwrap();
    check_kernel(&Shipped {
        declarations: &[RIGHT_KERNEL],
        variants: || vec![vec![], vec![("WIDTH", 128.0)]],
        budget: Budget::USUAL,
    });
    let reflection = RIGHT_KERNEL.shader.reflect(&[("WIDTH", 128.0), ("TILE", 10.0)]).unwrap();
    assert_eq!((reflection.workgroup_size, reflection.workgroup_storage), ([128, 1, 1], 160));
}

#[test]
fn a_uniform_with_other_members() {
    uniform! { struct Swapped { factor: f32, count: u32 } }
    uniform! { struct Longer { count: u32, factor: f32, more: u32 } }
    uniform! { struct Renamed { count: u32, scale: f32 } }
    kernel!(A_KERNEL, RIGHT, [("params", Swapped::kind()), ("x", read_kind::<f32>()), ("y", write_kind::<f32>())]);
    kernel!(B_KERNEL, RIGHT, [("params", Longer::kind()), ("x", read_kind::<f32>()), ("y", write_kind::<f32>())]);
    kernel!(C_KERNEL, RIGHT, [("params", Renamed::kind()), ("x", read_kind::<f32>()), ("y", write_kind::<f32>())]);
    for message in [refused(&A_KERNEL, &[]), refused(&B_KERNEL, &[]), refused(&C_KERNEL, &[])] {
        assert!(message.contains("`params`") && message.contains("factor"), "{message}");
    }
    // WGSL aligns vec3 members to 16 bytes, and Rust aligns them to 4 bytes, so the offsets differ.
    const PADDED: &str = "
        struct Padded { count: u32, direction: vec3<f32> }
        @group(0) @binding(0) var<uniform> params: Padded;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @compute @workgroup_size(1) fn main() { y[0] = params.direction.x + f32(params.count); }
    ";
    uniform! { struct Padded { count: u32, direction: [f32; 3] } }
    kernel!(D_KERNEL, PADDED, [("params", Padded::kind()), ("y", write_kind::<f32>())]);
    assert!(refused(&D_KERNEL, &[]).contains("(\"direction\", 16)"));
}

#[test]
fn an_array_with_other_access_or_elements() {
    kernel!(WRITES_KERNEL, RIGHT, [("params", Pair::kind()), ("x", write_kind::<f32>()), ("y", write_kind::<f32>())]);
    kernel!(READS_KERNEL, RIGHT, [("params", Pair::kind()), ("x", read_kind::<f32>()), ("y", read_kind::<f32>())]);
    kernel!(WORDS_KERNEL, RIGHT, [("params", Pair::kind()), ("x", read_kind::<u32>()), ("y", write_kind::<f32>())]);
    kernel!(
        FOURS_KERNEL,
        RIGHT,
        [("params", Pair::kind()), ("x", read_kind::<f32>()), ("y", write_kind::<[f32; 4]>())]
    );
    for (message, name) in [
        (refused(&WRITES_KERNEL, &[]), "`x`"),
        (refused(&READS_KERNEL, &[]), "`y`"),
        (refused(&WORDS_KERNEL, &[]), "`x`"),
        (refused(&FOURS_KERNEL, &[]), "`y`"),
    ] {
        assert!(message.contains(name), "{message}");
    }
}

#[test]
fn variables_that_only_one_side_has() {
    kernel!(RENAMED_KERNEL, RIGHT, [("params", Pair::kind()), ("z", read_kind::<f32>()), ("y", write_kind::<f32>())]);
    kernel!(MISSING_KERNEL, RIGHT, [("params", Pair::kind()), ("y", write_kind::<f32>())]);
    kernel!(
        EXTRA_KERNEL,
        RIGHT,
        [("params", Pair::kind()), ("x", read_kind::<f32>()), ("w", read_kind::<f32>()), ("y", write_kind::<f32>())]
    );
    assert!(refused(&RENAMED_KERNEL, &[]).contains("`x`"));
    assert!(refused(&MISSING_KERNEL, &[]).contains("`x`"));
    assert!(refused(&EXTRA_KERNEL, &[]).contains("binds no variable `w`"));
}

#[test]
fn overrides_that_the_wgsl_does_not_have() {
    kernel!(RIGHT_KERNEL, RIGHT);
    let message = refused(&RIGHT_KERNEL, &[("WIDHT", 32.0)]);
    assert!(message.contains("no override `WIDHT`") && message.contains("WIDHT=32"), "{message}");
}

#[test]
fn wgsl_that_is_wrong_shows_its_line() {
    const ILL_TYPED: &str = "@group(0) @binding(0) var<storage, read_write> y: array<f32>;
@compute @workgroup_size(1)
fn main() {
    y[0] = 1u;
}";
    const NO_WGSL: &str = "@compute @workgroup_size(1)
fn main() { let = 1; }";
    kernel!(ILL_TYPED_KERNEL, ILL_TYPED, [("y", write_kind::<f32>())]);
    kernel!(NO_WGSL_KERNEL, NO_WGSL, []);
    let message = refused(&ILL_TYPED_KERNEL, &[]);
    assert!(message.contains("ILL_TYPED_KERNEL:4:") && message.contains("y[0] = 1u;"), "{message}");
    let message = refused(&NO_WGSL_KERNEL, &[]);
    assert!(message.contains("NO_WGSL_KERNEL:2:") && message.contains("let = 1"), "{message}");
    // `params` is neither a uniform struct nor a storage array, so no field can match it.
    const SCALAR: &str = "@group(0) @binding(0) var<uniform> params: u32;
        @group(0) @binding(1) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(1) fn main() { y[0] = params; }";
    kernel!(SCALAR_KERNEL, SCALAR, [("y", write_kind::<u32>())]);
    assert!(refused(&SCALAR_KERNEL, &[]).contains("`params`"));
}

#[test]
fn limits_of_the_adapter() {
    kernel!(RIGHT_KERNEL, RIGHT);
    let check = |overrides: Overrides<'_>, adapter: &Adapter| {
        check_limits(&RIGHT_KERNEL.shader, &RIGHT_KERNEL.shader.reflect(overrides).unwrap(), overrides, adapter)
    };
    let adapter = Adapter::made_up();
    check(&[("TILE", 1024.0), ("WIDTH", 256.0)], &adapter).unwrap(); // exactly the limits
    let few = {
        let mut few = Adapter::made_up();
        few.limits.storage_buffers = 1;
        few
    };
    let cases: [(Overrides<'_>, &Adapter, &str, u64, u64); 3] = [
        (&[("TILE", 1025.0)], &adapter, "workgroup memory", 16_400, 16_384),
        (&[("WIDTH", 257.0)], &adapter, "invocations", 257, 256),
        (&[], &few, "storage buffers", 2, 1),
    ];
    for (overrides, adapter, words, want_needed, want_allowed) in cases {
        let error = check(overrides, adapter).expect_err(words);
        let ErrorKind::Limit { what, needed, allowed } = error.kind() else { panic!("{error}") };
        assert!(what.contains(words) && what.contains("RIGHT_KERNEL") && what.contains("made up"), "{error}");
        assert_eq!((*needed, *allowed), (want_needed, want_allowed), "{error}");
        assert!(!error.is_device(), "{error}");
    }
}
