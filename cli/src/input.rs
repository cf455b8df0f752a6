//! Files that are read: JSON and YAML.

use std::fmt;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use gavel_engine::value::Json;
use gavel_manifest::{Document, Format, Place};

/// Why a file cannot be used, and the place, from line 1 and column 1, where that is known.
#[derive(Debug)]
pub(crate) struct InputError {
    path: PathBuf,
    place: Option<Place>,
    message: String,
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.path.display())?;
        if let Some(place) = self.place {
            write!(f, "{place}:")?;
        }
        write!(f, " {}", self.message)
    }
}

impl InputError {
    fn new(path: &Path, place: Option<Place>, message: impl fmt::Display) -> Self {
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

/// The document of a file.
pub(crate) fn document(path: &Path) -> Result<Json, InputError> {
    let mut documents = documents(path)?.into_iter();
    let document = documents.next().unwrap_or_default();
    match documents.count() {
        0 => Ok(document),
        more => {
            let message = format!("must be one document, but {more} follow the first");
            Err(InputError::new(path, None, message))
        }
    }
}

/// The values of a file's documents, without the empty ones. No key may come twice.
pub(crate) fn documents(path: &Path) -> Result<Vec<Json>, InputError> {
    let documents = manifest(path)?;
    if let Some(twice) = documents.iter().flat_map(Document::duplicate_keys).next() {
        return Err(InputError::new(path, Some(twice.place()), twice.message()));
    }
    Ok(documents.into_iter().map(Document::into_value).collect())
}

/// The objects of a file, with their places: its documents, and what is in lists.
pub(crate) fn objects(path: &Path) -> Result<Vec<Document>, InputError> {
    let documents = manifest(path)?.into_iter();
    Ok(documents.flat_map(Document::into_objects).collect())
}

/// The documents of a file: JSON where the name ends so, otherwise YAML, of which JSON is a part.
fn manifest(path: &Path) -> Result<Vec<Document>, InputError> {
    let format = Format::of(path).unwrap_or(Format::Yaml);
    let documents = gavel_manifest::read(&text(path)?, format);
    documents.map_err(|problem| InputError::new(path, Some(problem.place()), problem.message()))
}

/// The manifests in a folder, by name, and in its folders where it is `recursive`; a file is itself.
pub(crate) fn files(path: &Path, recursive: bool) -> Result<Vec<PathBuf>, InputError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let (mut files, mut folders) = (Vec::new(), vec![path.to_owned()]);
    while let Some(folder) = folders.pop() {
        let failed = |error| InputError::new(&folder, None, error);
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            let found = entry.path();
            // A link to a folder is not followed: it may lead back.
            match entry.file_type().map_err(failed)?.is_dir() {
                true if recursive => folders.push(found),
                true => {}
                false if Format::of(&found).is_some() => files.push(found),
                false => {}
            }
        }
    }
    files.sort();
    Ok(files)
}
