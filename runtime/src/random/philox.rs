//! Philox4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
//!
//! A block of four words is a pure function of a key and a counter, so that element `i` of a random tensor is the same
//! whatever thread, tile or device computes it.

pub(crate) use cotangent_ir::philox::block;

/// Words of a [`group`].
pub(crate) const GROUP: usize = 4 * LANES;

/// Blocks computed side by side.
const LANES: usize = cotangent_ir::philox::LANES as usize;

/// Words `64 n` to `64 n + 63` of the stream `key`: those of blocks `16 n` to `16 n + 15`, all first words first.
///
/// This order lets the blocks of a group run in the lanes of a vector and be stored as they come.
#[inline(always)]
pub(crate) fn group(key: u64, n: u64) -> [u32; GROUP] {
    let mut out = [[0; LANES]; 4];
    let first = n.wrapping_mul(LANES as u64);
    // The first block of a group is a multiple of the lanes, so that only its low word differs between lanes.
    let (low, high) = (first as u32, (first >> 32) as u32);
    for lane in 0..LANES {
        let words = block(key, [low | lane as u32, high, 0, 0]);
        for (row, word) in out.iter_mut().zip(words) {
            row[lane] = word;
        }
    }
    let mut flat = [0; GROUP];
    for (to, row) in flat.as_chunks_mut::<LANES>().0.iter_mut().zip(out) {
        *to = row;
    }
    flat
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_answers_of_random123() {
        let check = |key, counter, expected| assert_eq!(block(key, counter), expected);
        check(0, [0; 4], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]);
        check(u64::MAX, [u32::MAX; 4], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]);
        check(
            0x299f_31d0_a409_3822,
            [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
        );
    }

    #[test]
    fn a_group_holds_the_words_of_its_blocks() {
        for n in [0, 1, 7, (1 << 40) + 3] {
            let words = group(77, n);
            for (i, word) in words.into_iter().enumerate() {
                let at = n * LANES as u64 + (i % LANES) as u64;
                assert_eq!(word, block(77, [at as u32, (at >> 32) as u32, 0, 0])[i / LANES]);
            }
        }
    }
}
