//! The exit status of the program.

use std::process::ExitCode;

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Success, or the reader of the output has gone away.
    Success,
    /// Something examined is invalid: an expression does not compile, or fails.
    Rejected,
    /// The command line or an input cannot be understood or read.
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
