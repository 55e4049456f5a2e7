//! Typed bindings and returned values.

use super::*;

const INPUTS: &[Shape] = &[Shape::of(&[B, T, C])];
const START: Env = Env::new(&SCOPE).with_inputs(INPUTS);

#[test]
fn a_new_name_is_bound_and_stands_for_its_value_from_then_on() {
    const DECLARED: Shape = Shape::of(&[B, N]);
    const BOUND: Bound = bind(&DECLARED, &Shape::of(&[B, Dim::lit(2).mul(T)]), &START);
    const _: () = assert!(BOUND.step.proved());
    assert_eq!(show_shape(&BOUND.step.shape), "[B, 2*T]");
    assert_eq!(show(BOUND.env.dim("N")), "2*T");
    assert_eq!(show_shape(&BOUND.env.apply(&of(&[N.add(l(1)), C]))), "[2*T + 1, C]");
    let again = bind(&DECLARED, &of(&[B, l(2).mul(T)]), &BOUND.env);
    assert!(again.step.proved());
    let wrong = bind(&DECLARED, &of(&[B, l(3).mul(T)]), &BOUND.env);
    assert_eq!(say("y", wrong.step), "`y` is declared [B, 2*T] but is [B, 3*T]: axis 1");
}

#[test]
fn an_unknown_value_takes_the_declared_shape() {
    let bound = bind(&of(&[B, N]), &Shape::UNKNOWN, &START);
    assert_eq!(say("x", bound.step), "? [B, N]");
    assert_eq!(show(bound.env.dim("N")), "N");
    let later = bind(&of(&[N]), &of(&[T]), &bound.env);
    assert_eq!(say("y", later.step), "? [N]");
    let partly = bind(&of(&[B, N]), &of(&[B, ANY]), &START);
    assert_eq!(say("x", partly.step), "? [B, N]");
}

#[test]
fn names_of_arguments_are_not_bound_again() {
    assert_eq!(say("y", bind(&of(&[B]), &of(&[T]), &START).step), "? [B]");
    assert_eq!(say("y", bind(&of(&[B]), &of(&[B]), &START).step), "= [B]");
    assert_eq!(
        say("y", bind(&of(&[B]), &of(&[B.add(l(1))]), &START).step),
        "`y` is declared [B] but is [B + 1]: axis 0"
    );
    assert_eq!(say("y", bind(&of(&[C]), &of(&[C.mul(l(2))]), &START).step), "`y` is declared [C] but is [2*C]: axis 0");
}

#[test]
fn ranks_and_results_are_compared() {
    let step = bind(&of(&[B, l(10)]), &of(&[B, T, l(10)]), &START).step;
    assert_eq!(say("the result", step), "the result is declared [B, 10] but is [B, T, 10]: 3 axes, expected 2");
    let doubt = bind(&of(&[B, C]), &of(&[T, C]), &START).step;
    assert_eq!(explain("y", &doubt, &SCOPE).as_str(), "cannot tell: `y` is declared [B, C] but is [T, C]: axis 0");
    // `_` leaves an axis open.
    assert_eq!(say("y", bind(&of(&[B, ANY]), &of(&[B, l(7)]), &START).step), "= [B, 7]");
}

#[test]
fn leading_axes_are_whatever_leads() {
    assert_eq!(say("y", bind(&dots(&[C]), &of(&[B, T, C]), &START).step), "= [B, T, C]");
    assert_eq!(say("y", bind(&dots(&[C]), &dots(&[C]), &START).step), "= [.., C]");
    assert_eq!(say("y", bind(&dots(&[C]), &Shape::UNKNOWN, &START).step), "? [.., C]");
    assert_eq!(say("y", bind(&rest(&[C]), &of(&[B, T, C]), &START).step), "= [B, T, C]");
    let env = Env::new(&SCOPE).with_inputs(&[rest(&[C])]);
    assert_eq!(say("y", bind(&rest(&[H]), &rest(&[H]), &env).step), "= [R.., H]");
    assert_eq!(say("y", bind(&rest(&[H]), &of(&[B, H]), &env).step), "? [R.., H]");
    assert_eq!(say("y", bind(&of(&[B, H]), &rest(&[H]), &env).step), "? [B, H]");
    // Each binding has its own `..`.
    let mut env = START;
    for axes in 0..5 {
        let shape = of(&vec![B; axes]).push(C);
        let bound = bind(&dots(&[C]), &shape, &env);
        assert_eq!(bound.step.shape, shape);
        env = bound.env;
    }
}
