//! `gavel functions`: the functions and macros that expressions can use.

use std::io::{self, Write};

use serde::Serialize;

use gavel_libraries::KubeVersion;
use gavel_libraries::reference::{CallCost, FunctionEntry, Listing, MacroEntry, since_text};
use gavel_protocol::line;

use crate::args::{Environment, FunctionsArgs, FunctionsOutput};
use crate::exit_code::Exit;
use crate::report;

/// Prints the functions and macros of an environment.
pub(crate) fn run(args: &FunctionsArgs) -> io::Result<Exit> {
    let listing = match args.env {
        Environment::Kubernetes => Listing::kubernetes(args.kubernetes_version),
        Environment::Cel => Listing::cel(),
    };
    let listing = match listing {
        Ok(listing) => listing,
        Err(error) => {
            report::complain(&error);
            return Ok(Exit::Usage);
        }
    };
    let mut out = io::stdout().lock();
    match args.output {
        FunctionsOutput::Text => text(&listing, &mut out)?,
        FunctionsOutput::Markdown => out.write_all(listing.to_markdown().as_bytes())?,
        FunctionsOutput::Json => {
            let mut json = Vec::new();
            line::write(&Document::of(&listing), &mut json).map_err(io::Error::other)?;
            out.write_all(&json)?;
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}

/// A row of the text table.
type Row = [String; 4];

fn text(listing: &Listing, out: &mut impl Write) -> io::Result<()> {
    let since = |since: Option<KubeVersion>| since.map(since_text).unwrap_or_default();
    let function = |entry: &FunctionEntry| -> Row {
        let name = entry.row.function.to_owned();
        let cost = entry.cost().to_string();
        [name, entry.signature(), since(entry.since), cost]
    };
    let called = |entry: &MacroEntry| -> Row {
        let arguments = entry.arguments.map_or("(…)".to_owned(), |count| {
            format!("({})", vec!["_"; count].join(", "))
        });
        [
            entry.name.clone(),
            arguments,
            since(entry.since),
            String::new(),
        ]
    };
    let rows = listing
        .functions
        .iter()
        .map(|entry| (entry.library, function(entry)));
    let rows = rows.chain(listing.macros.iter().map(|entry| ("macros", called(entry))));
    let rows: Vec<(&str, Row)> = rows.collect();
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|(_, row)| row.get(column));
        cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
    };
    let (name_width, signature_width, since_width) = (width(0), width(1), width(2));
    let mut last = "";
    for (library, [name, signature, since, cost]) in &rows {
        if *library != last {
            let gap = if last.is_empty() { "" } else { "\n" };
            writeln!(out, "{gap}{library}")?;
            last = library;
        }
        let line = format!(
            "  {name:name_width$}  {signature:signature_width$}  {since:since_width$}  {cost}"
        );
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

#[derive(Serialize)]
struct Document {
    functions: Vec<Function>,
    macros: Vec<Macro>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Function {
    library: &'static str,
    name: &'static str,
    overload: &'static str,
    signature: String,
    /// The first Kubernetes version that has the function: 1.0 if all versions have it; absent if no version has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
    /// The cost of a call in cost units; absent if it depends on the arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    cost: Option<u64>,
    example: &'static str,
    example_cost: u64,
}

#[derive(Serialize)]
struct Macro {
    name: String,
    /// The number of arguments; absent if any number is allowed.
    #[serde(skip_serializing_if = "Option::is_none")]
    arguments: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<String>,
}

impl Document {
    fn of(listing: &Listing) -> Self {
        let since = |since: Option<KubeVersion>| since.map(|since| since.to_string());
        let functions = listing.functions.iter().map(|entry| Function {
            library: entry.library,
            name: entry.row.function,
            overload: entry.row.id,
            signature: entry.signature(),
            since: since(entry.since),
            cost: match entry.cost() {
                CallCost::Nothing => Some(0),
                CallCost::Fixed(units) => Some(units),
                CallCost::BySize => None,
            },
            example: entry.row.example,
            example_cost: entry.example_cost,
        });
        let macros = listing.macros.iter().map(|entry| Macro {
            name: entry.name.clone(),
            arguments: entry.arguments,
            since: since(entry.since),
        });
        Document {
            functions: functions.collect(),
            macros: macros.collect(),
        }
    }
}
