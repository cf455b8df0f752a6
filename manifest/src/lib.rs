//! Manifests as Kubernetes reads them: YAML or JSON texts of one or several documents, as JSON values, with the place of
//! every part, so that what is wrong with an object can be shown in its file.
//!
//! Layer 2. YAML is that of `sigs.k8s.io/yaml` (`go.yaml.in/yaml/v2`): `yes` and `on` are booleans, `010` is 8,
//! timestamps stay texts, keys become texts. Unlike it, a key that comes twice is a [`Problem`].

use std::path::Path;

use serde_json::Value as Json;

mod json;
mod layout;
mod place;
mod yaml;

pub use place::{Place, Problem};

use layout::Node;

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// JSON: one value, or several one after the other.
    Json,
    /// YAML: documents between `---`.
    Yaml,
}

impl Format {
    /// The format that the ending of a file's name stands for: `.json`, `.yaml` or `.yml`.
    pub fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        match extension.to_ascii_lowercase().as_str() {
            "json" => Some(Format::Json),
            "yaml" | "yml" => Some(Format::Yaml),
            _ => None,
        }
    }
}

/// Reads the documents of a text; empty ones are left out.
///
/// # Errors
///
/// The first place where the text is not YAML or JSON, or cannot be JSON for Kubernetes: keys that are lists, numbers
/// that are not finite, nesting deeper than 127, aliases that expand to more than 100,000 values.
pub fn read(text: &str, format: Format) -> Result<Vec<Document>, Problem> {
    match format {
        Format::Json => json::read(text),
        Format::Yaml => yaml::read(text),
    }
}

/// One document of a manifest: its value, and where each part of it is.
#[derive(Debug, Clone)]
pub struct Document {
    value: Json,
    layout: Node,
    duplicates: Vec<Problem>,
}

impl Document {
    /// The value.
    pub fn value(&self) -> &Json {
        &self.value
    }

    /// The value alone.
    pub fn into_value(self) -> Json {
        self.value
    }

    /// Where the document begins.
    pub fn place(&self) -> Place {
        self.layout.place()
    }

    /// Where a field is, by its path as validation errors print it (`spec.validations[0].expression`,
    /// `metadata.labels[app]`). Of a field that is absent, the place of the nearest part around it that is there.
    pub fn place_of(&self, field: &str) -> Place {
        self.layout.find(field).place()
    }

    /// Where what a message says of a field is: where in an expression, if it tells that as CEL does (`<input>:1:5: …`), else
    /// where the field is.
    pub fn place_of_problem(&self, field: &str, message: &str) -> Place {
        let within = message.split_once("<input>:").and_then(|(_, rest)| {
            let mut numbers = rest.splitn(3, ':').map(str::parse::<u32>);
            Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
        });
        match within {
            Some((line, column)) => self.place_within(field, line, column),
            None => self.place_of(field),
        }
    }

    /// Where a line and column (both from 1; columns in code points) of the text that a field holds are in the file.
    /// It is exact where the text has no escapes and is not folded; elsewhere it is the beginning of the text.
    pub fn place_within(&self, field: &str, line: u32, column: u32) -> Place {
        self.layout.find(field).within(line, column)
    }

    /// The keys that come twice in one object, in the order of the text. The later value is the one that counts.
    pub fn duplicate_keys(&self) -> &[Problem] {
        &self.duplicates
    }

    /// The objects of the document: the items of a `List`, lists in lists included, or the document itself.
    pub fn into_objects(self) -> Vec<Document> {
        let mut objects = Vec::new();
        let mut open = vec![self];
        while let Some(document) = open.pop() {
            match document.into_items() {
                Ok(items) => open.extend(items.into_iter().rev()),
                Err(object) => objects.push(object),
            }
        }
        objects
    }

    /// The items of a list of objects, or the document as it was.
    fn into_items(mut self) -> Result<Vec<Document>, Document> {
        let is_list = self
            .value
            .get("kind")
            .and_then(Json::as_str)
            .is_some_and(|kind| kind.ends_with("List"));
        let items = match self.value.get_mut("items") {
            Some(Json::Array(items)) if is_list => std::mem::take(items),
            _ => return Err(self),
        };
        let mut duplicates = Some(std::mem::take(&mut self.duplicates));
        let layouts = self.layout.into_fields().remove("items");
        let layouts = layouts.map(Node::into_items).unwrap_or_default();
        let documents = items
            .into_iter()
            .zip(layouts)
            .map(|(value, layout)| Document {
                value,
                layout,
                // They are told once, with the first.
                duplicates: duplicates.take().unwrap_or_default(),
            });
        Ok(documents.collect())
    }
}

#[cfg(test)]
mod tests;
