//! The exit status of the program.

use std::process::ExitCode;

/// The outcome of a command, which decides its exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// The command succeeded.
    Success,
    /// The command found something invalid, such as an expression that does not compile.
    Rejected,
    /// The command line is wrong, an input cannot be read, or the output cannot be written.
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
