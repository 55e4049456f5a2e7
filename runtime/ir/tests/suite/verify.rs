//! The verifier on the kernels of `tests/verify`: each fault is reported on the line that says so, and no other.

use crate::common::{Rng, args, kernel, run};
use cotangent_ir::text::parse_with_lines;
use cotangent_ir::verify::{Part, What};
use cotangent_ir::{
    Arg, Axis, Builder, Dim, Fold, Id, Kernel, Kind, Link, Node, Num, Run, Save, Unary, cost, eval, link, print, show,
    verify, vjp,
};
use std::fs;
use std::path::Path;

#[test]
fn files() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/verify");
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let text = fs::read_to_string(&file).unwrap();
        let lines = (1u32..).zip(text.lines());
        let mut expected: Vec<(u32, String)> = lines
            .flat_map(|(n, line)| line.split("; error: ").skip(1).map(move |e| (n, e.trim_end().to_string())))
            .collect();
        let k = parse_with_lines(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        // Faults of the kernel as a whole belong to the line that names it.
        let named = (1u32..).zip(text.lines()).filter(|(_, line)| line.starts_with("kernel")).map(|(n, _)| n).last();
        let line = |id: Option<Id>| id.and_then(|id| k.span(id)).or(named).unwrap_or(0);
        let mut found: Vec<(u32, String)> = verify(&k).iter().map(|f| (line(f.node), f.to_string())).collect();
        expected.sort();
        found.sort();
        assert_eq!(found, expected, "{}", file.display());
        consumers_refuse(&k);
    }
}

/// No function panics on a faulty kernel.
fn consumers_refuse(k: &Kernel) {
    assert!(eval(k, &[]).is_err());
    assert!(link(k).is_err());
    assert!(vjp(k, &[], Save::Useful).is_err());
    assert!(Builder::open(k).is_err());
    cost(k);
    print(k);
    show(k);
}

/// What text cannot express.
#[test]
fn dangling_references() {
    let check = |nodes: Vec<Node>, links: Vec<Link>, expected: What| {
        let mut k = kernel("kernel k\nout y: float\n  y = 1.0");
        k.nodes.to_mut().extend(nodes);
        k.links = links.into();
        let found = verify(&k);
        assert_eq!(found.first().map(|f| &f.what), Some(&expected));
        consumers_refuse(&k);
    };
    let run = |at, len| Run { at, len };
    check(vec![Node::Unary(Unary::Exp, Id(1))], vec![], What::Order(Id(1)));
    check(vec![Node::Unary(Unary::Exp, Id(u32::MAX))], vec![], What::Order(Id(u32::MAX)));
    check(vec![Node::Size(Dim(0))], vec![], What::No { part: Part::Dim, index: 0 });
    check(vec![Node::Index(Axis(7))], vec![], What::No { part: Part::Axis, index: 7 });
    check(
        vec![Node::Load { arg: Arg(0), at: run(0, 0), guard: false }],
        vec![],
        What::No { part: Part::Arg, index: 0 },
    );
    check(vec![Node::Call { callee: 0, out: 0, args: run(0, 0) }], vec![], What::No { part: Part::Callee, index: 0 });
    check(vec![Node::Prod { kind: Kind::Float, factors: run(3, u32::MAX) }], vec![], What::Run);
    check(vec![Node::Sum { kind: Kind::Float, c: Num(0), terms: run(0, 0) }], vec![], What::Empty("sum"));
    check(
        vec![Node::Prod { kind: Kind::Float, factors: run(0, 1) }],
        vec![Link { k: Num(0), id: Id(0) }],
        What::Power(0),
    );
    check(vec![Node::Fold(Fold::Sum, run(0, 1), Id(0))], vec![Link { k: Num(0), id: Id(9) }], What::Order(Id(9)));

    let mut k = kernel("kernel k\nout y: float\n  y = 1.0");
    k.spans = vec![1, 2].into();
    assert_eq!(verify(&k)[0].to_string(), "there are 2 spans for 1 node");
    k.spans = vec![].into();
    k.outs.to_mut()[0].stores.to_mut()[0].node = Id(5);
    assert_eq!(verify(&k)[0].what, What::NoNode(Id(5)));
    consumers_refuse(&k);
}

#[test]
fn nesting_has_a_limit() {
    let mut b = Builder::new("deep");
    let n = b.dim("N");
    let n = b.size(n);
    let i = b.axis("i", n);
    let x = b.arg("x", Kind::Float, &[n]);
    let load = b.load_over(x, &[i]);
    let mut sum = load;
    for depth in 1..=65 {
        let total = b.sum(&[i], sum);
        sum = b.add(load, total);
        if depth == 64 {
            let mut fits = b.clone();
            fits.output_over("y", &[i], sum);
            let k = fits.finish();
            assert_eq!(verify(&k), []);
            assert!(vjp(&k, &[Arg(0)], Save::Useful).is_ok());
        }
    }
    b.output_over("y", &[i], sum);
    let faults = verify(&b.finish());
    assert_eq!(faults[0].to_string(), "reductions cannot be nested deeper than 64");
}

#[test]
fn linked_is_inlined() {
    let called = kernel(
        "
        kernel half
        arg a: float
        out y: float
          y = 0.5 * a
        kernel swish
        arg x: float
        arg beta: float
        %0 = sigmoid(x * beta)
        out y: float
          y = x * %0 + @half.y(x)
        out gate: float
          gate = %0
        kernel rows
        dim R, C
        axis r < R, i < C
        arg x: float[R, C]
        arg b: float
        out y: float[R]
          y[r] = sum[i](@swish.y(x[r, i] + 1.0, b) * @swish.gate(x[r, i], 2.0))
        ",
    );
    let inlined = kernel(
        "
        kernel rows
        dim R, C
        axis r < R, i < C
        arg x: float[R, C]
        arg b: float
        %0 = x[r, i] + 1.0
        out y: float[R]
          y[r] = sum[i]((((%0) * sigmoid((%0) * b)) + 0.5 * (%0)) * sigmoid(2.0 * x[r, i]))
        ",
    );
    let linked = link(&called).unwrap();
    assert!(linked.callees.is_empty());
    let args = args(&called, &mut Rng::new(1));
    assert_eq!(run(&linked, &args), run(&inlined, &args));
    assert_eq!(run(&called, &args), run(&inlined, &args));
    let inlined = Builder::open(&inlined).unwrap().finish();
    assert_eq!(linked, inlined, "\n{linked}\n{inlined}");
    crate::common::check_gradient(&called, &args, 1e-7);
}

#[test]
fn errors_in_a_callee_point_at_the_call() {
    let k = parse_with_lines(
        "kernel f\narg a: float\nout y: float\n  y = trigamma(a * a)\n\
         kernel k\narg x: float\nout y: float\n  y = exp(\n    @f.y(x)\n  )",
    )
    .unwrap();
    let errors = vjp(&k, &[Arg(0)], Save::Useful).unwrap_err();
    assert_eq!(errors[0].to_string(), "the derivative of `trigamma` is not supported yet; mark it with `detach`");
    assert_eq!(errors[0].span, Some(9));
}
