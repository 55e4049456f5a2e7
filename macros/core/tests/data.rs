//! `#[model]` on structs and enums: snapshots of what it writes, and that no input makes it panic.

use cotangent_macros_core::model;
use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use quote::quote;

/// The expansion, formatted.
fn expand(args: TokenStream, item: TokenStream) -> String {
    let tokens = model(args, item);
    match syn::parse2(tokens.clone()) {
        Ok(file) => prettyplease::unparse(&file),
        Err(error) => format!("{error}\n{tokens}"),
    }
}

#[test]
fn fixed_dims() {
    insta::assert_snapshot!(expand(
        quote!(),
        quote! {
            /// Two-layer perceptron for 28x28 digits.
            #[derive(Debug)]
            pub struct Mlp { fc1: Linear![784 => 256], drop: Dropout![p = 0.1], pub fc2: Linear![256 => 10, bias = false] }
        }
    ));
}

#[test]
fn params_state_config() {
    insta::assert_snapshot!(expand(
        quote!(dims(C, G = 1), check(C % G == 0)),
        quote! {
            pub struct BatchNorm {
                #[init(ones)]
                gamma: Param![C],
                #[config(true)]
                #[init(zeros)]
                beta: Option<Param![C]>,
                #[state(zeros)]
                mean: State![C / G],
                /// Added to the variance.
                #[config(1e-5)]
                eps: f32,
                n: usize,
            }
        }
    ));
}

#[test]
fn lists_and_ties() {
    insta::assert_snapshot!(expand(
        quote!(dims(V, C, H, L)),
        quote! {
            pub struct Gpt {
                wte: Embedding![V, C],
                blocks: [Block![C, H]; L],
                extra: Vec<Block![C, H]>,
                #[init(Linear![C => C], Relu)]
                tail: Vec<Box<dyn Layer>>,
                #[frozen]
                #[cfg(feature = "probe")]
                probe: Probe![C],
                #[tied(weight = wte.weight)]
                head: Linear![C => V, bias = false],
            }
        }
    ));
}

#[test]
fn enum_of_layers() {
    insta::assert_snapshot!(expand(
        quote!(dims(C)),
        quote!(
            pub enum Stage {
                Conv(Conv2d![C => 2*C, K = 3]),
                Act(Relu),
                Skip,
            }
        )
    ));
}

#[test]
fn generic_wrapper() {
    insta::assert_snapshot!(expand(
        quote!(),
        quote!(
            pub struct Wrap<L: Layer> {
                inner: L,
                #[config(1.0)]
                scale: f32,
            }
        )
    ));
}

#[test]
fn mistakes_leave_a_stub() {
    insta::assert_snapshot!(expand(
        quote!(dims(C)),
        quote!(
            struct Net {
                fc: Linear![C => X],
                w: Param![C],
                t: Tensor![C],
                #[config(3)]
                n: usize,
            }
        )
    ));
}

/// Items with everything that the language has.
fn samples() -> Vec<(TokenStream, TokenStream)> {
    let dims = quote!(dims(C, H = 2), check(C % H == 0, n > 0));
    vec![
        (
            dims.clone(),
            quote! {
                #[derive(Clone)]
                pub struct A<L: Layer, const N: usize> where L: Copy {
                    #[tied(a.0.b = c.d)] #[init(inner = B![C => 3*C, K = {N}])] x: Option<Wrap<L>>,
                    #[init(Stage::Conv![C], X)] v: Vec<Stage>, #[config(true)] y: Option<Param![(C + 1) / H]>,
                    #[state(zeros)] s: [State![C]; H], #[config] n: usize, b: [[Box<dyn Layer>; 2]; H],
                }
            },
        ),
        (
            dims.clone(),
            quote!(
                enum E {
                    A(Linear![C => H]),
                    B,
                    #[frozen]
                    C {
                        x: f32,
                    },
                    D(u8, u8),
                }
            ),
        ),
        (
            quote!(),
            quote!(
                struct U;
            ),
        ),
        (
            dims,
            quote!(
                struct T(Linear![1 => 2], u8);
            ),
        ),
    ]
}

/// Every stream that comes of leaving out one token, at any depth.
fn mutilated(tokens: &TokenStream) -> Vec<TokenStream> {
    let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let mut out = vec![];
    for (at, token) in all.iter().enumerate() {
        let with = |middle: Option<TokenTree>| -> TokenStream {
            all[..at].iter().cloned().chain(middle).chain(all[at + 1..].iter().cloned()).collect()
        };
        out.push(with(None));
        if let TokenTree::Group(group) = token {
            for inner in mutilated(&group.stream()) {
                out.push(with(Some(Group::new(group.delimiter(), inner).into())));
            }
            out.push(with(Some(Group::new(Delimiter::None, group.stream()).into())));
        }
    }
    out
}

#[test]
fn never_panics() {
    for (args, item) in samples() {
        for item in mutilated(&item) {
            assert!(!model(args.clone(), item).is_empty());
        }
        for args in mutilated(&args) {
            assert!(!model(args, item.clone()).is_empty());
        }
    }
}

#[test]
fn whole_samples_have_no_other_mistakes_than_meant() {
    let errors = |(args, item)| {
        let text = model(args, item).to_string();
        let errors = text.split("compile_error ! { \"").skip(1);
        errors.filter_map(|e| e.split('"').next()).map(str::to_owned).collect::<Vec<_>>().join("\n")
    };
    insta::assert_snapshot!(samples().into_iter().map(errors).collect::<Vec<_>>().join("\n\n"));
}

#[test]
fn what_is_no_model() {
    let check = |item: TokenStream, part: &str| {
        let text = model(quote!(), item).to_string();
        assert!(text.contains(part), "{text}");
    };
    check(
        quote!(
            trait T {}
        ),
        "goes on a struct, an enum",
    );
    check(quote!(struct), "compile_error");
    check(quote!(), "compile_error");
    check(quote!(union U { a: u8 }), "goes on a struct, an enum");
}
