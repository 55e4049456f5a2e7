use std::fmt;
use std::sync::OnceLock;

/// Instruction sets with a variant of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// What the target guarantees.
    Base,
    /// x86-64-v3: AVX2, FMA and F16C.
    V3,
    /// x86-64-v4: AVX-512 F, VL, DQ and BW.
    V4,
}

impl Level {
    /// The best level that this processor has, found once a process.
    ///
    /// The environment variable `COTANGENT_SIMD` (`base`, `v3` or `v4`) lowers it, for tests; it cannot raise it.
    pub fn detect() -> Level {
        static LEVEL: OnceLock<Level> = OnceLock::new();
        *LEVEL.get_or_init(|| {
            let wish = std::env::var("COTANGENT_SIMD").ok();
            let ceiling = match wish.as_deref() {
                Some("base") => Level::Base,
                Some("v3") => Level::V3,
                Some(_) | None => Level::V4,
            };
            Level::of_processor().min(ceiling)
        })
    }

    /// The levels that this processor has, lowest first.
    pub fn available() -> &'static [Level] {
        match Level::of_processor() {
            Level::Base => &[Level::Base],
            Level::V3 => &[Level::Base, Level::V3],
            Level::V4 => &[Level::Base, Level::V3, Level::V4],
        }
    }

    fn of_processor() -> Level {
        #[cfg(target_arch = "x86_64")]
        {
            use std::arch::is_x86_feature_detected as has;
            if has!("avx2") && has!("fma") && has!("f16c") {
                if has!("avx512f") && has!("avx512vl") && has!("avx512dq") && has!("avx512bw") {
                    return Level::V4;
                }
                return Level::V3;
            }
        }
        Level::Base
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Base => "base",
            Level::V3 => "AVX2",
            Level::V4 => "AVX-512",
        })
    }
}
