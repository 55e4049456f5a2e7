//! What a call depends on beyond its arguments and parameters: mode and randomness.

use crate::model::State;
use crate::raise::raise;
use crate::random::Key;
use crate::tensor::Tensor;
use cotangent_hal::Error;
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Mode and randomness of a call: whether dropout drops and running statistics move, and with which random keys.
///
/// Random keys are a function of the seed, of the step and of how many were drawn in the step. The outermost call of a
/// model's method that takes a `Cx` advances the step; calls inside of it do not. With [`Cx::eval`] nothing is random
/// and nothing is updated.
///
/// ```
/// use cotangent_runtime::Cx;
/// let mut cx = Cx::train(7);
/// let (first, second) = (cx.draw(), cx.draw());
/// assert_ne!(first, second);
/// assert_eq!(Cx::train(7).draw(), first);
/// assert!(cx.training() && !Cx::eval().training());
/// ```
#[derive(Debug)]
pub struct Cx {
    state: CxState,
    /// Calls that are under way. Shared with their guards, so that a raised error closes them too.
    depth: Arc<AtomicUsize>,
}

/// All that a [`Cx`] is, for checkpoints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CxState {
    /// Whether the mode is training.
    pub training: bool,
    /// The seed of all random keys.
    pub seed: u64,
    /// How many outermost calls were made.
    pub step: u64,
    /// How many random keys were drawn in this step.
    pub draws: u32,
}

/// An open call; see [`Cx::scope`].
#[must_use = "the call ends when the scope is dropped"]
#[derive(Debug)]
pub struct Scope(Arc<AtomicUsize>);

impl Drop for Scope {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Cx {
    /// Training: dropout drops, running statistics move, all randomness comes from `seed`.
    pub fn train(seed: u64) -> Cx {
        Cx::from_state(CxState { training: true, seed, step: 0, draws: 0 })
    }

    /// Inference: nothing is random and nothing is updated.
    pub fn eval() -> Cx {
        Cx::from_state(CxState { training: false, seed: 0, step: 0, draws: 0 })
    }

    /// The context that was saved as `state`, outside of any call.
    pub fn from_state(state: CxState) -> Cx {
        Cx { state, depth: Arc::default() }
    }

    /// Whether the mode is training.
    pub fn training(&self) -> bool {
        self.state.training
    }

    /// How many outermost calls were made.
    pub fn step(&self) -> u64 {
        self.state.step
    }

    /// All that there is to save. Taken before a call and given to [`restore`](Self::restore), it replays the call.
    pub fn state(&self) -> CxState {
        self.state
    }

    /// Goes back to a saved state. Open calls stay open.
    pub fn restore(&mut self, state: CxState) {
        self.state = state;
    }

    /// A fresh random key: the next of this step. Raises in inference, where nothing is random.
    #[track_caller]
    pub fn draw(&mut self) -> Key {
        if !self.state.training {
            raise(Error::Argument {
                op: "draw".into(),
                message: "nothing is random with `Cx::eval()`; ask `cx.training()` first, or sample with an `Rng`"
                    .into(),
            });
        }
        let key = Key(self.state.seed).at(self.state.step, self.state.draws);
        self.state.draws = self.state.draws.wrapping_add(1);
        key
    }

    /// Replaces a state, such as a running mean, by `change` of its value. In inference it stays and `change` is not
    /// called.
    ///
    /// # Panics
    /// Raises `Error::Shape` where the new value has another shape.
    #[track_caller]
    pub fn update(&self, state: &State, change: impl FnOnce(Tensor) -> Tensor) {
        if self.state.training {
            state.set(change(state.get()));
        }
    }

    /// A context in the same state inside of a call, so that no call with it begins a step.
    pub(crate) fn inside(&self) -> Cx {
        Cx { state: self.state, depth: Arc::new(AtomicUsize::new(1)) }
    }

    /// Opens a call. The outermost one begins a step: the step's number advances and draws start again.
    pub fn enter(&mut self) {
        if self.depth.fetch_add(1, Ordering::Relaxed) == 0 {
            self.state.step = self.state.step.wrapping_add(1);
            self.state.draws = 0;
        }
    }

    /// Closes the call that [`enter`](Self::enter) opened.
    pub fn leave(&mut self) {
        // Without an open call there is nothing to close.
        let _ = self.depth.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |depth| depth.checked_sub(1));
    }

    /// Opens a call as [`enter`](Self::enter) does and closes it when the guard is dropped, by an error as well.
    pub fn scope(&mut self) -> Scope {
        self.enter();
        Scope(self.depth.clone())
    }
}

/// A context in the same state, outside of any call.
impl Clone for Cx {
    fn clone(&self) -> Self {
        Cx::from_state(self.state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::raise::attempt;

    #[test]
    fn only_the_outermost_call_begins_a_step() {
        let mut cx = Cx::train(1);
        cx.enter();
        let first = cx.draw();
        cx.enter();
        let second = cx.draw();
        cx.leave();
        cx.leave();
        assert_eq!(cx.step(), 1);
        assert_ne!(first, second);
        let saved = cx.state();
        cx.enter();
        let third = cx.draw();
        cx.leave();
        assert_eq!(cx.step(), 2);
        assert!(third != first && third != second);
        cx.restore(saved);
        cx.enter();
        assert_eq!(cx.draw(), third);
    }

    #[test]
    fn an_error_closes_the_scopes_it_leaves() {
        let mut cx = Cx::eval();
        for step in 1..3 {
            let raised = attempt(|| {
                let _outer = cx.scope();
                let _inner = cx.scope();
                cx.draw()
            });
            assert!(raised.unwrap_err().to_string().starts_with("draw: nothing is random with `Cx::eval()`"));
            assert_eq!(cx.step(), step);
        }
    }

    #[test]
    fn the_state_goes_through_serde() {
        let mut cx = Cx::train(3);
        cx.enter();
        cx.draw();
        let text = serde_json::to_string(&cx.state()).unwrap();
        let mut again = Cx::from_state(serde_json::from_str(&text).unwrap());
        assert_eq!(again.draw(), cx.draw());
    }
}
