//! Assignments to several variables at once, as statements that assign to one.

use crate::hygiene;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, Pat, Stmt, parse_quote, parse_quote_spanned};

/// Makes `let (p, q) = e; a = p; b = q;` of `(a, b) = e;`, everywhere in a block.
pub(super) fn block(block: &mut Block) {
    Unpack.visit_block_mut(block);
}

struct Unpack;

impl VisitMut for Unpack {
    fn visit_block_mut(&mut self, block: &mut Block) {
        visit_mut::visit_block_mut(self, block);
        block.stmts = std::mem::take(&mut block.stmts).into_iter().flat_map(statements).collect();
    }
}

fn statements(stmt: Stmt) -> Vec<Stmt> {
    let Stmt::Expr(Expr::Assign(assign), _) = &stmt else { return vec![stmt] };
    let Expr::Tuple(targets) = &*assign.left else { return vec![stmt] };
    if !targets.elems.iter().all(|target| matches!(target, Expr::Path(_) | Expr::Infer(_))) {
        return vec![stmt];
    }
    let (span, right) = (assign.eq_token.span, &assign.right);
    let (mut parts, mut stmts): (Vec<Pat>, _) = (vec![], vec![]);
    for (number, target) in (0..).zip(&targets.elems) {
        if let Expr::Infer(wild) = target {
            parts.push(parse_quote!(#wild));
            continue;
        }
        let part = hygiene::local("part", number);
        parts.push(parse_quote!(#part));
        stmts.push(parse_quote_spanned!(span=> #target = #part;));
    }
    stmts.insert(0, parse_quote_spanned!(span=> let (#(#parts,)*) = #right;));
    stmts
}
