//! What a rule says: the result's shape and whether the operation is right.

use super::dim::Dim;
use super::equation::Malformed;
use super::fields::Dims;
use super::shape::{AXES, Shape};

/// A plain argument of an operation: an axis, axes, a shape, a size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "const values cannot be boxed")]
pub enum Plain {
    /// One number.
    Dim(Dim),
    /// The first `len` entries are a list of numbers.
    List {
        /// How many entries count.
        len: u8,
        /// The entries.
        dims: [Dim; AXES],
    },
    /// `..`: all axes.
    All,
    /// An entry of a slice.
    Entry(Entry),
    /// A text that is written out.
    Text(&'static str),
    /// A value that only the run knows.
    Unknown,
}

/// An entry of `s![..]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "const values cannot be boxed")]
pub enum Entry {
    /// A single entry; the axis goes.
    At(Dim),
    /// A range, each of whose bounds may be left out.
    Range {
        /// The first entry.
        start: Option<Dim>,
        /// The entry behind the last one.
        end: Option<Dim>,
        /// From one entry to the next.
        step: Dim,
    },
    /// All axes that no other entry stands for.
    Ellipsis,
    /// A new axis.
    New,
}

/// Whether an operation is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is, under every binding.
    Proved,
    /// Only the run can tell.
    Undecided,
    /// It is not, under any binding.
    Failed,
}

/// What is wrong, or cannot be told, about an operation. Axes are places from the left among the listed axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "const values cannot be boxed")]
pub enum Fail {
    /// Nothing.
    None,
    /// An argument of a method does not have the declared shape.
    Input {
        /// Which argument.
        argument: usize,
        /// How many of the arguments have a declared shape.
        arguments: usize,
        /// The axis that differs, or `None` where the rank does.
        axis: Option<usize>,
        /// The declared shape, in the caller's terms.
        want: Shape,
        /// The shape that was given.
        got: Shape,
        /// The callee's model.
        name: &'static str,
        /// The names of the callee's dims.
        names: &'static [&'static str],
        /// The values of the callee's dims.
        dims: Dims,
        /// The callee's dim that the declared axis is, if it is nothing but one.
        symbol: Option<usize>,
    },
    /// The result of a method has a negative extent.
    Negative {
        /// The axis of the result.
        axis: usize,
        /// The result's shape.
        result: Shape,
        /// The first argument's.
        input: Shape,
    },
    /// A value does not have the shape that its binding declares.
    Declared {
        /// The axis that differs, or `None` where the rank does.
        axis: Option<usize>,
        /// The declared shape.
        want: Shape,
        /// The value's shape.
        got: Shape,
    },
    /// Two shapes cannot be broadcast.
    Broadcast {
        /// The shape on the left.
        left: Shape,
        /// The shape on the right.
        right: Shape,
        /// The axis that differs, counted from the last.
        back: usize,
    },
    /// The second operand does not fit into the shape of the first, which the result keeps.
    Grows {
        /// The shape that is kept.
        into: Shape,
        /// The shape that has more axes or a longer one.
        from: Shape,
    },
    /// The extents that a product of matrices sums over differ.
    Inner {
        /// The shape on the left.
        left: Shape,
        /// The shape on the right.
        right: Shape,
    },
    /// The leading axes of a product of matrices cannot be broadcast.
    Batch {
        /// The shape on the left.
        left: Shape,
        /// The shape on the right.
        right: Shape,
    },
    /// An operand has a rank that the operation does not take.
    Rank {
        /// The operand's shape.
        shape: Shape,
        /// The least rank that it takes.
        least: usize,
        /// The greatest rank that it takes.
        most: usize,
    },
    /// There is no such axis.
    Axis {
        /// The axis as it was given.
        axis: i64,
        /// The operand's shape.
        shape: Shape,
    },
    /// An axis is named twice.
    Twice {
        /// The axis, from the left.
        axis: usize,
        /// The operand's shape.
        shape: Shape,
    },
    /// Operands that must have the same shape differ.
    Unlike {
        /// The first operand.
        first: Shape,
        /// The operand that differs.
        other: Shape,
        /// Its number among the operands, from zero.
        operand: usize,
        /// The axis that differs, or `None` where the rank does.
        axis: Option<usize>,
    },
    /// A weight or bias does not have the shape of the input's last axis.
    Affine {
        /// The input's shape.
        input: Shape,
        /// The shape of the weight or bias.
        given: Shape,
        /// Whether it is the bias.
        bias: bool,
    },
    /// Targets do not have the shape of the predictions without their last axis.
    Targets {
        /// The shape of the predictions.
        logits: Shape,
        /// The shape of the targets.
        targets: Shape,
    },
    /// Weights are neither one nor one for each entry of axis 1.
    Channels {
        /// The input's shape.
        input: Shape,
        /// The shape of the weights.
        weight: Shape,
    },
    /// A reshape changes the number of elements.
    Elements {
        /// The shape before.
        from: Shape,
        /// The shape that was asked for.
        to: Shape,
    },
    /// No extent for the `-1` of a reshape keeps the number of elements.
    Hole {
        /// The shape before.
        from: Shape,
        /// The shape that was asked for.
        to: Shape,
    },
    /// A shape with two `-1`.
    Holes {
        /// The shape that was asked for.
        to: Shape,
    },
    /// A list of axes that does not name each axis once.
    Order {
        /// The operand's shape.
        shape: Shape,
        /// The list.
        order: Shape,
    },
    /// An axis that is to vanish is not 1 long.
    Squeeze {
        /// The operand's shape.
        shape: Shape,
        /// The axis.
        axis: usize,
    },
    /// A shape cannot be expanded to another.
    Expand {
        /// The shape before.
        from: Shape,
        /// The shape that was asked for.
        to: Shape,
        /// The axis that differs, counted from the last, or `None` where the target has too few axes.
        back: Option<usize>,
    },
    /// A part reaches past the end of its axis.
    Narrow {
        /// The operand's shape.
        shape: Shape,
        /// The axis.
        axis: usize,
        /// Where the part starts.
        start: Dim,
        /// How long it is.
        length: Dim,
    },
    /// There is no such entry of an axis.
    Entry {
        /// The operand's shape.
        shape: Shape,
        /// The axis.
        axis: usize,
        /// The entry as it was given.
        entry: Dim,
    },
    /// Positions along an axis have another number of axes than the operand, or are longer along another axis.
    Beside {
        /// The operand's shape.
        shape: Shape,
        /// The positions' shape.
        index: Shape,
        /// The axis along which they count.
        axis: usize,
    },
    /// What is put at positions has fewer elements than they are.
    Short {
        /// The shape of what is put.
        given: Shape,
        /// The least shape.
        needed: Shape,
    },
    /// The widths of a border are no pairs, or there are more pairs than axes.
    Widths {
        /// The operand's shape.
        shape: Shape,
        /// How many widths there are.
        count: usize,
    },
    /// An axis does not have the extent that the operation needs.
    Extent {
        /// The operand's shape.
        shape: Shape,
        /// The axis.
        axis: usize,
        /// The extent.
        needs: i64,
    },
    /// The last two axes, those of matrices, differ.
    Square {
        /// The operand's shape.
        shape: Shape,
    },
    /// The channels of images and filters do not fit.
    Filters {
        /// The shape of the images.
        input: Shape,
        /// The shape of the filters.
        weight: Shape,
        /// The axis of the filters that does not fit.
        axis: usize,
        /// What it should be.
        needs: Dim,
    },
    /// An axis is not divided by the groups.
    Groups {
        /// The shape with the axis.
        shape: Shape,
        /// The axis.
        axis: usize,
        /// The number of groups.
        groups: Dim,
    },
    /// A window is longer than the axis that it moves along.
    Window {
        /// The operand's shape.
        shape: Shape,
        /// The axis.
        axis: usize,
        /// How far the window reaches.
        reach: Dim,
        /// The extent of the axis with its padding.
        padded: Dim,
    },
    /// A parameter is not one number for each entry of an axis.
    Vector {
        /// What the parameter is.
        what: &'static str,
        /// Its shape.
        given: Shape,
        /// The shape with the axis.
        of: Shape,
        /// The axis.
        axis: usize,
        /// How long the parameter should be.
        needs: Dim,
    },
    /// The operands of an `einsum` do not fit its equation.
    Einsum {
        /// The equation.
        equation: &'static str,
        /// How they do not.
        what: Mismatch,
    },
    /// The sizes of a split do not add up.
    Sizes {
        /// The operand's shape.
        shape: Shape,
        /// The axis.
        axis: usize,
        /// The sizes.
        sizes: Shape,
        /// Their sum.
        total: Dim,
    },
}

/// How operands do not fit the equation of an `einsum`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::large_enum_variant, reason = "const values cannot be boxed")]
pub enum Mismatch {
    /// The equation is none.
    Malformed(Malformed),
    /// There are more or fewer operands than terms.
    Operands {
        /// The terms.
        terms: usize,
        /// The operands.
        given: usize,
    },
    /// An operand has more or fewer axes than its term.
    Rank {
        /// Its number, from zero.
        operand: usize,
        /// How many letters its term has.
        letters: usize,
        /// Its shape.
        shape: Shape,
    },
    /// A letter stands for two extents.
    Letter {
        /// The letter.
        letter: u8,
        /// The extent that it has first.
        first: Dim,
        /// The one that it has later.
        other: Dim,
    },
    /// What `...` stands for does not broadcast.
    Dots {
        /// The axes of the operands before.
        first: Shape,
        /// The axes of the operand that differs.
        other: Shape,
    },
}

/// One step of a proof: the shape of a result, and whether the operation is right.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// The result's shape.
    pub shape: Shape,
    /// Whether the operation is right.
    pub verdict: Verdict,
    /// What is wrong, where the verdict is [`Verdict::Failed`], or what could not be told.
    pub fail: Fail,
}

impl Plain {
    /// All axes.
    pub const ALL: Plain = Plain::All;
    /// A value that only the run knows.
    pub const UNKNOWN: Plain = Plain::Unknown;
    /// The axes that no other entry of a slice stands for.
    pub const ELLIPSIS: Plain = Plain::Entry(Entry::Ellipsis);
    /// A new axis in a slice.
    pub const NEW: Plain = Plain::Entry(Entry::New);

    /// A text.
    pub const fn text(text: &'static str) -> Plain {
        Plain::Text(text)
    }

    /// One number.
    pub const fn dim(dim: Dim) -> Plain {
        Plain::Dim(dim)
    }

    /// A single entry of a slice.
    pub const fn at(entry: Dim) -> Plain {
        Plain::Entry(Entry::At(entry))
    }

    /// A range of a slice.
    pub const fn range(start: Option<Dim>, end: Option<Dim>, step: Dim) -> Plain {
        Plain::Entry(Entry::Range { start, end, step })
    }

    /// A list of numbers; unknown past [`AXES`].
    pub const fn list(list: &[Dim]) -> Plain {
        if list.len() > AXES {
            return Plain::Unknown;
        }
        let (mut dims, mut i) = ([Dim::UNKNOWN; AXES], 0);
        while i < list.len() {
            dims[i] = list[i];
            i += 1;
        }
        Plain::List { len: list.len() as u8, dims }
    }
}

impl Step {
    /// Nothing is known: an operand's shape is unknown.
    pub const UNKNOWN: Step = Step { shape: Shape::UNKNOWN, verdict: Verdict::Undecided, fail: Fail::None };

    /// Whether the operation is wrong under every binding.
    pub const fn failed(&self) -> bool {
        matches!(self.verdict, Verdict::Failed)
    }

    /// Whether the operation is right under every binding.
    pub const fn proved(&self) -> bool {
        matches!(self.verdict, Verdict::Proved)
    }

    pub(crate) const fn proof(shape: Shape) -> Step {
        Step { shape, verdict: Verdict::Proved, fail: Fail::None }
    }

    /// A mistake. Its result is unknown, so that one mistake is reported once.
    pub(crate) const fn mistake(fail: Fail) -> Step {
        Step { shape: Shape::UNKNOWN, verdict: Verdict::Failed, fail }
    }

    /// A result of which it is not known whether the operation is right.
    pub(crate) const fn guess(shape: Shape) -> Step {
        Step { shape, verdict: Verdict::Undecided, fail: Fail::None }
    }

    /// This step, undecided because of `fail`; the first doubt stays.
    pub(crate) const fn doubt(mut self, fail: Fail) -> Step {
        if self.proved() || matches!((self.verdict, self.fail), (Verdict::Undecided, Fail::None)) {
            self.verdict = Verdict::Undecided;
            self.fail = fail;
        }
        self
    }
}
