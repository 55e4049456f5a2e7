//! Models in other dtypes: training with master weights, records, checkpoints.

use cotangent::optim::clip_grad_norm;
use cotangent::prelude::*;
use cotangent::record::{Checkpoint, Entry, Record, Stateful};
use cotangent::{Error, bf16};
use std::path::PathBuf;

/// One affine map under a mean squared loss.
#[model]
struct Fit {
    fc: Linear![3 => 2],
}

#[model]
impl Fit {
    fn loss(&self, x: Tensor![B, 3], y: Tensor![B, 2]) -> Tensor![] {
        self.fc.forward(x).mse_loss(y)
    }
}

fn fit(dtype: DType) -> Fit {
    Fit::init(&mut Rng::seed(1), &Device::cpu()).to(dtype)
}

fn data(dtype: DType) -> (Tensor, Tensor) {
    let rng = &mut Rng::seed(2);
    let x = Tensor::randn([64, 3], rng, &Device::cpu());
    let w = Tensor::randn([3, 2], rng, &Device::cpu());
    let y = x.clone().matmul(w) + 0.5;
    (x.to(dtype), y.to(dtype))
}

/// A file that is removed with the value.
struct File(PathBuf);

impl File {
    fn new(name: &str) -> File {
        File(std::env::temp_dir().join(format!("cotangent-mixed-{}-{name}.safetensors", std::process::id())))
    }
}

impl Drop for File {
    fn drop(&mut self) {
        // Nothing is lost where it was never written.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// The optimisers, each with what it needs to reach the fit.
fn optimisers() -> Vec<Box<dyn Steps>> {
    vec![
        Box::new(Sgd::new(0.1)),
        Box::new(Sgd::new(0.02).momentum(0.9)),
        Box::new(Adam::new(0.03)),
        Box::new(AdamW::new(0.03).amsgrad(true).weight_decay(0.0)),
    ]
}

trait Steps: Stateful {
    fn step_on(&mut self, model: &mut Fit, grads: FitGrads);
}

macro_rules! steps {
    ($($t:ty),*) => { $(
        impl Steps for $t {
            fn step_on(&mut self, model: &mut Fit, grads: FitGrads) {
                self.step(model, grads);
            }
        }
    )* };
}
steps!(Sgd, Adam, AdamW);

#[test]
fn a_model_trains_in_every_dtype() {
    for (dtype, most) in [(DType::F64, 1e-5), (DType::F32, 1e-5), (DType::F16, 1e-4), (DType::BF16, 1e-3)] {
        for mut opt in optimisers() {
            let (mut model, (x, y)) = (fit(dtype), data(dtype));
            let mut last = f64::INFINITY;
            for _ in 0..300 {
                let (loss, grads) = model.loss_grad(x.clone(), y.clone());
                assert_eq!(loss.dtype(), dtype);
                last = loss.item_of::<f64>();
                opt.step_on(&mut model, grads);
            }
            assert!(last < most, "{dtype}: {last:.1e}");
            assert_eq!(model.fc.weight.dtype(), dtype);
            let state = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
            for (name, tensor) in opt.tensors() {
                assert_eq!(tensor.dtype(), state, "{name}");
            }
        }
    }
}

/// Steps of 1/512 of bf16's step below 1 leave a bf16 parameter as it is, one by one; together they move it.
#[test]
fn updates_smaller_than_a_step_of_the_parameter_add_up() {
    let mut model = fit(DType::BF16);
    model.fc.weight.set(Tensor::ones([2, 3], &Device::cpu()).bfloat16());
    let mut opt = Sgd::new(2f64.powi(-17));
    let ones =
        || FitGrads { fc: LinearGrads { weight: Some(Tensor::ones([2, 3], &Device::cpu()).bfloat16()), bias: None } };
    for _ in 0..100 {
        opt.step(&mut model, ones());
    }
    assert_eq!(model.fc.weight.to_vec(), [1.0; 6]);
    let master = opt.tensors().into_iter().find(|(name, _)| name == "master_param.fc.weight");
    assert_eq!(master.map(|(_, t)| t.to_vec()), Some(vec![1.0 - 100.0 * 2f32.powi(-17); 6]));
    for _ in 100..1024 {
        opt.step(&mut model, ones());
    }
    assert_eq!(model.fc.weight.to_vec(), [1.0 - 2f32.powi(-7); 6]);
}

#[test]
fn a_parameter_that_is_set_or_widened_starts_its_copy_anew() {
    let (mut model, mut opt) = (fit(DType::BF16), Sgd::new(0.5));
    let halves = || FitGrads {
        fc: LinearGrads { weight: Some(Tensor::full([2, 3], 0.5, &Device::cpu()).bfloat16()), bias: None },
    };
    opt.step(&mut model, halves());
    model.fc.weight.set(Tensor::full([2, 3], 8.0, &Device::cpu()).bfloat16());
    opt.step(&mut model, halves());
    assert_eq!(model.fc.weight.to_vec(), [7.75; 6]);
    let mut model = model.to(DType::F32);
    opt.step(&mut model, halves());
    assert_eq!(model.fc.weight.to_vec(), [7.5; 6]);
    assert!(opt.tensors().is_empty());
    // A clone that trains on its own has copies of its own.
    let (mut a, mut opt_a) = (fit(DType::F16), Adam::new(0.1));
    let (x, y) = data(DType::F16);
    let grads = a.loss_grad(x.clone(), y.clone()).1;
    opt_a.step(&mut a, grads);
    let (mut b, mut opt_b) = (a.clone(), opt_a.clone());
    for _ in 0..3 {
        let (ga, gb) = (a.loss_grad(x.clone(), y.clone()).1, b.loss_grad(x.clone(), y.clone()).1);
        opt_a.step(&mut a, ga);
        opt_b.step(&mut b, gb);
    }
    assert_eq!(a.fc.weight.to_vec(), b.fc.weight.to_vec());
}

/// Squares of these gradients are infinite in f16.
#[test]
fn norms_of_half_gradients_are_formed_in_single_precision() {
    let grad = Tensor::full([2, 3], 300.0, &Device::cpu()).half();
    let mut grads = FitGrads { fc: LinearGrads { weight: Some(grad), bias: None } };
    let norm = clip_grad_norm(&mut grads, 1.0);
    assert!((norm - 300.0 * 6f64.sqrt()).abs() < 1e-3, "{norm}");
    let clipped = grads.fc.weight.map(|g| (g.dtype(), g.square().sum(..).item()));
    assert!(clipped.is_some_and(|(dtype, norm)| dtype == DType::F16 && (norm - 1.0).abs() < 1e-2));
}

#[test]
fn records_keep_every_bit_of_every_dtype() {
    for dtype in DType::FLOATS {
        let file = File::new(dtype.name());
        let mut model = fit(dtype);
        // Numbers that use all digits of the dtype, and a NaN.
        let values = [1.0 / 3.0, -0.0, f64::NAN, 1e-6, -1e4, 0.1];
        model.fc.weight.set(Tensor::from_slice_of(&values, [2, 3], &Device::cpu()).to(dtype));
        model.save(&file.0).unwrap();
        let record = Record::open(&file.0).unwrap();
        assert_eq!(record.get("fc.weight").map(Entry::dtype), Some(dtype.name().to_uppercase()));
        let read = record.read("fc.weight", &Device::cpu()).unwrap();
        assert_eq!(read.dtype(), dtype);
        let bits = |t: &Tensor| t.to_vec_of::<f64>().iter().map(|v| v.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(&read), bits(&model.fc.weight));
        // A model is made in f32, whatever the file has.
        let loaded = Fit::load(&file.0, &Device::cpu()).unwrap();
        assert_eq!(loaded.fc.weight.dtype(), DType::F32);
        let (given, wanted) = (loaded.fc.weight.to_vec(), model.fc.weight.to_vec());
        assert!(given.iter().zip(&wanted).all(|(g, w)| g.to_bits() == w.to_bits() || g.is_nan() && w.is_nan()));
    }
}

#[test]
fn integers_in_a_record_are_no_parameters() {
    let header = br#"{"fc.weight":{"dtype":"I32","shape":[2,3],"data_offsets":[0,24]}}"#;
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend_from_slice(header);
    bytes.extend([0; 24]);
    let record = Record::from_bytes("ints", bytes).unwrap();
    let Err(Error::Record { misfits, .. }) = record.read("fc.weight", &Device::cpu()) else {
        panic!("an error was expected")
    };
    assert_eq!(misfits, ["`fc.weight`: dtype `I32` in the record; supported: `F32`, `F64`, `F16` and `BF16`"]);
}

/// Bit by bit, the master copies included.
#[test]
fn a_run_in_bf16_goes_on_from_its_checkpoint() {
    let file = File::new("checkpoint");
    let (x, y) = data(DType::BF16);
    let (mut model, mut opt, mut rng, mut cx) = (fit(DType::BF16), AdamW::new(1e-3), Rng::seed(3), Cx::train(4));
    let steps = |model: &mut Fit, opt: &mut AdamW, n: usize| {
        for _ in 0..n {
            let grads = model.loss_grad(x.clone(), y.clone()).1;
            opt.step(model, grads);
        }
    };
    steps(&mut model, &mut opt, 5);
    Checkpoint::save(&file.0, &model, &opt, &rng, &cx, &[]).unwrap();
    let checkpoint = Checkpoint::open(&file.0).unwrap();
    let mut again: Fit = checkpoint.model(&Device::cpu()).unwrap();
    let mut fresh = AdamW::new(1.0);
    checkpoint.restore(&mut fresh, &mut rng, &mut cx, &Device::cpu()).unwrap();
    assert_eq!(again.fc.weight.dtype(), DType::BF16);
    steps(&mut model, &mut opt, 20);
    steps(&mut again, &mut fresh, 20);
    assert_eq!(model.fc.weight.to_vec_of::<bf16>(), again.fc.weight.to_vec_of::<bf16>());
    for ((name, a), (_, b)) in opt.tensors().iter().zip(fresh.tensors()) {
        assert_eq!(a.to_vec(), b.to_vec(), "{name}");
    }
}

#[test]
fn a_model_has_no_dtype_of_another_kind() {
    let error = cotangent::attempt(|| fit(DType::I64)).err().map(|e| e.to_string());
    assert_eq!(error.as_deref(), Some("to: dtype `i64` cannot be used here; accepted: `f64`, `f32`, `f16`, `bf16`"));
}

/// Conversions in a model's body carry the derivative.
#[model]
struct Widening {
    #[init(ones)]
    w: Param![3],
}

#[model]
impl Widening {
    fn loss(&self, x: Tensor![3]) -> Tensor![] {
        let y = (self.w.float() * x.to(DType::F32)).double();
        y.square().sum(..)
    }
}

#[test]
fn conversions_in_a_body_are_differentiated() {
    let mut model = Widening::init(&mut Rng::seed(1), &Device::cpu()).to(DType::BF16);
    model.w.set(Tensor::from_slice(&[1.0, 2.0, 3.0], [3], &Device::cpu()).bfloat16());
    let x = Tensor::full([3], 2.0, &Device::cpu()).half();
    let (loss, grads) = model.loss_grad(x);
    assert_eq!((loss.dtype(), loss.item()), (DType::F64, 56.0));
    let w = grads.w.map(|g| (g.dtype(), g.to_vec()));
    assert_eq!(w, Some((DType::BF16, vec![8.0, 16.0, 24.0])));
}
