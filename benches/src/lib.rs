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
///
/// With the arguments `memory CASE` it runs one a few times and prints the most bytes that the process ever had; with
/// `profile CASE` it prints the launches of one run.
pub fn serve(mut cases: Vec<Case>) {
    let words: Vec<String> = std::env::args().skip(1).collect();
    if let [what, case] = &words[..] {
        match cases.iter_mut().find(|known| known.name == *case) {
            Some(case) => once(what, case),
            None => println!("no case `{case}`"),
        }
        return;
    }
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

/// Runs a case a few times for its memory or its profile.
fn once(what: &str, case: &mut Case) {
    (0..3).for_each(|_| (case.once)());
    match what {
        "profile" => print!("{}", cotangent::report::of(|| (case.once)()).1),
        _ => println!("{}", peak()),
    }
}

/// The most bytes of memory that the process ever had, as Linux counts them; 0 elsewhere.
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|l| l.trim().strip_suffix("kB")?.trim().parse().ok()).map_or(0, |kilobytes: usize| kilobytes * 1024)
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
