//! Images of the crate `image`, with the feature of that name.

use super::Tensor;
use crate::device::Device;
use crate::raise::raise;
use cotangent_hal::Error;
use image::{DynamicImage, RgbImage};

impl Tensor {
    /// An image as `[3, height, width]`: red, green and blue from 0 to 1.
    #[track_caller]
    pub fn from_image(image: &DynamicImage, device: &Device) -> Self {
        Tensor::from_rgb8(&image.to_rgb8(), device)
    }

    /// As [`from_image`](Tensor::from_image), of an image whose pixels are three bytes.
    #[track_caller]
    pub fn from_rgb8(image: &RgbImage, device: &Device) -> Self {
        let bytes = image.as_raw();
        let (width, height) = (image.width() as usize, image.height() as usize);
        let channel = |c: usize| bytes.iter().skip(c).step_by(3).map(|&b| f32::from(b) / 255.0);
        let values: Vec<f32> = (0..3).flat_map(channel).collect();
        Tensor::from_vec(values, [3, height, width], device)
    }

    /// The image that `[3, height, width]` or, in shades of grey, `[1, height, width]` is, with numbers from 0 to 1: others
    /// count as the nearer of both, NaN as 0. Waits for the device.
    ///
    /// Raises `Error::Shape` for other shapes.
    #[track_caller]
    pub fn to_rgb8(&self) -> RgbImage {
        let fail = || -> ! {
            let message = format!("{:?} is no image, expected [3, height, width] or [1, height, width]", self.shape());
            raise(Error::Shape { op: "to_rgb8".into(), message })
        };
        let &[channels @ (1 | 3), height, width] = self.shape() else { fail() };
        let (values, pixels) = (self.to_vec(), height * width);
        let byte = |v: f32| (v * 255.0).round_ties_even() as u8;
        let parts = (0..pixels).flat_map(|at| (0..3).map(move |c| if channels == 3 { c * pixels + at } else { at }));
        let bytes: Vec<u8> = parts.map(|at| byte(values[at])).collect();
        let (Ok(w), Ok(h)) = (u32::try_from(width), u32::try_from(height)) else { fail() };
        match RgbImage::from_raw(w, h, bytes) {
            Some(image) => image,
            None => fail(),
        }
    }
}
