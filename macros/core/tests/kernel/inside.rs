//! Every index that is accepted is inside, whatever the extents: random kernels, evaluated.

use cotangent_ir::{EvalError, Kernel, Node, Value, eval, parse};
use cotangent_macros_core::kernel_ir;

/// xorshift64*, so that every run sees the same kernels.
struct Rng(u64);

impl Rng {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % n
    }

    fn pick<'a>(&mut self, list: &[&'a str]) -> &'a str {
        list[self.below(list.len())]
    }
}

const EXTENTS: &[&str] =
    &["N", "K", "N - K + 1", "N + K", "N + K - 1", "2*N", "2*N + 1", "N*K", "N / 2", "(N - K) / 2 + 1", "N - 1", "3"];

/// An index over `i` and `k`.
fn index(rng: &mut Rng, depth: u32) -> String {
    const LEAVES: &[&str] = &["i", "k", "i", "k", "0", "1", "2", "N", "K"];
    if depth == 0 {
        return rng.pick(LEAVES).to_owned();
    }
    let (a, b) = (index(rng, depth - 1), index(rng, depth - 1));
    match rng.below(12) {
        0 | 1 => format!("({a} + {b})"),
        2 | 3 => format!("({a} - {b})"),
        4 => format!("2 * {a}"),
        5 => format!("{a} * {b}"),
        6 => format!("({a}) / {}", rng.pick(&["2", "3", "N", "K"])),
        7 => format!("({a}) % {}", rng.pick(&["2", "3", "N", "K"])),
        8 => format!("min({a}, {b})"),
        9 => format!("max({a}, {b})"),
        10 => format!("if i < k {{ {a} }} else {{ {b} }}"),
        _ => a,
    }
}

/// The shape of each argument for these extents; nothing where one is negative, or leaves a remainder.
fn shapes(extents: [&str; 2], n: i64, k: i64) -> Option<Vec<usize>> {
    let value = |e: &str| match e {
        "N" => Some(n),
        "K" => Some(k),
        "N - K + 1" => Some(n - k + 1),
        "N + K" => Some(n + k),
        "N + K - 1" => Some(n + k - 1),
        "2*N" => Some(2 * n),
        "2*N + 1" => Some(2 * n + 1),
        "N*K" => Some(n * k),
        "N / 2" => (n % 2 == 0).then_some(n / 2),
        "(N - K) / 2 + 1" => ((n - k) % 2 == 0).then_some((n - k) / 2 + 1),
        "N - 1" => Some(n - 1),
        _ => Some(3),
    };
    extents.iter().map(|e| value(e).and_then(|v| usize::try_from(v).ok())).collect()
}

/// Evaluates a kernel for small extents of all combinations; gives how many.
fn evaluate(kernel: &Kernel, extents: [&str; 2], source: &str) -> u32 {
    let mut count = 0;
    for (n, k) in (1..8).flat_map(|n| (1..6).map(move |k| (n, k))) {
        let Some(shape) = shapes(extents, n, k) else { continue };
        let value = |shape: &[usize]| Value::float(shape, vec![1.0; shape.iter().product()]);
        let args = [value(&[n as usize]), value(&[k as usize]), value(&shape[..1])];
        match eval(kernel, &args) {
            Ok(_) => count += 1,
            // A range such as `0..N - K + 1`, whose end is negative.
            Err(EvalError::Negative { .. }) => {}
            Err(error) => panic!("N = {n}, K = {k}: {error}\n{source}\n{kernel}"),
        }
    }
    count
}

#[test]
fn accepted_indices_are_inside() {
    let mut rng = Rng(0x5EED_5EED_5EED_5EED);
    let (mut accepted, mut evaluated) = (0, 0);
    for _ in 0..6_000 {
        let (x, y, taps) = (rng.pick(EXTENTS), rng.pick(EXTENTS), rng.pick(&["K", "N", "2", "N - K + 1"]));
        let depth = 1 + rng.below(3) as u32;
        let at = index(&mut rng, depth);
        let source = format!(
            "fn f(_a: Tensor![N], _b: Tensor![K], x: Tensor![{x}]) -> Tensor![{y}] {{
                |i| sum(0..{taps}, |k| x[{at}] + k)
            }}"
        );
        let Ok(text) = kernel_ir(Default::default(), source.parse().expect("tokens")) else { continue };
        let kernel = parse(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        let loads = kernel.nodes.iter().any(|n| matches!(n, Node::Load { guard: false, .. }));
        assert!(loads, "{text}");
        accepted += 1;
        evaluated += evaluate(&kernel, [x, y], &source);
    }
    assert!(accepted > 700 && evaluated > 10_000, "{accepted} kernels, {evaluated} evaluations");
}
