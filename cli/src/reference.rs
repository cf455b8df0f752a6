//! Tests that `docs/command-line.md` matches the definition of the command line.

use std::fmt::Write;
use std::path::Path;

use clap::builder::StyledStr;
use clap::{Arg, Command, CommandFactory};

use crate::args::Cli;

const HEAD: &str = "\
<!-- Generated from the definition of the command line: UPDATE_GOLDEN=1 cargo test -p gavel-cli --lib reference -->

# Command line

Each command prints the same text with `--help`. `gavel man FOLDER` writes man pages, `gavel completions SHELL` the completions of a shell.
Sizes are quantities (`7Mi`, `512k`, `1000000`), durations are written as in Go (`500ms`, `10s`, `2m`).

Unless a command says otherwise, the exit status is 0 for success; 1 if something examined is invalid, denied or fails; and 2 if the
command line or an input cannot be used.
";

/// All commands as one page.
fn page() -> String {
    let mut program = Cli::command();
    program.build();
    let commands = || {
        program
            .get_subcommands()
            .filter(|command| command.get_name() != "help")
    };
    let mut page = format!("{HEAD}\n| command | what it does |\n|---|---|\n");
    for command in commands() {
        let name = command.get_name();
        let about = command
            .get_about()
            .map(StyledStr::to_string)
            .unwrap_or_default();
        writeln!(
            page,
            "| [`gavel {name}`](#gavel-{name}) | {} |",
            cell(&about)
        )
        .unwrap();
    }
    for command in commands() {
        write_command(&mut page, command);
    }
    page
}

fn write_command(page: &mut String, command: &Command) {
    let name = command.get_name();
    let about = command.get_long_about().or(command.get_about());
    let about = about.map(StyledStr::to_string).unwrap_or_default();
    let about = prose(&about);
    let paragraphs: Vec<_> = about.split("\n\n").map(sentence).collect();
    writeln!(page, "\n## gavel {name}\n\n{}", paragraphs.join("\n\n")).unwrap();
    let usage = command.clone().render_usage().to_string();
    writeln!(
        page,
        "\n```text\n{}\n```",
        usage.trim_start_matches("Usage: ")
    )
    .unwrap();
    let arguments = command.get_arguments();
    let shown: Vec<_> = arguments
        .filter(|arg| !arg.is_hide_set() && !["help", "version"].contains(&arg.get_id().as_str()))
        .collect();
    if !shown.is_empty() {
        writeln!(page, "\n| argument | what it does |\n|---|---|").unwrap();
    }
    for arg in shown {
        writeln!(page, "| `{}` | {} |", cell(&form(arg)), cell(&meaning(arg))).unwrap();
    }
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        let lines = examples.lines().skip(1).map(str::trim_start);
        writeln!(
            page,
            "\n```sh\n{}\n```",
            lines.collect::<Vec<_>>().join("\n")
        )
        .unwrap();
    }
}

/// The flags of an argument and the names of its values, such as `-o, --output OUTPUT`.
fn form(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let values = names
        .iter()
        .map(|name| name.as_str())
        .collect::<Vec<_>>()
        .join(" ");
    let values = match arg.get_action().takes_values() {
        true => values,
        false => String::new(),
    };
    let flags = arg.get_short().map(|short| format!("-{short}"));
    let flags = flags
        .into_iter()
        .chain(arg.get_long().map(|long| format!("--{long}")));
    let flags = flags.collect::<Vec<_>>().join(", ");
    format!("{flags} {values}").trim().to_owned()
}

/// The help text of an argument, with its possible values and its default.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help());
    let mut text = sentence(&help.map(StyledStr::to_string).unwrap_or_default());
    let values = match arg.get_action().takes_values() {
        true => arg.get_possible_values(),
        false => Vec::new(),
    };
    let values = values.iter().map(|value| match value.get_help() {
        Some(help) => format!("`{}` ({})", value.get_name(), lower(&help.to_string())),
        None => format!("`{}`", value.get_name()),
    });
    let values = values.collect::<Vec<_>>().join(", ");
    if !values.is_empty() {
        write!(text, " Values: {values}.").unwrap();
    }
    let defaults = arg
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy());
    let defaults = defaults
        .filter(|value| !value.is_empty())
        .collect::<Vec<_>>()
        .join(", ");
    if !defaults.is_empty() && arg.get_action().takes_values() {
        write!(text, " Default: `{defaults}`.").unwrap();
    }
    text
}

/// Puts JSON at the end of a line into a code span.
fn prose(text: &str) -> String {
    text.lines()
        .map(|line| match line.split_once(": {") {
            Some((before, json)) => format!("{before}: `{{{json}`"),
            None => line.to_owned(),
        })
        .collect::<Vec<_>>()
        .join("\n")
}

fn sentence(text: &str) -> String {
    match text.ends_with(['.', '`', '?']) || text.is_empty() {
        true => text.to_owned(),
        false => format!("{text}."),
    }
}

/// Makes the first letter of a phrase lower-case, for use within a sentence. An acronym at the start is not changed.
fn lower(text: &str) -> String {
    let mut characters = text.chars();
    let first = characters.next();
    match characters.next() {
        Some(second) if second.is_lowercase() => {
            let first = first.map(|first| first.to_ascii_lowercase());
            first.into_iter().chain(text.chars().skip(1)).collect()
        }
        _ => text.to_owned(),
    }
}

/// Text for a table cell: a single line, in which `|` is escaped.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

#[test]
fn the_page_of_the_command_line_is_what_the_program_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/command-line.md");
    let page = page();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written, page,
        "docs/command-line.md is stale; UPDATE_GOLDEN=1 writes it anew"
    );
}
