//! The text form of kernels: [`print()`], and [`parse()`] back to an equal value; [`show`] for reports.
//!
//! ```text
//! kernel rms_norm
//! dim R, C
//! axis r < R, i < C
//! arg x: float[R, C]
//! arg w: float[C]
//! arg eps: float
//! %0 = rsqrt(sum[i](x[r, i]^2) / float(C) + eps)
//! out y: float[R, C]
//!   y[r, i] = x[r, i] * %0 * w[i]
//! ```
//!
//! - Statements: `kernel`, `dim`, `axis`, `arg`, `%n = ..` for a node that is used more than once, `out` (with
//!   `sparse` or `add` after the type where the mode is not `Set`), one line a store, `spans`. `;` starts a comment.
//! - A store loops over the axes in its brackets, or over those after `over`: `y[t[i]] over i, j = ..`.
//! - `2.0 * a - b + 1.0` is one sum, `a^2 * b / c` one product; parentheses make a node of their own. A constant that is
//!   the first factor stands in parentheses, since a bare one is a coefficient. `+a` is the sum of `a` alone, `a^1` the product.
//! - `x?[i + 1]` is a guarded load, `sum[i, j](..)` a reduction, `cumsum[i; reverse, exclusive](..)` a scan,
//!   `(a < b)` a comparison, `float(n)` a cast, `@f.y(a, b)` a call of the kernel `f`, printed before. Other functions
//!   stand by their names.

mod lex;
mod parse;
mod print;
mod statement;

pub use parse::{ParseError, parse, parse_with_lines};
pub use print::{print, show};

/// How deep expressions may be nested in the text.
const DEPTH: u32 = 100;
