//! Files that are read: JSON and YAML.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_manifest::{Document, Format, Problem, Reading};

/// The text of a file; `-` is standard input.
pub(crate) fn text(path: &Path) -> Result<String, Problem> {
    let bytes = match path.as_os_str() == "-" {
        true => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        }
        false => std::fs::read(path),
    };
    let bytes = bytes.map_err(|error| Problem::unreadable(path, error))?;
    String::from_utf8(bytes).map_err(|error| {
        Problem::unreadable(path, format!("must be UTF-8: {}", error.utf8_error()))
    })
}

/// The document of a file.
pub(crate) fn document(path: &Path) -> Result<Json, Problem> {
    let mut documents = documents(path)?.into_iter();
    let document = documents.next().unwrap_or_default();
    match documents.count() {
        0 => Ok(document),
        more => {
            let message = format!("must be one document, but {more} follow the first");
            Err(Problem::unreadable(path, message))
        }
    }
}

/// The values of a file's documents, without the empty ones. No key may come twice.
pub(crate) fn documents(path: &Path) -> Result<Vec<Json>, Problem> {
    let documents = manifest(path)?.all()?;
    if let Some(twice) = documents.iter().flat_map(Document::duplicate_keys).next() {
        return Err(twice.clone());
    }
    Ok(documents.into_iter().map(Document::into_value).collect())
}

/// The documents of a file: JSON where the name ends so, otherwise YAML, of which JSON is a part.
pub(crate) fn manifest(path: &Path) -> Result<Reading, Problem> {
    let format = Format::of(path).unwrap_or(Format::Yaml);
    Ok(gavel_manifest::read(&text(path)?, format).in_file(&Arc::from(path)))
}
