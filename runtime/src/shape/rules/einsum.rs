//! The rule of `einsum`.

use super::elementwise::meet;
use super::{Plain, Shape, argument, input};
use crate::shape::dim::Dim;
use crate::shape::equation::{Equation, Term};
use crate::shape::shape::Rest;
use crate::shape::step::{Fail, Mismatch, Step, Verdict};

/// `einsum(equation, operands)`: the shape that the equation gives, where each letter has one extent.
pub const fn einsum(inputs: &[Shape], plain: &[Plain], _out: usize) -> Step {
    let Plain::Text(text) = argument(plain, 0) else { return Step::UNKNOWN };
    let equation = match Equation::parse(text) {
        Ok(equation) => equation,
        Err(fault) => return Step::mistake(Fail::Einsum { equation: text, what: Mismatch::Malformed(fault) }),
    };
    if equation.count() != inputs.len() {
        let what = Mismatch::Operands { terms: equation.count(), given: inputs.len() };
        return Step::mistake(Fail::Einsum { equation: text, what });
    }
    let mut known = Letters { dims: [Dim::UNKNOWN; 128], dots: Shape::SCALAR };
    let (mut step, mut operand) = (Step::proof(Shape::SCALAR), 0);
    while operand < inputs.len() {
        let (term, shape) = (equation.term(operand), input(inputs, operand));
        let read = known.read(term, &shape);
        known = read.known;
        match read.verdict {
            Verdict::Proved => {}
            Verdict::Undecided => {
                let doubt = match read.what {
                    Some(what) => Fail::Einsum { equation: text, what },
                    None => Fail::None,
                };
                step = step.doubt(doubt);
            }
            Verdict::Failed => {
                let what = match read.what {
                    Some(what) => what,
                    None => Mismatch::Rank { operand, letters: term.len(), shape },
                };
                return Step::mistake(Fail::Einsum { equation: text, what });
            }
        }
        operand += 1;
    }
    Step { shape: known.result(&equation.output), ..step }
}

/// What the operands so far say of the letters.
#[derive(Clone, Copy)]
struct Letters {
    dims: [Dim; 128],
    /// What the axes behind `...` broadcast to.
    dots: Shape,
}

/// What an operand adds.
#[derive(Clone, Copy)]
struct Read {
    known: Letters,
    verdict: Verdict,
    what: Option<Mismatch>,
}

impl Letters {
    const fn read(self, term: &Term, shape: &Shape) -> Read {
        let mut read = Read { known: self, verdict: Verdict::Proved, what: None };
        let letters = term.len();
        let wrong_rank = match term.dots {
            Some(_) => shape.full() && shape.len() < letters,
            None => shape.len() > letters || (shape.full() && shape.len() != letters),
        };
        if shape.known() && wrong_rank {
            read.verdict = Verdict::Failed;
            return read;
        }
        // Axes are counted from the end where leading ones are not listed.
        let after = match term.dots {
            Some(place) => letters - place,
            None => letters,
        };
        if !shape.known() || (!shape.full() && (shape.len() < after || after < letters)) {
            read.verdict = Verdict::Undecided;
            read.known.dots = if term.dots.is_some() { Shape::SCALAR.rested(Rest::Any) } else { self.dots };
            return read;
        }
        if !shape.full() && term.dots.is_none() {
            read.verdict = Verdict::Undecided;
        }
        let mut i = 0;
        while i < letters {
            let dim = if i < letters - after { shape.axis(i) } else { shape.last(letters - 1 - i) };
            read = read.letter(term.letter(i), &dim);
            if matches!(read.verdict, Verdict::Failed) {
                return read;
            }
            i += 1;
        }
        if term.dots.is_some() {
            let mut axes = shape.head(after);
            let mut first = 0;
            while first < letters - after {
                axes = axes.remove(0);
                first += 1;
            }
            let met = meet(&read.known.dots, &axes);
            read.known.dots = met.shape;
            if matches!(met.verdict, Verdict::Failed) {
                read.verdict = Verdict::Failed;
                read.what = Some(Mismatch::Dots { first: self.dots, other: axes });
            } else if matches!(met.verdict, Verdict::Undecided) {
                read.verdict = Verdict::Undecided;
            }
        }
        read
    }
}

impl Read {
    const fn letter(mut self, letter: u8, dim: &Dim) -> Read {
        let before = self.known.dims[letter as usize];
        if !before.known() || before.is(1) {
            self.known.dims[letter as usize] = *dim;
        } else if !dim.is(1) && before.differs(dim) {
            self.verdict = Verdict::Failed;
            self.what = Some(Mismatch::Letter { letter, first: before, other: *dim });
        } else if dim.known() && !dim.is(1) && !before.same(dim) {
            self.verdict = Verdict::Undecided;
            self.what = Some(Mismatch::Letter { letter, first: before, other: *dim });
        }
        self
    }
}

impl Letters {
    const fn result(&self, output: &Term) -> Shape {
        let dots = match output.dots {
            Some(place) => place,
            None => output.len(),
        };
        let (mut behind, mut i) = (Shape::SCALAR, dots);
        while i < output.len() {
            behind = behind.push(self.dims[output.letter(i) as usize]);
            i += 1;
        }
        if output.dots.is_none() {
            let (mut all, mut i) = (Shape::SCALAR, 0);
            while i < output.len() {
                all = all.push(self.dims[output.letter(i) as usize]);
                i += 1;
            }
            return all;
        }
        let mut whole = self.dots;
        let mut i = dots;
        while i > 0 {
            i -= 1;
            if !whole.full() {
                // Nothing can be said of axes before those that are not listed.
                return behind.rested(Rest::Any);
            }
            whole = whole.insert(0, self.dims[output.letter(i) as usize]);
        }
        let mut i = 0;
        while i < behind.len() {
            whole = whole.push(behind.axis(i));
            i += 1;
        }
        whole
    }
}
