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
const NONE: &[Option<DimDefault>] = &[None, None];

const SCOPE: Scope = Scope { model: &[], local: &["B", "T", "N"] };
const S0: Shape = Shape::of(&[SCOPE.dim("B"), Dim::lit(784)]);
const E0: Env = Env::new(&SCOPE).with_inputs(&[S0]);
const FC1: Dims = field_dims(FIELDS, "fc1", LINEAR.model, NONE, &identity(&[]));
const FC2: Dims = field_dims(FIELDS, "fc2", LINEAR.model, NONE, &identity(&[]));
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

const ATTENTION: Scope = Scope { model: &["C", "H"], local: &["B", "T"] };
const ATTEND: Sig = Sig {
    name: "Attention",
    scope: ATTENTION,
    inputs: &[
        Shape::of(&[Dim::sym(2), Dim::sym(3), Dim::sym(0)]),
        Shape::of(&[Dim::sym(3), Dim::sym(3)]),
        Shape::UNKNOWN,
    ],
    outputs: &[Shape::of(&[Dim::sym(2), Dim::sym(3), Dim::sym(0)]), Shape::of(&[Dim::sym(3).add(Dim::lit(1))])],
};
const BLOCK: Scope = Scope { model: &["W"], local: &["N", "S", "Q"] };
const W: Dim = Dim::sym(0);
const N: Dim = Dim::sym(1);
const S: Dim = Dim::sym(2);
const Q: Shape = Shape::with_rest("Q", &BLOCK, &[]);

fn attend(inputs: &[Shape], out: usize) -> String {
    let fields = const { &[FieldDims { name: "attn", args: &[("", W), ("", Dim::lit(4))] }] };
    let dims = field_dims(fields, "attn", ATTENTION.model, NONE, &identity(&[None]));
    let step = call(&ATTEND, &dims, inputs, out);
    let shape = Message::EMPTY.shape(&step.shape, &BLOCK);
    match step.verdict {
        Verdict::Proved => format!("= {}", shape.as_str()),
        Verdict::Undecided => format!("? {}", shape.as_str()),
        Verdict::Failed => text("self.attn.forward", &step, &BLOCK),
    }
}

#[test]
fn names_of_the_callee_are_bound_in_the_callers_terms() {
    let x = Shape::of(&[N, S.mul(Dim::lit(2)), W]);
    let mask = Shape::of(&[S.mul(Dim::lit(2)), S.mul(Dim::lit(2))]);
    assert_eq!(attend(&[x, mask, Shape::UNKNOWN], 0), "= [N, 2*S, W]");
    assert_eq!(attend(&[x, mask], 1), "= [2*S + 1]");
    assert_eq!(attend(&[x, mask], 2), "= [?]");
    // An unknown argument is skipped; what depends on it alone is unknown.
    assert_eq!(attend(&[Shape::UNKNOWN, mask], 0), "? [?, 2*S, W]");
    assert_eq!(attend(&[Shape::UNKNOWN, Shape::UNKNOWN], 1), "? [?]");
    assert_eq!(attend(&[Shape::of(&[N, S, N]), Shape::of(&[S, S])], 0), "? [N, S, W]");
    assert_eq!(
        attend(&[x, Shape::of(&[S.mul(Dim::lit(3)), S.mul(Dim::lit(2))])], 0),
        "axis 0 of argument 2 of `self.attn` is 3*S, but `Attention![W, 4]` needs 2*S\n\
         help: the input is [3*S, 2*S], expected [2*S, 2*S]"
    );
    assert_eq!(
        attend(&[Shape::of(&[N, W]), mask], 0),
        "argument 1 of `self.attn` is [N, W], but `Attention![W, 4]` needs [?, 2*S, W]"
    );
}

#[test]
fn own_methods_are_shown_by_their_declaration() {
    const OWN: Sig = Sig { name: "Block", scope: BLOCK, inputs: &[Shape::of(&[N, W])], outputs: &[Shape::SCALAR] };
    let step = call(&OWN, &identity(&[None]), &[Shape::of(&[S, W.add(Dim::lit(1))])], 0);
    assert_eq!(
        text("self.forward", &step, &BLOCK),
        "axis 1 of the input to `self.forward` is W + 1, but its declaration [S, W] needs W\n\
         help: the input is [S, W + 1], expected [S, W]"
    );
}

#[test]
fn leading_axes_pass_through() {
    let linear = |x: Shape| {
        let step = call(&FORWARD, &Dims::of(&[W, Dim::lit(9)]), &[x], 0);
        (step.verdict, Message::EMPTY.shape(&step.shape, &BLOCK).as_str().to_owned())
    };
    assert_eq!(linear(Shape::of(&[W])), (Verdict::Proved, "[9]".into()));
    assert_eq!(linear(Shape::of(&[N, S, W])), (Verdict::Proved, "[N, S, 9]".into()));
    assert_eq!(linear(Q.push(N).push(W)), (Verdict::Proved, "[Q.., N, 9]".into()));
    assert_eq!(linear(Shape::UNKNOWN), (Verdict::Undecided, "[.., 9]".into()));
    assert_eq!(linear(Shape::of(&[N, N])), (Verdict::Undecided, "[N, 9]".into()));
    const NAMED: Scope = Scope { model: &[], local: &["R", "C"] };
    const ROWS: Shape = Shape::with_rest("R", &NAMED, &[Dim::sym(1)]);
    const ADD: Sig = Sig { name: "add", scope: NAMED, inputs: &[ROWS, ROWS], outputs: &[ROWS] };
    let add = |a, b| text("add", &call(&ADD, &Dims::NONE, &[a, b], 0), &BLOCK);
    assert_eq!(add(Shape::of(&[N, W]), Shape::of(&[N, W])), "");
    assert_eq!(
        add(Shape::of(&[N, W]), Shape::of(&[N, N, W])),
        "argument 2 of `add` is [N, N, W], but its declaration [N, W] needs another number of axes"
    );
}

#[test]
fn a_negative_extent_is_a_mistake() {
    const CONV: Scope = Scope { model: &["K"], local: &["B", "T"] };
    const K: Dim = Dim::sym(0);
    const OUT: Dim = Dim::sym(2).sub(K).floor_div(Dim::lit(2)).add(Dim::lit(1));
    const SIG: Sig = Sig {
        name: "Conv",
        scope: CONV,
        inputs: &[Shape::of(&[Dim::sym(1), Dim::sym(2)])],
        outputs: &[Shape::of(&[Dim::sym(1), OUT])],
    };
    let conv = |kernel| call(&SIG, &Dims::of(&[Dim::lit(kernel)]), &[Shape::of(&[N, Dim::lit(8)])], 0);
    assert!(conv(8).proved());
    assert_eq!(
        text("self.conv", &conv(12), &BLOCK),
        "axis 1 of the result of `self.conv` is -1: the input [N, 8] is too small"
    );
}
