//! What the exit status says.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Everything is well, or nobody reads the output any more.
    Success,
    /// What was looked at is wrong: an expression does not compile, or fails.
    Rejected,
    /// The command line or an input cannot be understood, or cannot be read.
    Usage,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Success => 0,
            Exit::Rejected => 1,
            Exit::Usage => 2,
        })
    }
}
