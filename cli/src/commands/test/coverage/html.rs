//! The coverage as a self-contained HTML page.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Coverage, Subject, shortened};

/// The head of the page.
const HEAD: &str = "<!DOCTYPE html>
<html lang=\"en\">
<head>
<meta charset=\"utf-8\">
<title>Coverage</title>
<style>
body { font: 15px/1.5 system-ui, sans-serif; margin: 2em; }
table { border-collapse: collapse; }
th, td { border-bottom: 1px solid #ccc; padding: .2em .8em; text-align: left; vertical-align: top; }
td.number { text-align: right; }
td.part { padding-left: 2.4em; }
code { white-space: pre-wrap; }
tr.covered { background: #e9f7e9; }
tr.partly { background: #fff6da; }
tr.missed { background: #fde6e6; }
</style>
</head>
<body>
";

/// One line of a table.
struct Row<'c> {
    line: u32,
    /// The path of the field; empty for a sub-expression of a validation.
    field: &'c str,
    text: &'c str,
    /// How often the expression was evaluated; `None` for a sub-expression of a validation.
    evaluated: Option<usize>,
    /// Whether the expression was true, and whether it was false; `None` if the expression is not a condition.
    outcomes: Option<[bool; 2]>,
}

impl Coverage {
    /// The coverage as a page, with one table of expressions per policy or definition.
    pub(crate) fn html(&self) -> String {
        let mut page = HEAD.to_owned();
        let (covered, all) = self.counts();
        // Writing to a String does not fail.
        let _ = writeln!(page, "<h1>Coverage: {} %</h1>", self.percent());
        let _ = writeln!(
            page,
            "<p>{covered} of {all}: each expression must be evaluated, and each condition must be both true and false.</p>"
        );
        for (subject, (file, rows)) in self.rows() {
            let name = escaped(&subject.name);
            let _ = writeln!(page, "<h2>{name} <small>{}</small></h2>", escaped(file));
            page.push_str("<table>\n<tr><th>line</th><th>field</th><th>expression</th><th>evaluated</th><th>true</th><th>false</th></tr>\n");
            for row in rows {
                row.write(&mut page);
            }
            page.push_str("</table>\n");
        }
        page.push_str("</body>\n</html>\n");
        page
    }

    /// The file and the rows of each policy or definition; sub-expressions follow their validation.
    fn rows(&self) -> BTreeMap<&Subject, (&str, Vec<Row<'_>>)> {
        let mut tables: BTreeMap<&Subject, (&str, Vec<Row<'_>>)> = BTreeMap::new();
        for ((subject, _), expression) in &self.expressions {
            let outcomes = [expression.was_true, expression.was_false];
            let (_, rows) = tables
                .entry(subject)
                .or_insert((&expression.file, Vec::new()));
            rows.push(Row {
                line: expression.line,
                field: &expression.field,
                text: &expression.text,
                evaluated: Some(expression.evaluated),
                outcomes: expression.is_condition.then_some(outcomes),
            });
        }
        for ((subject, ..), condition) in &self.conditions {
            let (_, rows) = tables
                .entry(subject)
                .or_insert((&condition.file, Vec::new()));
            rows.push(Row {
                line: condition.line,
                field: "",
                text: &condition.text,
                evaluated: None,
                outcomes: Some([condition.was_true, condition.was_false]),
            });
        }
        for (_, rows) in tables.values_mut() {
            rows.sort_by_key(|row| (row.line, row.field.is_empty()));
        }
        tables
    }
}

impl Row<'_> {
    fn write(&self, page: &mut String) {
        let was = self.outcomes.map_or_else(Vec::new, Vec::from);
        let missing = was.iter().filter(|was| !**was).count();
        let class = match (self.evaluated, missing) {
            (Some(0), _) | (None, 2) => "missed",
            (_, 0) => "covered",
            _ => "partly",
        };
        let kind = if self.field.is_empty() { "part" } else { "" };
        let evaluated = self.evaluated.map(|count| count.to_string());
        let _ = write!(
            page,
            "<tr class=\"{class}\"><td class=\"number\">{}</td><td>{}</td><td class=\"{kind}\"><code>{}</code></td><td class=\"number\">{}</td>",
            self.line,
            escaped(&shortened(self.field)),
            escaped(self.text),
            evaluated.unwrap_or_default()
        );
        for n in 0..2 {
            let shown = match was.get(n) {
                Some(true) => "yes",
                Some(false) => "never",
                None => "",
            };
            let _ = write!(page, "<td>{shown}</td>");
        }
        page.push_str("</tr>\n");
    }
}

/// A text with HTML's special characters escaped.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
