//! Random symbolic shapes against plain arithmetic on real ones: what is proved must hold under every binding, with
//! the shape that was worked out; what has failed must fail.

use super::*;
use crate::shape::rules::*;

/// Bindings are 2 or more, so that no symbol broadcasts by accident: an axis broadcasts where it is the number 1.
const BINDINGS: &[[usize; 5]] = &[[12, 2, 3, 5, 7], [12, 3, 4, 2, 9], [24, 4, 5, 3, 2], [60, 6, 2, 2, 11]];
const ROUNDS: usize = 3000;

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// A dim whose value is whole under each of [`BINDINGS`].
    fn dim(&mut self) -> Dim {
        let a = self.pick(&[C, H, B, T, l(1), l(1), l(2), l(3), C.div(H), B]);
        match self.below(6) {
            0 => a.mul(self.pick(&[B, T, l(2), l(3)])),
            1 => a.add(self.pick(&[l(1), T, l(2)])),
            _ => a,
        }
    }

    fn shape(&mut self, least: usize, most: usize) -> Vec<Dim> {
        (0..least + self.below(most - least + 1)).map(|_| self.dim()).collect()
    }

    /// A shape that is like `other` but for an occasional axis.
    fn like(&mut self, other: &[Dim]) -> Vec<Dim> {
        other.iter().map(|d| if self.below(5) == 0 { self.dim() } else { *d }).collect()
    }
}

fn real(shape: &[Dim], values: &[usize]) -> Vec<usize> {
    shape.iter().map(|d| d.eval(values).expect("whole")).collect()
}

/// Compares a step with what plain arithmetic says, `None` being an error.
fn agree(step: &Step, values: &[usize], expected: Option<Vec<usize>>, what: impl Fn() -> String) {
    match (step.verdict, expected) {
        (Verdict::Failed, expected) => assert_eq!(expected, None, "{}", what()),
        (Verdict::Proved, None) => panic!("{} was proved: {}", what(), show_shape(&step.shape)),
        (Verdict::Undecided, None) => {}
        (Verdict::Proved | Verdict::Undecided, Some(expected)) => {
            if let Some(rank) = step.shape.rank() {
                assert_eq!(rank, expected.len(), "{}", what());
            }
            for (i, extent) in expected.iter().rev().enumerate().take(step.shape.len()) {
                let dim = step.shape.last(i);
                assert!(!dim.known() || dim.eval(values) == Some(*extent), "{}: {}", what(), show_shape(&step.shape));
                assert!(dim.known() || !step.proved(), "{}", what());
            }
        }
    }
}

fn broadcasted(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let rank = a.len().max(b.len());
    let at = |s: &[usize], i: usize| if i + s.len() < rank { 1 } else { s[i + s.len() - rank] };
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (x, y) if x == y || y == 1 => Some(x),
            (1, y) => Some(y),
            _ => None,
        })
        .collect()
}

fn multiplied(a: &[usize], b: &[usize]) -> Option<Vec<usize>> {
    let (row, column) = (a.len() == 1, b.len() == 1);
    let a = if row { vec![1, a[0]] } else { a.to_vec() };
    let b = if column { vec![b[0], 1] } else { b.to_vec() };
    let (m, n) = (a[a.len() - 2], b[b.len() - 1]);
    if a[a.len() - 1] != b[b.len() - 2] {
        return None;
    }
    let mut shape = broadcasted(&a[..a.len() - 2], &b[..b.len() - 2])?;
    shape.extend((!row).then_some(m));
    shape.extend((!column).then_some(n));
    Some(shape)
}

fn reshaped(from: &[usize], to: &[i64]) -> Option<Vec<usize>> {
    let numel: usize = from.iter().product();
    let rest: usize = to.iter().filter(|d| **d != -1).map(|d| *d as usize).product();
    if to.contains(&-1) {
        let hole = numel.is_multiple_of(rest).then(|| numel / rest)?;
        return Some(to.iter().map(|d| if *d == -1 { hole } else { *d as usize }).collect());
    }
    (numel == rest).then(|| to.iter().map(|d| *d as usize).collect())
}

#[test]
fn broadcasts_and_products_agree() {
    let mut random = Random(1);
    let (mut proved, mut failed) = (0, 0);
    for _ in 0..ROUNDS {
        let a = random.shape(1, 4);
        let cut = random.below(a.len());
        let mut b = random.like(&a[cut..]);
        if random.below(2) == 0 && b.len() >= 2 {
            let n = b.len();
            b.swap(n - 1, n - 2);
        }
        let add = broadcast(&[of(&a), of(&b)], &[], 0);
        let product = matmul(&[of(&a), of(&b)], &[], 0);
        proved += add.proved() as usize + product.proved() as usize;
        failed += add.failed() as usize + product.failed() as usize;
        for values in BINDINGS {
            let (x, y) = (real(&a, values), real(&b, values));
            // The rules broadcast the number 1 alone; a sum or quotient that comes to 1 is a mistake to them.
            let hidden = a.iter().chain(&b).any(|d| !d.is(1) && d.eval(values) == Some(1));
            if !hidden {
                agree(&add, values, broadcasted(&x, &y), || {
                    format!("{} + {}", show_shape(&of(&a)), show_shape(&of(&b)))
                });
                agree(&product, values, multiplied(&x, &y), || {
                    format!("{} x {}", show_shape(&of(&a)), show_shape(&of(&b)))
                });
            }
        }
    }
    assert!(proved > ROUNDS / 4 && failed > ROUNDS / 10, "{proved} {failed}");
}

#[test]
fn reshapes_agree() {
    let mut random = Random(2);
    let (mut proved, mut failed) = (0, 0);
    for _ in 0..ROUNDS {
        let from = random.shape(1, 4);
        let mut to = random.like(&from);
        if to.len() > 1 && random.below(2) == 0 {
            let last = to.pop().unwrap();
            let at = random.below(to.len());
            to[at] = to[at].mul(last);
        }
        if random.below(2) == 0 {
            let at = random.below(to.len());
            to[at] = l(-1);
        }
        if to.iter().any(|d| !d.known()) {
            continue;
        }
        let step = reshape(&[of(&from)], &[Plain::list(&to)], 0);
        proved += step.proved() as usize;
        failed += step.failed() as usize;
        for values in BINDINGS {
            let target: Vec<i64> =
                to.iter().map(|d| if d.is(-1) { -1 } else { d.eval(values).unwrap() as i64 }).collect();
            agree(&step, values, reshaped(&real(&from, values), &target), || {
                format!("{} to {}", show_shape(&of(&from)), show_shape(&of(&to)))
            });
        }
        let flat = flatten(&[of(&from)], &[Plain::dim(l(-1))], 0);
        assert!(flat.shape.same(&of(&from)));
    }
    assert!(proved > ROUNDS / 4 && failed > ROUNDS / 50, "{proved} {failed}");
}

#[test]
fn lists_and_parts_agree() {
    let mut random = Random(3);
    for _ in 0..ROUNDS {
        let a = random.shape(1, 4);
        let (b, at) = (random.like(&a), random.below(a.len()));
        let axis = Plain::dim(l(if random.below(2) == 0 { at as i64 } else { at as i64 - a.len() as i64 }));
        let joined = cat(&[of(&a), of(&b)], &[axis], 0);
        let piled = stack(&[of(&a), of(&b)], &[Plain::dim(l(at as i64))], 0);
        let sizes = [random.dim(), random.dim()];
        let whole = if random.below(2) == 0 { sizes[0].add(sizes[1]) } else { a[at] };
        let parts = split(&[of(&a).with(at, whole)], &[axis, Plain::list(&sizes)], 1);
        let part = narrow(&[of(&a)], &[axis, Plain::dim(l(1)), Plain::dim(b[at])], 0);
        for values in BINDINGS {
            let (x, y) = (real(&a, values), real(&b, values));
            let what = || format!("{} {} axis {at}", show_shape(&of(&a)), show_shape(&of(&b)));
            let rest_alike = (0..x.len()).all(|i| i == at || x[i] == y[i]);
            let mut longer = x.clone();
            longer[at] += y[at];
            agree(&joined, values, rest_alike.then_some(longer), what);
            let mut pile = x.clone();
            pile.insert(at, 2);
            agree(&piled, values, (x == y).then_some(pile), what);
            let cut = real(&sizes, values);
            let mut second = x.clone();
            second[at] = cut[1];
            agree(&parts, values, (whole.eval(values) == Some(cut[0] + cut[1])).then_some(second), what);
            let mut narrowed = x.clone();
            narrowed[at] = y[at];
            agree(&part, values, (y[at] < x[at]).then_some(narrowed), what);
        }
    }
}

#[test]
fn calls_agree_with_checks() {
    const SIG: Sig = Sig {
        name: "f",
        scope: SCOPE,
        inputs: &[Shape::of(&[B, T, C]), Shape::of(&[T, C.div(H)]), Shape::of(&[B.mul(T), N])],
        outputs: &[Shape::of(&[B, T.add(N), C.mul(Dim::lit(2))])],
    };
    let mut random = Random(4);
    let (mut proved, mut failed) = (0, 0);
    for _ in 0..ROUNDS {
        // Any dims will do for the callee's; they stand for values under which `C/H` is whole.
        let model = random.pick(&[[C, H], [C.mul(B), H], [l(24), l(4)]]);
        let (b, t, n) = (random.dim(), random.dim(), random.dim());
        let shapes = [vec![b, t, model[0]], vec![t, model[0].div(model[1])], vec![b.mul(t), n]];
        let shapes = shapes.map(|s| random.like(&s));
        if shapes.iter().flatten().any(|d| !d.known()) {
            continue;
        }
        let step = call(&SIG, &Dims::of(&model), &shapes.each_ref().map(|s| of(s)), 0);
        proved += step.proved() as usize;
        failed += step.failed() as usize;
        for values in BINDINGS {
            let dims = real(&model, values);
            let inputs = shapes.each_ref().map(|s| real(s, values));
            let fits = SIG.check("f", &[], &dims, &inputs.each_ref().map(|s| Some(&s[..]))).is_ok();
            let result = vec![inputs[0][0], inputs[0][1] + inputs[2][1], 2 * dims[0]];
            agree(&step, values, fits.then_some(result), || {
                format!("{:?}", shapes.each_ref().map(|s| show_shape(&of(s))))
            });
        }
    }
    assert!(proved > ROUNDS / 20 && failed > ROUNDS / 10, "{proved} {failed}");
}
