//! Stand-ins for other kernels, which the macro that expands the caller cannot see.
//!
//! A [`cotangent_ir::Node::Call`] names a `&'static Kernel`. Here it is one that takes floats and gives one; the
//! emitter puts the callee's own static in its place.

use cotangent_ir::{Builder, Kernel, Kind};
use quote::ToTokens;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use syn::Path;

/// A kernel that is called.
pub(super) struct Callee {
    path: Path,
    arity: usize,
    /// The name of its stand-in, which is the callee's own unless another callee has it.
    name: String,
}

/// The stand-in for a kernel that the kernel `caller` calls.
pub(super) fn callee(path: &Path, arity: usize, caller: &str, callees: &mut Vec<Callee>) -> Option<&'static Kernel> {
    let tokens = path.to_token_stream().to_string();
    let known = callees.iter().find(|c| c.arity == arity && c.path.to_token_stream().to_string() == tokens);
    if let Some(known) = known {
        return Some(stand_in(&known.name, arity));
    }
    let last = path.segments.last().map(|s| super::text(&s.ident))?;
    let free = |name: &String| *name != caller && callees.iter().all(|c| c.name != *name);
    let mut names = std::iter::once(last.clone()).chain((2..).map(|n| format!("{last}_{n}")));
    let name = names.find(free)?;
    let kernel = stand_in(&name, arity);
    callees.push(Callee { path: path.clone(), arity, name });
    Some(kernel)
}

/// What a stand-in stands for.
pub(super) fn path(kernel: &Kernel, callees: &[Callee]) -> Option<Path> {
    callees.iter().find(|c| c.name == kernel.name).map(|c| c.path.clone())
}

/// The stand-in of that name. There is one for each name and arity in the life of the process.
fn stand_in(name: &str, arity: usize) -> &'static Kernel {
    static KERNELS: Mutex<BTreeMap<(String, usize), &'static Kernel>> = Mutex::new(BTreeMap::new());
    let mut kernels = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    kernels.entry((name.to_owned(), arity)).or_insert_with(|| {
        let mut b = Builder::new(name);
        let args: Vec<_> = (0..arity).map(|n| b.arg(&format!("x{n}"), Kind::Float, &[])).collect();
        let terms: Vec<_> = args.into_iter().map(|arg| (1.0, b.load(arg, &[]))).collect();
        let sum = b.linear(-0.0, &terms);
        b.output_over("y", &[], sum);
        Box::leak(Box::new(b.finish()))
    })
}
