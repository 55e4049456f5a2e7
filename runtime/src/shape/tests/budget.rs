//! What a proof costs the compiler: it stops counting at two million steps a `const` item, and these repeat each rule
//! a hundred times, so that a step stays under twenty thousand.

#![deny(long_running_const_eval)]

use super::*;

const TIMES: usize = 100;
const SIG: Sig = Sig {
    name: "Block",
    scope: Scope { model: &["C", "H"], local: &["B", "T"] },
    inputs: &[
        Shape::of(&[B, H, T, C.div(H)]),
        Shape::of(&[B, T, Dim::lit(3).mul(C)]),
        Shape::with_rest("", &SCOPE, &[T.add(Dim::lit(1)), C]),
    ],
    outputs: &[Shape::with_rest("", &SCOPE, &[B.mul(T), C.div(H).add(Dim::lit(1))])],
};

macro_rules! repeat {
    ($step:expr) => {
        const _: () = {
            let mut i = 0;
            while i < TIMES {
                let _: Step = $step;
                i += 1;
            }
        };
    };
}

#[test]
fn steps_stay_within_their_budget() {
    const X: Shape = Shape::of(&[B, H, T, C.div(H)]);
    repeat!(call(
        &SIG,
        &Dims::of(&[C.mul(H), H]),
        &[
            Shape::of(&[B, H, T, C]),
            Shape::of(&[B, T, Dim::lit(3).mul(C).mul(H)]),
            Shape::of(&[B, T.add(Dim::lit(1)), C.mul(H)]),
        ],
        0,
    ));
    repeat!(crate::shape::rules::matmul(&[X, Shape::of(&[B, H, C.div(H), T])], &[], 0));
    repeat!(crate::shape::rules::broadcast(&[X, Shape::of(&[Dim::lit(1), T, C.div(H)])], &[], 0));
    repeat!(crate::shape::rules::reshape(&[X], &[Plain::list(&[B, T, Dim::lit(-1)])], 0));
    repeat!(crate::shape::rules::permute(
        &[X],
        &[Plain::list(&[Dim::lit(0), Dim::lit(2), Dim::lit(1), Dim::lit(3)])],
        0
    ));
    repeat!(crate::shape::rules::split(
        &[Shape::of(&[B, T, Dim::lit(3).mul(C)])],
        &[Plain::dim(Dim::lit(2)), Plain::list(&[C, C, C])],
        1
    ));
    repeat!(crate::shape::rules::cat(&[X, X, X, X], &[Plain::dim(Dim::lit(-1))], 0));
    repeat!(bind(&X, &X, &Env::new(&SCOPE)).step);
}

#[test]
fn a_message_stays_within_its_budget() {
    const X: Shape = Shape::of(&[B, H, T, C.div(H)]);
    const STEP: Step = crate::shape::rules::broadcast(&[X, Shape::of(&[B, H, T, C.div(H).add(Dim::lit(1))])], &[], 0);
    const _: () = {
        let mut i = 0;
        while i < TIMES {
            let _ = explain("add", &STEP, &SCOPE);
            i += 1;
        }
    };
    assert_eq!(say("add", STEP), "cannot broadcast [B, H, T, C/H] with [B, H, T, C/H + 1]: axis 3 is C/H and C/H + 1");
}
