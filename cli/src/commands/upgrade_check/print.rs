//! Prints the changes that an upgrade of Kubernetes causes, and their causes.

use std::collections::BTreeMap;
use std::io::{self, Write};

use gavel_apimachinery::json;
use gavel_engine::value::Json;
use gavel_libraries::KubeVersion;
use gavel_manifest::{Document, Place};
use gavel_upgrade::{Cause, Change, Effect, Subject, Topic};
use serde_json::json;

use crate::args::Output;
use crate::findings::path_of;
use crate::report;

/// Prints changes, and then a description of each cause.
pub(super) struct Printer {
    from: KubeVersion,
    to: KubeVersion,
    output: Output,
    changes: usize,
    /// The descriptions of the causes that were printed, by version and name.
    causes: BTreeMap<(KubeVersion, String), String>,
}

impl Printer {
    pub(super) fn new(from: KubeVersion, to: KubeVersion, output: Output) -> Self {
        Printer {
            from,
            to,
            output,
            changes: 0,
            causes: BTreeMap::new(),
        }
    }

    /// The number of changes that were printed.
    pub(super) fn changes(&self) -> usize {
        self.changes
    }

    pub(super) fn print(
        &mut self,
        document: &Document,
        subject: Subject,
        changes: &[Change],
        out: &mut impl Write,
    ) -> io::Result<()> {
        for change in changes {
            self.changes = self.changes.saturating_add(1);
            let place = place(document, subject, change);
            match self.output {
                Output::Json => {
                    let line = json::to_string(&line(document, place, change));
                    writeln!(out, "{line}")?;
                }
                Output::Text => self.text(document, place, change, out)?,
            }
        }
        Ok(())
    }

    /// Prints the description of each cause that the printed changes name. JSON output already contains the descriptions.
    pub(super) fn end(&self, out: &mut impl Write) -> io::Result<()> {
        if self.output == Output::Json || self.causes.is_empty() {
            return Ok(());
        }
        writeln!(out)?;
        for ((since, name), what) in &self.causes {
            writeln!(out, "[{name}] since {since}: {what}")?;
        }
        Ok(())
    }

    fn text(
        &mut self,
        document: &Document,
        place: Place,
        change: &Change,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let mut names = Vec::new();
        for cause in &change.causes {
            let (since, name, what) = described(*cause);
            names.push(format!(" [{name}]"));
            self.causes.insert((since, name), what);
        }
        let mut title = String::new();
        if let Some(file) = document.file() {
            title = format!("{}:", file.display());
        }
        title = format!("{title}{place}: ");
        if !change.field.is_empty() {
            title = format!("{title}{}: ", change.field);
        }
        title = format!("{title}{}{}", change.topic.title(), names.concat());
        if !change.about.is_empty() {
            title = format!("{title} ({})", one_line(&change.about));
        }
        writeln!(out, "{}", report::visible(&title))?;
        for (version, answer) in [(self.from, &change.before), (self.to, &change.after)] {
            let answer = answer.as_deref().unwrap_or(nothing(change.topic));
            let answer = answer.trim_end().replace('\n', "\n        ");
            writeln!(out, "  {version}: {}", report::visible(&answer))?;
        }
        Ok(())
    }
}

/// Returns the position of the field that changed. In a review, the field belongs to the reviewed object. If the change names no field,
/// returns the position of the document.
fn place(document: &Document, subject: Subject, change: &Change) -> Place {
    let is_review = kind(document) == "AdmissionReview" && matches!(subject, Subject::Request(_));
    match (change.field.as_str(), is_review) {
        ("", _) => document.place(),
        (field, false) => document.place_of(field),
        (field, true) => document.place_of(&format!("request.object.{field}")),
    }
}

fn kind(document: &Document) -> &str {
    let kind = document.value().get("kind").and_then(Json::as_str);
    kind.unwrap_or_default()
}

/// A change as one JSON object.
fn line(document: &Document, place: Place, change: &Change) -> Json {
    let name = document.value().get("metadata");
    let name = name.and_then(|metadata| metadata.get("name"));
    let answer = |answer: &Option<String>| match (answer, change.effect()) {
        (None, _) => Json::Null,
        (Some(text), Effect::Cost) => text
            .parse::<u64>()
            .map_or_else(|_| text.as_str().into(), Json::from),
        (Some(text), _) => text.as_str().into(),
    };
    let causes = change.causes.iter().map(|cause| {
        let (since, name, what) = described(*cause);
        json!({"name": name, "since": since.to_string(), "what": what})
    });
    json!({
        "file": document.file().map(|file| path_of(Some(file))),
        "line": place.line,
        "column": place.column,
        "kind": kind(document),
        "name": name,
        "field": change.field,
        "about": change.about,
        "topic": change.topic.name(),
        "effect": effect_name(change.effect()),
        "before": answer(&change.before),
        "after": answer(&change.after),
        "causes": causes.collect::<Vec<_>>(),
    })
}

/// The version that introduced a cause, its name, and its description.
fn described(cause: Cause) -> (KubeVersion, String, String) {
    match cause {
        Cause::Row(row) => (
            row.since,
            format!("{:?}", row.difference),
            row.what.to_owned(),
        ),
        Cause::Language(version) => {
            let what = "the versions offer different functions, macros and formats; docs/functions.md says which";
            (version, "Language".to_owned(), what.to_owned())
        }
        Cause::Kinds(version) => {
            let what = "Kubernetes' own kinds have different fields or defaults, or exist in only one of the versions";
            (version, "Kinds".to_owned(), what.to_owned())
        }
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

const fn effect_name(effect: Effect) -> &'static str {
    match effect {
        Effect::Verdict => "verdict",
        Effect::Cost => "cost",
        Effect::Message => "messages",
    }
}

/// The text that is printed instead of an absent answer.
const fn nothing(topic: Topic) -> &'static str {
    match topic {
        Topic::Creation | Topic::Decision => "accepted",
        Topic::Compilation => "compiles",
        Topic::Warning | Topic::TypeChecking => "no warning",
        Topic::Mutation => "not mutated",
        Topic::Estimate | Topic::Cost => "not evaluated",
        Topic::Audit => "no annotation",
    }
}
