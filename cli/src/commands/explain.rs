//! `gavel explain`: explains the rules of `gavel lint`.

use std::io::{self, Write};

use gavel_apimachinery::json;
use gavel_lint::rules::{self, RULES};
use serde_json::json;

use crate::args::{ExplainArgs, ExplainOutput};
use crate::exit_code::Exit;
use crate::findings::write_errors;
use crate::manifests::unusable;
use crate::report;

/// Prints the page of a rule, or the list of all rules.
pub(crate) fn run(args: &ExplainArgs) -> io::Result<Exit> {
    let mut out = io::stdout().lock();
    let wanted = match &args.rule {
        None => RULES.to_vec(),
        Some(id) => match rules::find(id) {
            Some(rule) => vec![rule],
            None => {
                let meant = rules::nearest(id).map(|meant| format!("; did you mean {meant}?"));
                let meant = meant.unwrap_or_else(|| "; `gavel explain` lists all rules".to_owned());
                let problem = unusable(format!("there is no rule {id:?}{meant}"));
                report::complain(&problem);
                if args.output == ExplainOutput::Json {
                    write_errors(&[problem], &mut out)?;
                }
                return Ok(Exit::Usage);
            }
        },
    };
    match args.output {
        ExplainOutput::Markdown if args.rule.is_none() => {
            out.write_all(gavel_lint::rules_document().as_bytes())?;
        }
        ExplainOutput::Text if args.rule.is_none() => {
            for rule in wanted {
                let default = if rule.is_default { "" } else { " (off)" };
                let severity = rule.severity.name();
                writeln!(out, "{:<24} {severity:<8} {}{default}", rule.id, rule.title)?;
            }
        }
        ExplainOutput::Text | ExplainOutput::Markdown => {
            for rule in wanted {
                write!(out, "# {}\n\n{}", rule.id, rule.page())?;
            }
        }
        ExplainOutput::Json => {
            for rule in wanted {
                let line = json!({
                    "id": rule.id,
                    "severity": rule.severity.name(),
                    "default": rule.is_default,
                    "title": rule.title,
                    "why": rule.why,
                    "before": rule.example.frame.manifest(rule.example.before),
                    "after": rule.example.frame.manifest(rule.example.after),
                });
                writeln!(out, "{}", json::to_string(&line))?;
            }
        }
    }
    out.flush()?;
    Ok(Exit::Success)
}
