//! Mistakes in words: the first line says what is wrong with both sides, a second one how to mend it.

use super::dim::Dim;
use super::equation::character;
use super::message::Message;
use super::shape::{Scope, Shape};
use super::step::{Fail, Mismatch, Step, Verdict};

/// What is wrong about `op`, in the names of `scope`; the empty text where nothing is. `op` is an operation's name, the
/// path of a called method such as `self.fc1.forward`, or the name of a binding.
pub const fn explain(op: &str, step: &Step, scope: &Scope) -> Message {
    let text = match step.verdict {
        Verdict::Proved => return Message::EMPTY,
        Verdict::Undecided if matches!(step.fail, Fail::None) => {
            return Message::EMPTY.text(op).text(": cannot tell the shape of an operand");
        }
        Verdict::Undecided => Message::EMPTY.text("cannot tell: "),
        Verdict::Failed => Message::EMPTY,
    };
    match &step.fail {
        Fail::None => text,
        Fail::Input { .. } => input(text, op, &step.fail, scope),
        Fail::Negative { axis, result, input } => (text.text("axis ").number(*axis as i64))
            .text(" of the result of `")
            .text(without_forward(op))
            .text("` is ")
            .dim(&result.axis(*axis), scope)
            .text(": the input ")
            .shape(input, scope)
            .text(" is too small"),
        Fail::Declared { axis, want, got } => declared(text, op, axis, want, got, scope),
        Fail::Broadcast { left, right, back } => broadcast(text, left, right, *back, scope),
        Fail::Grows { into, from } => (text.text(op).text(": ").shape(from, scope))
            .text(" does not broadcast into ")
            .shape(into, scope)
            .text(", whose shape the result keeps"),
        Fail::Inner { left, right } => inner(text.text(op), left, right, scope),
        Fail::Batch { left, right } => both(text.text(op).text(": leading axes differ: "), left, " x ", right, scope),
        Fail::Rank { shape, least, most } => rank(text.text(op), shape, *least, *most, scope),
        Fail::Axis { axis, shape } => missing(text.text(op), *axis, shape, scope),
        Fail::Twice { axis, shape } => {
            text.text(op).text(": ").axis(*axis, shape).text(" of ").shape(shape, scope).text(" is named twice")
        }
        Fail::Unlike { first, other, operand, axis } => unlike(text.text(op), first, other, *operand, axis, scope),
        Fail::Affine { input, given, bias } => (text.text(op))
            .text(if *bias { ": the bias is " } else { ": the weight is " })
            .shape(given, scope)
            .text(", the last axis of ")
            .shape(input, scope)
            .text(" needs ")
            .shape(&input.tail(1), scope),
        Fail::Targets { logits, targets } => (text.text(op).text(": targets are "))
            .shape(targets, scope)
            .text(", predictions ")
            .shape(logits, scope)
            .text(" need ")
            .shape(&logits.head(1), scope),
        Fail::Elements { from, to } => elements(text.text(op), from, to, scope),
        Fail::Hole { from, to } => (text.text(op).text(": ").shape(from, scope))
            .text(" has ")
            .dim(&from.numel(), scope)
            .text(" elements, which ")
            .shape(to, scope)
            .text(" does not divide"),
        Fail::Holes { to } => text.text(op).text(": ").shape(to, scope).text(" leaves more than one extent open"),
        Fail::Order { shape, order } => (text.text(op).text(": ").shape(order, scope))
            .text(" does not name each axis of ")
            .shape(shape, scope)
            .text(" once"),
        Fail::Channels { input, weight } => {
            let text = both(text.text(op).text(": the weight is "), weight, ", but the input is ", input, scope);
            text.text(": expected one weight, or one for each entry of axis 1")
        }
        Fail::Extent { shape, axis, needs } => {
            extent(text.text(op).text(": "), *axis, shape, scope).text(", expected ").number(*needs)
        }
        Fail::Square { shape } => {
            text.text(op).text(": ").shape(shape, scope).text(" is no square matrix, nor a batch of them")
        }
        Fail::Filters { input, weight, axis, needs } => {
            let text = both(text.text(op).text(": channels differ: "), input, " with weight ", weight, scope);
            let text = text.text(": ").axis(*axis, weight).text(" of the weight is ").dim(&weight.axis(*axis), scope);
            text.text(", expected ").dim(needs, scope)
        }
        Fail::Groups { shape, axis, groups } => (extent(text.text(op).text(": "), *axis, shape, scope))
            .text(", which ")
            .dim(groups, scope)
            .text(" groups do not divide"),
        Fail::Window { shape, axis, reach, padded } => (text.text(op).text(": a window over ").dim(reach, scope))
            .text(" does not fit: ")
            .axis(*axis, shape)
            .text(" of ")
            .shape(shape, scope)
            .text(" is ")
            .dim(padded, scope)
            .text(" with its padding"),
        Fail::Vector { what, given, of, axis, needs } => {
            let text = text.text(op).text(": a ").text(what).text(" is ").shape(given, scope).text(", ");
            let text = text.axis(*axis, of).text(" of ").shape(of, scope).text(" needs ");
            text.shape(&Shape::of(&[*needs]), scope)
        }
        Fail::Einsum { equation, what } => einsum(text.text(op).text(": "), equation, what, scope),
        Fail::Squeeze { shape, axis } => extent(text.text(op).text(": "), *axis, shape, scope).text(", expected 1"),
        Fail::Expand { from, to, back } => expand(text.text(op), from, to, back, scope),
        Fail::Narrow { shape, axis, start, length } => (text.text(op).text(": entries from "))
            .dim(start, scope)
            .text(", ")
            .dim(length, scope)
            .text(" of them, reach past the end: ")
            .axis(*axis, shape)
            .text(" of ")
            .shape(shape, scope)
            .text(" is ")
            .dim(&shape.axis(*axis), scope),
        Fail::Entry { shape, axis, entry } => {
            let text = text.text(op).text(": there is no entry ").dim(entry, scope);
            extent(text.text(", "), *axis, shape, scope)
        }
        Fail::Beside { shape, index, axis } => (both(text.text(op).text(": the index "), index, " and ", shape, scope))
            .text(" must have as many axes, and the index be no longer but for axis ")
            .number(*axis as i64),
        Fail::Short { given, needed } => {
            both(text.text(op).text(": the source is "), given, ", the index needs ", needed, scope)
        }
        Fail::Widths { shape, count } => (text.text(op).text(": ").number(*count as i64))
            .text(" widths are no pairs for the axes of ")
            .shape(shape, scope),
        Fail::Sizes { shape, axis, sizes, total } => {
            let text = text.text(op).text(": sizes ").shape(sizes, scope).text(" add up to ").dim(total, scope);
            extent(text.text(", "), *axis, shape, scope)
        }
    }
}

/// "axis 1 of the input to `self.fc2` is 256, but `Linear![128 => 10]` needs 128".
const fn input(mut text: Message, op: &str, fail: &Fail, scope: &Scope) -> Message {
    let Fail::Input { argument, arguments, axis, want, got, name, names, dims, symbol } = fail else { return text };
    if let Some(axis) = axis {
        text = text.axis(*axis, got).text(" of ");
    }
    text = if *arguments > 1 {
        text.text("argument ").number(*argument as i64 + 1).text(" of `")
    } else {
        text.text("the input to `")
    };
    text = text.text(without_forward(op)).text("` is ");
    let callee = dims.written(Message::EMPTY, names, scope, None);
    let needs = match axis {
        Some(axis) => {
            let back = got.len() - 1 - *axis;
            text = text.dim(&got.axis(*axis), scope);
            Some(want.last(back))
        }
        None => {
            text = text.shape(got, scope);
            None
        }
    };
    text = if callee.is_empty() {
        text.text(", but its declaration ").shape(want, scope)
    } else {
        text.text(", but `").text(name).text("!").text(callee.as_str()).text("`")
    };
    text = match needs {
        Some(dim) => text.text(" needs ").dim(&dim, scope),
        None if callee.is_empty() => text.text(" needs another number of axes"),
        None => text.text(" needs ").shape(want, scope),
    };
    match (symbol, axis) {
        (Some(symbol), Some(axis)) if dims.wrote(*symbol, names) => {
            let cure = dims.written(Message::EMPTY, names, scope, Some((*symbol, got.axis(*axis))));
            (text.text("\nhelp: the input is ").shape(got, scope).text("; use `").text(name).text("!"))
                .text(cure.as_str())
                .text("`")
        }
        (_, Some(_)) => text.text("\nhelp: the input is ").shape(got, scope).text(", expected ").shape(want, scope),
        (_, None) => text,
    }
}

/// "`h` is declared [B, 128] but is [B, 256]: axis 1".
const fn declared(text: Message, op: &str, axis: &Option<usize>, want: &Shape, got: &Shape, scope: &Scope) -> Message {
    let quote = if phrase(op) { "" } else { "`" };
    let text = text.text(quote).text(op).text(quote).text(" is declared ");
    let text = both(text, want, " but is ", got, scope).text(": ");
    match axis {
        Some(axis) => text.axis(*axis, got),
        None if want.full() && got.full() && want.len() != got.len() => {
            text.number(got.len() as i64).text(" axes, expected ").number(want.len() as i64)
        }
        None => text.text("leading axes"),
    }
}

/// "cannot broadcast [B, 256] with [B, 128]: axis 1 is 256 and 128".
const fn broadcast(text: Message, left: &Shape, right: &Shape, back: usize, scope: &Scope) -> Message {
    let text = both(text.text("cannot broadcast "), left, " with ", right, scope).text(": axis ");
    let aligned = left.full() && right.full() && left.len() == right.len();
    let axis = if aligned { (left.len() - 1 - back) as i64 } else { -1 - back as i64 };
    let text = text.number(axis).text(" is ").dim(&left.last(back), scope).text(" and ").dim(&right.last(back), scope);
    // An operand of one axis that fits another axis only has to be moved there.
    if right.full() && right.len() == 1 {
        let mut at = 1;
        while at < left.len() {
            if left.last(at).same(&right.last(0)) {
                let (mut moved, mut i) = (*right, 0);
                while i < at {
                    moved = moved.push(Dim::lit(1));
                    i += 1;
                }
                let text = text.text("\nhelp: to line it up with axis ").number(left.len() as i64 - 1 - at as i64);
                return text.text(", reshape the right operand to ").shape(&moved, scope);
            }
            at += 1;
        }
    }
    text
}

/// "matmul: inner dimensions differ: [B, 256] x [128, 10]".
const fn inner(text: Message, left: &Shape, right: &Shape, scope: &Scope) -> Message {
    let text = both(text.text(": inner dimensions differ: "), left, " x ", right, scope);
    if right.len() >= 2 && left.last(0).same(&right.last(0)) {
        return text.text("\nhelp: transpose the right operand: `transpose(-2, -1)`");
    }
    text
}

const fn rank(text: Message, shape: &Shape, least: usize, most: usize, scope: &Scope) -> Message {
    let text = text.text(": ").shape(shape, scope).text(" has ").number(shape.len() as i64);
    let text = text.text(if shape.len() == 1 { " axis, expected " } else { " axes, expected " });
    if most == least {
        return text.number(least as i64);
    }
    if most == usize::MAX {
        return text.text("at least ").number(least as i64);
    }
    text.text("at most ").number(most as i64)
}

const fn missing(text: Message, axis: i64, shape: &Shape, scope: &Scope) -> Message {
    let text = text.text(": there is no axis ").number(axis).text(" in ").shape(shape, scope);
    if shape.is_empty() {
        return text;
    }
    text.text(", whose axes are 0 to ").number(shape.len() as i64 - 1)
}

const fn unlike(
    text: Message,
    first: &Shape,
    other: &Shape,
    operand: usize,
    axis: &Option<usize>,
    scope: &Scope,
) -> Message {
    let text = both(text.text(": shapes differ: "), first, " and ", other, scope);
    let text = if operand > 1 { text.text(" (operand ").number(operand as i64 + 1).text(")") } else { text };
    match axis {
        Some(axis) => {
            let back = first.len() - 1 - *axis;
            let text = text.text(": ").axis(*axis, first).text(" is ").dim(&first.axis(*axis), scope);
            text.text(" and ").dim(&other.last(back), scope)
        }
        None => text,
    }
}

/// "einsum: `ij,jk->ik`: `j` is 4 and 5".
const fn einsum(text: Message, equation: &str, what: &Mismatch, scope: &Scope) -> Message {
    let text = text.text("`").text(equation).text("`: ");
    match what {
        Mismatch::Malformed(fault) => match fault.words() {
            (words, Some(letter)) => text.text("`").text(character(letter)).text("` ").text(words),
            (words, None) => text.text(words),
        },
        Mismatch::Operands { terms, given } => {
            text.number(*terms as i64).text(" terms for ").number(*given as i64).text(" operands")
        }
        Mismatch::Rank { operand, letters, shape } => (text.text("operand ").number(*operand as i64 + 1))
            .text(" is ")
            .shape(shape, scope)
            .text(", but its term has ")
            .number(*letters as i64)
            .text(if *letters == 1 { " letter" } else { " letters" }),
        Mismatch::Letter { letter, first, other } => {
            (text.text("`").text(character(*letter)).text("` is ")).dim(first, scope).text(" and ").dim(other, scope)
        }
        Mismatch::Dots { first, other } => both(text.text("`...` is "), first, " and ", other, scope),
    }
}

/// "reshape: [B, 784] has 784*B elements, [B, 780] has 780*B".
const fn elements(text: Message, from: &Shape, to: &Shape, scope: &Scope) -> Message {
    let text = text.text(": ").shape(from, scope).text(" has ").dim(&from.numel(), scope).text(" elements, ");
    text.shape(to, scope).text(" has ").dim(&to.numel(), scope)
}

const fn expand(text: Message, from: &Shape, to: &Shape, back: &Option<usize>, scope: &Scope) -> Message {
    let text = both(text.text(": cannot expand "), from, " to ", to, scope);
    match back {
        None => text.text(": fewer axes"),
        Some(back) if to.last(*back).is(-1) => text.text(": `-1` keeps an axis, and there is none to keep"),
        Some(back) => {
            let text = text.text(": axis ").number((to.len() - 1 - *back) as i64).text(" is ");
            text.dim(&from.last(*back), scope).text(" and ").dim(&to.last(*back), scope)
        }
    }
}

/// "axis 2 of [B, T, 3*C] is 3*C".
const fn extent(text: Message, axis: usize, shape: &Shape, scope: &Scope) -> Message {
    text.axis(axis, shape).text(" of ").shape(shape, scope).text(" is ").dim(&shape.axis(axis), scope)
}

const fn both(text: Message, a: &Shape, between: &str, b: &Shape, scope: &Scope) -> Message {
    text.shape(a, scope).text(between).shape(b, scope)
}

/// The receiver of a `forward`, any other method as it is.
const fn without_forward(op: &str) -> &str {
    const SUFFIX: &[u8] = b".forward";
    let bytes = op.as_bytes();
    // `self.forward` is a method of the model at hand, which has no other name.
    if bytes.len() <= SUFFIX.len() + 4 {
        return op;
    }
    let start = bytes.len() - SUFFIX.len();
    let mut i = 0;
    while i < SUFFIX.len() {
        if bytes[start + i] != SUFFIX[i] {
            return op;
        }
        i += 1;
    }
    op.split_at(start).0
}

/// Whether it is a phrase such as `the result` rather than a name.
const fn phrase(op: &str) -> bool {
    let (bytes, mut i) = (op.as_bytes(), 0);
    while i < bytes.len() {
        if bytes[i] == b' ' || bytes[i] == b'`' {
            return true;
        }
        i += 1;
    }
    false
}
