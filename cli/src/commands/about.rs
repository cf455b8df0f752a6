//! Information about the program: its version, completions for shells, and man pages.

use std::io::{self, Write};
use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Command, CommandFactory};
use gavel_libraries::{KubeVersion, Server};
use gavel_lint::rules::RULES;
use serde_json::json;

use crate::args::{Cli, CompletionsArgs, ManArgs, Output, VersionArgs};
use crate::exit_code::Exit;
use crate::report;

/// Prints the version of the program and the Kubernetes versions that it supports.
pub(crate) fn version(args: &VersionArgs) -> io::Result<Exit> {
    let mut out = io::stdout().lock();
    let version = env!("CARGO_PKG_VERSION");
    let (oldest, newest) = (Server::OLDEST, KubeVersion::NEWEST);
    let default = KubeVersion::default();
    match args.output {
        Output::Text => writeln!(
            out,
            "gavel {version}\nKubernetes {oldest} to {newest}; the default is {default}"
        )?,
        Output::Json => {
            let kubernetes = json!({
                "oldest": oldest.to_string(),
                "newest": newest.to_string(),
                "default": default.to_string(),
            });
            writeln!(
                out,
                "{}",
                json!({"gavel": version, "kubernetes": kubernetes})
            )?;
        }
    }
    Ok(Exit::Success)
}

/// Prints the completions for a shell.
pub(crate) fn completions(args: &CompletionsArgs) -> io::Result<Exit> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut with_rules(), "gavel", &mut text);
    io::stdout().lock().write_all(&text)?;
    Ok(Exit::Success)
}

/// The program's command with the names of the lint rules as the values of its arguments, so that shells complete them.
fn with_rules() -> Command {
    let take_rules = |command: Command, names: &[&str]| {
        names.iter().fold(command, |command, name| {
            let rules = RULES.iter().map(|rule| rule.id);
            command.mut_arg(name, |arg| {
                arg.value_parser(PossibleValuesParser::new(rules))
            })
        })
    };
    Cli::command()
        .mut_subcommand("lint", |lint| {
            take_rules(lint, &["select", "ignore", "deny"])
        })
        .mut_subcommand("explain", |explain| take_rules(explain, &["rule"]))
}

/// Prints the man page of the program, or writes the man pages of all commands into a folder.
pub(crate) fn man(args: &ManArgs) -> io::Result<Exit> {
    match &args.folder {
        Some(folder) => write_pages(folder).map_err(report::about(folder))?,
        None => clap_mangen::Man::new(Cli::command()).render(&mut io::stdout().lock())?,
    }
    Ok(Exit::Success)
}

fn write_pages(folder: &Path) -> io::Result<()> {
    std::fs::create_dir_all(folder)?;
    clap_mangen::generate_to(Cli::command(), folder)
}
