//! Losses, softmax and norms.

super::family! {
    "Losses and normalisation";
    method dropout(Value, Context) -> Active, "same", F, burn "";
    method glu(Value) -> Active, "glu", F;
    method softmax(Value) -> Active, "along", F;
    method log_softmax(Value) -> Active, "along", F;
    method softmin(Value) -> Active, "along", F;
    method layer_norm(Operand, Operand, Value) -> Active, "layer_norm", F, burn "";
    method cross_entropy(Value) -> Active, "cross_entropy", F, burn "";
    method ctc_loss(Value, Value, Value, Value) -> Active, "ctc_loss", F, burn "CTCLoss";
    method mse_loss(Operand) -> Active, "scalar_of_same", F, burn "";
}
