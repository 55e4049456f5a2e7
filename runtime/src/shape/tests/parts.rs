//! Rules of slices, positions, borders, repetition and diagonals.

use super::*;
use crate::shape::rules::*;

fn number(n: i64) -> Plain {
    Plain::dim(l(n))
}

fn list(dims: &[Dim]) -> Plain {
    Plain::list(dims)
}

fn range(start: Option<i64>, end: Option<i64>, step: i64) -> Plain {
    Plain::range(start.map(l), end.map(l), l(step))
}

const FULL: Plain = Plain::range(None, None, Dim::lit(1));

#[test]
fn slices_have_exact_extents() {
    let cut = |shape, entries: &[Plain]| say("slice", slice(&[shape], entries, 0));
    let x = of(&[B, N, l(10)]);
    assert_eq!(cut(x, &[FULL, range(Some(1), None, 1)]), "= [B, N - 1, 10]");
    assert_eq!(cut(x, &[FULL, range(None, Some(-1), 1), range(Some(2), Some(-1), 1)]), "= [B, N - 1, 7]");
    assert_eq!(cut(x, &[Plain::ELLIPSIS, range(None, None, 3)]), "= [B, N, 4]");
    assert_eq!(cut(x, &[Plain::ELLIPSIS, range(None, None, -1)]), "= [B, N, 10]");
    assert_eq!(cut(x, &[Plain::ELLIPSIS, range(Some(-1), Some(2), -2)]), "= [B, N, 4]");
    assert_eq!(cut(x, &[Plain::ELLIPSIS, range(Some(5), Some(99), 1)]), "= [B, N, 5]");
    assert_eq!(cut(x, &[Plain::ELLIPSIS, range(Some(7), Some(3), 1)]), "= [B, N, 0]");
    assert_eq!(cut(x, &[Plain::ELLIPSIS, Plain::NEW, Plain::at(l(-1))]), "= [B, N, 1]");
    assert_eq!(cut(x, &[Plain::at(l(0)), FULL]), "= [N, 10]");
    assert_eq!(cut(x, &[FULL, Plain::range(None, Some(N), l(1))]), "= [B, N, 10]");
    assert_eq!(cut(x, &[FULL, range(Some(3), None, 1)]), "? [B, N - 3, 10]");
    assert_eq!(cut(x, &[FULL, Plain::at(l(1))]), "? [B, 10]");
    assert_eq!(cut(rest(&[C]), &[FULL]), "? [?]");
    assert_eq!(cut(x, &[FULL, FULL, Plain::at(l(10))]), "slice: there is no entry 10, axis 2 of [B, N, 10] is 10");
    assert_eq!(cut(x, &[FULL, FULL, Plain::at(l(-11))]), "slice: there is no entry -11, axis 2 of [B, N, 10] is 10");
    assert_eq!(cut(of(&[B]), &[FULL, FULL]), "slice: [B] has 1 axis, expected at least 2");
    let put = |src| say("slice_assign", slice_put(&[x, src], &[FULL, range(Some(1), None, 1)], 0));
    assert_eq!(put(of(&[N.sub(l(1)), l(10)])), "= [B, N, 10]");
    assert_eq!(put(of(&[N, l(10)])), "cannot broadcast [B, N - 1, 10] with [N, 10]: axis -2 is N - 1 and N");
    let entry = |at| say("select", one_entry(&[x], &[number(2), number(at)], 0));
    assert_eq!(entry(9), "= [B, N]");
    assert_eq!(entry(-11), "select: there is no entry -11, axis 2 of [B, N, 10] is 10");
}

#[test]
fn positions_lie_beside_what_they_name() {
    let pick = |x, index, axis| say("gather", gather(&[x, index], &[number(axis)], 0));
    assert_eq!(pick(of(&[B, C]), of(&[B, l(3)]), 1), "? [B, 3]");
    assert_eq!(pick(of(&[B, C]), Shape::UNKNOWN, 1), "? [?]");
    assert_eq!(
        pick(of(&[B, C]), of(&[B]), 0),
        "gather: the index [B] and [B, C] must have as many axes, and the index be no longer but for axis 0"
    );
    assert_eq!(
        pick(of(&[B, l(4)]), of(&[T, l(5)]), 0),
        "gather: the index [T, 5] and [B, 4] must have as many axes, and the index be no longer but for axis 0"
    );
    let put = |index, src| say("scatter", scatter(&[of(&[B, l(4)]), index, src], &[number(0)], 0));
    assert_eq!(put(of(&[T, l(4)]), of(&[T, l(4)])), "? [B, 4]");
    assert_eq!(put(of(&[T, l(4)]), of(&[T, l(3)])), "scatter: the source is [T, 3], the index needs [T, 4]");
    let all = |index| say("index_select", index_select(&[of(&[B, C]), index], &[number(-1)], 0));
    assert_eq!(all(of(&[N])), "? [B, N]");
    assert_eq!(all(of(&[N, T])), "index_select: [N, T] has 2 axes, expected at most 1");
    let add = |src| say("index_add", index_put(&[of(&[B, C]), of(&[N]), src], &[number(0)], 0));
    assert_eq!(add(of(&[N, C])), "? [B, C]");
    assert_eq!(add(of(&[N.add(l(1)), C])), "index_add: the source is [N + 1, C], the index needs [N, C]");
    let along = |index| say("take_along_dim", take_along_dim(&[of(&[B, l(1), C]), index], &[number(2)], 0));
    assert_eq!(along(of(&[l(1), T, N])), "= [B, T, N]");
    assert!(along(of(&[T, N])).starts_with("take_along_dim: the index [T, N] and [B, 1, C]"));
    assert_eq!(say("take", take(&[of(&[B, C]), of(&[T])], &[], 0)), "= [T]");
    assert_eq!(say("masked_select", masked_select(&[of(&[B, C]), of(&[C])], &[], 0)), "? [?]");
    assert_eq!(say("index_fill", index_fill(&[of(&[B, C]), of(&[N])], &[number(0)], 0)), "? [B, C]");
    assert_eq!(say("one_hot", one_hot(&[of(&[B])], &[Plain::dim(C)], 0)), "? [B, C]");
    let mask = masked_scatter(&[of(&[C]), of(&[B, C]), of(&[N])], &[], 0);
    assert_eq!(
        say("masked_scatter", mask),
        "masked_scatter: [B, C] does not broadcast into [C], whose shape the result keeps"
    );
}

#[test]
fn axes_move_and_repeat() {
    let x = of(&[B, T, C]);
    assert_eq!(say("flip", flip(&[x], &[list(&[l(0), l(-1)])], 0)), "= [B, T, C]");
    assert_eq!(
        say("flip", flip(&[x], &[number(3)], 0)),
        "flip: there is no axis 3 in [B, T, C], whose axes are 0 to 2"
    );
    assert_eq!(say("roll", roll(&[x], &[number(1), number(1)], 0)), "? [B, T, C]");
    assert_eq!(say("movedim", movedim(&[x], &[number(0), number(-1)], 0)), "= [T, C, B]");
    assert_eq!(say("movedim", movedim(&[x], &[list(&[l(0), l(1)]), list(&[l(2), l(0)])], 0)), "= [T, C, B]");
    assert_eq!(say("rot90", rot90(&[x], &[number(1), list(&[l(0), l(1)])], 0)), "= [T, B, C]");
    assert_eq!(say("repeat", repeat(&[x], &[list(&[l(2), l(1), l(1), l(3)])], 0)), "= [2, B, T, 3*C]");
    assert_eq!(say("repeat", repeat(&[x], &[list(&[l(2)])], 0)), "repeat: [B, T, C] has 3 axes, expected at most 1");
    assert_eq!(say("tile", tile(&[x], &[list(&[l(2)])], 0)), "= [B, T, 2*C]");
    let twice = repeat_interleave(&[x], &[number(1), number(2)], 0);
    assert_eq!(say("repeat_interleave", twice), "= [B, 2*T, C]");
    assert_eq!(say("repeat_interleave_each", some_of(&[x, of(&[T])], &[number(1)], 0)), "? [B, ?, C]");
    assert_eq!(say("chunk", chunk(&[x], &[number(2), number(1)], 0)), "? [B, ?, C]");
    assert_eq!(say("unbind", unbind(&[x], &[number(1)], 0)), "= [B, C]");
    assert_eq!(say("unflatten", unflatten(&[of(&[B, l(12)])], &[number(1), list(&[l(3), l(-1)])], 0)), "= [B, 3, 4]");
    assert_eq!(
        say("unflatten", unflatten(&[of(&[B, l(12)])], &[number(1), list(&[l(5), l(2)])], 0)),
        "unflatten: [12] has 12 elements, [5, 2] has 10"
    );
    assert_eq!(say("squeeze", squeeze(&[of(&[l(1), B, l(1)])], &[list(&[l(0), l(2)])], 0)), "= [B]");
    assert_eq!(say("squeeze", squeeze(&[of(&[l(1), l(2)])], &[Plain::ALL], 0)), "= [2]");
    assert_eq!(say("expand_as", expand_as(&[of(&[l(1), C]), x], &[], 0)), "= [B, T, C]");
    assert_eq!(say("reshape_as", reshape_as(&[of(&[l(6)]), of(&[l(2), l(3)])], &[], 0)), "= [2, 3]");
    assert_eq!(
        say("reshape_as", reshape_as(&[of(&[l(6)]), of(&[l(2), l(4)])], &[], 0)),
        "reshape_as: [6] has 6 elements, [2, 4] has 8"
    );
    assert_eq!(say("hstack", hstack(&[of(&[B, C]), of(&[B, T])], &[], 0)), "= [B, C + T]");
    assert_eq!(say("vstack", vstack(&[of(&[B, C]), of(&[T, C])], &[], 0)), "= [B + T, C]");
    assert_eq!(say("meshgrid", meshgrid(&[of(&[B]), of(&[C])], &[], 0)), "? [B, C]");
}

#[test]
fn windows_borders_and_diagonals() {
    let windows = |n, size, step| say("unfold", unfold(&[of(&[B, n])], &[number(1), number(size), number(step)], 0));
    assert_eq!(windows(l(10), 3, 2), "= [B, 4, 3]");
    assert_eq!(windows(N, 1, 1), "= [B, N, 1]");
    assert_eq!(windows(l(2), 3, 1), "unfold: entries from 0, 3 of them, reach past the end: axis 1 of [B, 2] is 2");
    let border = |widths: &[Dim]| say("pad", pad(&[of(&[B, N, l(4)])], &[list(widths)], 0));
    assert_eq!(border(&[l(1), l(2)]), "? [B, N, 7]");
    assert_eq!(border(&[l(0), l(-1), l(1), l(1)]), "? [B, N + 2, 3]");
    assert_eq!(border(&[l(1)]), "pad: 1 widths are no pairs for the axes of [B, N, 4]");
    assert_eq!(border(&[l(-3), l(-2)]), "pad: entries from 0, 5 of them, reach past the end: axis 2 of [B, N, 4] is 4");
    let line = |k, a, b| say("diagonal", diagonal(&[of(&[B, N, N])], &[number(k), number(a), number(b)], 0));
    assert_eq!(line(0, 1, 2), "= [B, N]");
    assert_eq!(line(1, 1, 2), "= [B, N - 1]");
    assert_eq!(line(0, 0, 2), "? [N, ?]");
    assert_eq!(line(0, 1, -2), "diagonal: axis 1 of [B, N, N] is named twice");
    assert_eq!(say("diag", diag(&[of(&[N])], &[number(-1)], 0)), "= [N + 1, N + 1]");
    assert_eq!(say("diag", diag(&[of(&[B, N, N])], &[number(0)], 0)), "diag: [B, N, N] has 3 axes, expected at most 2");
    let embed = diag_embed(&[of(&[B, N])], &[number(0), number(-2), number(-1)], 0);
    assert_eq!(say("diag_embed", embed), "= [B, N, N]");
    assert_eq!(say("trace", trace(&[of(&[N, N])], &[], 0)), "= []");
    assert_eq!(say("trace", trace(&[of(&[N])], &[], 0)), "trace: [N] has 1 axis, expected 2");
    assert_eq!(say("tril", matrices(&[of(&[B, N, N])], &[], 0)), "= [B, N, N]");
    assert_eq!(say("tril", matrices(&[of(&[N])], &[], 0)), "tril: [N] has 1 axis, expected at least 2");
}
