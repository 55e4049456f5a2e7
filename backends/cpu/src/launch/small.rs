//! The short way of a launch that fits one tile: a pointwise kernel over few elements that lie one after another.
//!
//! Planning strides, tiles and threads takes longer than adding sixteen numbers. What is verified here is the same;
//! whatever does not fit, mistakes and elements to convert included, goes the long way.
#![allow(unsafe_code, reason = "makes slices of verified raw memory and calls a variant that the processor has")]

use super::few::Few;
use super::run::{input, output};
use crate::backend::block_of;
use crate::memory::{Block, Borrow};
use cotangent_hal::native::{In, Level, Out, Tile};
use cotangent_hal::{Access, Arg, DType, Domain, Kernel, Memory, Operand, Role, View};
use std::mem::MaybeUninit;
use std::slice;

/// The most bytes of an operand.
const BYTES: usize = 4096;
/// The most tensors.
const TENSORS: usize = 6;

/// The copy of an input that an output overwrites, in the alignment of tensors.
#[repr(align(64))]
struct Room(MaybeUninit<[u8; BYTES]>);

/// A tensor of such a launch.
#[derive(Clone, Copy)]
struct Dense<'a> {
    block: &'a Block,
    ptr: *mut u8,
    dtype: DType,
    role: Role,
}

/// Runs the launch and says so, or leaves it alone.
pub(crate) fn launch(level: Level, kernel: &'static Kernel, shape: &[usize], args: &[Arg<'_>]) -> bool {
    let count = kernel.operands.len();
    if kernel.domain != Domain::Pointwise || count > TENSORS || args.len() != count + kernel.scalars {
        return false;
    }
    let len = shape.iter().fold(1usize, |n, &extent| n.saturating_mul(extent));
    if len == 0 || len > BYTES / 8 || shape.len() > 8 {
        return false;
    }
    let (mut tensors, mut scalars) = (Few::<Dense<'_>, TENSORS>::new(), Few::<_, 4>::new());
    for (operand, arg) in kernel.operands.iter().zip(args) {
        match dense(operand, arg, shape, len) {
            Some(tensor) => tensors.push(tensor),
            None => return false,
        }
    }
    for arg in &args[count..] {
        match arg {
            Arg::Scalar(scalar) if scalars.len() < 4 => scalars.push(*scalar),
            Arg::Scalar(_) | Arg::In(_) | Arg::Out(_) | Arg::Sum(_) => return false,
        }
    }
    let Some(overwritten) = overwritten(&tensors) else { return false };
    let Some(_borrows) = borrow(&tensors) else { return false };
    let mut copy = Room(MaybeUninit::uninit());
    if let Some(at) = overwritten {
        let to = copy.0.as_mut_ptr().cast::<u8>();
        // SAFETY: the tensor has `len` verified elements of at most 8 bytes, for which the copy has room.
        unsafe { to.copy_from_nonoverlapping(tensors[at].ptr, len * tensors[at].dtype.size()) };
        tensors[at].ptr = to;
    }
    let mut ins = [const { MaybeUninit::<In<'_>>::uninit() }; TENSORS];
    let mut outs = [const { MaybeUninit::<Out<'_>>::uninit() }; TENSORS];
    let (mut read, mut written) = (0, 0);
    for tensor in tensors.iter() {
        // SAFETY: `len` verified, initialised elements. Outputs are this launch's alone by their borrows, an input that
        // shares their elements is the copy, and no input holds truth values.
        unsafe {
            if tensor.role == Role::In {
                ins[read].write(input(tensor.dtype, tensor.ptr, len));
                read += 1;
            } else {
                outs[written].write(output(tensor.dtype, Some(tensor.role), tensor.ptr, len));
                written += 1;
            }
        }
    }
    // SAFETY: so many entries are written, and the level is one that the processor has.
    unsafe {
        let ins = slice::from_raw_parts(ins.as_ptr().cast::<In<'_>>(), read);
        let outs = slice::from_raw_parts_mut(outs.as_mut_ptr().cast::<Out<'_>>(), written);
        (kernel.native.fns[level as usize])(&mut Tile { at: 0, len, part: 0, ins, outs, scalars: &scalars });
    }
    true
}

/// The tensor, if it is what the kernel declares and its elements lie one after another in its block.
#[inline]
fn dense<'a>(operand: &Operand, arg: &'a Arg<'_>, shape: &[usize], len: usize) -> Option<Dense<'a>> {
    let view: &View<'_> = match (arg, operand.role) {
        (Arg::In(view), Role::In) | (Arg::Out(view), Role::Out | Role::InOut) => view,
        (Arg::In(_) | Arg::Out(_) | Arg::Sum(_) | Arg::Scalar(_), _) => return None,
    };
    // Bytes of truth values that are read might be anything.
    let plain = operand.access == Access::Each && (operand.dtype != DType::Bool || operand.role == Role::Out);
    let computed = operand.is_computed() && view.dtype == operand.dtype;
    if !plain || !computed || view.shape != shape || view.strides.len() != shape.len() {
        return None;
    }
    let block = block_of(view.buffer).ok()?;
    let size = view.dtype.size();
    let fits = view.offset.checked_add(len).is_some_and(|end| end <= block.bytes() / size);
    (fits && view.is_contiguous()).then(|| Dense {
        block,
        ptr: block.ptr().wrapping_add(view.offset * size),
        dtype: view.dtype,
        role: operand.role,
    })
}

/// The one input whose very elements an output takes, if any; outer `None` where memory is shared in another way.
#[inline]
fn overwritten(tensors: &[Dense<'_>]) -> Option<Option<usize>> {
    let mut found = None;
    for (o, out) in tensors.iter().enumerate().filter(|(_, t)| t.role != Role::In) {
        for (i, other) in tensors.iter().enumerate() {
            if i == o || !std::ptr::eq(out.block, other.block) {
                continue;
            }
            let same = other.role == Role::In && other.ptr == out.ptr && other.dtype == out.dtype;
            if !same || found.is_some() {
                return None;
            }
            found = Some(i);
        }
    }
    Some(found)
}

/// The right to use each block, or `None` while another call has it.
#[inline]
fn borrow<'a>(tensors: &[Dense<'a>]) -> Option<Few<Borrow<'a>, TENSORS>> {
    let mut borrows = Few::new();
    for (i, tensor) in tensors.iter().enumerate() {
        let shares = |t: &Dense<'_>| std::ptr::eq(t.block, tensor.block);
        if !tensors[..i].iter().any(shares) {
            let writes = tensors[i..].iter().any(|t| shares(t) && t.role != Role::In);
            borrows.push(tensor.block.borrow(writes)?);
        }
    }
    Some(borrows)
}
