//! The order in which a training run sees its examples.

use crate::random::{Key, Rng};
use cotangent_hal::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The batches of a training run: every epoch has all examples once, in an order of its own.
///
/// An epoch's order is a function of the seed and of the epoch's number. So the place in a run is a few numbers, which
/// [`Display`](fmt::Display) writes and [`resume`](Self::resume) reads; a checkpoint takes them as a note.
///
/// ```
/// use cotangent_runtime::Order;
/// let mut order = Order::new(5, 2, 7);
/// let epoch: Vec<Vec<usize>> = std::iter::from_fn(|| order.next()).collect();
/// assert_eq!(epoch.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2, 1]);
/// assert_eq!(order.epoch(), 1);
///
/// order.next();
/// let mut again = Order::new(5, 2, 0);
/// again.resume(&order.to_string()).unwrap();
/// assert_eq!(again.next(), order.next());
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Order {
    place: Place,
    /// The examples of this epoch, in its order.
    examples: Vec<usize>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    examples: usize,
    batch: usize,
    seed: u64,
    epoch: u64,
    /// Examples of this epoch that were given.
    given: usize,
}

impl Order {
    /// Batches of `batch` examples out of `examples`, at the start of the first epoch. The last batch of an epoch has
    /// what is left. A batch of 0 counts as 1.
    pub fn new(examples: usize, batch: usize, seed: u64) -> Order {
        Order::at(Place { examples, batch: batch.max(1), seed, epoch: 0, given: 0 })
    }

    fn at(place: Place) -> Order {
        let key = Key(place.seed).at(place.epoch, 0);
        Order { place, examples: Rng::seed(key.0).permutation(place.examples) }
    }

    /// The next batch, as positions of examples; `None` once at the end of each epoch.
    #[allow(clippy::should_implement_trait, reason = "an iterator that goes on after `None` would surprise")]
    pub fn next(&mut self) -> Option<Vec<usize>> {
        let Place { examples, batch, epoch, given, .. } = self.place;
        if given >= examples {
            *self = Order::at(Place { epoch: epoch.wrapping_add(1), given: 0, ..self.place });
            return None;
        }
        let end = examples.min(given.saturating_add(batch));
        self.place.given = end;
        Some(self.examples[given..end].to_vec())
    }

    /// Goes to the place that [`Display`](fmt::Display) wrote, which may come from a file: seed, epoch and how much of it
    /// was given. The batches stay as long as they are.
    ///
    /// # Errors
    /// `Error::Argument` where the text is no place, or one among another number of examples; the order stays as it was.
    pub fn resume(&mut self, place: &str) -> Result<()> {
        let wrong = |message| Error::Argument { op: "resume".into(), message };
        let found: Place =
            serde_json::from_str(place).map_err(|e| wrong(format!("`{place}` is not the place in an order: {e}")))?;
        let (examples, own) = (found.examples, self.place.examples);
        if examples != own {
            return Err(wrong(format!("the place is one among {examples} examples, but there are {own}")));
        }
        if found.given > own {
            return Err(wrong(format!("{} of {own} examples cannot have been given", found.given)));
        }
        *self = Order::at(Place { batch: self.place.batch, ..found });
        Ok(())
    }

    /// The number of the present epoch, from 0.
    pub fn epoch(&self) -> u64 {
        self.place.epoch
    }

    /// Examples of the present epoch that were given.
    pub fn given(&self) -> usize {
        self.place.given
    }

    /// Batches of a whole epoch.
    pub fn batches(&self) -> usize {
        self.place.examples.div_ceil(self.place.batch)
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&serde_json::to_string(&self.place).map_err(|_| fmt::Error)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_epoch_has_all_examples_in_another_order() {
        let mut order = Order::new(11, 4, 3);
        let mut epochs = vec![];
        for epoch in 0..3 {
            assert_eq!((order.epoch(), order.given(), order.batches()), (epoch, 0, 3));
            let mut examples: Vec<usize> = std::iter::from_fn(|| order.next()).flatten().collect();
            epochs.push(examples.clone());
            examples.sort();
            assert_eq!(examples, (0..11).collect::<Vec<_>>());
        }
        assert!(epochs[0] != epochs[1] && epochs[1] != epochs[2]);
    }

    #[test]
    fn a_place_that_is_none_is_refused() {
        let mut order = Order::new(11, 4, 3);
        order.next();
        let (before, whole) = (order.clone(), order.to_string());
        for (from, to, said) in [
            ("11", "-1", "is not the place in an order"),
            ("11", "18446744073709551615", "one among 18446744073709551615 examples, but there are 11"),
            ("\"given\":4", "\"given\":12", "12 of 11 examples cannot have been given"),
            ("seed", "sea", "is not the place in an order"),
        ] {
            let text = whole.replacen(from, to, 1);
            assert_ne!(text, whole);
            let error = order.resume(&text).expect_err("no place").to_string();
            assert!(error.starts_with("resume: ") && error.contains(said), "{error}");
            assert_eq!(order, before);
        }
        order.resume(&whole).expect("a place");
        assert_eq!(order, before);
        assert!(Order::new(0, 0, 0).next().is_none());
    }
}
