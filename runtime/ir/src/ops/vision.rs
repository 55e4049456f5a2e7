//! Convolutions, pools, and norms over channels.

super::family! {
    "Convolutions and pools";
    method conv1d(Operand, Operand, Value, Value, Value, Value) -> Active, "conv1d", F;
    method conv2d(Operand, Operand, Value, Value, Value, Value) -> Active, "conv2d", F;
    method conv_transpose1d(Operand, Operand, Value, Value, Value, Value, Value) -> Active, "conv_transpose1d", F;
    method conv_transpose2d(Operand, Operand, Value, Value, Value, Value, Value) -> Active, "conv_transpose2d", F;
}
