//! Calls, typed bindings and fields, evaluated in `const` items as the macro emits them.

use crate::shape::*;

const LINEAR: Scope = Scope { model: &["I", "O"], local: &[] };
const FORWARD: Sig = Sig {
    name: "Linear",
    scope: LINEAR,
    inputs: &[Shape::with_rest("", &LINEAR, &[LINEAR.dim("I")])],
    outputs: &[Shape::with_rest("", &LINEAR, &[LINEAR.dim("O")])],
};
struct LinearForward;
impl Signature for LinearForward {
    const SIG: Sig = FORWARD;
}
struct Linear;
#[allow(non_snake_case, reason = "the names that the macro emits")]
impl Linear {
    fn forward__sig(&self) -> impl Signature + use<> {
        LinearForward
    }
}
struct Mlp {
    fc1: Linear,
    fc2: Linear,
}
const FIELDS: &[FieldDims] = &[
    FieldDims { name: "fc1", args: &[("", Dim::lit(784)), ("", Dim::lit(256))] },
    FieldDims { name: "fc2", args: &[("", Dim::lit(128)), ("", Dim::lit(10))] },
];
const NONE: &[Option<i64>] = &[None, None];

const SCOPE: Scope = Scope { model: &[], local: &["B", "T", "N"] };
const S0: Shape = Shape::of(&[SCOPE.dim("B"), Dim::lit(784)]);
const E0: Env = Env::new(&SCOPE).with_inputs(&[S0]);
const FC1: Dims = field_dims(FIELDS, "fc1", LINEAR.model, NONE, &identity(0));
const FC2: Dims = field_dims(FIELDS, "fc2", LINEAR.model, NONE, &identity(0));
const P1: Step = call(&sig_of(|m: &Mlp| m.fc1.forward__sig()), &FC1, &[S0], 0);
const _: () = if P1.failed() {
    fail(explain("self.fc1.forward", &P1, &SCOPE).as_str())
};
const P2: Step = call(&sig_of(|m: &Mlp| m.fc2.forward__sig()), &FC2, &[P1.shape], 0);

/// The text of a step's mistake.
pub(super) fn text(op: &str, step: &Step, scope: &Scope) -> String {
    explain(op, step, scope).as_str().into()
}

#[test]
fn a_layer_call_is_proved_or_says_what_the_layer_needs() {
    assert!(P1.proved());
    assert_eq!(P1.shape, Shape::of(&[SCOPE.dim("B"), Dim::lit(256)]));
    assert!(P2.failed());
    assert_eq!(
        text("self.fc2.forward", &P2, &SCOPE),
        "axis 1 of the input to `self.fc2` is 256, but `Linear![128 => 10]` needs 128\n\
         help: the input is [B, 256]; use `Linear![256 => 10]`"
    );
    const SHAPE: Shape = Shape::of(&[SCOPE.dim("B"), Dim::lit(128)]);
    let bound = const { bind(&SHAPE, &P1.shape, &E0) };
    assert!(bound.step.failed());
    assert_eq!(text("h", &bound.step, &SCOPE), "`h` is declared [B, 128] but is [B, 256]: axis 1");
}
