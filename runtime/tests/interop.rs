//! Tensors from and to the arrays and images of other crates.

#[cfg(feature = "ndarray")]
#[test]
fn arrays_of_any_layout() {
    use cotangent_runtime::{DType, Device, Tensor};
    let array = ndarray::Array2::from_shape_fn((2, 3), |(i, j)| (3 * i + j) as f32);
    let x = Tensor::from_ndarray(&array, &Device::cpu());
    assert_eq!((x.shape(), x.to_vec()), (&[2, 3][..], vec![0.0, 1.0, 2.0, 3.0, 4.0, 5.0]));
    assert_eq!(Tensor::from_ndarray(&array.t(), &Device::cpu()).to_vec(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert_eq!(x.clone().t().to_ndarray(), array.t().into_dyn());
    let bytes = Tensor::from_ndarray(&ndarray::arr1(&[1u8, 2]), &Device::cpu());
    assert_eq!((bytes.dtype(), bytes.to_ndarray()), (DType::U8, ndarray::arr1(&[1i64, 2]).into_dyn()));
    assert_eq!(Tensor::zeros([0, 2], &Device::cpu()).to_ndarray().shape(), [0, 2]);
}

#[cfg(feature = "image")]
#[test]
fn images_there_and_back() {
    use cotangent_runtime::{Device, Tensor, attempt};
    let image = image::RgbImage::from_fn(3, 2, |x, y| image::Rgb([x as u8, y as u8, 255]));
    let x = Tensor::from_image(&image.clone().into(), &Device::cpu());
    assert_eq!(x.shape(), [3, 2, 3]);
    assert_eq!((x.to_vec()[1], x.to_vec()[9], x.to_vec()[12]), (1.0 / 255.0, 1.0 / 255.0, 1.0));
    assert_eq!(x.to_rgb8(), image);
    let grey = Tensor::from([[[0.0, 0.5, 2.0, -1.0, f32::NAN]]]).to_rgb8();
    assert_eq!(grey.pixels().map(|p| p.0[1]).collect::<Vec<u8>>(), [0, 128, 255, 0, 0]);
    let error = attempt(|| Tensor::zeros([2, 4], &Device::cpu()).to_rgb8()).unwrap_err().to_string();
    assert!(error.starts_with("to_rgb8: [2, 4] is no image"), "{error}");
}
