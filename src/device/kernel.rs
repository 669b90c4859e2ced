//! Kernels as structs whose fields are their WGSL variables. If the kernel only reads an array, the field for this
//! array is a shared borrow. If the kernel writes the array, the field is a mutable borrow. The borrow checker
//! therefore enforces WebGPU's rule that a buffer written in a dispatch has no other binding in the same dispatch.

use super::buffer::{Bound, Element};
use super::shader::{Overrides, Reflection, Shader, VarKind};
use crate::error::Result;
use crate::shape::to_u32;

/// The Rust counterpart of a WGSL `struct` in the uniform address space.
pub(crate) trait Uniform: bytemuck::Pod {
    /// The name and the offset in bytes of each member.
    const MEMBERS: &'static [(&'static str, usize)];

    /// Returns the variable kind that naga must find in the WGSL for this struct.
    fn kind() -> VarKind {
        let members = Self::MEMBERS.iter().map(|&(name, offset)| (name.to_owned(), to_u32(offset))).collect();
        VarKind::Uniform { size: to_u32(size_of::<Self>()), members }
    }
}

/// A field of a kernel, which consists of the name of the WGSL variable and the value or buffer that is bound to it.
#[derive(Debug)]
pub(crate) struct Slot<'a> {
    pub(crate) name: &'static str,
    pub(crate) bound: Bound<'a>,
}

/// The WGSL of a kernel and the Rust types of its variables, without any bound values.
#[derive(Debug)]
pub(crate) struct Declaration {
    /// The kernel's WGSL.
    pub(crate) shader: Shader,
    /// A function that returns the name and kind of every field. These are compared with the WGSL before the first
    /// dispatch and, without a device, by `cargo test`.
    pub(crate) signature: fn() -> Vec<(&'static str, VarKind)>,
}

impl Declaration {
    /// Checks that the Rust fields and the WGSL variables agree.
    pub(crate) fn agree(&self, reflection: &Reflection, overrides: Overrides<'_>) -> Result<()> {
        let fields = (self.signature)();
        for v in &reflection.variables {
            let found = fields.iter().find(|(name, _)| *name == v.name).map(|(_, kind)| kind);
            if found != Some(&v.kind) {
                let message = format!("`{}`: the WGSL has {:?}, Rust has {found:?}", v.name, v.kind);
                return Err(self.shader.error(overrides, message));
            }
        }
        match fields.iter().find(|(name, _)| reflection.variables.iter().all(|v| v.name != *name)) {
            None => Ok(()),
            Some((name, _)) => Err(self.shader.error(overrides, format!("the WGSL binds no variable `{name}`"))),
        }
    }
}

/// What the compilers of GPUs may make of the variants of a kernel. `benches/isa.py` compares the budget with what the
/// compilers say (benches/isa.md). The registers and the instructions are the most on any of these GPUs. A variant
/// never keeps registers in memory on a GPU that is given it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Budget {
    /// The maximum number of registers per invocation on NVIDIA's and AMD's GPUs. Intel's compiler counts differently.
    pub(crate) registers: u32,
    /// The maximum number of instructions of the whole kernel.
    pub(crate) instructions: u32,
    /// The least number of waves that run at the same time on NVIDIA's and AMD's GPUs, in percent of those that the
    /// processor can hold.
    pub(crate) occupancy: u32,
    /// Why the occupancy is less than that of [`Budget::USUAL`], or "" if it is not.
    pub(crate) because: &'static str,
}

impl Budget {
    /// The budget of kernels that declare none. Half of the waves hide the latency of memory. 1,200 instructions are a
    /// quarter of the smallest instruction cache.
    pub(crate) const USUAL: Self = Self { registers: 64, instructions: 1_200, occupancy: 50, because: "" };
}

/// A kernel and its shipped variants.
#[derive(Debug)]
pub(crate) struct Shipped {
    /// The declarations. There is one declaration, or one for each order if the WGSL of the kernel is generated.
    pub(crate) declarations: &'static [Declaration],
    /// A function that returns the override values of each variant.
    pub(crate) variants: fn() -> Vec<Vec<(&'static str, f64)>>,
    /// What compilers may make of each variant.
    pub(crate) budget: Budget,
}

/// A compute shader with everything that it binds. Each field has the name of its WGSL variable. The recorder accepts
/// kernels as `&dyn Kernel`, because generic code would be compiled once for each of about a hundred kernels.
pub(crate) trait Kernel {
    /// Returns the declaration, which all dispatches of this kernel share.
    fn declaration(&self) -> &'static Declaration;

    /// Returns the fields of this dispatch.
    fn slots(&self) -> Vec<Slot<'_>>;
}

/// Returns the kind of variable for a storage array that is only read.
pub(crate) fn read_kind<T: Element>() -> VarKind {
    VarKind::Read(T::WGSL.to_owned())
}

/// Returns the kind of variable for a storage array that is written.
pub(crate) fn write_kind<T: Element>() -> VarKind {
    VarKind::Write(T::WGSL.to_owned())
}

/// Declares a uniform struct. The names and offsets of its members are compared with those in the WGSL.
macro_rules! uniform {
    ($(#[$meta:meta])* $vis:vis struct $name:ident { $($field:ident: $ty:ty),* $(,)? }) => {
        $(#[$meta])* #[repr(C)] #[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
        $vis struct $name { $($vis $field: $ty),* }
        impl $crate::device::Uniform for $name {
            const MEMBERS: &'static [(&'static str, usize)] =
                &[$((stringify!($field), std::mem::offset_of!($name, $field))),*];
        }
    };
}

/// Declares the kernels of one family and a test that needs no device. The test checks that every shipped variant
/// agrees with its WGSL and that each of naga's back ends accepts it. The word after `variants` names a function that
/// returns the override values of every shipped variant. The line `budget` may be left out.
///
/// ```text
/// kernels! {
///     /// `y[i] = a x[i]`.
///     Scale = ["shared/index.wgsl", "vector/scale.wgsl"] variants scale_variants {
///         budget Budget { registers: 96, ..Budget::USUAL };
///         uniform params: ScaleParams,
///         read x: f32,
///         write y: f32,
///     }
///     /// A kernel with a generated file for each order, here sort_8.wgsl and sort_16.wgsl.
///     /// Its field `order` selects the file.
///     Sort = ["vector/sort.wgsl"] each order in "generated/vector/sort_" [8, 16] variants one_variant {
///         write x: f32,
///     }
/// }
/// ```
macro_rules! kernels {
    ($($(#[$meta:meta])* $name:ident = $files:tt $(each $order:ident in $generated:literal $orders:tt)? variants $variants:ident {
        $(budget $budget:expr;)? $(uniform $u:ident: $uty:ty,)? $(read $r:ident: $rty:ty,)* $(write $w:ident: $wty:ty,)*
    })+) => {
        $($(#[$meta])* #[derive(Debug)] pub(super) struct $name<'a> {
            $(pub(super) $order: u32,)?
            $(pub(super) $u: $uty,)?
            $(pub(super) $r: &'a $crate::device::Buffer<$rty>,)*
            $(pub(super) $w: &'a mut $crate::device::Buffer<$wty>,)*
        }
        impl $name<'_> {
            $(/// The orders for which there is a generated file.
            pub(super) const ORDERS: &'static [u32] = &$orders;)?
            // A constant would be in the binary once more for each unit that mentions it.
            const DECLARATIONS: &'static [$crate::device::Declaration] = {
                static ALL: &[$crate::device::Declaration] =
                    $crate::device::kernels!(@declarations $name<'static>, $name, $files $($generated $orders)?);
                ALL
            };

            fn signature() -> Vec<(&'static str, $crate::device::VarKind)> {
                vec![
                    $((stringify!($u), <$uty as $crate::device::Uniform>::kind()),)?
                    $((stringify!($r), $crate::device::read_kind::<$rty>()),)*
                    $((stringify!($w), $crate::device::write_kind::<$wty>()),)*
                ]
            }
        }
        impl $crate::device::Kernel for $name<'_> {
            fn declaration(&self) -> &'static $crate::device::Declaration {
                &Self::DECLARATIONS[$crate::device::kernels!(@at self $($order)?)]
            }
            fn slots(&self) -> Vec<$crate::device::Slot<'_>> {
                use $crate::device::{Bound, Slot};
                vec![
                    $(Slot { name: stringify!($u), bound: Bound::Uniform(bytemuck::bytes_of(&self.$u)) },)?
                    $(Slot { name: stringify!($r), bound: self.$r.bound() },)*
                    $(Slot { name: stringify!($w), bound: self.$w.bound() },)*
                ]
            }
        })+
        /// Every kernel of the family, with its variants.
        pub(in super::super) const KERNELS: &[$crate::device::Shipped] =
            &[$($crate::device::Shipped {
                declarations: $name::DECLARATIONS,
                variants: $variants,
                budget: $crate::device::kernels!(@budget $($budget)?),
            }),+];
        #[cfg(test)]
        mod agree {
            #[test]
            fn kernels_agree_with_their_wgsl_and_translate() {
                super::KERNELS.iter().for_each($crate::device::check_kernel);
            }
        }
    };
    (@budget) => {
        $crate::device::Budget::USUAL
    };
    (@budget $budget:expr) => {
        $budget
    };
    (@at $kernel:ident) => {
        0
    };
    (@at $kernel:ident $order:ident) => {
        Self::ORDERS.iter().position(|&order| order == $kernel.$order).expect("an order that has a file")
    };
    (@declarations $kernel:ty, $name:ident, $files:tt) => {
        &[$crate::device::kernels!(@declaration $kernel, stringify!($name), $files)]
    };
    (@declarations $kernel:ty, $name:ident, $files:tt $generated:literal [$($order:literal),+]) => {
        &[$($crate::device::kernels!(
            @declaration $kernel, concat!(stringify!($name), $order), $files $generated $order
        )),+]
    };
    (@declaration $kernel:ty, $name:expr, [$($file:literal),+] $($generated:literal $order:literal)?) => {
        $crate::device::Declaration {
            shader: $crate::device::Shader {
                family: module_path!(),
                name: $name,
                files: &[
                    $(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $file)),)+
                    $(include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/shaders/", $generated, $order, ".wgsl")))?
                ],
            },
            signature: <$kernel>::signature,
        }
    };
}

/// Declares a test that compares each of the given values with the constant of the same name in the WGSL of the kernel
/// family. The macro must be used in the same module as `kernels!`.
macro_rules! mirrors {
    ($($name:ident = $value:expr),+ $(,)?) => {
        #[cfg(test)]
        mod mirrored {
            #[allow(unused_imports, reason = "a value may need nothing of the family's own")]
            use super::*;
            #[test]
            fn constants_are_those_of_the_wgsl() {
                $($crate::device::check_constant(super::KERNELS, stringify!($name), $value as f64);)+
            }
        }
    };
}
pub(crate) use {kernels, mirrors, uniform};
