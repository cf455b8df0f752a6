//! Reads manifests as Kubernetes does: YAML or JSON with one or several documents. Each document becomes a JSON value with the place of
//! every field and item.
//!
//! ```
//! use gavel_manifest::{Format, read};
//!
//! let text = "kind: Pod\nspec:\n  hostNetwork: yes\n";
//! let reading = read(text, Format::Yaml);
//! let pod = &reading.documents[0];
//! assert_eq!(pod.value()["spec"]["hostNetwork"], true);         // `yes` is a boolean, as in sigs.k8s.io/yaml
//! let problem = pod.problem("example", "spec.hostNetwork", "must not be set");
//! assert_eq!(problem.to_string(), "3:16: spec.hostNetwork: must not be set");
//! ```
//!
//! YAML is read as by kubectl (`sigs.k8s.io/yaml`, `go.yaml.in/yaml/v2`): `yes` and `on` are booleans, `010` is 8, and timestamps and keys
//! are strings. Unlike in kubectl, a duplicate key is a [`Problem`], and so is text that follows the end of a document. Layer 2; only
//! [`files`], [`no_files`] and [`distinct`] read from a disk.
//!
//! Values may be nested 127 levels deep, and aliases may expand to 100,000 values; a text beyond these limits is a [`Problem`].

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use gavel_apimachinery::field::Error;
use gavel_apimachinery::serializer::{StrictFault, StrictFaultKind};
use serde_json::{Map, Value as Json};

mod decode;
mod fields;
mod files;
mod json;
mod layout;
mod name;
mod place;
pub mod problem;
mod source;
mod spelling;
mod unclosed;
mod written;
mod yaml;

pub use decode::{BYTE_ORDER_MARK, decode};
pub use fields::Fields;
pub use files::{distinct, files, no_files};
pub use json::json_problem;
pub use name::name_at;
pub use place::{Place, Range};
pub use problem::{Advice, Problem, Severity, Suggestion};
pub use source::Source;
pub use spelling::{nearest, nearest_within};
pub use unclosed::{Lexeme, place_of, unclosed};

use layout::Node;

/// The format of a file of manifests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON: one value, or several one after the other.
    Json,
    /// YAML: documents separated by `---`.
    Yaml,
}

impl Format {
    /// The format for the extension of a file name: `.json`, `.yaml` or `.yml`.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        match extension.to_ascii_lowercase().as_str() {
            "json" => Some(Format::Json),
            "yaml" | "yml" => Some(Format::Yaml),
            _ => None,
        }
    }
}

/// Reads the documents of a text, except empty ones. A YAML document that cannot be used is reported as a problem, and the other documents
/// are still read. This applies to invalid YAML and to values that Kubernetes cannot convert to JSON: lists as keys, numbers that are not
/// finite, nesting deeper than 127 levels, and aliases that expand to more than 100,000 values. A JSON text is read as a whole or not at
/// all. If the text looks like a template, such as one of Helm, or if a line at a problem is indented with a tab, the help of the problems
/// says so.
///
/// As in kubectl, the text decides in doubt: a text that is not YAML is read as JSON if it is JSON values one after the other, which
/// `jq '.items[]'` writes, and a JSON file that begins with neither `{` nor `[` is read as YAML.
pub fn read(text: &str, format: Format) -> Reading {
    let format = match text.trim_start().starts_with(['{', '[']) {
        true => format,
        false => Format::Yaml,
    };
    let mut reading = match format {
        Format::Json => json::read(text),
        Format::Yaml => yaml::read(text),
    };
    if format == Format::Yaml && !reading.problems.is_empty() && text.trim_start().starts_with('{')
    {
        let values = json::read(text);
        if values.problems.is_empty() {
            reading = values;
        }
    }
    if !reading.problems.is_empty() && text.contains("{{") {
        let help = "the file looks like a template: render it first, such as with `helm template`";
        let problems = std::mem::take(&mut reading.problems).into_iter();
        reading.problems = problems.map(|problem| problem.with_help(help)).collect();
    } else if format == Format::Yaml && !reading.problems.is_empty() {
        let tabbed = lines_with_tab(text);
        let syntax = reading
            .problems
            .iter_mut()
            .filter(|problem| problem.rule == problem::rule::SYNTAX);
        for problem in syntax {
            // A tab at the problem or in the next line may be the cause.
            let line = problem.range.map_or(0, |range| range.start.line);
            if let Some(line) = tabbed.range(line..=line.saturating_add(1)).next() {
                let help = format!("line {line} is indented with a tab: use spaces");
                problem.advice.get_or_insert_default().help = help;
            }
        }
    }
    reading
}

/// The numbers of the lines that are indented with a tab.
fn lines_with_tab(text: &str) -> BTreeSet<u32> {
    let is_tabbed = |line: &str| {
        let content = line.trim_start_matches([' ', '\t']);
        line.strip_suffix(content)
            .is_some_and(|indentation| indentation.contains('\t'))
    };
    let lines = (1..).zip(text.lines());
    lines
        .filter(|(_, line)| is_tabbed(line))
        .map(|(n, _)| n)
        .collect()
}

/// The result of reading a text.
#[derive(Debug, Clone, Default)]
pub struct Reading {
    /// The documents that could be read.
    pub documents: Vec<Document>,
    /// The problems of the documents that could not be read, in the order of the text.
    pub problems: Vec<Problem>,
}

impl Reading {
    /// The documents, if none has a problem.
    ///
    /// # Errors
    ///
    /// The first problem. Duplicate keys are not errors here.
    pub fn all(self) -> Result<Vec<Document>, Problem> {
        match self.problems.into_iter().next() {
            Some(problem) => Err(problem),
            None => Ok(self.documents),
        }
    }

    /// Sets the file.
    #[must_use]
    pub fn in_file(self, file: &Arc<Path>) -> Self {
        let documents = self.documents.into_iter();
        Reading {
            documents: documents.map(|document| document.in_file(file)).collect(),
            problems: in_file(self.problems, file),
        }
    }
}

fn in_file(problems: Vec<Problem>, file: &Arc<Path>) -> Vec<Problem> {
    let problems = problems.into_iter();
    problems.map(|problem| problem.in_file(file)).collect()
}

/// One document of a manifest: its value, and the place of every field and item.
#[derive(Debug, Clone)]
pub struct Document {
    value: Json,
    layout: Node,
    duplicates: Vec<Problem>,
    file: Option<Arc<Path>>,
    /// The text of the file. The text of a JSON file is stored only if its strings contain escapes.
    source: Option<Source>,
}

impl Document {
    /// Sets the file.
    #[must_use]
    pub fn in_file(self, file: &Arc<Path>) -> Self {
        Document {
            duplicates: in_file(self.duplicates, file),
            file: Some(Arc::clone(file)),
            ..self
        }
    }

    /// The value.
    pub fn value(&self) -> &Json {
        &self.value
    }

    /// The document with its value replaced, for example by the result of a mutation; the places stay the same.
    #[must_use]
    pub fn with_value(self, value: Json) -> Self {
        Document { value, ..self }
    }

    /// A value in the document as a document at the same place; `path` is the path of its field. Duplicate keys stay with this document.
    fn part(&self, path: &str, value: Json) -> Document {
        Document {
            value,
            layout: self.layout.find(path).clone(),
            duplicates: Vec::new(),
            file: self.file.clone(),
            source: self.source.clone(),
        }
    }

    /// The value, without places.
    pub fn into_value(self) -> Json {
        self.value
    }

    /// The place where the document begins.
    pub fn place(&self) -> Place {
        self.layout.place()
    }

    /// The ranges of the strings and keys of the document, in no order.
    pub fn texts(&self) -> Vec<Range> {
        let mut texts = Vec::new();
        self.layout.add_texts(&mut texts);
        texts
    }

    /// The position of a field, by its path as validation errors print it (`spec.validations[0].expression`, `metadata.labels[app]`). For an
    /// absent field, the place of the nearest enclosing value.
    pub fn place_of(&self, field: &str) -> Place {
        self.layout.find(field).place()
    }

    /// A problem of a field, or of the document as a whole if the path is empty. The place is that of the value; for an unknown field, that
    /// of the key.
    pub fn problem(&self, rule: &'static str, field: &str, message: impl Into<String>) -> Problem {
        let node = self.layout.find(field);
        let range = match rule {
            problem::rule::UNKNOWN_FIELD => node.key(),
            _ => node.range(),
        };
        Problem {
            file: self.file.clone(),
            ..Problem::new(rule, message).of_field(field).at(range)
        }
    }

    /// The problem of a field that the type of the document does not have.
    pub fn unknown_field(&self, field: &str) -> Problem {
        let fault = StrictFault {
            kind: StrictFaultKind::Unknown,
            field: field.to_owned(),
        };
        let message = fault.to_string();
        self.problem(problem::rule::UNKNOWN_FIELD, field, message)
    }

    /// The problem for a validation error of Kubernetes. If the error is in an expression, the place is within the expression. `written` is
    /// the path of the field in the document, which can differ from the path in the error.
    pub fn field_problem(&self, error: &Error, written: &str) -> Problem {
        let problem = self.problem(error.kind.reason(), written, error.body());
        let place = error.expression;
        let place = place.map(|place| self.place_within(written, place.line, place.column));
        Problem {
            range: place.map(Range::from).or(problem.range),
            ..problem.of_field(error.field.as_str())
        }
    }

    /// The file, if there is one.
    pub fn file(&self) -> Option<&Path> {
        self.file.as_deref()
    }

    /// Converts a line and column in a field's string (both from 1; columns in code points) to a place in the file. If the string has no
    /// such line and column, returns the place where the string begins.
    pub fn place_within(&self, field: &str, line: u32, column: u32) -> Place {
        let node = self.layout.find(field);
        let place = node.within(self.source.as_ref(), line, column);
        place.unwrap_or(node.place())
    }

    /// Returns the range in the file that holds `length` characters of a field's string. `line` and `column` are the position of the first
    /// of these characters in the string, counted from 1. Returns `None` if the characters are not contiguous in the file.
    pub fn range_within(&self, field: &str, line: u32, column: u32, length: u32) -> Option<Range> {
        let node = self.layout.find(field);
        let source = self.source.as_ref();
        let start = node.within(source, line, column)?;
        let last = column.saturating_add(length.saturating_sub(1));
        let last = node.within(source, line, last)?;
        let end = Place {
            column: last.column.saturating_add(1),
            ..last
        };
        let is_verbatim =
            end.line == start.line && end.column == start.column.saturating_add(length);
        is_verbatim.then_some(Range { start, end })
    }

    /// The text of a field's value as the file contains it; `None` if the value spans several lines or the text is not stored.
    fn written(&self, field: &str) -> Option<String> {
        let Range { start, end } = self.layout.find(field).range();
        let length = end.column.checked_sub(start.column)?;
        if end.line != start.line || length == 0 {
            return None;
        }
        let line = self.source.as_ref()?.line(start.line)?;
        let before = usize::try_from(start.column.checked_sub(1)?).ok()?;
        let length = usize::try_from(length).ok()?;
        Some(line.chars().skip(before).take(length).collect())
    }

    /// The change of the file that removes the lines of a list item. If the item is the only one, the field that holds the list is removed
    /// too, but not the comments above the item. An item ends before the first line that is not indented deeper than its dash. `None` if the
    /// list is written in brackets.
    pub fn without_item(&self, item: &str) -> Option<Suggestion> {
        let source = self.source.as_ref()?;
        let lines = written::lines_of_item(source, self.layout.find(item).place())?;
        let (list, _) = item.rsplit_once('[')?;
        let list = self.layout.find(list);
        match list.has_one_item() {
            true => written::without_field(source, list.key(), lines),
            false => Some(Suggestion {
                range: lines,
                replacement: String::new(),
            }),
        }
    }

    /// The duplicate keys, in the order of the text. The value of the last duplicate is used.
    pub fn duplicate_keys(&self) -> &[Problem] {
        &self.duplicates
    }

    /// The duplicate key `kind` of a document that consists of two documents without a line `---` between them.
    pub fn joined(&self) -> Option<&Problem> {
        let mut duplicates = self.duplicates.iter();
        duplicates.find(|problem| !problem.help().is_empty())
    }

    /// The objects of the document: the items of a `List`, including the items of nested lists, or the document itself.
    pub fn into_objects(self) -> Vec<Document> {
        let mut objects = Vec::new();
        let mut open = vec![self];
        while let Some(document) = open.pop() {
            match document.into_items() {
                Ok(items) => open.extend(items.into_iter().rev()),
                Err(object) => objects.push(*object),
            }
        }
        objects
    }

    /// The items of a list of objects; null is an empty list, because Go writes a nil list as null. If the document is not a list of
    /// objects, the error is the unchanged document.
    fn into_items(mut self) -> Result<Vec<Document>, Box<Document>> {
        let is_list = self
            .value
            .get("kind")
            .and_then(Json::as_str)
            .is_some_and(|kind| kind.ends_with("List"));
        let mut items = match self.value.get_mut("items") {
            Some(Json::Array(items)) if is_list => std::mem::take(items),
            Some(Json::Null) if is_list => Vec::new(),
            _ => return Err(Box::new(self)),
        };
        if let Json::Object(list) = &self.value {
            items.iter_mut().for_each(|item| complete_item(item, list));
        }
        let mut duplicates = Some(std::mem::take(&mut self.duplicates));
        let file = self.file.take();
        let source = self.source.take();
        let layouts = self.layout.into_fields().remove("items");
        let layouts = layouts.map(Node::into_items).unwrap_or_default();
        // A document that is not from a file has no places.
        let nowhere = std::iter::repeat_with(|| Node::leaf(Range::from(Place::START)));
        let documents = items
            .into_iter()
            .zip(layouts.into_iter().chain(nowhere))
            .map(|(value, layout)| Document {
                value,
                layout,
                // Duplicate keys are reported once, with the first item.
                duplicates: duplicates.take().unwrap_or_default(),
                file: file.clone(),
                source: source.clone(),
            });
        Ok(documents.collect())
    }
}

/// Sets the `apiVersion` and the `kind` of an item of a list such as a `PodList` if one of them is missing, as kubectl does: API servers
/// leave them out. `list` are the other fields of the list.
pub fn complete_item(item: &mut Json, list: &Map<String, Json>) {
    let text = |fields: &Map<String, Json>, key| match fields.get(key) {
        Some(Json::String(text)) if !text.is_empty() => Some(text.clone()),
        _ => None,
    };
    let kind = text(list, "kind");
    let kind = kind.as_deref().and_then(|kind| kind.strip_suffix("List"));
    let (Some(kind), Some(api_version), Json::Object(fields)) = (
        kind.filter(|kind| !kind.is_empty()),
        text(list, "apiVersion"),
        item,
    ) else {
        return;
    };
    if text(fields, "apiVersion").is_none() || text(fields, "kind").is_none() {
        fields.insert("apiVersion".to_owned(), api_version.into());
        fields.insert("kind".to_owned(), kind.into());
    }
}

impl From<Json> for Document {
    /// A document that was not read from a file.
    fn from(value: Json) -> Self {
        Document {
            value,
            layout: Node::leaf(Range::from(Place::START)),
            duplicates: Vec::new(),
            file: None,
            source: None,
        }
    }
}

#[cfg(test)]
mod tests;
