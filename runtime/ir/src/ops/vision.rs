//! Convolutions, pools, and norms over channels.

super::family! {
    "Convolutions and pools";
    method conv1d(Operand, Operand, Value, Value, Value, Value) -> Active, "conv1d", F;
    method conv2d(Operand, Operand, Value, Value, Value, Value) -> Active, "conv2d", F;
    method conv_transpose1d(Operand, Operand, Value, Value, Value, Value, Value) -> Active, "conv_transpose1d", F;
    method conv_transpose2d(Operand, Operand, Value, Value, Value, Value, Value) -> Active, "conv_transpose2d", F;
    method max_pool1d(Value) -> Active, "max_pool1d", F;
    method max_pool1d_with(Value, Value, Value, Value, Value) -> Active, "max_pool1d", F, torch "max_pool1d", burn "max_pool1d";
    method max_pool1d_with_indices(Value, Value, Value, Value, Value) -> Active, "max_pool1d", F, torch "max_pool1d(return_indices=True)";
    method avg_pool1d(Value) -> Active, "avg_pool1d", F;
    method avg_pool1d_with(Value, Value, Value, Value, Value, Value) -> Active, "avg_pool1d", F, torch "avg_pool1d", burn "avg_pool1d";
    method adaptive_avg_pool1d(Value) -> Active, "adaptive_pool1d", F;
    method adaptive_max_pool1d(Value) -> Active, "adaptive_pool1d", F, burn "";
    method adaptive_max_pool1d_with_indices(Value) -> Active, "adaptive_pool1d", F, torch "adaptive_max_pool1d(return_indices=True)", burn "";
    method max_pool2d(Value) -> Active, "max_pool2d", F;
    method max_pool2d_with(Value, Value, Value, Value, Value) -> Active, "max_pool2d", F, torch "max_pool2d", burn "max_pool2d";
    method max_pool2d_with_indices(Value, Value, Value, Value, Value) -> Active, "max_pool2d", F, torch "max_pool2d(return_indices=True)";
    method avg_pool2d(Value) -> Active, "avg_pool2d", F;
    method avg_pool2d_with(Value, Value, Value, Value, Value, Value) -> Active, "avg_pool2d", F, torch "avg_pool2d", burn "avg_pool2d";
    method adaptive_avg_pool2d(Value) -> Active, "adaptive_pool2d", F;
    method adaptive_max_pool2d(Value) -> Active, "adaptive_pool2d", F, burn "";
    method adaptive_max_pool2d_with_indices(Value) -> Active, "adaptive_pool2d", F, torch "adaptive_max_pool2d(return_indices=True)", burn "";
    method batch_norm(Operand, Operand, Value) -> Active, "batch_norm", F, torch "batch_norm(training=True)", burn "";
    method batch_norm_with(Operand, Operand, Operand, Operand, Value) -> Active, "normalized_by", F, torch "batch_norm", burn "";
}
