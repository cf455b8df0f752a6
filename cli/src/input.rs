//! Reads input files: JSON and YAML.

use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Format, Place, Problem, Reading};

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
    decode(bytes).map_err(|problem| problem.in_file(&Arc::from(path)))
}

/// Decodes bytes as UTF-8. The error for other bytes says which encoding or file type the bytes look like.
fn decode(bytes: Vec<u8>) -> Result<String, Problem> {
    let looks_like = |what: &str| {
        let message = format!("must be UTF-8, but looks like {what}");
        Err(Problem::new(rule::UNREADABLE, message))
    };
    match bytes.as_slice() {
        [0x1f, 0x8b, ..] => return looks_like("a file packed with gzip; unpack it first (gunzip)"),
        [b'P', b'K', 3, 4, ..] => return looks_like("a zip archive"),
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => {
            return looks_like("UTF-16; convert it first (iconv -f UTF-16 -t UTF-8)");
        }
        [b'\x7f', b'E', b'L', b'F', ..] => return looks_like("a program"),
        _ => {}
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let bytes = error.as_bytes();
        let before = bytes.get(..valid).unwrap_or_default();
        let line = before.iter().filter(|byte| **byte == b'\n').count();
        let start = before.iter().rposition(|byte| *byte == b'\n');
        let start = start.map_or(0, |at| at.saturating_add(1));
        let column = String::from_utf8_lossy(before.get(start..).unwrap_or_default());
        let byte = bytes.get(valid).copied().unwrap_or_default();
        let what = match bytes.contains(&0) {
            true => "a binary file".to_owned(),
            false => format!("another encoding: the byte 0x{byte:02x} is no UTF-8 here"),
        };
        let place = Place {
            line: u32::try_from(line.saturating_add(1)).unwrap_or(u32::MAX),
            column: u32::try_from(column.chars().count().saturating_add(1)).unwrap_or(u32::MAX),
        };
        Problem::new(
            rule::UNREADABLE,
            format!("must be UTF-8, but looks like {what}"),
        )
        .at(place)
    })
}

/// The only document of a file, or `null` if the file has none. A second document is an error.
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

/// The values of all documents in a file, except empty documents. A duplicate key is an error.
pub(crate) fn documents(path: &Path) -> Result<Vec<Json>, Problem> {
    let documents = manifest(path)?.all()?;
    if let Some(twice) = documents.iter().flat_map(Document::duplicate_keys).next() {
        return Err(twice.clone());
    }
    Ok(documents.into_iter().map(Document::into_value).collect())
}

/// The documents of a file. A file whose name ends in `.json` is parsed as JSON. Any other file is parsed as YAML, which includes JSON.
pub(crate) fn manifest(path: &Path) -> Result<Reading, Problem> {
    Ok(documents_of(&text(path)?, path).in_file(&Arc::from(path)))
}

/// The documents in `text`, which is the content of the file at `path`.
pub(crate) fn documents_of(text: &str, path: &Path) -> Reading {
    let format = Format::of(path).unwrap_or(Format::Yaml);
    gavel_manifest::read(text, format)
}
