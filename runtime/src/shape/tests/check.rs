//! Checks of real shapes.

use super::*;

const MLP: Sig = Sig {
    name: "Mlp",
    scope: Scope { model: &[], local: &["B"] },
    inputs: &[Shape::of(&[Dim::sym(0), Dim::lit(784)]), Shape::of(&[Dim::sym(0)]), Shape::UNKNOWN],
    outputs: &[],
};
const ATTENTION: Sig = Sig {
    name: "Attention",
    scope: SCOPE,
    inputs: &[
        Shape::with_rest("R", &SCOPE, &[T, C]),
        Shape::with_rest("R", &SCOPE, &[T, C.div(H)]),
        Shape::with_rest("", &SCOPE, &[T.add(Dim::lit(1))]),
    ],
    outputs: &[],
};

fn mlp(x: &[usize], y: &[usize]) -> String {
    match MLP.check("Mlp::forward", &["x", "y", "cx"], &[], &[Some(x), Some(y), None]) {
        Ok(()) => "fits".into(),
        Err(error) => error.to_string(),
    }
}

fn attention(shapes: [&[usize]; 3]) -> String {
    match ATTENTION.check("Attention::forward", &["x", "k", "m"], &[8, 2], &shapes.map(Some)) {
        Ok(()) => "fits".into(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn arguments_are_held_against_their_declaration() {
    assert_eq!(mlp(&[64, 784], &[64]), "fits");
    assert_eq!(mlp(&[0, 784], &[0]), "fits");
    assert_eq!(
        mlp(&[64, 780], &[64]),
        "`Mlp::forward`: axis 1 of `x` is 780, expected 784 (x: [64, 780], declared [B, 784])"
    );
    assert_eq!(mlp(&[64, 784], &[32]), "`Mlp::forward`: axis 0 of `y` is 32, expected B = 64 (y: [32], declared [B])");
    assert_eq!(
        mlp(&[64, 28, 28], &[64]),
        "`Mlp::forward`: `x` has 3 axes, expected 2 (x: [64, 28, 28], declared [B, 784])"
    );
    assert_eq!(mlp(&[64, 784], &[]), "`Mlp::forward`: `y` has 0 axes, expected 1 (y: [], declared [B])");
}

#[test]
fn dims_of_the_model_and_leading_axes_count() {
    assert_eq!(attention([&[3, 5, 7, 8], &[3, 5, 7, 4], &[9, 8]]), "fits");
    assert_eq!(attention([&[7, 8], &[7, 4], &[8]]), "fits");
    assert_eq!(
        attention([&[3, 7, 9], &[3, 7, 4], &[8]]),
        "`Attention::forward`: axis 2 of `x` is 9, expected C = 8 (x: [3, 7, 9], declared [R.., T, C])"
    );
    assert_eq!(
        attention([&[3, 7, 8], &[3, 7, 5], &[8]]),
        "`Attention::forward`: axis 2 of `k` is 5, expected C/H = 4 (k: [3, 7, 5], declared [R.., T, C/H])"
    );
    assert_eq!(
        attention([&[3, 7, 8], &[2, 7, 4], &[8]]),
        "`Attention::forward`: the leading axes of `k` are [2], expected `R..` = [3] (k: [2, 7, 4], declared [R.., T, C/H])"
    );
    assert_eq!(
        attention([&[3, 7, 8], &[3, 7, 4], &[7]]),
        "`Attention::forward`: axis 0 of `m` is 7, expected T + 1 = 8 (m: [7], declared [.., T + 1])"
    );
    let broken = ATTENTION.check("f", &["x", "k"], &[8, 3], &[Some(&[7, 8]), Some(&[7, 2])]);
    assert_eq!(
        broken.unwrap_err().to_string(),
        "`f`: axis 1 of `k` is 2, expected C/H, which is no extent for C = 8, H = 3 (k: [7, 2], declared [R.., T, C/H])"
    );
}

#[test]
fn typed_bindings_are_verified() {
    let check = |shape: Shape, known: &[(&str, usize)], got: &[usize]| {
        verify(&shape, &SCOPE, known, got, "h").map_err(|error| error.to_string())
    };
    assert_eq!(check(of(&[B, N]), &[("B", 4)], &[4, 9]), Ok(()));
    assert_eq!(check(of(&[B, N.mul(l(2))]), &[("B", 4)], &[4, 9]), Ok(()), "`N` has no value");
    assert_eq!(check(of(&[N, N]), &[], &[9, 9]), Ok(()));
    assert_eq!(
        check(of(&[N, N]), &[], &[9, 8]),
        Err("typed binding: axis 1 of `h` is 8, expected N = 9 (h: [9, 8], declared [N, N])".into())
    );
    assert_eq!(
        check(of(&[B, C]), &[("B", 4), ("C", 5)], &[3, 5]),
        Err("typed binding: axis 0 of `h` is 3, expected B = 4 (h: [3, 5], declared [B, C])".into())
    );
    assert_eq!(
        check(dots(&[B, C]), &[], &[3]),
        Err("typed binding: `h` has 1 axis, expected at least 2 (h: [3], declared [.., B, C])".into())
    );
    assert_eq!(check(Shape::UNKNOWN, &[], &[1, 2, 3]), Ok(()));
}

#[test]
fn only_the_outermost_call_gets_the_guard() {
    let outer = enter();
    assert!(outer.is_some());
    assert!(enter().is_none());
    assert!(std::thread::spawn(|| enter().is_some()).join().unwrap());
    assert!(enter().is_none());
    drop(outer);
    assert!(enter().is_some());
    let unwound = std::panic::catch_unwind(|| {
        let _guard = enter();
        std::panic::resume_unwind(Box::new(()));
    });
    assert!(unwound.is_err() && enter().is_some());
}
