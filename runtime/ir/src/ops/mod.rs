//! The operations of tensors that the macros know by name, a family a file.

mod compare;
mod create;
mod elementwise;
mod index;
mod inspect;
mod linear;
mod loss;
mod movement;
mod order;
mod reduce;
mod scan;
mod vision;

/// What an operation takes at one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// A tensor or a number, with a cotangent where it is a float tensor.
    Operand,
    /// A tensor without a derivative: positions, a mask.
    Tensor,
    /// A plain value: an axis, a shape, a number, an integer tensor.
    Value,
    /// The `&mut Cx` that holds mode and randomness.
    Context,
}

/// Whether the result carries a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A float tensor, or several.
    Active,
    /// An integer or truth-value tensor, or float values cut off from the derivative.
    Tensor,
    /// No tensor at all: an extent, a dtype, a number read back.
    Value,
}

/// One operation: a method of `Tensor` whose companion is named `<name>__vjp`, or a free function `<name>` whose
/// companion is `<name>::vjp`.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    /// The method's or function's name, PyTorch's where PyTorch has it.
    pub name: &'static str,
    /// Whether it is a method of a tensor; otherwise a free function.
    pub method: bool,
    /// What follows the receiver, or all arguments of a free function.
    pub arguments: &'static [Argument],
    /// What comes out.
    pub output: Output,
    /// The shape rule, a function of `shape::rules`; empty where no shape comes out.
    pub rule: &'static str,
    /// The kinds of tensors that it is an operation of; of the first operand where there are several.
    pub kinds: Kinds,
    /// PyTorch's name for it; empty where PyTorch has none.
    pub torch: &'static str,
    /// Burn's name for it; empty where Burn has none.
    pub burn: &'static str,
}

/// A set of kinds of tensors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kinds {
    /// Floats of any precision.
    pub floats: bool,
    /// Integers of any precision.
    pub ints: bool,
    /// Truth values.
    pub truths: bool,
}

/// Operations of one family, under the name that they have in the documentation.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    /// The name.
    pub name: &'static str,
    /// The operations, in the order in which they are documented.
    pub ops: &'static [Op],
}

/// Every operation that the macros know.
pub const FAMILIES: &[Family] = &[
    elementwise::FAMILY,
    compare::FAMILY,
    reduce::FAMILY,
    scan::FAMILY,
    linear::FAMILY,
    vision::FAMILY,
    loss::FAMILY,
    movement::FAMILY,
    index::FAMILY,
    order::FAMILY,
    create::FAMILY,
    inspect::FAMILY,
];

/// Every operation, family after family.
pub fn ops() -> impl Iterator<Item = &'static Op> {
    FAMILIES.iter().flat_map(|family| family.ops)
}

/// The operation of that name and form, if there is one.
pub fn op(name: &str, method: bool) -> Option<&'static Op> {
    ops().find(|o| o.name == name && o.method == method)
}

/// Declares a family. A row is `form name(arguments) -> output, "rule", KINDS;`, where the letters of `KINDS` are `F`, `I`
/// and `B` for floats, integers and truth values. `torch ".."` and `burn ".."` follow where another framework's name
/// differs, with an empty name where it has none.
macro_rules! family {
    ($family:literal; $($form:ident $name:ident ($($arg:ident),*) -> $out:ident, $rule:literal, $kinds:ident
        $(, torch $torch:literal)? $(, burn $burn:literal)?;)*) => {
        pub(super) const FAMILY: super::Family = super::Family {
            name: $family,
            ops: &[$(super::Op {
                name: stringify!($name),
                method: super::family!(@method $form),
                arguments: &[$(super::Argument::$arg),*],
                output: super::Output::$out,
                rule: $rule,
                kinds: super::family!(@kinds $kinds),
                torch: super::family!(@name $name $($torch)?),
                burn: super::family!(@name $name $($burn)?),
            }),*],
        };
    };
    (@method method) => { true };
    (@method function) => { false };
    (@kinds F) => { super::Kinds { floats: true, ints: false, truths: false } };
    (@kinds I) => { super::Kinds { floats: false, ints: true, truths: false } };
    (@kinds B) => { super::Kinds { floats: false, ints: false, truths: true } };
    (@kinds FI) => { super::Kinds { floats: true, ints: true, truths: false } };
    (@kinds FB) => { super::Kinds { floats: true, ints: false, truths: true } };
    (@kinds IB) => { super::Kinds { floats: false, ints: true, truths: true } };
    (@kinds FIB) => { super::Kinds { floats: true, ints: true, truths: true } };
    (@name $name:ident) => { stringify!($name) };
    (@name $name:ident $other:literal) => { $other };
}
use family;
