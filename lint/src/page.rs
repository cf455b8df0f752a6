//! The pages about rules: `docs/rules.md`, and the output of `gavel explain`.

use std::fmt::Write;

use crate::rules::{Frame, RULES, Rule};

impl Rule {
    /// The page of the rule, in Markdown.
    pub fn page(&self) -> String {
        let mut page = String::new();
        let default = match self.is_default {
            true => String::new(),
            false => format!(", off unless selected (`--select {}`)", self.id),
        };
        // Writing to a String does not fail.
        let _ = write!(
            page,
            "{}.\n\n*{}{default}*\n\n{}\n\nBefore:\n\n```yaml\n{}```\n\nAfter:\n\n```yaml\n{}```\n",
            self.title,
            self.severity.name(),
            self.why,
            self.example.shown(self.example.before),
            self.example.shown(self.example.after),
        );
        page
    }
}

impl crate::rules::Example {
    fn shown(&self, text: &str) -> String {
        let frame = match self.frame {
            Frame::Policy => "# spec of a ValidatingAdmissionPolicy about deployments\n",
            Frame::Schema => "# openAPIV3Schema of a CustomResourceDefinition\n",
            Frame::Manifest => "",
        };
        format!("{frame}{text}")
    }
}

/// The pages of all rules as one document, `docs/rules.md`.
pub fn document() -> String {
    let mut text = "\
# Rules of `gavel lint`

This page is generated from the table in `lint/src/rules`; `gavel explain RULE` prints one entry. Rules of severity
`error` report what an API server rejects. Warnings and notes are about accepted objects, unless `--deny` makes them errors.

| rule | severity | what it finds |
| --- | --- | --- |
"
    .to_owned();
    for rule in RULES {
        let default = if rule.is_default { "" } else { ", off" };
        let _ = writeln!(
            text,
            "| [`{0}`](#{0}) | {1}{default} | {2} |",
            rule.id,
            rule.severity.name(),
            rule.title
        );
    }
    for rule in RULES {
        let _ = write!(text, "\n## {}\n\n{}", rule.id, rule.page());
    }
    text
}
