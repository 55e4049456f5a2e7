//! Expansions of impls and functions: one pinned, all others code or errors, never a panic.

use proc_macro2::{Group, TokenStream, TokenTree};
use quote::quote;

fn expand(item: TokenStream) -> TokenStream {
    cotangent_macros_core::model(TokenStream::new(), item)
}

fn formatted(item: TokenStream) -> String {
    let tokens = expand(item);
    match syn::parse2(tokens.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(error) => panic!("the expansion is no Rust: {error}\n{tokens}"),
    }
}

fn forward() -> TokenStream {
    quote! {
        impl Mlp {
            /// Scores.
            pub fn forward(&self, x: Tensor![B, 784]) -> Tensor![B, 10] {
                let h = self.fc1.forward(x).relu();
                self.fc2.forward(h)
            }
        }
    }
}

fn everything() -> TokenStream {
    quote! {
        impl Net {
            pub fn forward(&self, x: Tensor![B, T, C], y: Tensor![Int; B], cx: &mut Cx) -> (Tensor![B, 10], Tensor![]) {
                let mut h = self.fc1.forward(x).relu();
                let mut skips = Vec::new();
                for (i, b) in self.blocks.iter().enumerate() {
                    h = b.forward(h, cx) + h;
                    skips.push(h);
                }
                let (q, k) = h.split(2, [C, 2 * H]);
                let z: Tensor![B, N] = if self.deep && skips.len() > 3 { q.matmul(k.t()) } else { k };
                if let Some(b) = &self.bias { h = h + b; }
                println!("{z:?} {}", H);
                #[checkpoint]
                for s in skips.iter().rev() { h = h * s; }
                #[checkpoint]
                let (h, k) = { h = self.fc1.forward(#[checkpoint] self.fc2.forward(h, cx)); (h * y.size(0), k) };
                let last = match self.mode { 0 => skips.pop().unwrap(), _ => -h };
                let loss = (2.0 * last.square()).mean(..) + z.cross_entropy(y);
                (cat(vec![h, z], 1), loss)
            }
            #[no_grad]
            pub fn step(&mut self, n: usize) -> usize { while n > 3 { return H; } n }
        }
    }
}

fn free() -> TokenStream {
    quote! {
        pub fn distance(a: Tensor![B, C], b: Tensor![B, C]) -> Tensor![B] { (a - b).square().sum(-1) }
    }
}

#[test]
fn perceptron() {
    insta::assert_snapshot!(formatted(forward()));
}

#[test]
fn checkpoint() {
    insta::assert_snapshot!(formatted(quote! {
        impl Deep {
            fn forward(&self, x: Tensor![B, C], cx: &mut Cx) -> Tensor![B, C] {
                #[checkpoint]
                let y = self.block.forward(x, cx);
                y
            }
        }
    }));
}

#[test]
fn whole_samples_are_sound() {
    for sample in [forward(), everything(), free()] {
        let text = formatted(sample);
        assert!(!text.contains("compile_error"), "{text}");
        assert!(text.contains("vjp"), "{text}");
    }
}

/// How many kernels a body becomes, whatever its fields are.
fn kernels(body: TokenStream) -> usize {
    let text = expand(quote!(impl Net { fn forward(&self, x: Tensor, y: Tensor) -> Tensor { #body } })).to_string();
    assert!(!text.contains("compile_error"), "{text}");
    text.matches("const forward__fused").count()
}

#[test]
fn chains_share_a_kernel() {
    let cases = [
        (1, quote!((x * self.w + self.b).gelu())),
        // One operation is its own kernel.
        (0, quote!(self.a.forward(x.relu()) + y)),
        // What stands between does not matter while nothing uses what is in the group.
        (1, quote!(let h = x.exp(); let z = self.a.forward(y); h * z)),
        // A use ends it.
        (0, quote!(let h = x.exp(); let z = self.a.forward(h); h * z)),
        (2, quote!(let h = x.exp() + 1.0; let z = self.a.forward(h); (h * z).tanh())),
        // So does another meaning of a name that it reads.
        (2, quote!(let h = x.exp() * 2.0; let x = self.a.forward(y); (h * x).tanh())),
        (1, quote!(let mut x = x; let h = x.exp() * 2.0; x = self.a.forward(y); h + x)),
        // Numbers of the model are no tensors, so that what is computed of them alone is none.
        (0, quote!(let s = self.scale.exp() * 2.0; self.a.forward(x) * s)),
        (1, quote!(let s = self.scale * 2.0; (x + s).relu())),
        // Reductions along rows join what they read, and what reads them.
        (1, quote!((x * 0.5 + y).softmax(-1))),
        (1, quote!(let m = (x * x).mean_keepdim(-1); x * (m + self.eps).rsqrt() * self.w)),
        // Others do not.
        (0, quote!(x.softmax(0) * x.amax_keepdim(-1))),
        // What nothing uses does not give the group its shape.
        (1, quote!(let h = x * 2.0; let z = h + y; h.tanh())),
        (1, quote!(let mut h = x; for i in 0..3 { h = (h * 0.5 + y).tanh(); } h)),
        (2, quote!(if self.deep { (x + y).relu() } else { (x - y).relu() })),
    ];
    for (count, body) in cases {
        assert_eq!(kernels(body.clone()), count, "{body}");
    }
}

#[test]
fn fusion_can_be_turned_off() {
    let method = quote!(
        fn forward(&self, x: Tensor) -> Tensor {
            (x * 2.0).relu()
        }
    );
    for item in [quote!(#[no_fuse] impl Net { #method }), quote!(impl Net { #[no_fuse] #method })] {
        let text = expand(item).to_string();
        assert!(!text.contains("fused") && !text.contains("no_fuse"), "{text}");
    }
}

/// An editor looks for the tokens that the user wrote, and rustc does not see what it finds.
#[test]
fn editors_find_operations_of_groups() {
    let method = quote!(
        fn forward(&self, x: Tensor) -> Tensor {
            (x * 2.0).relu()
        }
    );
    let text = expand(quote!(impl Net { #method })).to_string();
    let (rustc, editor) = text.split_once("cfg (rust_analyzer)").expect("an item for editors");
    assert!(!rustc.contains("relu (") && editor.contains("relu ("), "{text}");
    let text = expand(quote!(#[no_fuse] impl Net { #method })).to_string();
    assert!(!text.contains("rust_analyzer"), "{text}");
}

#[test]
fn output_is_a_function_of_the_input() {
    assert_eq!(expand(everything()).to_string(), expand(everything()).to_string());
}

/// Every stream that comes of leaving out, doubling or swapping one token, at any depth.
fn mutilated(tokens: &TokenStream) -> Vec<TokenStream> {
    let list: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut all = vec![];
    for at in 0..list.len() {
        let (before, after) = (&list[..at], &list[at + 1..]);
        let with = |middle: &[TokenTree]| before.iter().chain(middle).chain(after).cloned().collect::<TokenStream>();
        all.push(with(&[]));
        all.push(with(&[list[at].clone(), list[at].clone()]));
        if let Some(next) = after.first() {
            let swapped = [next.clone(), list[at].clone()];
            all.push(before.iter().chain(&swapped).chain(&after[1..]).cloned().collect());
        }
        if let TokenTree::Group(group) = &list[at] {
            for inner in mutilated(&group.stream()) {
                all.push(with(&[TokenTree::Group(Group::new(group.delimiter(), inner))]));
            }
        }
    }
    all
}

#[test]
fn never_panics() {
    let mut count = 0;
    for sample in [everything(), free()] {
        for broken in mutilated(&sample) {
            let tokens = expand(broken);
            assert!(!tokens.is_empty(), "an expansion is code or errors");
            count += 1;
        }
    }
    assert!(count > 900, "{count} streams");
}
