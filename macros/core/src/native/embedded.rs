//! Kernels that the bodies of models launch.

use super::code::Numbers;
use super::cut::schedule;
use super::emit::{Parts, pointwise, program};
use super::item::{chain, gradient, renamed};
use super::{Callees, Step};
use cotangent_ir::{Arg, Dim, Kernel, Save, vjp};
use proc_macro2::TokenStream;
use quote::quote;

/// The most tensors, and the most numbers, that one launch takes.
const MOST: usize = 16;

/// A module `fused` that describes a kernel of floats and its gradient by `wrt` as its `DEF`: an `Elementwise` where the
/// kernel is one of scalars, else a `Def`, of whose dims `group` stands for any number of axes. None where the kernel has
/// no gradient, no native form, or more operands than a launch takes: values of rows that are kept count among them.
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
    let derived = derivative.stage.iter().chain([&derivative.backward]).map(|of| &of.kernel);
    if ![kernel, &derivative.forward].into_iter().chain(derived).all(|k| launches(k, &renamed(kernel, k, &[group]))) {
        return None;
    }
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

/// Whether each launch of a kernel of tensors takes all of its operands.
fn launches(k: &Kernel, groups: &[Dim]) -> bool {
    let parts = Parts { numbers: &Numbers::new(), groups, nonempty: &[], callees: Callees::NONE };
    let fits = |step: &Step| match step {
        Step::Launch(launch) => launch.operands.len() <= MOST && launch.scalars.len() <= MOST,
        Step::Product(_) => true,
    };
    schedule(k, &parts).is_ok_and(|schedule| schedule.steps.iter().all(fits))
}
