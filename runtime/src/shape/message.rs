//! Text built at compile time.

use super::dim::{Dim, SYMBOLS};
use super::shape::{Rest, Scope, Shape};

/// How many bytes a message holds.
const BYTES: usize = 512;
/// What ends a message that does not fit.
const MORE: &str = "…";

/// A text of at most 512 bytes; what does not fit is cut off and marked with `…`.
#[derive(Clone, Copy, Debug)]
pub struct Message {
    len: usize,
    cut: bool,
    bytes: [u8; BYTES],
}

/// Stops the compilation with this message at the caller's place.
///
/// # Panics
/// Always: in a `const` item the panic is the compiler's error.
#[track_caller]
pub const fn fail(message: &str) -> ! {
    panic!("{}", message)
}

impl Message {
    /// The empty text.
    pub const EMPTY: Message = Message { len: 0, cut: false, bytes: [0; BYTES] };

    /// The text.
    pub const fn as_str(&self) -> &str {
        match core::str::from_utf8(self.bytes.split_at(self.len).0) {
            Ok(text) => text,
            Err(_) => MORE,
        }
    }

    /// Whether there is no text.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// This and a text.
    pub const fn text(mut self, text: &str) -> Message {
        if self.cut {
            return self;
        }
        let text = text.as_bytes();
        let (mut take, room) = (text.len(), BYTES - MORE.len() - self.len);
        if take > room {
            take = room;
            // A character is cut off as a whole: bytes that continue one look like 10xxxxxx.
            while take > 0 && text[take] & 0xC0 == 0x80 {
                take -= 1;
            }
            self.cut = true;
        }
        self = self.bytes(text, take);
        if self.cut { self.bytes(MORE.as_bytes(), MORE.len()) } else { self }
    }

    /// This and a number.
    pub const fn number(self, number: i64) -> Message {
        let (mut digits, mut at, mut left) = ([b'0'; 20], 20, number.unsigned_abs());
        while left > 0 || at == 20 {
            at -= 1;
            digits[at] = b'0' + (left % 10) as u8;
            left /= 10;
        }
        let signed = if number < 0 { self.text("-") } else { self };
        match core::str::from_utf8(digits.split_at(at).1) {
            Ok(text) => signed.text(text),
            Err(_) => signed,
        }
    }

    /// This and a dim as users write it: `3*C`, `C/H`, `B*T`, `C + 1`, `floor(H/2)`; `?` where it is unknown.
    pub const fn dim(mut self, dim: &Dim, scope: &Scope) -> Message {
        if !dim.known() {
            return self.text("?");
        }
        if dim.terms() == 0 {
            return self.text("0");
        }
        if dim.is_rounded() {
            return self.text("floor(").dim(&dim.unrounded(), scope).text(")");
        }
        // A sum over a denominator stands in parentheses; a single term takes the denominator itself.
        let many = dim.terms() > 1 && dim.denominator() != 1;
        if many {
            self = self.text("(");
        }
        let (mut first, mut sign) = (true, 1);
        while sign >= -1 {
            let mut i = 0;
            while i < dim.terms() {
                if dim.coef(i).signum() == sign {
                    if sign < 0 {
                        self = self.text(if first { "-" } else { " - " });
                    } else if !first {
                        self = self.text(" + ");
                    }
                    self = self.term(dim, i, scope);
                    first = false;
                }
                i += 1;
            }
            sign -= 2;
        }
        if many {
            self = self.text(")");
        }
        if dim.denominator() != 1 {
            self = self.text("/").number(dim.denominator());
        }
        self
    }

    /// This and a shape: `[B, 3*C]`, `[R.., C]`, `[.., C]`, `[?]`.
    pub const fn shape(mut self, shape: &Shape, scope: &Scope) -> Message {
        if !shape.known() {
            return self.text("[?]");
        }
        self = self.text("[");
        match shape.rest() {
            Rest::None => {}
            Rest::Named(k) => self = self.text(scope.name(k as usize)).text(".."),
            Rest::Dots | Rest::Any => self = self.text(".."),
        }
        let mut i = 0;
        while i < shape.len() {
            if i > 0 || !matches!(shape.rest(), Rest::None) {
                self = self.text(", ");
            }
            self = self.dim(&shape.axis(i), scope);
            i += 1;
        }
        self.text("]")
    }

    /// This and listed axis `i` of a shape: from the left, or from the right where leading axes are not listed.
    pub(crate) const fn axis(self, i: usize, shape: &Shape) -> Message {
        if matches!(shape.rest(), Rest::None) {
            self.text("axis ").number(i as i64)
        } else {
            self.text("axis ").number(i as i64 - shape.len() as i64)
        }
    }

    /// This and the first `n` bytes, for which there is room.
    const fn bytes(mut self, bytes: &[u8], n: usize) -> Message {
        let mut i = 0;
        while i < n {
            self.bytes[self.len] = bytes[i];
            self.len += 1;
            i += 1;
        }
        self
    }

    /// One term without its sign: numbers, then the method's names, then the model's, then what divides.
    const fn term(mut self, dim: &Dim, i: usize, scope: &Scope) -> Message {
        let mut bare = true;
        if dim.coef(i) != 1 && dim.coef(i) != -1 {
            self = self.number(dim.coef(i).saturating_abs());
            bare = false;
        }
        let mut turn = 0;
        while turn < SYMBOLS {
            let k = if scope.model.len() < SYMBOLS { (scope.model.len() + turn) % SYMBOLS } else { turn };
            let mut power = dim.power(i, k);
            while power > 0 {
                if !bare {
                    self = self.text("*");
                }
                self = self.text(scope.name(k));
                bare = false;
                power -= 1;
            }
            turn += 1;
        }
        if bare {
            self = self.text("1");
        }
        let mut k = 0;
        while k < SYMBOLS {
            let mut power = dim.power(i, k);
            while power < 0 {
                self = self.text("/").text(scope.name(k));
                power += 1;
            }
            k += 1;
        }
        self
    }
}
