//! The words of the text form and of messages.

use crate::kernel::{Binary, Fold, Kind, Unary};

macro_rules! words {
    ($(#[$doc:meta])* $type:ident { $($variant:ident = $word:literal,)* }) => {
        impl $type {
            $(#[$doc])*
            pub const ALL: &[$type] = &[$($type::$variant),*];

            /// Its word in the text form.
            pub const fn name(self) -> &'static str {
                match self {
                    $($type::$variant => $word,)*
                }
            }

            /// What that word stands for.
            pub fn named(word: &str) -> Option<$type> {
                $type::ALL.iter().copied().find(|x| x.name() == word)
            }
        }
    };
}

words! {
    /// Every kind.
    Kind { Float = "float", Int = "int", Bool = "bool", }
}

words! {
    /// Every function of one operand.
    Unary {
        Exp = "exp", Expm1 = "expm1", Log = "log", Log1p = "log1p", Sin = "sin", Cos = "cos", Tan = "tan",
        Asin = "asin", Acos = "acos", Atan = "atan", Sinh = "sinh", Cosh = "cosh", Tanh = "tanh", Asinh = "asinh",
        Acosh = "acosh", Atanh = "atanh", Erf = "erf", Erfc = "erfc", Erfinv = "erfinv", Sigmoid = "sigmoid", Sqrt = "sqrt", Rsqrt = "rsqrt",
        Lgamma = "lgamma", Digamma = "digamma", Trigamma = "trigamma", Abs = "abs", Floor = "floor", Ceil = "ceil", Round = "round",
        Trunc = "trunc", Not = "not", Detach = "detach",
    }
}

words! {
    /// Every function of two operands.
    Binary {
        Max = "max", Min = "min", Pow = "pow", Atan2 = "atan2", Rem = "rem", Quot = "quot", Eq = "==", Lt = "<",
        Le = "<=", And = "and", Or = "or", Xor = "xor", Shl = "shl", Shr = "shr",
    }
}

words! {
    /// Every reduction.
    Fold { Sum = "sum", Prod = "prod", Max = "max", Min = "min", ArgMax = "argmax", ArgMin = "argmin", }
}

impl Fold {
    /// The word of the running reduction.
    pub const fn scan_name(self) -> &'static str {
        match self {
            Fold::Sum => "cumsum",
            Fold::Prod => "cumprod",
            Fold::Max => "cummax",
            Fold::Min => "cummin",
            Fold::ArgMax => "cumargmax",
            Fold::ArgMin => "cumargmin",
        }
    }
}

/// Words that stand for constants, and so for nothing else.
pub(crate) const RESERVED: &[&str] = &["inf", "nan", "true", "false"];

impl Kind {
    /// The kind in a sentence.
    pub const fn phrase(self) -> &'static str {
        match self {
            Kind::Float => "a float",
            Kind::Int => "an integer",
            Kind::Bool => "a truth value",
        }
    }
}
