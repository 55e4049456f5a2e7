//! Kernels for processors with tile registers (Intel's AMX): tiles of 32 by 32 sums in four of the eight registers, two
//! for each factor.
//!
//! A register has 16 rows of 64 bytes. One instruction multiplies 16 rows of 32 numbers of `bf16` with 32 rows of 16,
//! of which the second factor's register holds neighbours side by side, and adds to 16 by 16 sums in `f32`. Subnormal
//! numbers count as zeros (Intel 64 and IA-32 Architectures Software Developer's Manual, volume 1, chapter 18).
#![allow(unsafe_code, reason = "the processor's own instructions on raw memory")]

use super::kernel::{Kernel, Tile};
use super::pairs::{LEFT, Pair, TERMS, WIDTH};
use std::arch::asm;
use std::arch::x86_64::{__cpuid, __cpuid_count, _xgetbv};
use std::sync::OnceLock;

pub(super) static PAIRS: Kernel<Pair> = Kernel::new([WIDTH, WIDTH], 1024, 512 << 10, run).by(TERMS);

/// Rows of a register, and columns of sums.
const SIDE: usize = 16;
/// Bytes of a row of a register.
const LINE: usize = 64;
/// Distance of rows in panels of the left factor and of the right one.
const STEPS: [usize; 2] = [LINE, WIDTH * size_of::<Pair>()];

/// Whether the processor has these instructions and the system lets the process use them, which it is asked once.
pub(super) fn available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| has_tiles() && allowed())
}

/// Whether the processor has the instructions, and the system keeps the registers.
fn has_tiles() -> bool {
    const XSAVE_IN_USE: u32 = 1 << 27;
    const BF16_AND_TILES: u32 = 1 << 22 | 1 << 24;
    const KEPT: u64 = 1 << 17 | 1 << 18;

    #[target_feature(enable = "xsave")]
    fn kept() -> u64 {
        // SAFETY: the function's feature.
        unsafe { _xgetbv(0) }
    }

    if __cpuid(0).eax < 7 || __cpuid(1).ecx & XSAVE_IN_USE == 0 {
        return false;
    }
    // SAFETY: the processor has `xgetbv`, by the bit above.
    __cpuid_count(7, 0).edx & BF16_AND_TILES == BF16_AND_TILES && unsafe { kept() } & KEPT == KEPT
}

/// Asks Linux for the use of the registers, which it grants to all threads of a process.
#[cfg(target_os = "linux")]
fn allowed() -> bool {
    const REQUEST: libc::c_long = 0x1023;
    const TILE_DATA: libc::c_long = 18;
    // SAFETY: the call takes two numbers and touches no memory.
    unsafe { libc::syscall(libc::SYS_arch_prctl, REQUEST, TILE_DATA) == 0 }
}

/// Other systems have ways of their own to ask.
#[cfg(not(target_os = "linux"))]
fn allowed() -> bool {
    false
}

/// What registers hold: of each, rows and bytes of a row.
#[repr(C, align(64))]
struct Config {
    palette: u8,
    start: u8,
    reserved: [u8; 14],
    bytes: [u16; 16],
    rows: [u8; 16],
}

impl Config {
    fn new(registers: [[usize; 2]; 8]) -> Config {
        let mut config = Config { palette: 1, start: 0, reserved: [0; 14], bytes: [0; 16], rows: [0; 16] };
        for (i, [rows, columns]) in registers.into_iter().enumerate() {
            (config.rows[i], config.bytes[i]) = (rows as u8, (columns * size_of::<f32>()) as u16);
        }
        config
    }
}

/// # Safety
/// As for [`Kernel::tile`], on packed panels, where the instructions are [`available`].
unsafe fn run(t: &Tile<Pair>) {
    // SAFETY: the caller's promise, for the whole tile or for its parts.
    unsafe {
        if t.rows > SIDE && t.columns > SIDE {
            return four(t);
        }
        for i in (0..t.rows).step_by(SIDE) {
            for j in (0..t.columns).step_by(SIDE) {
                one(&Tile {
                    rows: SIDE.min(t.rows - i),
                    columns: SIDE.min(t.columns - j),
                    a: t.a.add(i * TERMS),
                    b: t.b.add(j),
                    c: t.c.offset(i as isize * t.c_row).add(j),
                    ..*t
                });
            }
        }
    }
}

/// A tile of more than 16 rows and columns.
///
/// # Safety
/// As for [`run`].
unsafe fn four(t: &Tile<Pair>) {
    let (m, n) = (t.rows - SIDE, t.columns - SIDE);
    let sums = [[SIDE, SIDE], [SIDE, n], [m, SIDE], [m, n]];
    let config = Config::new([sums[0], sums[1], sums[2], sums[3], [SIDE, SIDE], [m, SIDE], [SIDE, SIDE], [SIDE, n]]);
    let step = t.c_row as usize * size_of::<f32>();
    // SAFETY: within the panels and the tile. Loading the configuration clears the registers.
    unsafe {
        asm!(
            "ldtilecfg [{config}]",
            "test {add}, {add}",
            "jz 2f",
            "tileloadd tmm0, [{c} + {step}*1]",
            "tileloadd tmm1, [{c} + {step}*1 + 64]",
            "tileloadd tmm2, [{below} + {step}*1]",
            "tileloadd tmm3, [{below} + {step}*1 + 64]",
            "2:",
            "test {left}, {left}",
            "jz 4f",
            "3:",
            "tileloadd tmm4, [{a} + {a_step}*1]",
            "tileloadd tmm6, [{b} + {b_step}*1]",
            "tdpbf16ps tmm0, tmm4, tmm6",
            "tileloadd tmm7, [{b} + {b_step}*1 + 64]",
            "tdpbf16ps tmm1, tmm4, tmm7",
            "tileloadd tmm5, [{a} + {a_step}*1 + 1024]",
            "tdpbf16ps tmm2, tmm5, tmm6",
            "tdpbf16ps tmm3, tmm5, tmm7",
            "add {a}, 2048",
            "add {b}, 2048",
            "dec {left}",
            "jnz 3b",
            "4:",
            "tilestored [{c} + {step}*1], tmm0",
            "tilestored [{c} + {step}*1 + 64], tmm1",
            "tilestored [{below} + {step}*1], tmm2",
            "tilestored [{below} + {step}*1 + 64], tmm3",
            "tilerelease",
            config = in(reg) &raw const config,
            add = in(reg) usize::from(t.accumulate),
            c = in(reg) t.c,
            below = in(reg) t.c.offset(SIDE as isize * t.c_row),
            step = in(reg) step,
            a = inout(reg) t.a => _,
            b = inout(reg) t.b => _,
            a_step = in(reg) STEPS[0],
            b_step = in(reg) STEPS[1],
            left = inout(reg) t.k / TERMS => _,
            out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
            out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
            options(nostack),
        );
    }
}

/// A tile of at most 16 rows and columns.
///
/// # Safety
/// As for [`run`].
unsafe fn one(t: &Tile<Pair>) {
    let unused = [0, 0];
    let (sums, a, b) = ([t.rows, t.columns], [t.rows, SIDE], [SIDE, t.columns]);
    let config = Config::new([sums, a, b, unused, unused, unused, unused, unused]);
    // SAFETY: within the panels and the tile. Loading the configuration clears the registers.
    unsafe {
        asm!(
            "ldtilecfg [{config}]",
            "test {add}, {add}",
            "jz 2f",
            "tileloadd tmm0, [{c} + {step}*1]",
            "2:",
            "test {left}, {left}",
            "jz 4f",
            "3:",
            "tileloadd tmm1, [{a} + {a_step}*1]",
            "tileloadd tmm2, [{b} + {b_step}*1]",
            "tdpbf16ps tmm0, tmm1, tmm2",
            "add {a}, 2048",
            "add {b}, 2048",
            "dec {left}",
            "jnz 3b",
            "4:",
            "tilestored [{c} + {step}*1], tmm0",
            "tilerelease",
            config = in(reg) &raw const config,
            add = in(reg) usize::from(t.accumulate),
            c = in(reg) t.c,
            step = in(reg) t.c_row as usize * size_of::<f32>(),
            a = inout(reg) t.a => _,
            b = inout(reg) t.b => _,
            a_step = in(reg) STEPS[0],
            b_step = in(reg) STEPS[1],
            left = inout(reg) t.k / TERMS => _,
            out("tmm0") _, out("tmm1") _, out("tmm2") _,
            options(nostack),
        );
    }
}

/// Bytes of a step along the terms, which the loops above spell out.
const _: () = assert!(LEFT * size_of::<Pair>() == 2048 && WIDTH * TERMS * size_of::<Pair>() == 2048);
