//! Philox4x32-10, the counter-based generator of Salmon et al., "Parallel random numbers: as easy as 1, 2, 3" (2011).
//!
//! A block of four words is a pure function of a key and a counter, so that element `i` of a random tensor is the same
//! whatever thread, tile or device computes it.

/// Blocks whose words lie beside each other in a stream, so that they can run in the lanes of a vector.
pub const LANES: u64 = 16;

const MULTIPLIERS: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: usize = 10;

/// Four random words: the block at `counter` of the stream `key`.
#[inline(always)]
pub fn block(key: u64, counter: [u32; 4]) -> [u32; 4] {
    let (mut k, mut c) = ([key as u32, (key >> 32) as u32], counter);
    for _ in 0..ROUNDS {
        let (a, b) = (u64::from(MULTIPLIERS[0]) * u64::from(c[0]), u64::from(MULTIPLIERS[1]) * u64::from(c[2]));
        c = [(b >> 32) as u32 ^ c[1] ^ k[0], b as u32, (a >> 32) as u32 ^ c[3] ^ k[1], a as u32];
        k = [k[0].wrapping_add(WEYL[0]), k[1].wrapping_add(WEYL[1])];
    }
    c
}

/// Word `i` of the stream `key`: word `(i % 64) / 16` of block `16 * (i / 64) + i % 16`.
///
/// So the words of sixteen blocks lie in a group, all first words first.
#[inline(always)]
pub fn word(key: u64, i: u64) -> u32 {
    let at = LANES * (i / (4 * LANES)) + i % LANES;
    block(key, [at as u32, (at >> 32) as u32, 0, 0])[((i % (4 * LANES)) / LANES) as usize]
}

/// Words that are computed together: those of [`LANES`] blocks.
pub const GROUP: usize = 4 * LANES as usize;

/// Words `64 n` to `64 n + 63` of the stream `key`: those of blocks `16 n` to `16 n + 15`, all first words first.
///
/// This order lets the blocks of a group run in the lanes of a vector and be stored as they come.
#[inline(always)]
pub fn group(key: u64, n: u64) -> [u32; GROUP] {
    const WIDTH: usize = LANES as usize;
    let mut out = [[0; WIDTH]; 4];
    let first = n.wrapping_mul(LANES);
    // The first block of a group is a multiple of the lanes, so that only its low word differs between lanes.
    let (low, high) = (first as u32, (first >> 32) as u32);
    for lane in 0..WIDTH {
        let words = block(key, [low | lane as u32, high, 0, 0]);
        for (row, word) in out.iter_mut().zip(words) {
            row[lane] = word;
        }
    }
    let mut flat = [0; GROUP];
    for (to, row) in flat.as_chunks_mut::<WIDTH>().0.iter_mut().zip(out) {
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
    fn a_group_of_sixty_four_words_holds_its_blocks_first_words_first() {
        for group in [0, 1, 7, (1 << 40) + 3] {
            for i in 0..64 {
                let at = group * LANES + i % LANES;
                let block = block(77, [at as u32, (at >> 32) as u32, 0, 0]);
                assert_eq!(word(77, 64 * group + i), block[(i / LANES) as usize]);
                assert_eq!(super::group(77, group)[i as usize], block[(i / LANES) as usize]);
            }
        }
        assert_eq!(word(0, 0), 0x6627_e8d5);
        assert_eq!(word(0, 48), 0x9b00_dbd8);
    }
}
