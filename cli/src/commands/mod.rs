//! The commands, one module each.

use std::io;

use crate::args::{Cli, Command};
use crate::exit_code::Exit;
use crate::report;

mod about;
mod audit;
mod batch;
mod check;
mod cost;
pub(crate) mod eval;
mod explain;
mod functions;
mod lint;
mod mutate;
mod serve;
mod test;
mod upgrade_check;
mod validate;

/// Runs a command. If the reader of the output has closed the pipe, no error is printed. A command that examines objects then fails
/// nevertheless, because it may have stopped before it found all problems.
pub(crate) fn run(cli: Cli) -> Exit {
    let closed = match cli.command {
        Command::Audit(_)
        | Command::Check(_)
        | Command::Cost(_)
        | Command::Lint(_)
        | Command::Mutate(_)
        | Command::UpgradeCheck(_)
        | Command::Test(_)
        | Command::Validate(_) => Exit::Usage,
        _ => Exit::Success,
    };
    let ended = match cli.command {
        Command::Audit(args) => audit::run(*args),
        Command::Check(args) => check::run(&args),
        Command::Eval(args) => eval::run(*args),
        Command::Functions(args) => functions::run(&args),
        Command::Cost(args) => cost::run(&args),
        Command::Version(args) => about::version(&args),
        Command::Completions(args) => about::completions(&args),
        Command::Man(args) => about::man(&args),
        Command::Lint(args) => lint::run(&args),
        Command::Explain(args) => explain::run(&args),
        Command::Mutate(args) => mutate::run(&args),
        Command::Serve(args) => serve::run(*args),
        Command::UpgradeCheck(args) => upgrade_check::run(&args),
        Command::Test(args) => test::run(&args),
        Command::Validate(args) => validate::run(&args),
        Command::Batch => {
            batch::run(io::stdin().lock(), io::stdout().lock()).map(|()| Exit::Success)
        }
    };
    match ended {
        Ok(exit) => exit,
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => closed,
        Err(error) => {
            report::complain(&error);
            Exit::Usage
        }
    }
}

#[cfg(test)]
mod tests;
