//! Comparisons, truth values, and choices by them.

super::family! {
    "Comparison and logic";
    method masked_fill(Value, Value) -> Active, "broadcast_first", FIB, burn "mask_fill";
    function select(Value, Operand, Operand) -> Active, "select", B, torch "where", burn "mask_where";
    method eq(Value) -> Tensor, "broadcast", FI, burn "equal";
    method ne(Value) -> Tensor, "broadcast", FI, burn "not_equal";
    method lt(Value) -> Tensor, "broadcast", FI, burn "lower";
    method le(Value) -> Tensor, "broadcast", FI, burn "lower_equal";
    method gt(Value) -> Tensor, "broadcast", FI, burn "greater";
    method ge(Value) -> Tensor, "broadcast", FI, burn "greater_equal";
}
