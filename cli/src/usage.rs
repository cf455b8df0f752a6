//! Errors of the command line itself, for programs that read the output.

use std::ffi::OsString;
use std::io;

use clap::ValueEnum;
use gavel_protocol::Answer;

use crate::commands::eval;
use crate::findings::{Findings, Format, Report};
use crate::manifests::unusable;

/// Prints an error of the command line to standard output, in the format that `--output` names. Without `--output`, or for text, prints
/// nothing.
pub(crate) fn print(args: &[OsString], error: &clap::Error) -> io::Result<()> {
    let Some(format) = format(args) else {
        return Ok(());
    };
    let problem = unusable(message(error));
    match args.get(1).and_then(|command| command.to_str()) {
        Some("eval") if format == Format::Json => {
            eval::print(&Answer::invalid(&problem), &mut io::stdout().lock())
        }
        Some("lint") => Findings::default().print(format, &[problem]),
        _ => Report::new("gavel").finish(format, &[problem], &mut io::stdout().lock()),
    }
}

/// The format that the arguments name. The arguments may be wrong, so clap cannot parse them.
fn format(args: &[OsString]) -> Option<Format> {
    let mut args = args.iter().filter_map(|arg| arg.to_str());
    while let Some(arg) = args.next() {
        let value = match arg {
            "-o" | "--output" => args.next(),
            _ => arg
                .strip_prefix("--output=")
                .or_else(|| arg.strip_prefix("-o")),
        };
        let format = value.map(|value| Format::from_str(value.trim_start_matches('='), false));
        if let Some(Ok(format)) = format {
            return Some(format);
        }
    }
    None
}

/// The message of an error in one line, without the usage.
fn message(error: &clap::Error) -> String {
    let text = error.to_string();
    let message = text.split("\n\n").next().unwrap_or_default();
    let lines = message.trim_start_matches("error: ").lines();
    lines.map(str::trim).collect::<Vec<_>>().join(" ")
}
