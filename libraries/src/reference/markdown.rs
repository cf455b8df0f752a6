//! The list of functions as a Markdown document.

use std::fmt::{self, Write};

use super::{FunctionEntry, Listing, since_text};

const INTRODUCTION: &str = "\
# Functions

- *Since* is the first Kubernetes version in which new expressions can use the function. Stored expressions can use all functions.
- *Cost* is the cost of the call in cost units, without the cost of its arguments; *by size* means that it grows with the size of the
  arguments. `–` means that the call itself costs nothing: `&&`, `||`, `?:`, `or` and `orValue` cost as much as the operands that are
  evaluated. A selection or an index costs 1.
- The number in parentheses is the cost of the whole example. Every example is true; its `authorizer` allows everything.
- A signature with a dot belongs to a method: `string.(int) -> string` is called as `text.charAt(0)`.
- Expressions cannot call functions whose names begin with `@`. Only macros expand to calls of these functions. Names such as `_+_` are operators; each
  `_` stands for an operand.
";

pub(super) fn document(listing: &Listing) -> String {
    let mut out = String::from(INTRODUCTION);
    // Writing to a String does not fail.
    let _ = write_functions(&mut out, &listing.functions)
        .and_then(|()| write_macros(&mut out, listing));
    out
}

fn write_functions(out: &mut String, functions: &[FunctionEntry]) -> fmt::Result {
    let mut last: Option<&FunctionEntry> = None;
    for entry in functions {
        let gated = entry.since.is_some();
        if !gated && last.is_some_and(|last| last.since.is_some()) {
            out.push_str("\n# Functions that Kubernetes does not have\n");
        }
        if last.is_none_or(|last| (last.library, last.since.is_some()) != (entry.library, gated)) {
            write_heading(out, entry.library, gated)?;
        }
        write_row(out, entry)?;
        last = Some(entry);
    }
    Ok(())
}

fn write_heading(out: &mut String, library: &str, gated: bool) -> fmt::Result {
    let (since, line) = since_column(gated);
    write!(
        out,
        "\n## {library}\n\n| Function | Signature |{since} Cost | Example |\n| --- | --- |{line} --- | --- |\n"
    )
}

fn since_column(gated: bool) -> (&'static str, &'static str) {
    match gated {
        true => (" Since |", " --- |"),
        false => ("", ""),
    }
}

fn write_row(out: &mut String, entry: &FunctionEntry) -> fmt::Result {
    let (name, signature) = (code(entry.row.function), code(&entry.signature()));
    write!(out, "| {name} | {signature} |")?;
    if let Some(since) = entry.since {
        write!(out, " {} |", since_text(since))?;
    }
    let (cost, example) = (entry.cost(), code(entry.row.example));
    writeln!(out, " {cost} | {example} ({}) |", entry.example_cost)
}

fn write_macros(out: &mut String, listing: &Listing) -> fmt::Result {
    // If no macro has a version, the column of versions is omitted.
    let gated = listing.macros.iter().any(|entry| entry.since.is_some());
    let (since, line) = since_column(gated);
    write!(
        out,
        "\n# Macros\n\n| Macro | Arguments |{since}\n| --- | --- |{line}\n"
    )?;
    for entry in &listing.macros {
        let arguments = entry
            .arguments
            .map_or("any".to_owned(), |count| count.to_string());
        write!(out, "| {} | {arguments} |", code(&entry.name))?;
        if gated {
            let since = entry
                .since
                .map_or("not in Kubernetes".to_owned(), since_text);
            write!(out, " {since} |")?;
        }
        out.push('\n');
    }
    Ok(())
}

/// Formats a text as code in a table cell.
fn code(text: &str) -> String {
    let text = text.replace('|', "\\|").replace('\n', " ");
    match text.contains('`') {
        true => format!("`` {text} ``"),
        false => format!("`{text}`"),
    }
}
