//! Tensors from numbers and back, conversions, random tensors, and raised errors.

use cotangent_runtime::{Bool, DType, Device, Error, Int, Rng, Tensor, arange, attempt, causal_mask, raise};

#[test]
fn numbers_in_and_out() {
    let device = Device::cpu();
    let x = Tensor::from_slice(&[1.0, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3], &device);
    assert_eq!((x.shape(), x.rank(), x.numel(), x.dtype()), (&[2, 3][..], 2, 6, DType::F32));
    assert_eq!((x.size(0), x.size(-1)), (2, 3));
    assert_eq!(x.to_vec(), [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
    assert_eq!(x.clone().narrow(1, 2, 1).narrow(0, 1, 1).item(), 6.0);
    assert_eq!(*x.device(), device);
    assert_eq!(x.to_device(&device).to(DType::F32).numel(), 6);

    assert_eq!(Tensor::<Int>::from_slice(&[1, -2], [2], &device).to_vec(), [1, -2]);
    assert_eq!(Tensor::from_vec(vec![true, false, true], 3, &device).to_vec(), [true, false, true]);
    assert_eq!(Tensor::full([2, 2], 7, &device).to_vec(), [7; 4]);
    assert_eq!(Tensor::full([2], -0.5, &device).to_vec(), [-0.5; 2]);
    assert_eq!(Tensor::full(2usize, true, &device).to_vec(), [true; 2]);
    assert_eq!(Tensor::zeros([3], &device).to_vec(), [0.0; 3]);
    assert_eq!(Tensor::zeros([3], &device).ones_like().to_vec(), [1.0; 3]);
    assert_eq!(Tensor::ones((), &device).zeros_like().item(), 0.0);
    assert_eq!(Tensor::scalar(2.5, &device).shape(), [0usize; 0]);
    assert!(Tensor::ones([4, 0], &device).to_vec().is_empty());
    assert_eq!(arange(4).to_vec(), [0, 1, 2, 3]);
    assert_eq!(causal_mask(3).to_vec(), [false, true, true, false, false, true, false, false, false]);
}

#[test]
fn conversions() {
    let device = Device::cpu();
    let x = Tensor::from_slice(&[-1.9, 0.0, 2.9, f32::NAN], [4], &device);
    assert_eq!(x.int().to_vec(), [-1, 0, 2, 0]);
    assert_eq!(Tensor::from_slice(&[3i64, -4], [2], &device).float().to_vec(), [3.0, -4.0]);
    let flags = Tensor::<Bool>::from_slice(&[true, false], [2], &device);
    assert_eq!(flags.clone().float().to_vec(), [1.0, 0.0]);
    assert_eq!(flags.int().to_vec(), [1, 0]);
}

#[test]
fn errors_say_what_was_given_and_expected() {
    let device = Device::cpu();
    let text = |f: &dyn Fn() -> Tensor| attempt(f).unwrap_err().to_string();
    let x = Tensor::zeros([2, 3], &device);
    assert_eq!(
        text(&|| Tensor::from_slice(&[1.0], [2, 3], &device)),
        "from_slice: 1 elements were given, but [2, 3] has 6"
    );
    assert_eq!(
        text(&|| Tensor::zeros([2, -3], &device)),
        "zeros: axis 1 of [2, -3] is -3, expected an extent of at least 0"
    );
    assert!(text(&|| Tensor::zeros([usize::MAX, 8], &device)).contains("out of memory: more than 2^64 bytes asked"));
    assert_eq!(
        text(&|| x.clone().to(DType::I64)),
        "to: dtype `i64` cannot be used here; accepted: `f64`, `f32`, `f16`, `bf16`"
    );
    assert_eq!(
        attempt(|| x.item()).unwrap_err().to_string(),
        "item: [2, 3] has 6 elements, but only a single one can be read as a number"
    );
    assert_eq!(
        attempt(|| x.size(2)).unwrap_err().to_string(),
        "size: axis 2 was given, but [2, 3] has the axes -2 to 1"
    );
}

#[test]
fn attempt_takes_raised_errors_alone() {
    let error = Error::Argument { op: "op".into(), message: "why".into() };
    assert_eq!(attempt(|| -> u8 { raise(error.clone()) }), Err(error));
    assert_eq!(attempt(|| 3), Ok(3));
    let other = std::panic::catch_unwind(|| attempt(|| panic!("another panic")));
    assert_eq!(*other.unwrap_err().downcast::<&str>().unwrap(), "another panic");
}

#[test]
fn an_uncaught_error_is_reported_with_the_users_line() {
    // The hook sees the location that `#[track_caller]` hands down; a hook set after it sees the same.
    let _ = attempt(|| Tensor::zeros([2], &Device::cpu()).narrow(0, 3, 1));
    let previous = std::panic::take_hook();
    let line = std::sync::Arc::new(std::sync::Mutex::new(None));
    let (seen, here) = (line.clone(), std::thread::current().id());
    std::panic::set_hook(Box::new(move |info| {
        // Other tests raise at the same time.
        if std::thread::current().id() != here {
            return;
        }
        *seen.lock().unwrap() = info.location().map(|at| (at.file().to_string(), at.line()));
    }));
    let expected = line!() + 1;
    let result = std::panic::catch_unwind(|| Tensor::zeros([2], &Device::cpu()).narrow(0, 3, 1));
    std::panic::set_hook(previous);
    assert!(result.is_err());
    let (file, at) = line.lock().unwrap().take().unwrap();
    assert!(file.ends_with("tensor.rs") && at == expected, "{file}:{at}");
}

#[test]
fn random_tensors_depend_on_the_seed_alone() {
    let device = Device::cpu();
    let draw = |seed| {
        let rng = &mut Rng::seed(seed);
        let uniform = Tensor::rand([100, 1000], rng, &device).to_vec();
        let normal = Tensor::randn([100_001], rng, &device).to_vec();
        (uniform, normal, Tensor::randint(-3, 4, [70_000], rng, &device).to_vec())
    };
    let (uniform, normal, integers) = draw(11);
    assert_eq!(draw(11), (uniform.clone(), normal.clone(), integers.clone()));
    assert_ne!(draw(12).0, uniform);
    // The first elements of a longer tensor of the same key are those of a shorter one.
    assert_eq!(Tensor::rand([1000], &mut Rng::seed(11), &device).to_vec(), uniform[..1000]);

    let moments = |values: &[f32]| {
        let n = values.len() as f64;
        let mean = values.iter().map(|&v| f64::from(v)).sum::<f64>() / n;
        let spread = values.iter().map(|&v| (f64::from(v) - mean).powi(2)).sum::<f64>() / n;
        let fourth = values.iter().map(|&v| (f64::from(v) - mean).powi(4)).sum::<f64>() / n;
        (mean, spread, fourth)
    };
    assert!(uniform.iter().all(|v| (0.0..1.0).contains(v)));
    let (mean, spread, _) = moments(&uniform);
    assert!((mean - 0.5).abs() < 0.004 && (spread - 1.0 / 12.0).abs() < 0.001, "{mean} {spread}");
    let (mean, spread, fourth) = moments(&normal);
    assert!(
        mean.abs() < 0.015 && (spread - 1.0).abs() < 0.02 && (fourth - 3.0).abs() < 0.15,
        "{mean} {spread} {fourth}"
    );
    let lag: f64 = normal.windows(2).map(|w| f64::from(w[0] * w[1])).sum::<f64>() / normal.len() as f64;
    assert!(lag.abs() < 0.015, "{lag}");
    for value in -3..4 {
        let count = integers.iter().filter(|&&v| v == value).count() as f64;
        assert!((count - 10_000.0).abs() < 500.0, "{value} came {count} times");
    }
    let wide = Tensor::uniform([1000], -2.0, 6.0, &mut Rng::seed(1), &device).to_vec();
    assert!(wide.iter().all(|v| (-2.0..=6.0).contains(v)) && wide.iter().any(|&v| v > 5.0));
    let shifted = Tensor::normal([10_000], 3.0, 0.1, &mut Rng::seed(1), &device).to_vec();
    assert!((moments(&shifted).0 - 3.0).abs() < 0.01);
}

#[test]
fn sources_of_numbers() {
    let mut rng = Rng::seed(5);
    let mut counts = [0; 6];
    for _ in 0..60_000 {
        counts[rng.below(6)] += 1;
    }
    assert!(counts.iter().all(|&c: &i32| (c - 10_000).abs() < 500), "{counts:?}");
    let mut saved: Rng = serde_json::from_str(&serde_json::to_string(&rng).unwrap()).unwrap();
    assert_eq!(saved, Rng::from_state(rng.state()));
    assert_eq!((saved.uniform(), saved.key()), (rng.uniform(), rng.key()));
    assert_ne!(rng.fork().uniform(), rng.uniform());
    let mut order = rng.permutation(1000);
    assert_ne!(order, (0..1000).collect::<Vec<_>>());
    order.sort();
    assert_eq!(order, (0..1000).collect::<Vec<_>>());
    assert_eq!(
        attempt(|| rng.clone().below(0)).unwrap_err().to_string(),
        "below: no integer is below 0; give at least 1"
    );
    let none = attempt(|| Tensor::randint(2, 2, [1], &mut rng.clone(), &Device::cpu()));
    assert_eq!(
        none.unwrap_err().to_string(),
        "randint: no integer lies in 2..2; the end must be greater than the start"
    );
}

#[test]
fn tensors_cross_threads() {
    fn crosses<T: Send + Sync + Clone>() {}
    crosses::<Tensor>();
    crosses::<Tensor<Int>>();
    crosses::<Device>();
    let x = Tensor::ones([3], &Device::cpu());
    assert_eq!(std::thread::spawn(move || x.to_vec()).join().unwrap(), [1.0; 3]);
}
