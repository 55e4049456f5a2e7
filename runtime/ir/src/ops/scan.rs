//! Running sums and their kin.

super::family! {
    "Cumulative";
    method cumsum(Value) -> Active, "along", FI;
    method cumprod(Value) -> Active, "along", FI;
    method cummax(Value) -> Active, "along", FI;
    method cummin(Value) -> Active, "along", FI;
    method logcumsumexp(Value) -> Active, "along", F, burn "";
}
