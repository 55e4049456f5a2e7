//! How the programs that are timed beside a peer are driven.
//!
//! The first line that one prints is a list of names in JSON; then each line that it reads is one of them, which it runs
//! once and answers by the milliseconds.

#![allow(clippy::print_stdout, reason = "the figures are the point")]

pub mod models;

use std::cell::Cell;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// What is timed.
pub struct Case {
    /// Its name, by which the peer has it too.
    pub name: String,
    /// One run.
    pub once: Box<dyn FnMut()>,
}

std::thread_local! {
    /// The part of a run that counts, where it is not all of it.
    static PART: Cell<Option<Duration>> = const { Cell::new(None) };
}

/// Says, in a run, that only this part of it counts.
pub fn part_that_counts(part: Duration) {
    PART.set(Some(part));
}

/// Runs the cases that the input names, one a line.
pub fn serve(mut cases: Vec<Case>) {
    let names: Vec<&str> = cases.iter().map(|case| case.name.as_str()).collect();
    println!("{}", serde_json::json!(names));
    for line in std::io::stdin().lines().map_while(Result::ok) {
        let Some(case) = cases.iter_mut().find(|case| case.name == line) else { return };
        PART.set(None);
        let start = Instant::now();
        (case.once)();
        let whole = start.elapsed();
        println!("{}", PART.get().unwrap_or(whole).as_secs_f64() * 1e3);
    }
}

/// A copy of as many bytes by two threads, as kernels have.
pub fn memcpy(bytes: usize) -> Case {
    let (from, mut to) = (vec![1u8; bytes], vec![0u8; bytes]);
    let once = move || {
        let (from, half) = (black_box(&from), bytes / 2);
        let (a, b) = to.split_at_mut(half);
        std::thread::scope(|s| {
            s.spawn(|| a.copy_from_slice(&from[..half]));
            b.copy_from_slice(&from[half..]);
        });
    };
    Case { name: "memcpy".into(), once: Box::new(once) }
}
