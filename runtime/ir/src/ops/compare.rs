//! Comparisons, truth values, and choices by them.

super::family! {
    "Comparison and logic";
    method masked_fill(Value, Value) -> Active, "broadcast_first", FIB, burn "mask_fill";
    function select(Value, Operand, Operand) -> Active, "select", B, torch "where", burn "mask_where";
    method mask_where(Value, Operand) -> Active, "select", FIB, torch "where";
    method eq(Value) -> Tensor, "broadcast", FIB, burn "equal";
    method ne(Value) -> Tensor, "broadcast", FIB, burn "not_equal";
    method lt(Value) -> Tensor, "broadcast", FI, burn "lower";
    method le(Value) -> Tensor, "broadcast", FI, burn "lower_equal";
    method gt(Value) -> Tensor, "broadcast", FI, burn "greater";
    method ge(Value) -> Tensor, "broadcast", FI, burn "greater_equal";
    method isclose(Value, Value, Value) -> Tensor, "broadcast", FI, burn "is_close";
    method isnan() -> Tensor, "same", F, burn "is_nan";
    method isinf() -> Tensor, "same", F, burn "is_inf";
    method isfinite() -> Tensor, "same", F, burn "is_finite";
    method signbit() -> Tensor, "same", FI, burn "";
    method logical_and(Value) -> Tensor, "broadcast", FIB, burn "bool_and";
    method logical_or(Value) -> Tensor, "broadcast", FIB, burn "bool_or";
    method logical_xor(Value) -> Tensor, "broadcast", FIB, burn "bool_xor";
    method logical_not() -> Tensor, "same", FIB, burn "bool_not";
    method bitwise_and(Value) -> Tensor, "broadcast", IB;
    method bitwise_or(Value) -> Tensor, "broadcast", IB;
    method bitwise_xor(Value) -> Tensor, "broadcast", IB;
    method bitwise_not() -> Tensor, "same", IB;
    method bitwise_left_shift(Value) -> Tensor, "broadcast", I;
    method bitwise_right_shift(Value) -> Tensor, "broadcast", I;
}
