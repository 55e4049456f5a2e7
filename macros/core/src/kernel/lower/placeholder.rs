//! Stand-ins for other kernels, which the macro that expands the caller cannot see.
//!
//! A [`cotangent_ir::Node::Call`] names a `&'static Kernel`. Here it is one that takes floats and gives floats; the
//! emitter puts the callee's own static in its place. So it does for the callee's partial derivatives, each of which is a
//! stand-in of the same arguments with one result.

use cotangent_ir::{Builder, Kernel, Kind};
use quote::ToTokens;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use syn::Path;

/// A kernel that is called.
pub(super) struct Callee {
    path: Path,
    kernel: &'static Kernel,
}

/// How many floats a kernel takes and gives.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Arity {
    pub(super) takes: usize,
    pub(super) gives: usize,
}

impl Arity {
    fn of(kernel: &Kernel) -> Arity {
        Arity { takes: kernel.args.len(), gives: kernel.outs.len() }
    }
}

/// The stand-in for a kernel that the kernel `caller` calls.
pub(super) fn callee(path: &Path, arity: Arity, caller: &str, callees: &mut Vec<Callee>) -> Option<&'static Kernel> {
    let tokens = path.to_token_stream().to_string();
    let same = |c: &&Callee| Arity::of(c.kernel) == arity && c.path.to_token_stream().to_string() == tokens;
    if let Some(known) = callees.iter().find(same) {
        return Some(known.kernel);
    }
    // The callee's own name, unless another callee has it.
    let last = path.segments.last().map(|s| super::text(&s.ident))?;
    let free = |name: &String| *name != caller && callees.iter().all(|c| c.kernel.name != *name);
    let mut names = std::iter::once(last.clone()).chain((2..).map(|n| format!("{last}_{n}")));
    let kernel = stand_in(&names.find(free)?, arity, None);
    callees.push(Callee { path: path.clone(), kernel });
    Some(kernel)
}

/// What a stand-in stands for.
pub(super) fn path(kernel: &Kernel, callees: &[Callee]) -> Option<Path> {
    callees.iter().find(|c| std::ptr::eq(c.kernel, kernel)).map(|c| c.path.clone())
}

/// The stand-in for the partial derivative of a result of a kernel that one stands for; those have none themselves.
pub(in super::super) fn partial(kernel: &'static Kernel, of: usize, by: usize) -> Option<&'static Kernel> {
    let arity = Arity::of(kernel);
    let stands = of < arity.gives && by < arity.takes && std::ptr::eq(stand_in(&kernel.name, arity, None), kernel);
    stands.then(|| stand_in(&kernel.name, arity, Some((of, by))))
}

/// The stand-in of that name, or that for a partial derivative of it. There is one for each name and arity in the life of
/// the process.
fn stand_in(name: &str, arity: Arity, slope: Option<(usize, usize)>) -> &'static Kernel {
    type Key = (String, Arity, Option<(usize, usize)>);
    static KERNELS: Mutex<BTreeMap<Key, &'static Kernel>> = Mutex::new(BTreeMap::new());
    let mut kernels = KERNELS.lock().unwrap_or_else(PoisonError::into_inner);
    kernels.entry((name.to_owned(), arity, slope)).or_insert_with(|| {
        let said = match slope {
            None => name.to_owned(),
            Some((_, by)) if arity.gives == 1 => format!("{name}_d{by}"),
            Some((of, by)) => format!("{name}_y{of}_d{by}"),
        };
        let mut b = Builder::new(&said);
        let args: Vec<_> = (0..arity.takes).map(|n| b.arg(&format!("x{n}"), Kind::Float, &[])).collect();
        let terms: Vec<_> = args.into_iter().map(|arg| (1.0, b.load(arg, &[]))).collect();
        let sum = b.linear(-0.0, &terms);
        let gives = if slope.is_some() { 1 } else { arity.gives };
        for place in 0..gives {
            b.output_over(&super::outputs::name(place, gives), &[], sum);
        }
        Box::leak(Box::new(b.finish()))
    })
}
