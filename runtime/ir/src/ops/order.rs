//! Sorting and searching.

super::family! {
    "Order and search";
    method sort(Value, Value) -> Active, "along", FIB, burn "sort_with_indices";
    method topk(Value, Value, Value, Value) -> Active, "topk", FIB, burn "topk_with_indices";
    method kthvalue(Value, Value) -> Active, "reduce_second", FIB, burn "";
    method median(Value) -> Active, "reduce", FIB, burn "median_with_indices";
    method argsort(Value, Value) -> Tensor, "along", FIB;
    method unique() -> Tensor, "some", FIB, burn "";
    method unique_with() -> Tensor, "unique_with", FIB, torch "unique(return_inverse=True, return_counts=True)", burn "";
    method unique_consecutive() -> Tensor, "some", FIB, burn "";
    method unique_consecutive_with() -> Tensor, "unique_with", FIB, torch "unique_consecutive(return_inverse=True, return_counts=True)", burn "";
    method nonzero() -> Tensor, "nonzero", FIB, burn "argwhere";
    method searchsorted(Value, Value) -> Tensor, "searchsorted", FI, burn "";
    method bucketize(Value, Value) -> Tensor, "same", FI, burn "";
    method isin(Value) -> Tensor, "same", FI, burn "";
    method bincount(Value) -> Tensor, "some", I, burn "";
    method histc(Value, Value, Value) -> Tensor, "histc", F, burn "";
}
