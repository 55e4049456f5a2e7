//! Whether views share elements, from their strides alone.

use cotangent_hal::View;

/// Whether two indices of a view may name one element: exact for every view of a contiguous tensor by slicing,
/// permuting, reversing and broadcasting.
pub(crate) fn repeats(shape: &[usize], strides: &[isize]) -> bool {
    let mut axes = [(0, 0); 8];
    let mut rank = 0;
    for (&extent, &stride) in shape.iter().zip(strides) {
        if extent > 1 {
            axes[rank] = (stride.unsigned_abs(), extent);
            rank += 1;
        }
    }
    let axes = &mut axes[..rank];
    axes.sort_unstable();
    let mut reach = 0usize;
    for &mut (stride, extent) in axes {
        if stride <= reach {
            return true;
        }
        reach = reach.saturating_add(stride.saturating_mul(extent - 1));
    }
    false
}

/// Whether both views name the same elements in the same order, given equal shapes.
pub(crate) fn same_layout(a: &View<'_>, b: &View<'_>) -> bool {
    a.dtype == b.dtype
        && a.offset == b.offset
        && a.shape == b.shape
        && a.shape.iter().zip(a.strides.iter().zip(b.strides)).all(|(&extent, (s, t))| extent <= 1 || s == t)
}

/// Whether two views of one buffer, neither empty, certainly share no element, also where their ranges interleave:
/// slices of one tensor along an axis.
///
/// `low` is each view's lowest element. The strides of both serve as digits' weights of one number system; the views
/// are boxes of digits, disjoint where one digit's ranges are.
pub(crate) fn disjoint(a: &View<'_>, a_low: usize, b: &View<'_>, b_low: usize) -> bool {
    if a.dtype.size() != b.dtype.size() {
        return false;
    }
    let mut weights = [0usize; 17];
    let mut count = 0;
    for view in [a, b] {
        for (&extent, &stride) in view.shape.iter().zip(view.strides) {
            let weight = stride.unsigned_abs();
            if extent > 1 && stride != 0 && !weights[..count].contains(&weight) {
                weights[count] = weight;
                count += 1;
            }
        }
    }
    weights[..count].sort_unstable_by(|a, b| b.cmp(a));
    if count == 0 || weights[count - 1] != 1 {
        weights[count] = 1;
        count += 1;
    }
    let weights = &weights[..count];
    if weights.windows(2).any(|w| w[0] % w[1] != 0) {
        return false;
    }
    let mut apart = false;
    for (i, &weight) in weights.iter().enumerate() {
        let Some((p, q)) = digits(a, a_low, weights, i).zip(digits(b, b_low, weights, i)) else { return false };
        apart |= p.1 <= q.0 || q.1 <= p.0;
        debug_assert!(weight > 0);
    }
    apart
}

/// The range of the `i`-th digit over a view's elements, or `None` where digits carry.
fn digits(view: &View<'_>, low: usize, weights: &[usize], i: usize) -> Option<(usize, usize)> {
    let mut axes = view
        .shape
        .iter()
        .zip(view.strides)
        .filter(|&(&e, &s)| e > 1 && s.unsigned_abs() == weights[i])
        .map(|(&e, _)| e);
    let extent = axes.next().unwrap_or(1);
    if axes.next().is_some() {
        return None;
    }
    let first = if i == 0 { low / weights[0] } else { low % weights[i - 1] / weights[i] };
    let end = first.checked_add(extent)?;
    (i == 0 || end <= weights[i - 1] / weights[i]).then_some((first, end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use cotangent_hal::{Buffer, DType, Memory};
    use std::any::Any;

    struct Nothing;

    impl Memory for Nothing {
        fn bytes(&self) -> usize {
            0
        }
        fn as_any(&self) -> &dyn Any {
            self
        }
    }

    fn elements(v: &View<'_>) -> Vec<usize> {
        let mut all = vec![v.offset as isize];
        for (&e, &s) in v.shape.iter().zip(v.strides) {
            all = all.iter().flat_map(|&x| (0..e as isize).map(move |i| x + i * s)).collect();
        }
        all.into_iter().map(|x| x as usize).collect()
    }

    #[test]
    fn slices_of_one_tensor() {
        let buffer = Buffer::new(Nothing);
        // [6, 4, 2] in row-major order, sliced by start and extent along each axis.
        let strides = [8isize, 2, 1];
        let slices: Vec<(usize, [usize; 3])> = (0..6 * 4 * 2)
            .flat_map(|i| {
                let at = [i / 8, i / 2 % 4, i % 2];
                [[1, 1, 1], [2, 2, 1], [1, 3, 2], [3, 1, 2]].map(|e| (at, e))
            })
            .filter(|(at, e)| at[0] + e[0] <= 6 && at[1] + e[1] <= 4 && at[2] + e[2] <= 2)
            .map(|(at, e)| (at[0] * 8 + at[1] * 2 + at[2], e))
            .collect();
        for (p, a_shape) in &slices {
            for (q, b_shape) in slices.iter().step_by(7) {
                let view =
                    |offset, shape| View { buffer: &buffer, dtype: DType::F32, offset, shape, strides: &strides };
                let (a, b) = (view(*p, a_shape), view(*q, b_shape));
                let exact = elements(&a).iter().all(|x| !elements(&b).contains(x));
                let said = disjoint(&a, *p, &b, *q);
                // A box that ends at an axis' last index never carries, so the answer is exact for slices.
                assert_eq!(said, exact, "{a:?} {b:?}");
            }
        }
    }

    #[test]
    fn broadcasts_repeat_and_slices_do_not() {
        assert!(repeats(&[3], &[0]) && repeats(&[2, 3], &[1, 1]) && repeats(&[4, 4], &[2, 3]));
        assert!(!repeats(&[1, 3], &[0, -2]) && !repeats(&[3, 2, 4], &[1, 12, -3]) && !repeats(&[], &[]));
    }
}
