//! Borders.

use crate::{check_vjp, indices, position, shape, strided};
use cotangent_runtime::ops::PadMode;
use cotangent_runtime::{Device, Int, Rng, Tensor};

/// The place along an axis of `n` entries that place `at` of the padded axis shows, `None` in a constant border.
fn source(at: isize, before: isize, behind: isize, n: isize, mode: Option<PadMode>) -> Option<usize> {
    // Negative widths take entries away first.
    let (low, high) = ((-before).max(0), n - (-behind).max(0));
    let (m, at) = (high - low, at - before.max(0));
    let inside = match mode {
        _ if (0..m).contains(&at) => at,
        None => return None,
        Some(PadMode::Reflect) if at < 0 => -at,
        Some(PadMode::Reflect) => 2 * (m - 1) - at,
        Some(PadMode::Replicate) => at.clamp(0, m - 1),
        Some(PadMode::Circular) => at.rem_euclid(m),
    };
    Some((inside + low) as usize)
}

#[test]
fn borders_of_every_kind() {
    let rng = &mut Rng::seed(51);
    let modes = [None, Some(PadMode::Reflect), Some(PadMode::Replicate), Some(PadMode::Circular)];
    for round in 0..300 {
        let mode = modes[round % 4];
        let shape = [&shape(rng)[..], &[1 + rng.below(4)]].concat();
        if mode.is_some() && shape.contains(&0) {
            continue;
        }
        let (x, rank) = (strided(&shape, rng), shape.len());
        let axes = 1 + rng.below(rank);
        let mut widths = vec![];
        for back in 0..axes {
            let n = shape[rank - 1 - back] as i64;
            let most = match mode {
                None | Some(PadMode::Replicate) => 4,
                Some(PadMode::Reflect) => n,
                Some(PadMode::Circular) => n + 1,
            };
            let crop = rng.below(3) == 0 && n > 1;
            let low = if crop { -1 } else { rng.below(most as usize) as i64 };
            let most = if crop && mode.is_some() { most - 1 } else { most };
            widths.extend([low, rng.below(most as usize) as i64]);
        }
        let width = |axis: usize, end: usize| widths.get(2 * (rank - 1 - axis) + end).map_or(0, |&w| w as isize);
        let wide: Vec<usize> = (0..rank).map(|a| (shape[a] as isize + width(a, 0) + width(a, 1)) as usize).collect();
        let values = x.to_vec();
        let want: Vec<f32> = indices(&wide)
            .iter()
            .map(|index| {
                let from: Option<Vec<usize>> = (0..rank)
                    .map(|a| source(index[a] as isize, width(a, 0), width(a, 1), shape[a] as isize, mode))
                    .collect();
                from.map_or(0.5, |from| values[position(&from, &shape)])
            })
            .collect();
        let y = match mode {
            None => x.clone().pad(&widths, 0.5),
            Some(mode) => x.clone().pad_with(&widths, mode),
        };
        assert_eq!((y.shape(), y.to_vec()), (&wide[..], want), "{shape:?} {widths:?} {mode:?}");
        match mode {
            None => check_vjp(x, rng, |x, want| x.pad__vjp(&widths, 0.0, want), |(x, (), ())| x),
            Some(mode) => check_vjp(x, rng, |x, want| x.pad_with__vjp(&widths, mode, want), |(x, (), ())| x),
        }
    }
    let device = Device::cpu();
    assert_eq!(Tensor::<Int>::arange(3, &device).pad([1, 2], -1).to_vec(), [-1, 0, 1, 2, -1, -1]);
    assert_eq!(Tensor::full([1], true, &device).pad([0, 1], 0).to_vec(), [true, false]);
}
