//! Random words of a run of elements, computed in groups.

use super::super::Domain;
use super::Rows;
use cotangent_ir::{Id, Node};
use proc_macro2::{Ident, Span, TokenStream};
use quote::quote;

impl Rows<'_> {
    /// The random words whose number is that of the element: they are computed in groups.
    pub(super) fn find_streams(&mut self) {
        let (k, tiles) = (self.k, self.tiles);
        let in_order = |id: &Id| match k.node(*id) {
            Node::Random { key, at } => k.bare(at).is_some_and(|a| tiles.is_column(k, a)) && !self.varies(key),
            _ => false,
        };
        if tiles.domain == Domain::Pointwise {
            self.streams = self.needed.iter().copied().filter(in_order).collect();
        }
    }

    /// The loop over the elements of the tile.
    pub(super) fn each(&self, inside: TokenStream) -> TokenStream {
        if self.streams.is_empty() {
            return quote!(for i in 0..n { #inside });
        }
        let words = self.streams.iter().map(|id| {
            let Node::Random { key, .. } = self.k.node(*id) else { return TokenStream::new() };
            let (name, key) = (words_name(*id), self.k.operand(key));
            quote!(let #name = row::words(#key, tile.0 + first); let #name = &#name[from..][..count];)
        });
        quote! {
            let mut first = 0;
            while first < n {
                let from = (tile.0 + first) % row::WORDS;
                let count = usize::min(row::WORDS - from, n - first);
                #(#words)*
                for l in 0..count {
                    let i = first + l;
                    #inside
                }
                first += count;
            }
        }
    }

    /// The word of an element, inside of that loop.
    pub(super) fn word(&self, random: Id) -> TokenStream {
        let words = words_name(random);
        quote!(i64::from(#words[l]))
    }
}

fn words_name(random: Id) -> Ident {
    Ident::new(&format!("w{}", random.0), Span::call_site())
}
