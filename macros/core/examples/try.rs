use quote::quote;
fn main() {
    let t = cotangent_macros_core::model(
        quote!(),
        quote! {
            impl Net {
                pub fn forward(&self, x: Tensor![B, T, C], y: Tensor![Int; B], cx: &mut Cx) -> Tensor![B, 10] {
                    let mut h = self.fc1.forward(x).relu();
                    let skip = h.clone();
                    let mut skips = Vec::new();
                    for (i, b) in self.blocks.iter().enumerate() {
                        h = b.forward(h, cx) + skip;
                        skips.push(h);
                    }
                    let (q, k, v) = h.split(2, [C, C, 2 * H]);
                    let z: Tensor![B, N] = if self.deep && i > 3 { q.matmul(k.t()) } else { v };
                    if let Some(b) = &self.bias { h = h + b; }
                    println!("{z:?} {}", H);
                    for s in skips.iter().rev() { h = h * s; }
                    2.0 * -(h * self.w).mean(..) + z.reshape([B, -1, N]).sum(-1) + cat(vec![h, z], 1)
                }
            }
        },
    );
    match syn::parse2(t.clone()) {
        Ok(f) => println!("{}", prettyplease::unparse(&f)),
        Err(e) => println!("{e}\n{t}"),
    }
}
