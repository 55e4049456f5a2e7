//! Programs that must not compile, and what the compiler says. Alone in its binary, so that it runs under `cargo check`,
//! as an editor does.

#[test]
fn fail() {
    trybuild::TestCases::new().compile_fail("fail/*/*.rs");
}
