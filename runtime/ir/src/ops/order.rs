//! Sorting and searching.

super::family! {
    "Order and search";
}
