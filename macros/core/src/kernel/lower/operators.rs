//! Operators, with PyTorch's rules: an integer beside a float becomes one, integer division rounds down, and a
//! remainder has the divisor's sign.

use super::super::ast::{At, Expr, Operator};
use super::super::check::kinds;
use super::Lower;
use cotangent_ir::{Binary, Id, Kind, Unary};

impl Lower<'_> {
    /// `a + b`, where the operator stands at `at`.
    pub(super) fn binary(&mut self, operator: Operator, at: &At, a: &Expr, b: &Expr) -> Option<Id> {
        match operator {
            Operator::Add | Operator::Sub | Operator::Mul | Operator::Div | Operator::Rem => {
                let (x, y) = (self.number(a, operator.symbol()), self.number(b, operator.symbol()));
                let (x, y) = self.alike(x?, y?)?;
                self.note(at);
                Some(self.arithmetic(operator, x, y))
            }
            Operator::And | Operator::Or => {
                let (x, y) = (self.condition(a), self.condition(b));
                let (x, y) = (x?, y?);
                self.note(at);
                Some(if operator == Operator::And { self.b.and(x, y) } else { self.b.or(x, y) })
            }
            Operator::BitAnd | Operator::BitOr | Operator::BitXor | Operator::Shl | Operator::Shr => {
                let shift = matches!(operator, Operator::Shl | Operator::Shr);
                let mut side = |e: &Expr| self.bits(operator.symbol(), shift, e);
                let (x, y) = (side(a), side(b));
                let (x, y) = (x?, y?);
                if self.b.kind(x) != self.b.kind(y) {
                    kinds::operands_differ(at, operator.symbol(), self.b.kind(x), self.b.kind(y), self.diags);
                    return None;
                }
                self.note(at);
                Some(self.b.binary(bitwise(operator), x, y))
            }
            Operator::Eq | Operator::Ne | Operator::Lt | Operator::Le | Operator::Gt | Operator::Ge => {
                let equality = matches!(operator, Operator::Eq | Operator::Ne);
                let mut side = |e: &Expr| if equality { self.scalar(e) } else { self.number(e, operator.symbol()) };
                let (x, y) = (side(a), side(b));
                let (x, y) = (x?, y?);
                let Some((x, y)) = self.alike(x, y) else {
                    kinds::operands_differ(at, operator.symbol(), self.b.kind(x), self.b.kind(y), self.diags);
                    return None;
                };
                self.note(at);
                Some(self.comparison(operator, x, y))
            }
        }
    }

    /// An operand of a bitwise operation: truth values or integers, or integers alone.
    pub(super) fn bits(&mut self, of: &str, integers: bool, e: &Expr) -> Option<Id> {
        let id = self.scalar(e)?;
        match self.b.kind(id) {
            Kind::Float => kinds::bits_of_float(&e.at, of, self.diags),
            Kind::Bool if integers => kinds::number_expected(&e.at, of, self.diags),
            Kind::Int | Kind::Bool => return Some(id),
        }
        None
    }

    fn arithmetic(&mut self, operator: Operator, x: Id, y: Id) -> Id {
        let float = self.b.kind(x) == Kind::Float;
        match operator {
            Operator::Sub => self.b.sub(x, y),
            Operator::Mul => self.b.mul(x, y),
            Operator::Div if float => self.b.div(x, y),
            Operator::Div => self.b.binary(Binary::Quot, x, y),
            Operator::Rem => self.b.binary(Binary::Rem, x, y),
            _ => self.b.add(x, y),
        }
    }

    fn comparison(&mut self, operator: Operator, x: Id, y: Id) -> Id {
        match operator {
            Operator::Ne => {
                let equal = self.b.eq(x, y);
                self.b.unary(Unary::Not, equal)
            }
            Operator::Lt => self.b.lt(x, y),
            Operator::Le => self.b.le(x, y),
            Operator::Gt => self.b.lt(y, x),
            Operator::Ge => self.b.le(y, x),
            _ => self.b.eq(x, y),
        }
    }
}

fn bitwise(operator: Operator) -> Binary {
    match operator {
        Operator::BitOr => Binary::Or,
        Operator::BitXor => Binary::Xor,
        Operator::Shl => Binary::Shl,
        Operator::Shr => Binary::Shr,
        _ => Binary::And,
    }
}
