//! What makes one number of many.

super::family! {
    "Reductions";
    method sum(Value) -> Active, "reduce", FI;
    method mean(Value) -> Active, "reduce", F;
    method amax(Value) -> Active, "reduce", F, burn "";
    method sum_keepdim(Value) -> Active, "reduce_keepdim", FI, torch "sum(keepdim=True)", burn "sum_dim";
    method mean_keepdim(Value) -> Active, "reduce_keepdim", F, torch "mean(keepdim=True)", burn "mean_dim";
    method amax_keepdim(Value) -> Active, "reduce_keepdim", F, torch "amax(keepdim=True)", burn "max_dim";
    method argmax(Value) -> Tensor, "reduce", F;
}
