//! Parts of tensors, read and written.

super::family! {
    "Indexing";
    method embedding(Tensor) -> Active, "embedding", F;
    method narrow(Value, Value, Value) -> Active, "narrow", FIB;
    method select(Value, Value) -> Active, "one_entry", FIB, burn "";
    method slice(Value) -> Active, "slice", FIB, torch "x[..]";
    method slice_assign(Value, Operand) -> Active, "slice_put", FIB, torch "slice_scatter";
    method slice_fill(Value, Value) -> Active, "slice_put", FIB, torch "";
    method gather(Value, Tensor) -> Active, "gather", FIB;
    method index_select(Value, Tensor) -> Active, "index_select", FIB, burn "select";
    method take(Tensor) -> Active, "take", FIB, burn "";
    method take_along_dim(Tensor, Value) -> Active, "take_along_dim", FIB, burn "";
    method scatter(Value, Tensor, Operand) -> Active, "scatter", FIB, burn "";
    method scatter_fill(Value, Tensor, Value) -> Active, "scatter", FIB, torch "scatter", burn "";
    method scatter_add(Value, Tensor, Operand) -> Active, "scatter", FI, burn "scatter";
    method scatter_reduce(Value, Tensor, Operand, Value, Value) -> Active, "scatter", FI, burn "";
    method index_copy(Value, Tensor, Operand) -> Active, "index_put", FIB, burn "";
    method index_add(Value, Tensor, Operand) -> Active, "index_put", FI, burn "select_assign";
    method index_fill(Value, Tensor, Value) -> Active, "index_fill", FIB, burn "";
    method put(Tensor, Operand, Value) -> Active, "same", FIB, burn "";
    method masked_select(Tensor) -> Active, "masked_select", FIB, burn "";
    method masked_scatter(Tensor, Operand) -> Active, "masked_scatter", FIB, burn "";
    method one_hot(Value) -> Tensor, "one_hot", I;
}
