//! What a tensor is, and conversions.

super::family! {
    "Inspection and conversion";
    method to(Value) -> Active, "same", FIB, burn "cast";
    method float() -> Active, "same", FIB;
    method double() -> Active, "same", FIB, burn "";
    method half() -> Active, "same", FIB, burn "";
    method bfloat16() -> Active, "same", FIB, burn "";
    method detach() -> Tensor, "same", F;
    method int() -> Tensor, "same", FIB, torch "long";
    method bool() -> Tensor, "same", FIB;
    method equal(Value) -> Value, "", FIB, burn "";
    method allclose(Value, Value, Value) -> Value, "", FI, burn "all_close";
    method size(Value) -> Value, "", FIB, burn "dims";
    method shape() -> Value, "", FIB;
    method rank() -> Value, "", FIB, torch "dim";
    method numel() -> Value, "", FIB, burn "num_elements";
    method dtype() -> Value, "", FIB;
    method device() -> Value, "", FIB;
    method item() -> Value, "", FIB, burn "into_scalar";
    method to_vec() -> Value, "", FIB, torch "tolist", burn "to_data";
}
