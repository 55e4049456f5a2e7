//! Parts of tensors, read and written.

super::family! {
    "Indexing";
    method embedding(Value) -> Active, "embedding", F;
    method narrow(Value, Value, Value) -> Active, "narrow", FIB;
}
