//! The rule of attention.

use super::*;
use crate::shape::rules::attention;

fn told(inputs: &[Shape]) -> String {
    say("attention", attention(inputs, &[], 0))
}

const D: Dim = C.div(H);

#[test]
fn attention_takes_values_for_queries() {
    let cases: &[(&[Shape], &str)] = &[
        (&[of(&[T, C]), of(&[N, C]), of(&[N, H])], "= [T, H]"),
        (&[of(&[B, H, T, D]), of(&[B, H, T, D]), of(&[B, H, T, D])], "= [B, H, T, C/H]"),
        (&[of(&[B, l(8), T, C]), of(&[B, l(2), N, C]), of(&[B, l(2), N, C])], "= [B, 8, T, C]"),
        (&[of(&[B, H, T, C]), of(&[l(1), N, C]), of(&[N, C])], "= [B, H, T, C]"),
        (&[rest(&[T, C]), rest(&[N, C]), rest(&[N, C])], "= [R.., T, C]"),
        (&[of(&[B, H, T, C]), of(&[B, N, T, C]), of(&[B, N, T, C])], "? [B, ?, T, C]"),
        (&[of(&[T, C]), of(&[T, H]), of(&[T, H])], "? [T, H]"),
        (&[of(&[T, C]), Shape::UNKNOWN, of(&[T, H])], "? [?]"),
        (&[of(&[B, H, T, C]), of(&[B, H, N, C]), of(&[B, H, N, C]), of(&[T, N])], "= [B, H, T, C]"),
        (&[of(&[T, C]), of(&[N, C]), of(&[N, C]), Shape::UNKNOWN], "? [T, C]"),
    ];
    for (inputs, text) in cases {
        assert_eq!(told(inputs), *text);
    }
}

#[test]
fn attention_refuses_what_does_not_fit() {
    let keys = of(&[B, l(3), N, l(4)]);
    assert_eq!(
        told(&[of(&[B, l(3), T, l(5)]), keys, keys]),
        "attention: shapes differ: [B, 3, T, 5] and [B, 3, N, 4]: axis 3 is 5 and 4"
    );
    assert_eq!(
        told(&[keys, keys, of(&[B, l(3), N.add(l(1)), l(4)])]),
        "attention: shapes differ: [B, 3, N, 4] and [B, 3, N + 1, 4] (operand 3): axis 2 is N and N + 1"
    );
    assert_eq!(
        told(&[of(&[B, l(4), T, l(4)]), keys, keys]),
        "attention: shapes differ: [B, 4, T, 4] and [B, 3, N, 4]: axis 1 is 4 and 3"
    );
    assert_eq!(told(&[of(&[C]), keys, keys]), "attention: [C] has 1 axis, expected at least 2");
    assert_eq!(
        told(&[keys, keys, keys, of(&[N.add(l(1)), N])]),
        "cannot broadcast [B, 3, N, N] with [N + 1, N]: axis -2 is N and N + 1"
    );
}
