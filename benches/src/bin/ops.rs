//! Tensor operations on large tensors, for `cargo xtask bench ops`.

use cotangent::ops::einsum;
use cotangent::prelude::*;
use cotangent_benches::{Case, memcpy, serve};
use std::hint::black_box;

/// The extent of both axes of a matrix.
const N: usize = 4096;
/// The rows of a table, and their length.
const ROWS: usize = 1 << 20;
const WIDTH: usize = 64;
/// The numbers that are sorted.
const SORTED: usize = 10_000_000;

/// A case that makes a tensor, or several, of others.
fn case<T: 'static>(name: &str, once: impl Fn() -> T + 'static) -> Case {
    Case { name: name.into(), once: Box::new(move || drop(black_box(once()))) }
}

fn main() {
    let (device, mut rng) = (Device::cpu(), Rng::seed(0));
    let mut random = |shape: &[usize]| Tensor::randn(shape, &mut rng, &device);
    let (x, row, column) = (random(&[N, N]), random(&[N]), random(&[N, 1]));
    let long = random(&[N * N]);
    let table = random(&[ROWS, WIDTH]);
    let parts: Vec<Tensor> = (0..4).map(|_| random(&[N / 4, N])).collect();
    let (a, b) = (random(&[1024, 1024]), random(&[1024, 1024]));
    let (p, q) = (random(&[32, 256, 256]), random(&[32, 256, 256]));
    let (queries, keys) = (random(&[4, 8, 256, 64]), random(&[4, 8, 256, 64]));
    let unsorted = random(&[SORTED]);
    let rows = Tensor::<Int>::randint(0, ROWS as i64, [ROWS], &mut rng, &device);
    let places = rows.clone().unsqueeze(1).expand([ROWS, WIDTH]).contiguous();

    /// A case that calls a method of a tensor.
    macro_rules! of {
        ($name:literal, |$($x:ident),+| $y:expr) => {{
            $(let $x = $x.clone();)+
            case($name, move || {
                $(let $x = $x.clone();)+
                $y
            })
        }};
    }
    serve(vec![
        memcpy(N * N * 4),
        of!("sum over axis 0", |x| x.sum(0)),
        of!("sum over axis 1", |x| x.sum(1)),
        of!("argmax over axis 0", |x| x.argmax(0)),
        of!("argmax over axis 1", |x| x.argmax(1)),
        of!("cumsum over axis 0", |x| x.cumsum(0)),
        of!("cumsum over axis 1", |x| x.cumsum(1)),
        of!("cumsum of 16 Mi", |long| long.cumsum(0)),
        of!("transposed copy", |x| x.t().contiguous()),
        of!("index_select of 1 Mi rows", |table, rows| table.index_select(0, rows)),
        of!("gather of 1 Mi rows", |table, places| table.gather(0, places)),
        of!("index_add of 1 Mi rows", |table, rows| table.clone().index_add(0, rows, table)),
        of!("scatter_add of 1 Mi rows", |table, places| table.clone().scatter_add(0, places, table)),
        of!("sort of 10 M", |unsorted| unsorted.sort(0, false)),
        of!("topk of 10 M, k = 100", |unsorted| unsorted.topk(100, 0, true, true)),
        of!("cat of 4 along axis 0", |parts| cat(parts, 0)),
        of!("cat of 4 along axis 1", |parts| cat(parts, 1)),
        of!("einsum ij,jk->ik", |a, b| einsum("ij,jk->ik", (a, b))),
        of!("einsum bij,bjk->bik", |p, q| einsum("bij,bjk->bik", (p, q))),
        of!("einsum bhqd,bhkd->bhqk", |queries, keys| einsum("bhqd,bhkd->bhqk", (queries, keys))),
        of!("add of a row", |x, row| x + row),
        of!("add of a column", |x, column| x + column),
    ]);
}
