//! The kernel language as data.
//!
//! A kernel is an arena of [`Node`]s. A node is a function of its *free axes*: a virtual table that may never be
//! stored. Loop levels are not written down, since the free axes of a node say where it is computed. Every type can
//! stand in a `static`, which is how an expanded kernel reaches a backend.
//!
//! The doc of each variant is its typing rule; `verify` checks them.

use std::borrow::Cow;

/// Borrowed in an emitted `static`, owned in a builder.
pub type List<T> = Cow<'static, [T]>;

/// A name that the user wrote, or one made unique from it.
pub type Name = Cow<'static, str>;

macro_rules! index {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl $name {
            /// The place in the list that it indexes.
            #[inline]
            pub const fn at(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}

index! {
    /// A node of [`Kernel::nodes`].
    Id;
    /// An axis of [`Kernel::axes`].
    Axis;
    /// An argument of [`Kernel::args`].
    Arg;
    /// A symbolic extent of [`Kernel::dims`].
    Dim;
}

/// Sixty-four bits, read as an `f64`, an `i64` or a truth value (0 or 1) by the [`Kind`] beside them.
///
/// Equality is that of the bits: `-0.0` differs from `0.0`, and a NaN equals itself, payload included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Num(pub u64);

impl Num {
    /// The identity of float addition, `-0.0`: the constant of a [`Node::Sum`] to which nothing is added.
    pub const NO_FLOAT: Num = Num::float(-0.0);

    /// The bits of `value`, unchanged.
    pub const fn float(value: f64) -> Num {
        Num(value.to_bits())
    }

    /// The bits of `value`.
    pub const fn int(value: i64) -> Num {
        Num(value as u64)
    }

    /// 1 for true, 0 for false.
    pub const fn bool(value: bool) -> Num {
        Num(value as u64)
    }

    /// The bits as a float.
    pub const fn as_float(self) -> f64 {
        f64::from_bits(self.0)
    }

    /// The bits as an integer.
    pub const fn as_int(self) -> i64 {
        self.0 as i64
    }

    /// Whether any bit is set.
    pub const fn as_bool(self) -> bool {
        self.0 != 0
    }
}

/// What a node holds. The stored precision is a property of the launch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// A real number.
    Float,
    /// An `i64` whose arithmetic wraps.
    Int,
    /// A truth value.
    Bool,
}

/// A run of [`Kernel::links`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Run {
    /// The first link.
    pub at: u32,
    /// How many.
    pub len: u32,
}

/// One operand in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Link {
    /// The coefficient in a `Sum` (of the sum's kind), the power in a `Prod` (an integer other than 0, at
    /// most [`crate::verify::POWER`] in size), 0 elsewhere.
    pub k: Num,
    /// The operand.
    pub id: Id,
}

/// Functions of one operand. Float to float unless the variant says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unary {
    /// `e^x`.
    Exp,
    /// `e^x - 1`.
    Expm1,
    /// The natural logarithm.
    Log,
    /// `log(1 + x)`.
    Log1p,
    /// Sine.
    Sin,
    /// Cosine.
    Cos,
    /// Tangent.
    Tan,
    /// Inverse sine.
    Asin,
    /// Inverse cosine.
    Acos,
    /// Inverse tangent.
    Atan,
    /// Hyperbolic sine.
    Sinh,
    /// Hyperbolic cosine.
    Cosh,
    /// Hyperbolic tangent.
    Tanh,
    /// Inverse hyperbolic sine.
    Asinh,
    /// Inverse hyperbolic cosine.
    Acosh,
    /// Inverse hyperbolic tangent.
    Atanh,
    /// The error function.
    Erf,
    /// One minus the error function, without the loss of digits where it is small.
    Erfc,
    /// The inverse of the error function; NaN beyond -1 and 1.
    Erfinv,
    /// `1 / (1 + e^-x)`.
    Sigmoid,
    /// The square root.
    Sqrt,
    /// One over the square root.
    Rsqrt,
    /// The logarithm of the absolute value of the gamma function.
    Lgamma,
    /// The derivative of `Lgamma`.
    Digamma,
    /// The derivative of `Digamma`.
    Trigamma,
    /// The absolute value, of floats or integers (wrapping).
    Abs,
    /// The largest whole number that is not above.
    Floor,
    /// The smallest whole number that is not below.
    Ceil,
    /// The nearest whole number, ties to even.
    Round,
    /// The whole number towards zero.
    Trunc,
    /// Logical `not` of truth values, bitwise `not` of integers.
    Not,
    /// The operand, of any kind, cut off from the derivative.
    Detach,
}

impl Unary {
    /// Whether it costs tens of instructions.
    pub const fn is_transcendental(self) -> bool {
        !matches!(
            self,
            Unary::Sqrt
                | Unary::Rsqrt
                | Unary::Abs
                | Unary::Floor
                | Unary::Ceil
                | Unary::Round
                | Unary::Trunc
                | Unary::Not
                | Unary::Detach
        )
    }
}

/// Functions of two operands of one kind, which is the result's unless the variant says otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Binary {
    /// The larger of two floats or integers; a NaN wins. A tie gives each operand half of the cotangent.
    Max,
    /// The smaller of two floats or integers; a NaN wins. A tie gives each operand half of the cotangent.
    Min,
    /// `a^b`, floats.
    Pow,
    /// The angle of the point `(b, a)`, floats.
    Atan2,
    /// The remainder with the sign of the divisor, floats or integers; an integer modulo 0 is 0.
    Rem,
    /// The quotient rounded down, integers; divided by 0 it is 0.
    Quot,
    /// Equality of any kind, a truth value.
    Eq,
    /// Less than, floats or integers, a truth value.
    Lt,
    /// Less than or equal, floats or integers, a truth value.
    Le,
    /// Logical or bitwise `and`, truth values or integers.
    And,
    /// Logical or bitwise `or`, truth values or integers.
    Or,
    /// Logical or bitwise exclusive `or`, truth values or integers.
    Xor,
    /// Shift to the left, integers; a distance outside 0 to 63 gives 0.
    Shl,
    /// Arithmetic shift to the right, integers; a distance outside 0 to 63 gives the sign, 0 or -1.
    Shr,
}

/// Reductions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fold {
    /// The sum of floats or integers; of nothing 0.
    Sum,
    /// The product of floats or integers; of nothing 1.
    Prod,
    /// The largest value of any kind, a NaN if there is one; of nothing the smallest value of the kind.
    Max,
    /// The smallest value of any kind, a NaN if there is one; of nothing the largest value of the kind.
    Min,
    /// The place of the first `Max`, an integer, counted in row-major order over the axes; of nothing 0.
    ArgMax,
    /// The place of the first `Min`, an integer, counted in row-major order over the axes; of nothing 0.
    ArgMin,
}

/// A function of its free axes. Operands precede their users, so that an arena has no cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// A constant of that kind.
    Const(Kind, Num),
    /// An extent, an integer.
    Size(Dim),
    /// The position along an axis, an integer; that axis is free.
    Index(Axis),
    /// An element of an argument, of the argument's kind. `at` holds one integer node a dimension. With `guard` a
    /// place outside reads 0 (false); without, the author promises that there is none.
    Load {
        /// The argument.
        arg: Arg,
        /// Where.
        at: Run,
        /// Whether a place outside reads 0.
        guard: bool,
    },
    /// `c + k1 * t1 + k2 * t2 + ..`, rounded from the left; at least one term. Float or integer, as are all terms.
    /// `c` is -0.0 in a float sum to which nothing is added, since -0.0 is the identity of float addition.
    Sum {
        /// The kind of the sum, of its terms, and of its numbers.
        kind: Kind,
        /// The constant.
        c: Num,
        /// Coefficients and terms.
        terms: Run,
    },
    /// The product of the factors of positive power, divided by the product of the others; at least one factor. Float
    /// or integer, as are all factors; an integer product has positive powers only.
    Prod {
        /// The kind of the product and of its factors.
        kind: Kind,
        /// Powers and factors.
        factors: Run,
    },
    /// A function of one operand.
    Unary(Unary, Id),
    /// A function of two operands.
    Binary(Binary, Id, Id),
    /// Condition (a truth value), then, else (of one kind, the result's). Both sides may be computed.
    Select(Id, Id, Id),
    /// The operand in another kind. A float becomes an integer as by Rust's `as`: towards zero, saturating, NaN to 0.
    /// A truth value becomes 0 or 1; a number becomes true where it is not 0.
    Cast(Kind, Id),
    /// A reduction of the operand over the axes in the run, each an [`Node::Index`]. They are distinct, bound here and
    /// free in no user. The kind is the operand's; `Arg*` gives an integer.
    Fold(Fold, Run, Id),
    /// The running reduction along an axis, which stays free: at position `i`, of the operand at positions `0..=i`.
    /// `fold` is `Sum`, `Prod`, `Max` or `Min`. The kind is the operand's.
    Scan {
        /// What is accumulated.
        fold: Fold,
        /// Along which axis.
        axis: Axis,
        /// From the far end: of the positions `i..`.
        reverse: bool,
        /// Without position `i` itself.
        exclusive: bool,
        /// The operand.
        body: Id,
    },
    /// Word `at` of the random stream `key` ([`crate::philox::word`]), an integer in `0..2^32`. Both operands are
    /// integers.
    Random {
        /// The stream.
        key: Id,
        /// The place in it.
        at: Id,
    },
    /// An output of another kernel that has neither axes nor dims; one operand an argument, of its kind. The kind is
    /// the output's. [`crate::link()`] replaces it by the callee's nodes.
    Call {
        /// An entry of [`Kernel::callees`].
        callee: u32,
        /// An entry of the callee's [`Kernel::outs`].
        out: u32,
        /// The arguments.
        args: Run,
    },
}

const _: () = assert!(size_of::<Node>() <= 24, "an emitted kernel holds hundreds of nodes");

/// An argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgDef {
    /// The user's name.
    pub name: Name,
    /// The kind of its elements.
    pub kind: Kind,
    /// Its extents, nodes as in [`AxisDef::extent`]; none for a scalar.
    pub dims: List<Id>,
}

/// An axis: the integers from 0 up to its extent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AxisDef {
    /// The user's name.
    pub name: Name,
    /// Its extent: an integer node of constants, sizes and arithmetic alone. Two axes have the same extent exactly if
    /// this is the same node.
    pub extent: Id,
}

/// How the stores of an output meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Mode {
    /// Together the stores write every element once.
    Set,
    /// No element is written twice; those that are not written are 0.
    SetSparse,
    /// Elements are sums of what is stored to them: atomic, or sorted by target when determinism is asked for.
    Add,
}

/// One loop nest that writes an output: for all positions of `over`, `out[at] = node`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// The axes of the loops, outermost first: at least those free in `at` and `node`.
    pub over: List<Axis>,
    /// One integer node a dimension of the output.
    pub at: List<Id>,
    /// The value, of the output's kind.
    pub node: Id,
}

/// An output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutDef {
    /// The user's name.
    pub name: Name,
    /// The kind of its elements.
    pub kind: Kind,
    /// Its extents, nodes as in [`AxisDef::extent`]; none for a scalar.
    pub dims: List<Id>,
    /// How the stores meet. `Add` is for floats and integers.
    pub mode: Mode,
    /// What is written.
    pub stores: List<Store>,
}

/// A kernel: outputs as functions of arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kernel {
    /// The user's name.
    pub name: Name,
    /// The symbols of extents.
    pub dims: List<Name>,
    /// The axes, free and bound.
    pub axes: List<AxisDef>,
    /// The arguments.
    pub args: List<ArgDef>,
    /// The outputs.
    pub outs: List<OutDef>,
    /// The arena.
    pub nodes: List<Node>,
    /// The operands of nodes that have any number of them.
    pub links: List<Link>,
    /// A number a node, whose meaning is that of whoever built the kernel (a token, say); may be empty.
    pub spans: List<u32>,
    /// The kernels that [`Node::Call`] names.
    pub callees: List<&'static Kernel>,
}

impl Kernel {
    /// The links of a run; those that exist, where the run is faulty.
    #[inline]
    pub fn links(&self, run: Run) -> &[Link] {
        let links = self.links.get(run.at as usize..).unwrap_or_default();
        links.get(..run.len as usize).unwrap_or(links)
    }

    /// The links of a node's run; none if it has no run.
    pub fn links_of(&self, node: &Node) -> &[Link] {
        node.run().map_or(&[], |run| self.links(run))
    }

    /// What the builder noted for a node, if anything.
    pub fn span(&self, id: Id) -> Option<u32> {
        self.spans.get(id.at()).copied()
    }
}

impl Node {
    /// Calls `f` with each operand, in order, the axes of a fold excepted; `links` are those of its run.
    pub fn operands(&self, links: &[Link], f: &mut dyn FnMut(Id)) {
        match *self {
            Node::Const(..) | Node::Size(_) | Node::Index(_) => {}
            Node::Load { .. } | Node::Sum { .. } | Node::Prod { .. } | Node::Call { .. } => {
                links.iter().for_each(|link| f(link.id));
            }
            Node::Unary(_, a) | Node::Cast(_, a) | Node::Fold(_, _, a) | Node::Scan { body: a, .. } => f(a),
            Node::Binary(_, a, b) | Node::Random { key: a, at: b } => {
                f(a);
                f(b);
            }
            Node::Select(a, b, c) => {
                f(a);
                f(b);
                f(c);
            }
        }
    }

    /// The run that it owns, if it is of a variant that does.
    pub fn run(&self) -> Option<Run> {
        match *self {
            Node::Load { at: run, .. }
            | Node::Sum { terms: run, .. }
            | Node::Prod { factors: run, .. }
            | Node::Fold(_, run, _)
            | Node::Call { args: run, .. } => Some(run),
            Node::Const(..)
            | Node::Size(_)
            | Node::Index(_)
            | Node::Unary(..)
            | Node::Binary(..)
            | Node::Select(..)
            | Node::Cast(..)
            | Node::Scan { .. }
            | Node::Random { .. } => None,
        }
    }

    /// The node with its operands replaced by `id` and its run by `run`.
    pub fn with(self, mut id: impl FnMut(Id) -> Id, run: impl FnOnce(Run) -> Run) -> Node {
        match self {
            Node::Const(..) | Node::Size(_) | Node::Index(_) => self,
            Node::Load { arg, at, guard } => Node::Load { arg, at: run(at), guard },
            Node::Sum { kind, c, terms } => Node::Sum { kind, c, terms: run(terms) },
            Node::Prod { kind, factors } => Node::Prod { kind, factors: run(factors) },
            Node::Unary(op, a) => Node::Unary(op, id(a)),
            Node::Binary(op, a, b) => Node::Binary(op, id(a), id(b)),
            Node::Select(q, a, b) => Node::Select(id(q), id(a), id(b)),
            Node::Cast(kind, a) => Node::Cast(kind, id(a)),
            Node::Fold(fold, axes, body) => Node::Fold(fold, run(axes), id(body)),
            Node::Scan { fold, axis, reverse, exclusive, body } => {
                Node::Scan { fold, axis, reverse, exclusive, body: id(body) }
            }
            Node::Random { key, at } => Node::Random { key: id(key), at: id(at) },
            Node::Call { callee, out, args } => Node::Call { callee, out, args: run(args) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `y[i] = x[i] + 1`, as a macro would emit it.
    static STATIC: Kernel = Kernel {
        name: Cow::Borrowed("inc"),
        dims: Cow::Borrowed(&[Cow::Borrowed("N")]),
        axes: Cow::Borrowed(&[AxisDef { name: Cow::Borrowed("i"), extent: Id(0) }]),
        args: Cow::Borrowed(&[ArgDef { name: Cow::Borrowed("x"), kind: Kind::Float, dims: Cow::Borrowed(&[Id(0)]) }]),
        outs: Cow::Borrowed(&[OutDef {
            name: Cow::Borrowed("y"),
            kind: Kind::Float,
            dims: Cow::Borrowed(&[Id(0)]),
            mode: Mode::Set,
            stores: Cow::Borrowed(&[Store {
                over: Cow::Borrowed(&[Axis(0)]),
                at: Cow::Borrowed(&[Id(1)]),
                node: Id(3),
            }]),
        }]),
        nodes: Cow::Borrowed(&[
            Node::Size(Dim(0)),
            Node::Index(Axis(0)),
            Node::Load { arg: Arg(0), at: Run { at: 0, len: 1 }, guard: false },
            Node::Sum { kind: Kind::Float, c: Num::float(1.0), terms: Run { at: 1, len: 1 } },
        ]),
        links: Cow::Borrowed(&[Link { k: Num::int(0), id: Id(1) }, Link { k: Num::float(1.0), id: Id(2) }]),
        spans: Cow::Borrowed(&[]),
        callees: Cow::Borrowed(&[]),
    };

    #[test]
    fn a_kernel_stands_in_a_static() {
        assert_eq!(STATIC.links(Run { at: 1, len: 1 })[0].id, Id(2));
        assert_eq!(STATIC.links(Run { at: 1, len: 9 }).len(), 1);
        assert_eq!(STATIC.links(Run { at: 7, len: 1 }).len(), 0);
        assert_eq!(STATIC.span(Id(0)), None);
    }

    #[test]
    fn numbers_keep_every_bit() {
        assert_ne!(Num::float(-0.0), Num::float(0.0));
        let nan = f64::from_bits(0x7ff8_0000_dead_beef);
        assert_eq!(Num::float(nan).as_float().to_bits(), nan.to_bits());
        assert_eq!(Num::int(-3).as_int(), -3);
    }
}
