//! Random expressions.

use super::{Body, Extent, Kind};
use Extent::{Any, Full, Single};

/// An expression that gives a tensor.
#[derive(Clone)]
pub(super) struct Expr {
    pub(super) text: String,
    pub(super) extent: Extent,
    /// About the largest absolute value.
    pub(super) size: f64,
}

impl Expr {
    pub(super) fn new(text: impl Into<String>, extent: Extent, size: f64) -> Expr {
        Expr { text: text.into(), extent, size }
    }

    fn then(self, method: &str, size: f64) -> Expr {
        Expr { text: format!("{}.{method}", self.text), size, ..self }
    }

    /// The same with values of at most `size`, which is 1 or more.
    pub(super) fn within(self, size: f64) -> Expr {
        if self.size > size { self.then("tanh()", 1.0) } else { self }
    }

    /// The same with at least the axes of `y`.
    pub(super) fn with_axes(self) -> Expr {
        match self.extent {
            Single => Expr { text: format!("(self.w * {})", self.text), extent: Full, size: self.size * 2.0 },
            Full | Any => self,
        }
    }

    /// The same with the model's number of columns.
    pub(super) fn full(self) -> Expr {
        match self.extent {
            Full => self,
            Any | Single => Expr { text: format!("(self.b + {})", self.text), extent: Full, size: self.size + 2.0 },
        }
    }
}

/// Smooth functions, with about their largest value for arguments up to 3.
const SMOOTH: &[(&str, f64)] = &[
    ("tanh()", 1.0),
    ("sigmoid()", 1.0),
    ("sin()", 1.0),
    ("cos()", 1.0),
    ("gelu()", 3.0),
    ("gelu_tanh()", 3.0),
    ("silu()", 3.0),
    ("softplus()", 3.0),
    ("softplus_with(0.5, 20.0)", 4.0),
    ("erf()", 1.0),
    ("atan()", 1.3),
    ("asinh()", 2.0),
    ("logsigmoid()", 3.0),
    ("mish()", 3.0),
    ("sin().exp()", 2.7),
    ("square().log1p()", 2.4),
    ("tanh().expm1()", 1.7),
    ("clone()", 3.0),
];

/// Functions with kinks.
const KINKED: &[(&str, f64)] = &[
    ("relu()", 3.0),
    ("abs()", 3.0),
    ("leaky_relu(0.2)", 3.0),
    ("elu(0.7)", 3.0),
    ("selu()", 4.0),
    ("hardtanh(-1.0, 1.5)", 1.5),
    ("softsign()", 1.0),
    ("minimum(0.5)", 3.0),
];

impl Body {
    /// A tensor from what is in scope.
    pub(super) fn expr(&mut self, depth: usize) -> Expr {
        if depth == 0 || self.rng.one_in(6) {
            return self.leaf();
        }
        match self.rng.below(12) {
            0..4 => self.binary(depth),
            4..6 => self.with_number(depth),
            6..9 => self.function(depth),
            _ => self.row(depth),
        }
    }

    fn leaf(&mut self) -> Expr {
        match self.rng.below(10) {
            0 => Expr::new("self.w", Full, 2.0),
            1 => Expr::new("self.b", Full, 2.0),
            _ => {
                let found = self
                    .visible(|kind| matches!(kind, Kind::Tensor { .. } | Kind::Pair(_) | Kind::List { len: 1.., .. }));
                let (name, kind) = self.rng.pick(&found).clone();
                match kind {
                    Kind::Tensor { extent, size, .. } => Expr::new(name, extent, size),
                    Kind::Pair(parts) => {
                        let at = self.rng.below(2);
                        Expr::new(format!("{name}.{at}"), parts[at].0, parts[at].1)
                    }
                    Kind::List { len, extent, size } => {
                        let at = self.rng.below(len);
                        Expr::new(format!("{name}[{at}]"), extent, size)
                    }
                    Kind::Number { .. } | Kind::Index => Expr::new("self.w", Full, 2.0),
                }
            }
        }
    }

    /// A number, at most about 2.
    pub(super) fn number(&mut self) -> String {
        let found = self.visible(|kind| matches!(kind, Kind::Number { .. } | Kind::Index));
        match self.rng.below(8) {
            0 => "self.k".into(),
            1 => "(self.k * 2.0)".into(),
            2..5 if !found.is_empty() => match self.rng.pick(&found).clone() {
                (name, Kind::Index) => format!("(0.3 * {name} as f64)"),
                (name, _) => name,
            },
            _ => (*self.rng.pick(&["2.0", "0.5", "-0.7", "1.5", "2", "0.25", "1e-1"])).into(),
        }
    }

    fn binary(&mut self, depth: usize) -> Expr {
        let (left, right) = (self.expr(depth - 1).within(6.0), self.expr(depth - 1).within(6.0));
        let extent = match (left.extent, right.extent) {
            (Full, _) | (_, Full) => Full,
            (Single, Single) => Single,
            _ => Any,
        };
        let by_reference = right.text.chars().all(char::is_alphanumeric) && self.rng.one_in(6);
        let right_text = if by_reference { format!("&{}", right.text) } else { right.text.clone() };
        let (text, size) = match self.rng.below(9) {
            0..3 => (format!("({} + {right_text})", left.text), left.size + right.size),
            3..5 => (format!("({} - {right_text})", left.text), left.size + right.size),
            5..7 => (format!("({} * {right_text})", left.text), left.size * right.size),
            7 => (format!("({} / ({}.square() + 1.0))", left.text, right.text), left.size),
            _ if !self.smooth => (format!("{}.maximum({})", left.text, right.text), left.size.max(right.size)),
            _ => (format!("{}.mul({})", left.text, right.text), left.size * right.size),
        };
        Expr::new(text, extent, size).within(8.0)
    }

    fn with_number(&mut self, depth: usize) -> Expr {
        let (e, number) = (self.expr(depth - 1), self.number());
        let (text, size) = match self.rng.below(8) {
            0 => (format!("({} + {number})", e.text), e.size + 2.0),
            1 => (format!("({number} - {})", e.text), e.size + 2.0),
            2..4 => (format!("({} * {number})", e.text), e.size * 2.0),
            4 => (format!("({number} * {})", e.text), e.size * 2.0),
            5 => (format!("({} / 1.5)", e.text), e.size),
            6 => (format!("({number} / ({}.square() + 1.0))", e.text), 2.0),
            _ => (format!("(-{})", e.text), e.size),
        };
        Expr { text, size, ..e }.within(8.0)
    }

    fn function(&mut self, depth: usize) -> Expr {
        let e = self.expr(depth - 1).within(3.0);
        let extent = e.extent;
        match self.rng.below(12) {
            0 => {
                let power = *self.rng.pick(&["0.5", "-0.5", "1.5", "2.0", "-1.0", "self.k"]);
                Expr::new(format!("({}.square() + 1.0).powf({power})", e.text), extent, 4.0)
            }
            1 => Expr::new(format!("({}.square() + 0.5).sqrt()", e.text), extent, 3.1),
            2 => Expr::new(format!("({}.square() + 0.5).rsqrt()", e.text), extent, 1.5),
            3 if !self.smooth => {
                let (method, size) = *self.rng.pick(KINKED);
                e.then(method, size)
            }
            _ => {
                let (method, size) = *self.rng.pick(SMOOTH);
                e.then(method, size)
            }
        }
    }

    /// What reads whole rows, or all elements.
    fn row(&mut self, depth: usize) -> Expr {
        let e = self.expr(depth - 1).with_axes();
        match self.rng.below(9) {
            0 => e.then("softmax(-1)", 1.0),
            1 => {
                let size = 2.0 * e.size + 2.0;
                e.then("log_softmax(-1)", size)
            }
            2..4 => {
                let size = e.size;
                Expr { extent: Any, ..e.then("mean_keepdim(-1)", size) }
            }
            4..6 => {
                let size = e.size * 2.0;
                Expr { extent: Any, ..Expr { text: format!("({}.sum_keepdim(-1) * 0.3)", e.text), size, ..e } }
            }
            6 => Expr { extent: Single, ..e.within(3.0).then("mean(..)", 3.0) },
            _ => {
                let weight = *self.rng.pick(&["self.w", "self.b", "(self.w * 0.5)", "self.b.tanh()"]);
                let bias = *self.rng.pick(&["self.b", "self.w", "(self.w + self.b)"]);
                e.full().within(3.0).then(&format!("layer_norm({weight}, {bias}, 0.1)"), 6.0)
            }
        }
    }
}
