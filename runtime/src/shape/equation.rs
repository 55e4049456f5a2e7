//! The equations of `einsum`, such as `bij,bjk->bik`: read by a `const fn`, for proofs and for the run.
//!
//! A term names the axes of an operand by letters, `...` stands for any further ones. A letter that several terms share is
//! one index; what the result does not name is summed. Without `->` the result has the axes of `...`, then the letters that
//! occur once, in the order of their codes.

use super::shape::AXES;

/// The most operands of an equation.
pub(super) const OPERANDS: usize = 8;

/// An equation.
#[derive(Clone, Copy, Debug)]
pub struct Equation {
    terms: [Term; OPERANDS],
    count: usize,
    /// The axes of the result.
    pub output: Term,
}

/// The axes of an operand or of the result.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    letters: [u8; AXES],
    len: usize,
    /// The place of `...` among the letters.
    pub dots: Option<usize>,
}

/// What is wrong with an equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Malformed {
    /// A character that is no letter and no sign.
    Character(u8),
    /// A point that is not one of three, or `...` twice in one term.
    Dots,
    /// A term of more letters than a tensor has axes.
    Long,
    /// More operands than an equation takes.
    Operands,
    /// A letter of the result that no operand has.
    Unknown(u8),
    /// A letter that the result names twice.
    Twice(u8),
    /// `...` in the result, where no operand has it.
    NoDots,
}

impl Term {
    const EMPTY: Term = Term { letters: [0; AXES], len: 0, dots: None };

    /// How many letters there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no letter.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// A letter.
    pub const fn letter(&self, i: usize) -> u8 {
        self.letters[i]
    }

    /// The place of a letter.
    pub const fn place(&self, letter: u8) -> Option<usize> {
        let mut i = 0;
        while i < self.len {
            if self.letters[i] == letter {
                return Some(i);
            }
            i += 1;
        }
        None
    }

    const fn push(mut self, letter: u8) -> Result<Term, Malformed> {
        if !letter.is_ascii_alphabetic() {
            return Err(Malformed::Character(letter));
        }
        if self.len == AXES {
            return Err(Malformed::Long);
        }
        self.letters[self.len] = letter;
        self.len += 1;
        Ok(self)
    }
}

impl Equation {
    /// Reads an equation.
    ///
    /// # Errors
    /// What is wrong with it.
    pub const fn parse(text: &str) -> Result<Equation, Malformed> {
        let bytes = text.as_bytes();
        let mut equation = Equation { terms: [Term::EMPTY; OPERANDS], count: 1, output: Term::EMPTY };
        let (mut term, mut explicit, mut i) = (Term::EMPTY, false, 0);
        while i < bytes.len() {
            match bytes[i] {
                b' ' => {}
                b'.' => {
                    let three = i + 2 < bytes.len() && bytes[i + 1] == b'.' && bytes[i + 2] == b'.';
                    if !three || term.dots.is_some() {
                        return Err(Malformed::Dots);
                    }
                    term.dots = Some(term.len);
                    i += 2;
                }
                b',' if !explicit => {
                    equation.terms[equation.count - 1] = term;
                    if equation.count == OPERANDS {
                        return Err(Malformed::Operands);
                    }
                    equation.count += 1;
                    term = Term::EMPTY;
                }
                b'-' if !explicit && i + 1 < bytes.len() && bytes[i + 1] == b'>' => {
                    equation.terms[equation.count - 1] = term;
                    term = Term::EMPTY;
                    explicit = true;
                    i += 1;
                }
                letter => {
                    term = match term.push(letter) {
                        Ok(term) => term,
                        Err(fault) => return Err(fault),
                    }
                }
            }
            i += 1;
        }
        if explicit {
            equation.output = term;
            return equation.checked();
        }
        equation.terms[equation.count - 1] = term;
        equation.implied()
    }

    /// The number of operands.
    pub const fn count(&self) -> usize {
        self.count
    }

    /// The term of an operand.
    pub const fn term(&self, i: usize) -> &Term {
        &self.terms[i]
    }

    /// How often a letter occurs in all terms.
    const fn occurrences(&self, letter: u8) -> usize {
        let (mut count, mut t) = (0, 0);
        while t < self.count {
            let mut i = 0;
            while i < self.terms[t].len {
                if self.terms[t].letters[i] == letter {
                    count += 1;
                }
                i += 1;
            }
            t += 1;
        }
        count
    }

    const fn has_dots(&self) -> bool {
        let mut t = 0;
        while t < self.count {
            if self.terms[t].dots.is_some() {
                return true;
            }
            t += 1;
        }
        false
    }

    const fn checked(self) -> Result<Equation, Malformed> {
        let mut i = 0;
        while i < self.output.len {
            let letter = self.output.letters[i];
            if self.occurrences(letter) == 0 {
                return Err(Malformed::Unknown(letter));
            }
            if let Some(first) = self.output.place(letter)
                && first != i
            {
                return Err(Malformed::Twice(letter));
            }
            i += 1;
        }
        if self.output.dots.is_some() && !self.has_dots() {
            return Err(Malformed::NoDots);
        }
        Ok(self)
    }

    const fn implied(mut self) -> Result<Equation, Malformed> {
        if self.has_dots() {
            self.output.dots = Some(0);
        }
        let mut letter = b'A';
        while letter <= b'z' {
            if self.occurrences(letter) == 1 {
                self.output = match self.output.push(letter) {
                    Ok(term) => term,
                    Err(fault) => return Err(fault),
                };
            }
            letter += 1;
        }
        Ok(self)
    }
}

impl Malformed {
    /// What is wrong, and the letter that it is about.
    pub const fn words(&self) -> (&'static str, Option<u8>) {
        match self {
            Malformed::Character(c) if c.is_ascii_graphic() => ("is no letter, `,`, `->` or `...`", Some(*c)),
            Malformed::Character(_) => ("a character is no letter, `,`, `->` or `...`", None),
            Malformed::Dots => ("points stand three together, `...`, once in a term", None),
            Malformed::Long => ("a term has more letters than a tensor has axes", None),
            Malformed::Operands => ("there are more than 8 operands", None),
            Malformed::Unknown(letter) => ("is in the result, but in no operand", Some(*letter)),
            Malformed::Twice(letter) => ("is in the result twice", Some(*letter)),
            Malformed::NoDots => ("`...` is in the result, but in no operand", None),
        }
    }
}

/// A visible ASCII character as a text.
pub(crate) const fn character(c: u8) -> &'static str {
    const ALL: &str =
        "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";
    if !c.is_ascii_graphic() {
        return "";
    }
    ALL.split_at((c - b'!') as usize).1.split_at(1).0
}
