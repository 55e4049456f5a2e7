//! Programs that must compile and run.

#[test]
fn pass() {
    trybuild::TestCases::new().pass("pass/*.rs");
}
