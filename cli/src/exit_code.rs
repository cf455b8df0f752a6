//! The exit status of the program.

use std::process::ExitCode;

/// The outcome of a command, which decides its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The command succeeded, or the reader of its output has closed the pipe.
    Success,
    /// The command found something invalid, such as an expression that does not compile.
    Rejected,
    /// The command line is wrong, or an input cannot be read.
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
