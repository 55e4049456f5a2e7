//! Normal forms, comparison, printing and values of dims.

use super::*;

#[test]
fn equal_polynomials_have_one_form() {
    assert_eq!(C.add(C).add(C), l(3).mul(C));
    assert_eq!(C.add(l(1)).mul(C.sub(l(1))), C.mul(C).sub(l(1)));
    assert_eq!(C.sub(C), l(0));
    assert_eq!(C.div(H).mul(H), C);
    assert_eq!(C.div(l(2)).add(C.div(l(2))), C);
    assert_eq!(C.div(l(2)).mul(l(2)), C);
    assert_eq!(l(4).mul(C).div(l(2)), l(2).mul(C));
    assert_eq!(l(6).div(l(-3)), l(-2));
    assert_eq!(B.mul(T).add(B).div(T.add(l(1))), B);
    assert_eq!(C.mul(C).sub(l(1)).div(C.sub(l(1))), C.add(l(1)));
}

#[test]
fn what_leaves_the_range_is_unknown_and_never_panics() {
    let mut sum = l(0);
    for k in 0..9 {
        sum = sum.add(Dim::sym(k));
    }
    assert!(!sum.known());
    assert!(!l(i64::MAX).add(l(1)).known());
    assert!(!l(i64::MIN).known());
    assert!(!l(i64::MAX).mul(l(2)).known());
    assert!(!l(-i64::MAX).sub(l(1)).known());
    assert!(!C.mul(C).mul(C).mul(C).known());
    assert!(!l(1).div(l(0)).known());
    assert!(!C.div(C.add(l(1))).known());
    assert!(!Dim::sym(SYMBOLS).known());
    assert!(!ANY.add(l(1)).known() && !ANY.mul(l(0)).known() && !l(1).div(ANY).known());
    assert!(!l(1).div(l(i64::MAX)).div(l(i64::MAX)).known());
    let _ = l(i64::MAX).differs(&l(-i64::MAX));
    let _ = C.mul(l(i64::MAX)).exceeds(&C.mul(l(-5)));
}

#[test]
fn dims_differ_only_where_no_positive_binding_makes_them_equal() {
    for (a, b) in [
        (l(256), l(128)),
        (C, C.add(l(1))),
        (l(2).mul(C), l(3).mul(C)),
        (C, l(0)),
        (C, l(-1)),
        (B.mul(T), B.mul(T).add(H)),
        (B.mul(T).add(B), B),
        (l(2).mul(C), l(7)),
        (l(4).mul(C), l(2).mul(H).add(l(1))),
        (l(784).mul(B), l(780).mul(B)),
        (C.div(H), C.div(H).add(l(1))),
    ] {
        assert!(a.differs(&b) && b.differs(&a), "{} {}", show(a), show(b));
        assert!(!a.same(&b));
    }
    for (a, b) in [
        (C, H),
        (C, l(5)),
        (C, l(1)),
        (C.mul(H), C),
        (l(2).mul(C), l(8)),
        (C.mul(C), C.mul(H)),
        (C.div(l(2)), l(3)),
        (C.div(H), l(1)),
        (ANY, l(1)),
        (C, C),
    ] {
        assert!(!a.differs(&b) && !b.differs(&a), "{} {}", show(a), show(b));
    }
    assert!(!ANY.same(&ANY));
}

#[test]
fn dims_print_as_users_write_them() {
    for (dim, text) in [
        (l(0), "0"),
        (l(1), "1"),
        (l(-784), "-784"),
        (l(3).mul(C), "3*C"),
        (C.div(H), "C/H"),
        (B.mul(T), "B*T"),
        (C.mul(B).mul(T), "B*T*C"),
        (C.add(l(1)), "C + 1"),
        (C.sub(l(1)), "C - 1"),
        (l(1).sub(C), "1 - C"),
        (l(-2).mul(C), "-2*C"),
        (l(2).mul(C).sub(H).add(l(1)), "2*C + 1 - H"),
        (C.mul(C), "C*C"),
        (C.div(l(2)), "C/2"),
        (C.add(l(1)).div(l(2)), "(C + 1)/2"),
        (l(3).mul(C).div(H).div(l(2)), "3*C/H/2"),
        (l(1).div(H), "1/H"),
        (ANY, "?"),
    ] {
        assert_eq!(show(dim), text);
    }
    assert_eq!(show_shape(&of(&[])), "[]");
    assert_eq!(show_shape(&of(&[B, l(784)])), "[B, 784]");
    assert_eq!(show_shape(&rest(&[C])), "[R.., C]");
    assert_eq!(show_shape(&dots(&[C])), "[.., C]");
    assert_eq!(show_shape(&dots(&[])), "[..]");
    assert_eq!(show_shape(&Shape::UNKNOWN), "[?]");
}

#[test]
fn values_and_substitution_agree() {
    let values = [12, 3, 5, 7];
    let dims = values.map(|v| l(v as i64));
    for dim in [C.div(H).mul(B), B.mul(T).add(l(4)), C.sub(l(2)), C.div(l(4)), C.add(H).div(l(5)), l(9), C.mul(C)] {
        assert_eq!(dim.eval(&values).map(|v| l(v as i64)), Some(dim.subst(&dims)), "{}", show(dim));
    }
    assert_eq!(C.div(T).eval(&values), None);
    assert_eq!(H.sub(C).eval(&values), None);
    assert_eq!(N.eval(&values), None);
    assert_eq!(C.div(H).eval(&[4, 0]), None);
    assert_eq!(C.mul(C).mul(H).eval(&[usize::MAX, usize::MAX]), None);
    assert_eq!(C.mul(l(2)).subst(&[B.add(l(1))]), B.mul(l(2)).add(l(2)));
    assert_eq!(C.div(H).subst(&[B.mul(T), T]), B);
    assert!(!C.mul(H).subst(&[B]).known());
    assert_eq!(l(3).subst(&[]), l(3));
}

#[test]
fn rounding_down_has_one_form() {
    let half = |dim: Dim| dim.floor_div(l(2));
    assert_eq!(l(7).floor_div(l(2)), l(3));
    assert_eq!(l(-7).floor_div(l(2)), l(-4));
    assert_eq!(half(l(2).mul(C)), C);
    assert_eq!(half(l(2).mul(C).add(l(1))), C);
    assert_eq!(half(C.add(l(2))), half(C).add(l(1)));
    assert_eq!(half(half(C)), C.floor_div(l(4)));
    assert_eq!(half(half(C.add(l(1))).add(l(1))), C.add(l(3)).floor_div(l(4)));
    assert_eq!(C.floor_div(H).floor_div(l(1)), C.floor_div(H));
    assert_eq!(half(C).sub(half(C)), l(0));
    assert_eq!(half(C).mul(l(1)), half(C));
    assert_eq!(half(l(4).mul(C).add(l(6))).floor_div(l(4)), C.add(l(1)).floor_div(l(2)));
    for unknown in
        [half(C).add(half(C)), half(C).mul(l(2)), half(C).div(l(2)), C.floor_div(l(0)), C.div(l(3)).floor_div(l(2))]
    {
        assert!(!unknown.known(), "{}", show(unknown));
    }
    for (dim, text) in
        [(half(C), "floor(C/2)"), (half(C.sub(l(1))), "floor((C - 1)/2)"), (C.floor_div(H), "floor(C/H)")]
    {
        assert_eq!(show(dim), text);
    }
}

#[test]
fn rounding_down_is_compared_by_its_bounds() {
    let half = |dim: Dim| dim.floor_div(l(2));
    for (a, b) in [(C, half(C)), (half(C).add(l(1)), l(0)), (half(C.add(l(2))), l(0)), (C.add(l(1)), half(C.add(l(1))))]
    {
        assert!(a.exceeds(&b) && a.differs(&b) && b.differs(&a) && !b.exceeds(&a), "{} {}", show(a), show(b));
    }
    for (a, b) in [(half(C), l(0)), (half(C), half(C.add(l(1)))), (C, half(C.mul(C))), (half(C), H)] {
        assert!(!a.differs(&b) && !a.exceeds(&b), "{} {}", show(a), show(b));
    }
}

#[test]
fn rounding_down_survives_substitution() {
    // The extent that a window leaves, over the symbols size, window and stride.
    let size = C.sub(H).floor_div(B).add(l(1));
    for (n, k, stride) in [(28, 3, 1), (28, 3, 2), (7, 2, 2), (3, 3, 5), (9, 2, 3)] {
        let want = (n - k) / stride + 1;
        assert_eq!(size.subst(&[l(n), l(k), l(stride)]), l(want));
        assert_eq!(size.eval(&[n as usize, k as usize, stride as usize]), Some(want as usize));
        // Once more, of what is left: rounded inside of rounded.
        let twice = size.subst(&[size.subst(&[T, l(k), l(stride)]), l(2), l(2)]);
        assert_eq!(twice.subst(&[ANY, ANY, ANY, l(n)]), l((want - 2).div_euclid(2) + 1), "{}", show(twice));
    }
    assert_eq!(size.eval(&[2, 3, 0]), None);
    assert!(!C.mul(H).subst(&[T.floor_div(l(2)), H]).known());
    assert!(!l(5).sub(C).subst(&[T.floor_div(l(2))]).known());
    assert_eq!(C.add(H).subst(&[T.floor_div(l(2)), l(1)]), T.add(l(2)).floor_div(l(2)));
}

#[test]
fn long_messages_end_with_an_ellipsis_on_a_character() {
    let long = Message::EMPTY.text(&"é".repeat(300));
    assert!(long.as_str().ends_with("é…") && long.as_str().len() <= 512);
    assert_eq!(long.text("more").as_str(), long.as_str());
    assert_eq!(Message::EMPTY.number(i64::MIN).as_str(), "-9223372036854775808");
}

#[test]
fn what_may_be_zero_proves_nothing() {
    let (h, pad, two) = (Dim::sym(0), Dim::sym(1).maybe_zero(), Dim::lit(2));
    let padded = h.add(pad.mul(two));
    assert!(!padded.differs(&h) && !padded.exceeds(&h) && padded.same(&h.add(pad).add(pad)));
    assert!(padded.add(Dim::lit(1)).exceeds(&h) && padded.add(Dim::lit(1)).differs(&h));
    // Three times what may be zero does not outweigh one, nor does its product with another.
    assert!(!pad.mul(h).add(h).exceeds(&h) && !pad.mul(h).exceeds(&pad));
    assert!(padded.exceeds(&pad) && !pad.mul(Dim::lit(3)).exceeds(&pad));
    // The dims that a symbol stands for decide whether it may be zero.
    let symbol = Dim::sym(0).mul(two).add(Dim::lit(4));
    assert!(!symbol.subst(&[pad]).exceeds(&Dim::lit(4)) && symbol.subst(&[h]).exceeds(&Dim::lit(4)));
}
