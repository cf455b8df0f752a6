//! Output for people: values and types on standard output, problems on standard error.

use std::fmt::Display;
use std::io::{self, Write};
use std::path::Path;

use anstream::stderr;
use clap::builder::styling::{AnsiColor, Style};

use gavel_engine::value::Value;
use gavel_manifest::Problem;
use gavel_protocol::{Failure, Outcome};

mod excerpt;
mod literal;
mod visible;
pub(crate) mod yaml;

use literal::Literal;
pub(crate) use visible::{line_of_excerpt, visible};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();

/// Reports a problem of the command line or of an input.
pub(crate) fn complain(message: &impl Display) {
    // If standard error is closed, the problem cannot be reported.
    let _ = writeln!(
        stderr(),
        "{ERROR}error:{ERROR:#} {}",
        visible(&message.to_string())
    );
}

/// Reports a problem, with a note that helps to correct it.
pub(crate) fn problem(problem: &Problem) {
    complain(problem);
    if !problem.help().is_empty() {
        notes(&[problem.help().to_owned()]);
    }
}

/// Adds the path of a file or folder to an error about it.
pub(crate) fn about(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |error| io::Error::new(error.kind(), Problem::unreadable(path, error))
}

/// Prints notes that help to correct a problem.
pub(crate) fn notes(notes: &[String]) {
    for note in notes {
        let _ = writeln!(stderr(), "{NOTE}note:{NOTE:#} {}", visible(note));
    }
}

/// Prints a warning.
pub(crate) fn warning(warning: &impl Display) {
    let warning = warning.to_string();
    let _ = writeln!(stderr(), "{NOTE}warning:{NOTE:#} {}", visible(&warning));
}

/// A count with its noun: `1 object`, `2 objects`.
pub(crate) fn count(count: usize, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        _ => format!("{count} {thing}s"),
    }
}

/// Prints the summary of a run in one line.
pub(crate) fn summary(summary: &str) {
    let _ = writeln!(stderr(), "{summary}");
}

/// Prints the outcome of an evaluation: the value and its type, or the problems. With `cost`, also prints the costs.
pub(crate) fn outcome(outcome: &Outcome<'_>, cost: bool, out: &mut impl Write) -> io::Result<()> {
    match &outcome.result {
        Ok(value) => {
            if let Some(value) = value {
                writeln!(out, "{}", Literal::new(*value))?;
            }
        }
        Err(Failure::Issues(issues)) if stderr().is_terminal() => {
            let _ = writeln!(stderr(), "{}", excerpt::render(issues));
        }
        Err(Failure::Issues(issues)) => {
            let _ = writeln!(stderr(), "{issues}");
        }
        Err(failure) => complain(failure),
    }
    if outcome.result.is_ok()
        && let Some(ty) = outcome.ty
    {
        writeln!(out, "type: {ty}")?;
    }
    if cost {
        if let Some(cost) = outcome.cost {
            writeln!(out, "cost: {cost}")?;
        }
        if let Some(estimate) = outcome.estimate {
            writeln!(out, "estimated cost: {} to {}", estimate.min, estimate.max)?;
        }
    }
    Ok(())
}

/// A value written as CEL.
pub(crate) fn written(value: Value<'_>) -> String {
    Literal::new(value).to_string()
}
