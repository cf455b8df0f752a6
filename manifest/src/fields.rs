//! Reads Gavel's own files, such as `gavel.yaml`, field by field.

use serde_json::{Map, Value as Json};

use crate::problem::{Problem, rule};
use crate::{Document, nearest};

/// The fields of an object in a document. Each method that reads a field also declares it. Problems are collected, so that a reader can
/// report all problems of a document at once.
///
/// ```
/// use gavel_manifest::{Fields, Format, read};
///
/// let text = "name: [a]\ntags: {}\nowners: b\n";
/// let document = &read(text, Format::Yaml).documents[0];
/// let read = Fields::read(document, |fields| (fields.text("name"), fields.texts("tags"), fields.text("owner")));
/// let problems = read.unwrap_err().iter().map(ToString::to_string).collect::<Vec<_>>();
/// assert_eq!(problems, [
///     "1:7: name: must be a string",
///     "2:7: tags: must be a list",
///     "3:1: unknown field \"owners\"; did you mean owner?",
/// ]);
/// ```
#[derive(Debug)]
pub struct Fields<'d> {
    document: &'d Document,
    /// The path of the object; empty for the document itself.
    path: String,
    object: Option<&'d Map<String, Json>>,
    /// The fields that the object can have.
    known: Vec<&'static str>,
    problems: Vec<Problem>,
}

impl<'d> Fields<'d> {
    /// Reads the object of a document.
    ///
    /// # Errors
    ///
    /// All problems, in the order of the text: those of fields, unknown fields and duplicate keys.
    pub fn read<R>(
        document: &'d Document,
        read: impl FnOnce(&mut Fields<'d>) -> R,
    ) -> Result<R, Vec<Problem>> {
        match Fields::read_with_problems(document, read) {
            (read, problems) if problems.is_empty() => Ok(read),
            (_, problems) => Err(problems),
        }
    }

    /// Reads the object of a document. Also returns all problems, like [`Self::read`].
    pub fn read_with_problems<R>(
        document: &'d Document,
        read: impl FnOnce(&mut Fields<'d>) -> R,
    ) -> (R, Vec<Problem>) {
        let mut problems = document.duplicate_keys().to_vec();
        let read = within(
            document,
            String::new(),
            document.value(),
            &mut problems,
            read,
        );
        problems.sort_by_key(|problem| problem.range);
        (read, problems)
    }

    /// The number of problems so far.
    pub fn problems(&self) -> usize {
        self.problems.len()
    }

    /// The path of the object; empty for the document itself.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The value of a field; `None` if it is absent or null.
    pub fn value(&mut self, key: &'static str) -> Option<&'d Json> {
        self.known.push(key);
        let value = self.object.and_then(|object| object.get(key));
        value.filter(|value| !value.is_null())
    }

    /// Like [`Self::value`]. An absent value is a problem.
    pub fn required(&mut self, key: &'static str) -> Option<&'d Json> {
        let value = self.value(key);
        if value.is_none() && self.object.is_some() {
            self.problem("", format!("{key} must be set"));
        }
        value
    }

    /// The string in a field.
    pub fn text(&mut self, key: &'static str) -> Option<&'d str> {
        let value = self.value(key)?;
        let text = value.as_str();
        if text.is_none() {
            self.problem(key, "must be a string");
        }
        text
    }

    /// The string in a field. A number is read as it is written: `1.30` is `"1.30"`.
    pub fn text_or_number(&mut self, key: &'static str) -> Option<String> {
        let text = match self.value(key)? {
            Json::String(text) => Some(text.clone()),
            Json::Number(number) => {
                let written = self.document.written(&self.path_of(key));
                written.or_else(|| (!number.is_f64()).then(|| number.to_string()))
            }
            _ => None,
        };
        if text.is_none() {
            self.problem(key, "must be a string");
        }
        text
    }

    /// The items of the list in a field, each with its path; empty if the field is absent.
    pub fn list(&mut self, key: &'static str) -> Vec<(String, &'d Json)> {
        let path = self.path_of(key);
        match self.value(key) {
            Some(Json::Array(items)) => {
                let items = items.iter().enumerate();
                items
                    .map(|(n, item)| (format!("{path}[{n}]"), item))
                    .collect()
            }
            Some(_) => {
                self.problem(key, "must be a list");
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// The strings of the list in a field; `None` if the field is absent.
    pub fn texts(&mut self, key: &'static str) -> Option<Vec<String>> {
        self.value(key)?;
        let mut texts = Vec::new();
        for (path, item) in self.list(key) {
            match item {
                Json::String(text) => texts.push(text.clone()),
                _ => self.problem_at(rule::OBJECT, &path, "must be a string"),
            }
        }
        Some(texts)
    }

    /// Reads the object in a field; `None` if the field is absent.
    pub fn object<R>(
        &mut self,
        key: &'static str,
        read: impl FnOnce(&mut Fields<'d>) -> R,
    ) -> Option<R> {
        let value = self.value(key)?;
        let path = self.path_of(key);
        if !value.is_object() {
            self.problem(key, "must be an object");
            return None;
        }
        Some(within(self.document, path, value, &mut self.problems, read))
    }

    /// Reads each object of the list in a field. Objects with problems are left out.
    pub fn objects<R>(
        &mut self,
        key: &'static str,
        mut read: impl FnMut(&mut Fields<'d>) -> R,
    ) -> Vec<R> {
        let mut found = Vec::new();
        for (path, item) in self.list(key) {
            if item.is_object() {
                let before = self.problems.len();
                let read = within(self.document, path, item, &mut self.problems, &mut read);
                if self.problems.len() == before {
                    found.push(read);
                }
            } else {
                self.problem_at(rule::OBJECT, &path, "must be an object");
            }
        }
        found
    }

    /// The entries of the object in a field, which can have any keys.
    pub fn entries(&mut self, key: &'static str) -> Vec<(&'d str, &'d Json)> {
        match self.value(key) {
            Some(Json::Object(entries)) => {
                let entries = entries.iter();
                entries.map(|(key, value)| (key.as_str(), value)).collect()
            }
            Some(_) => {
                self.problem(key, "must be an object");
                Vec::new()
            }
            None => Vec::new(),
        }
    }

    /// Adds a problem of a field of the object, or of the object itself if `field` is empty.
    pub fn problem(&mut self, field: &str, message: impl Into<String>) {
        let path = self.path_of(field);
        self.problem_at(rule::OBJECT, &path, message);
    }

    /// Adds a problem of the field with this path in the document.
    pub fn problem_at(&mut self, rule: &'static str, path: &str, message: impl Into<String>) {
        self.problems
            .push(self.document.problem(rule, path, message));
    }

    /// Adds a problem.
    pub fn add(&mut self, problem: Problem) {
        self.problems.push(problem);
    }

    /// The value at this path in the document, as a document at the same place.
    pub fn part(&self, path: &str, value: &Json) -> Document {
        self.document.part(path, value.clone())
    }

    /// The path in the document of a field of the object; the path of the object if `field` is empty.
    pub fn path_of(&self, field: &str) -> String {
        match (self.path.as_str(), field) {
            (path, "") => path.to_owned(),
            ("", field) => field.to_owned(),
            (path, field) => format!("{path}.{field}"),
        }
    }

    /// Adds a problem for each field that was not declared.
    fn report_unknown(&mut self) {
        let keys = self.object.into_iter().flat_map(Map::keys);
        let unknown = keys.filter(|key| !self.known.contains(&key.as_str()));
        let problems = unknown.map(|key| {
            let problem = self.document.unknown_field(&self.path_of(key));
            let message = match nearest(key, self.known.iter().copied()) {
                Some(meant) => format!("{}; did you mean {meant}?", problem.message),
                None => problem.message.clone(),
            };
            Problem { message, ..problem }
        });
        let problems: Vec<Problem> = problems.collect();
        self.problems.extend(problems);
    }
}

/// Reads the object at a path, and adds its problems to `problems`.
fn within<'d, R>(
    document: &'d Document,
    path: String,
    value: &'d Json,
    problems: &mut Vec<Problem>,
    read: impl FnOnce(&mut Fields<'d>) -> R,
) -> R {
    let mut fields = Fields {
        document,
        path,
        object: value.as_object(),
        known: Vec::new(),
        problems: std::mem::take(problems),
    };
    if fields.object.is_none() {
        fields.problem("", "must be an object");
    }
    let read = read(&mut fields);
    fields.report_unknown();
    *problems = fields.problems;
    read
}
