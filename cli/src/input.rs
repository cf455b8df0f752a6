//! Files that are read: JSON and YAML.

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde_saphyr::{MessageFormatter, UserMessageFormatter};

use gavel_engine::value::Json;

use crate::json;

/// Why a file cannot be used, and the place, from line 1 and column 1, where that is known.
#[derive(Debug)]
pub(crate) struct InputError {
    path: PathBuf,
    place: Option<(u64, u64)>,
    message: String,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some((line, column)) = self.place {
            write!(f, "{line}:{column}:")?;
        }
        write!(f, " {}", self.message)
    }
}

impl InputError {
    fn new(path: &Path, place: Option<(u64, u64)>, message: impl fmt::Display) -> Self {
        InputError {
            path: path.to_owned(),
            place,
            message: message.to_string(),
        }
    }
}

/// The text of a file; `-` is standard input.
pub(crate) fn text(path: &Path) -> Result<String, InputError> {
    let bytes = match path.as_os_str() == "-" {
        true => {
            let mut bytes = Vec::new();
            io::stdin().lock().read_to_end(&mut bytes).map(|_| bytes)
        }
        false => std::fs::read(path),
    };
    let bytes = bytes.map_err(|error| InputError::new(path, None, error))?;
    String::from_utf8(bytes).map_err(|error| {
        InputError::new(path, None, format!("must be UTF-8: {}", error.utf8_error()))
    })
}

/// The document of a file: JSON where the name ends so, otherwise YAML, of which JSON is a part.
pub(crate) fn document(path: &Path) -> Result<Json, InputError> {
    let text = text(path)?;
    match path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        true => json::read(text.as_bytes()).map_err(|error| json_error(path, &error)),
        false => yaml(&text).map_err(|error| yaml_error(path, &error)),
    }
}

/// The documents of a file: the one of a JSON file, or those of YAML, without the empty ones.
pub(crate) fn documents(path: &Path) -> Result<Vec<Json>, InputError> {
    if path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        return document(path).map(|document| vec![document]);
    }
    let documents = serde_saphyr::from_multiple_with_options(&text(path)?, options());
    documents.map_err(|error| yaml_error(path, &error))
}

/// Reads YAML the way Kubernetes does where that differs from YAML 1.2: `yes` and `on` are booleans, 010 is 8.
fn yaml(text: &str) -> Result<Json, serde_saphyr::Error> {
    serde_saphyr::from_str_with_options(text, options())
}

fn options() -> serde_saphyr::Options {
    serde_saphyr::options! {
        legacy_octal_numbers: true,
        with_snippet: false,
    }
}

fn json_error(path: &Path, error: &serde_json::Error) -> InputError {
    let (line, column) = (error.line(), error.column());
    let message = error.to_string();
    // The message ends with the place, which goes in front here.
    let place = format!(" at line {line} column {column}");
    let message = message.strip_suffix(&place).unwrap_or(&message);
    let place = u64::try_from(line).ok().zip(u64::try_from(column).ok());
    InputError::new(path, place, message)
}

fn yaml_error(path: &Path, error: &serde_saphyr::Error) -> InputError {
    let place = error.location().map(|at| (at.line(), at.column()));
    InputError::new(path, place, UserMessageFormatter.format_message(error))
}
