//! Other shapes and orders of the same elements.

super::family! {
    "Movement";
    method contiguous() -> Active, "same", FIB, burn "";
    method reshape(Value) -> Active, "reshape", FIB;
    method flatten(Value) -> Active, "flatten", FIB;
    method transpose(Value, Value) -> Active, "transpose", FIB, burn "swap_dims";
    method t() -> Active, "t", FIB, burn "transpose";
    method permute(Value) -> Active, "permute", FIB;
    method unsqueeze(Value) -> Active, "unsqueeze", FIB;
    method squeeze(Value) -> Active, "squeeze", FIB;
    method expand(Value) -> Active, "expand", FIB;
    method split(Value, Value) -> Active, "split", FIB, burn "split_with_sizes";
    function cat(Operand, Value) -> Active, "cat", FIB;
    function stack(Operand, Value) -> Active, "stack", FIB;
}
