//! The dims of layer fields.

use super::*;

const CONV: &[&str] = &["I", "O", "K"];
const DEFAULTS: &[Option<DimDefault>] = &[None, None, Some(DimDefault::Number(3))];
const FIELDS: &[FieldDims] = &[
    FieldDims { name: "plain", args: &[("", Dim::lit(1)), ("", Dim::sym(0))] },
    FieldDims { name: "named", args: &[("", Dim::sym(1)), ("O", Dim::lit(64)), ("K", Dim::lit(5))] },
    FieldDims { name: "few", args: &[("", Dim::lit(1))] },
    FieldDims { name: "many", args: &[("", Dim::lit(1)), ("", Dim::lit(1)), ("", Dim::lit(1)), ("", Dim::lit(1))] },
    FieldDims { name: "option", args: &[("", Dim::lit(1)), ("", Dim::lit(1)), ("size", Dim::lit(1))] },
    FieldDims { name: "strange", args: &[("", Dim::lit(1)), ("", Dim::lit(1)), ("Size", Dim::lit(1))] },
    FieldDims { name: "twice", args: &[("", Dim::lit(1)), ("", Dim::lit(1)), ("O", Dim::lit(1))] },
];

fn dims(name: &str) -> String {
    let outer = Dims::of(&[B, T.mul(l(2))]);
    field_dims(FIELDS, name, CONV, DEFAULTS, &outer).as_slice().iter().map(|d| show(*d)).collect::<Vec<_>>().join(" ")
}

fn check(name: &str) -> String {
    check_dims(FIELDS, name, "Conv2d", CONV, DEFAULTS, &["pad"], &["pad"]).as_str().into()
}

#[test]
fn dims_are_given_by_place_by_name_or_by_default() {
    assert_eq!(dims("plain"), "1 B 3");
    assert_eq!(dims("named"), "2*T 64 5");
    assert_eq!(dims("few"), "1 ? 3");
    assert_eq!(dims("many"), "1 1 1");
    assert_eq!(dims("missing"), "? ? 3");
    assert_eq!(identity(&[None, Some(DimDefault::Number(1))]).as_slice(), [C, H]);
}

#[test]
fn a_dim_can_be_like_an_earlier_one() {
    const POOL: &[&str] = &["K", "stride", "pad"];
    const LIKE: &[Option<DimDefault>] = &[None, Some(DimDefault::Like(0)), Some(DimDefault::Number(0))];
    const POOLS: &[FieldDims] = &[
        FieldDims { name: "plain", args: &[("", Dim::sym(0))] },
        FieldDims { name: "strided", args: &[("K", Dim::lit(3)), ("stride", Dim::lit(2)), ("bias", Dim::UNKNOWN)] },
        FieldDims { name: "zero", args: &[("", Dim::lit(3)), ("stride", Dim::lit(0))] },
        FieldDims { name: "unknown", args: &[("", Dim::lit(3)), ("stride", Dim::UNKNOWN)] },
    ];
    let dims = |name| {
        let dims = field_dims(POOLS, name, POOL, LIKE, &Dims::of(&[T]));
        dims.as_slice().iter().map(|d| show(*d)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!([dims("plain"), dims("strided"), dims("zero"), dims("unknown")], ["T T 0", "3 2 0", "3 3 0", "3 ? 0"]);
}

#[test]
fn misfits_are_named() {
    assert_eq!(check("plain"), "");
    assert_eq!(check("named"), "");
    assert_eq!(check("few"), "`Conv2d` takes 3 dims (I, O, K), got 1\nhelp: write `Conv2d![I => O]`");
    assert_eq!(check("many"), "`Conv2d` takes 3 dims (I, O, K), got 4");
    assert_eq!(check("option"), "");
    assert_eq!(check("strange"), "`Conv2d` has no dim `Size`; it takes I, O, K");
    let misspelt = check_dims(FIELDS, "strange", "Crop", &["I", "O", "Sizes"], &[None; 3], &[], &[]);
    assert_eq!(misspelt.as_str(), "`Crop` has no dim `Size`; did you mean `Sizes`?");
    assert_eq!(check("twice"), "`Conv2d`: dim `O` is given twice");
    let options = |given: &[&str]| {
        let message = check_dims(FIELDS, "plain", "Conv2d", CONV, DEFAULTS, &["pad"], given);
        message.as_str().to_owned()
    };
    assert_eq!(options(&[]), "`Conv2d` needs `pad`\nhelp: write `Conv2d![.., pad = ..]`");
    let none = check_dims(FIELDS, "few", "Relu", &[], &[], &[], &[]);
    assert_eq!(none.as_str(), "`Relu` takes no dims, got 1");
    let missing = check_dims(FIELDS, "few", "Linear", &["I", "O"], &[None, None], &[], &[]);
    assert_eq!(missing.as_str(), "`Linear` takes 2 dims (I, O), got 1\nhelp: write `Linear![I => O]`");
}
