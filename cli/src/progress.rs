//! How far a long run has come: a bar on standard error where that is a terminal.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A run that is over sooner shows nothing.
const DELAY: Duration = Duration::from_millis(500);

/// The bar of a run.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    /// When the run began, while the bar is still to be shown.
    hidden_since: Option<Instant>,
}

impl Progress {
    /// Of nothing so far. Never shown unless `wanted`.
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

    /// So much more is to be done.
    pub(crate) fn expect(&self, more: usize) {
        self.bar.inc_length(u64::try_from(more).unwrap_or(u64::MAX));
    }

    /// One thing is done.
    pub(crate) fn step(&mut self) {
        self.bar.inc(1);
        self.show();
    }

    /// So many things are done, of so many that are known.
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

    /// Nothing more is to be done: the bar is taken away.
    pub(crate) fn end(&self) {
        self.bar.finish_and_clear();
    }

    /// Writes something to the terminal that the bar must not get in the way of.
    pub(crate) fn aside<T>(&self, write: impl FnOnce() -> T) -> T {
        self.bar.suspend(write)
    }
}
