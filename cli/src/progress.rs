//! Shows the progress of a long run as a bar, if standard error is a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// How long a run must take before the bar appears.
const DELAY: Duration = Duration::from_millis(500);

/// The progress bar of a run.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// The start of the run; `None` if the bar is already shown or must never be shown.
    hidden_since: Option<Instant>,
}

impl Progress {
    /// Creates an empty bar. If `wanted` is false, the bar is never shown.
    pub(crate) fn new(wanted: bool) -> Self {
        let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
        if let Ok(style) = ProgressStyle::with_template("{bar:30} {pos} of {len}") {
            bar.set_style(style);
        }
        Progress {
            bar,
            hidden_since: wanted.then(Instant::now),
        }
    }

    /// Adds `more` steps to the total.
    pub(crate) fn expect(&self, more: usize) {
        self.bar.inc_length(u64::try_from(more).unwrap_or(u64::MAX));
    }

    /// Counts one step.
    pub(crate) fn step(&mut self) {
        self.bar.inc(1);
        self.show();
    }

    /// Sets the position of the bar to `done`, and the length to `of`.
    pub(crate) fn reach(&mut self, done: u64, of: u64) {
        self.bar.set_length(of);
        self.bar.set_position(done);
        self.show();
    }

    fn show(&mut self) {
        if self
            .hidden_since
            .is_some_and(|start| start.elapsed() > DELAY)
        {
            self.hidden_since = None;
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Removes the bar at the end of the run.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Hides the bar while `write` writes to the terminal.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}
