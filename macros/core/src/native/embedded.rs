//! Kernels that the bodies of models launch.

use super::Callees;
use super::code::Numbers;
use super::emit::{Parts, pointwise, program};
use super::item::{chain, gradient};
use cotangent_ir::{Arg, Dim, Kernel, Save, vjp};
use proc_macro2::TokenStream;
use quote::quote;

/// A module `fused` that describes a kernel of floats and its gradient by `wrt` as its `DEF`: an `Elementwise` where the
/// kernel is one of scalars, else a `Def`, of whose dims `group` stands for any number of axes. None where the kernel has
/// no gradient or no native form.
pub(crate) fn embedded(kernel: &Kernel, wrt: &[Arg], group: Option<Dim>) -> Option<TokenStream> {
    let derivative = vjp(kernel, wrt, Save::Useful).ok()?;
    let Some(group) = group else {
        let forward = pointwise(kernel, "FORWARD", Callees::NONE);
        let (backward, chain) = chain(&derivative, wrt, Callees::NONE);
        return Some(quote! {
            mod fused {
                #[allow(unused_imports)]
                use ::cotangent::__private::native::{math, scalar};
                use ::cotangent::__private::kernel::Elementwise;
                #forward
                #backward
                pub(super) static DEF: Elementwise = Elementwise { forward: &FORWARD, backward: #chain };
            }
        });
    };
    let parts = Parts { numbers: &Numbers::new(), groups: &[group], nonempty: &[], callees: Callees::NONE };
    let forward = program(kernel, "forward", &parts).ok()?;
    let (programs, gradient) = gradient(kernel, wrt, &derivative, &parts).ok()?;
    Some(quote! {
        mod fused {
            use ::cotangent::__private::kernel::Def;
            #forward
            #programs
            pub(super) static DEF: Def =
                Def { forward: &forward::PROGRAM, gradient: #gradient, constants: &[], unrounded: false };
        }
    })
}
