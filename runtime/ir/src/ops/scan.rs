//! Running sums and their kin.

super::family! {
    "Cumulative";
}
