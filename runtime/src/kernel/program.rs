//! A kernel's steps as data.

use super::few::Few;
use super::{hal, ir};
use cotangent_hal::{Access, Role};
use std::fmt;

/// A kernel and the steps that compute its outputs.
pub struct Program {
    /// What is computed. Its arguments and outputs are those of the program.
    pub ir: &'static ir::Kernel,
    /// The dims that stand for any number of axes, such as `R..`, as one axis of the kernel.
    pub groups: &'static [u32],
    /// The dims that must not be 0, since an element of theirs is read wherever the kernel runs.
    pub nonempty: &'static [u32],
    /// The arguments whose elements are positions in another.
    pub positions: &'static [Positions],
    /// The values that steps hand to later ones.
    pub temps: &'static [Temp],
    /// In order; each writes outputs, or temporary values, of its own.
    pub steps: &'static [Step],
}

/// An integer argument whose elements must lie in `0..extent`.
pub struct Positions {
    /// The argument.
    pub arg: u32,
    /// An extent of the kernel.
    pub extent: ir::Id,
    /// What has that extent, for the error.
    pub of: &'static str,
}

/// A value that is kept between steps.
pub struct Temp {
    /// What it holds.
    pub kind: ir::Kind,
    /// Its axes, outermost first.
    pub axes: &'static [ir::Axis],
}

/// One step of a program.
pub enum Step {
    /// Loops.
    Launch(Launch),
    /// A call of the library.
    Product(Product),
}

/// One launch of a tile kernel.
pub struct Launch {
    /// The compiled loops.
    pub kernel: &'static hal::Kernel,
    /// The axes of the index space, outermost first; none for a single tile of one element.
    pub axes: &'static [ir::Axis],
    /// The tensors, in the order of the tile kernel.
    pub operands: &'static [Operand],
    /// The scalars behind them.
    pub scalars: &'static [Value],
}

/// A matrix product: the sum of the products of two factors over the axes that both have and the result lacks.
pub struct Product {
    /// What is multiplied.
    pub factors: [Factor; 2],
    /// The result.
    pub out: Factor,
}

/// A tensor of a product.
pub struct Factor {
    /// Which one.
    pub slot: Slot,
    /// The axis along each of its dims.
    pub axes: &'static [ir::Axis],
}

/// A tensor of a launch.
pub struct Operand {
    /// Which one.
    pub slot: Slot,
    /// For each axis that a tile kernel sees of it, its own axis there, or `None` where it repeats; no list where it is
    /// seen whole.
    pub view: Option<&'static [Option<u8>]>,
    /// The argument whose contents an output begins with.
    pub from: Option<u32>,
}

/// A tensor of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// An argument.
    In(u32),
    /// An output.
    Out(u32),
    /// A temporary value.
    Temp(u32),
}

/// A number that a tile kernel is passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// An argument without axes.
    Arg(u32),
    /// A dim of the kernel.
    Size(u32),
}

/// The part of a program that is run.
pub(super) struct Needed {
    pub(super) steps: Few<bool, 8>,
    /// The outputs that these steps write, also those that nobody wants.
    pub(super) outs: Few<bool, 8>,
    pub(super) temps: Few<bool, 8>,
}

impl Step {
    /// Calls `f` with each tensor, and whether it is written.
    pub(super) fn each(&self, mut f: impl FnMut(Slot, bool)) {
        match self {
            Step::Launch(l) => {
                let pairs = l.operands.iter().zip(l.kernel.operands);
                pairs.for_each(|(operand, tile)| f(operand.slot, tile.role != Role::In));
            }
            Step::Product(p) => {
                p.factors.iter().for_each(|factor| f(factor.slot, false));
                f(p.out.slot, true);
            }
        }
    }
}

impl Program {
    /// The launch, where that is all.
    pub(super) fn only(&self) -> Option<&'static Launch> {
        match self.steps {
            [Step::Launch(launch)] => Some(launch),
            _ => None,
        }
    }

    /// The launches.
    pub(super) fn launches(&self) -> impl Iterator<Item = &'static Launch> + use<> {
        self.steps.iter().filter_map(|step| match step {
            Step::Launch(launch) => Some(launch),
            Step::Product(_) => None,
        })
    }

    /// Whether an output is written element by element, in one launch.
    pub(super) fn is_by_element(&self, out: usize) -> bool {
        let slot = Slot::Out(out as u32);
        let tiles = self.launches().flat_map(|l| l.operands.iter().zip(l.kernel.operands));
        let own: Vec<Access> = tiles.filter(|(o, _)| o.slot == slot).map(|(_, tile)| tile.access).collect();
        own == [Access::Each] && self.ir.outs[out].kind == ir::Kind::Float
    }

    /// Whether steps that are needed read an argument.
    pub(super) fn reads(&self, needed: &Needed, arg: u32) -> bool {
        self.steps.iter().zip(needed.steps.iter()).filter(|(_, needed)| **needed).any(|(step, _)| {
            let mut found = match step {
                Step::Launch(launch) => launch.scalars.contains(&Value::Arg(arg)),
                Step::Product(_) => false,
            };
            step.each(|slot, _| found |= slot == Slot::In(arg));
            found
        })
    }

    /// Whether a step behind the one that writes an output reads an argument.
    pub(super) fn reads_later(&self, arg: u32, out: u32) -> bool {
        let has = |step: &Step, slot, written| {
            let mut found = false;
            step.each(|s, w| found |= (s, w) == (slot, written));
            found
        };
        let later = self.steps.iter().skip_while(|step| !has(step, Slot::Out(out), true)).skip(1);
        later.into_iter().any(|step| has(step, Slot::In(arg), false))
    }

    /// What the outputs need for which `wanted` says so.
    pub(super) fn needed(&self, wanted: impl Fn(usize) -> bool) -> Needed {
        let falses = |count| Few::repeat(false, count);
        let (steps, outs, temps) = (self.steps.len(), self.ir.outs.len(), self.temps.len());
        let mut all = Needed { steps: falses(steps), outs: falses(outs), temps: falses(temps) };
        for (at, step) in self.steps.iter().enumerate().rev() {
            let mut needed = false;
            step.each(|slot, written| {
                needed |= written
                    && match slot {
                        Slot::Out(at) => wanted(at as usize),
                        Slot::Temp(at) => all.temps[at as usize],
                        Slot::In(_) => false,
                    };
            });
            if needed {
                all.steps[at] = true;
                step.each(|slot, _| match slot {
                    Slot::Out(at) => all.outs[at as usize] = true,
                    Slot::Temp(at) => all.temps[at as usize] = true,
                    Slot::In(_) => {}
                });
            }
        }
        all
    }

    fn name(&self, slot: Slot) -> String {
        match slot {
            Slot::In(at) => self.ir.args[at as usize].name.to_string(),
            Slot::Out(at) => self.ir.outs[at as usize].name.to_string(),
            Slot::Temp(at) => format!("#{at}"),
        }
    }
}

/// The steps, one a line: what each writes, how, and what it reads; `#` is a temporary value.
///
/// ```text
/// #0[i, j] = matmul a[i, k] b[k, j]
/// y = rows #0 bias
/// ```
impl fmt::Display for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for step in self.steps {
            match step {
                Step::Product(p) => {
                    let factor = |x: &Factor| {
                        let axes = x.axes.iter().map(|axis| &*self.ir.axes[axis.at()].name);
                        format!("{}[{}]", self.name(x.slot), axes.collect::<Vec<_>>().join(", "))
                    };
                    let [a, b] = &p.factors;
                    writeln!(f, "{} = matmul {} {}", factor(&p.out), factor(a), factor(b))?;
                }
                Step::Launch(l) => {
                    let (mut read, mut written) = (vec![], vec![]);
                    step.each(|slot, writes| {
                        let list = if writes { &mut written } else { &mut read };
                        let name = self.name(slot);
                        if !list.contains(&name) {
                            list.push(name);
                        }
                    });
                    let how = match l.kernel.domain {
                        hal::Domain::Pointwise => "elements",
                        hal::Domain::Rows if l.axes.is_empty() => "loops",
                        hal::Domain::Rows => "rows",
                    };
                    writeln!(f, "{} = {how} {}", written.join(", "), read.join(" "))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotangent_ir::List;

    static KERNEL: ir::Kernel = ir::Kernel {
        name: ir::Name::Borrowed("k"),
        dims: List::Borrowed(&[]),
        axes: List::Borrowed(&[]),
        args: List::Borrowed(&[]),
        outs: List::Borrowed(&[OUT, OUT]),
        nodes: List::Borrowed(&[]),
        links: List::Borrowed(&[]),
        spans: List::Borrowed(&[]),
        callees: List::Borrowed(&[]),
    };
    const OUT: ir::OutDef = ir::OutDef {
        name: ir::Name::Borrowed("y"),
        kind: ir::Kind::Float,
        dims: List::Borrowed(&[]),
        mode: ir::Mode::Set,
        stores: List::Borrowed(&[]),
    };

    const fn product(a: Slot, b: Slot, out: Slot) -> Step {
        const fn factor(slot: Slot) -> Factor {
            Factor { slot, axes: &[] }
        }
        Step::Product(Product { factors: [factor(a), factor(b)], out: factor(out) })
    }

    /// The first temporary value serves both outputs, the second the first alone.
    static PROGRAM: Program = Program {
        ir: &KERNEL,
        groups: &[],
        nonempty: &[],
        positions: &[],
        temps: &[Temp { kind: ir::Kind::Float, axes: &[] }, Temp { kind: ir::Kind::Float, axes: &[] }],
        steps: &[
            product(Slot::In(0), Slot::In(1), Slot::Temp(0)),
            product(Slot::In(0), Slot::Temp(0), Slot::Temp(1)),
            product(Slot::Temp(0), Slot::Temp(1), Slot::Out(0)),
            product(Slot::In(1), Slot::Temp(0), Slot::Out(1)),
        ],
    };

    #[test]
    fn steps_that_nobody_needs_are_left_out() {
        let needed = |wanted: [bool; 2]| {
            let needed = PROGRAM.needed(|out| wanted[out]);
            (needed.steps.to_vec(), needed.outs.to_vec(), needed.temps.to_vec())
        };
        assert_eq!(needed([true, true]), (vec![true; 4], vec![true; 2], vec![true; 2]));
        assert_eq!(needed([true, false]), (vec![true, true, true, false], vec![true, false], vec![true; 2]));
        assert_eq!(needed([false, true]), (vec![true, false, false, true], vec![false, true], vec![true, false]));
        assert_eq!(needed([false, false]).0, vec![false; 4]);
    }

    #[test]
    fn arguments_that_are_read() {
        let reads = |wanted: [bool; 2], arg| PROGRAM.reads(&PROGRAM.needed(|out| wanted[out]), arg);
        assert!(reads([true, false], 0) && reads([false, true], 1) && !reads([true, true], 2));
        assert!(!reads([false, false], 0));
    }

    #[test]
    fn arguments_that_are_read_later() {
        let read = [(0, 0), (1, 0), (1, 1)].map(|(arg, out)| PROGRAM.reads_later(arg, out));
        assert_eq!(read, [false, true, false]);
    }
}
