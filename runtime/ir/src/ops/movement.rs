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
    method unflatten(Value, Value) -> Active, "unflatten", FIB, burn "";
    method reshape_as(Operand) -> Active, "reshape_as", FIB, burn "";
    method view_as(Operand) -> Active, "reshape_as", FIB, burn "";
    method expand(Value) -> Active, "expand", FIB;
    method expand_as(Operand) -> Active, "expand_as", FIB, burn "";
    method broadcast_to(Value) -> Active, "expand", FIB, burn "expand";
    method swapaxes(Value, Value) -> Active, "transpose", FIB, burn "swap_dims";
    method swapdims(Value, Value) -> Active, "transpose", FIB, burn "swap_dims";
    method movedim(Value, Value) -> Active, "movedim", FIB;
    method flip(Value) -> Active, "flip", FIB;
    method roll(Value, Value) -> Active, "roll", FIB;
    method rot90(Value, Value) -> Active, "rot90", FIB, burn "";
    method repeat(Value) -> Active, "repeat", FIB;
    method tile(Value) -> Active, "tile", FIB, burn "";
    method repeat_interleave(Value, Value) -> Active, "repeat_interleave", FIB, burn "";
    method repeat_interleave_each(Value, Tensor) -> Active, "some_of", FIB, torch "repeat_interleave", burn "";
    method unfold(Value, Value, Value) -> Active, "unfold", FIB;
    method split(Value, Value) -> Active, "split", FIB, burn "split_with_sizes";
    method chunk(Value, Value) -> Active, "chunk", FIB;
    method unbind(Value) -> Active, "unbind", FIB, burn "iter_dim";
    method tril(Value) -> Active, "matrices", FIB;
    method triu(Value) -> Active, "matrices", FIB;
    method diagonal(Value, Value, Value) -> Active, "diagonal", FIB, burn "";
    method diag(Value) -> Active, "diag", FIB, burn "";
    method diag_embed(Value, Value, Value) -> Active, "diag_embed", FIB, burn "";
    method trace() -> Active, "trace", FI;
    method pad(Value, Value) -> Active, "pad", FIB, torch "nn.functional.pad";
    method pad_with(Value, Value) -> Active, "pad", FIB, torch "nn.functional.pad", burn "pad";
    function cat(Operand, Value) -> Active, "cat", FIB;
    function stack(Operand, Value) -> Active, "stack", FIB;
    function hstack(Operand) -> Active, "hstack", FIB, burn "";
    function vstack(Operand) -> Active, "vstack", FIB, burn "";
    function meshgrid(Operand) -> Active, "meshgrid", FIB, burn "meshgrid_stack";
}
