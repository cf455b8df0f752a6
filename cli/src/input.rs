//! Reads input files: JSON and YAML.

use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_manifest::{Document, Format, Problem, Reading};

/// The size limit of an input that is read as a whole, in bytes: pipes may never end, and parsing takes many times the input's size in
/// memory.
const MAX_INPUT: u64 = 1 << 30;
/// The size limit of a device, in bytes.
const MAX_DEVICE: u64 = 1 << 20;

/// The files of manifests at a path, as [`gavel_manifest::files`] finds them, and the problems of finding them. Pipes, sockets and devices
/// in a folder are problems, because reading one may never end; they are only read if the path itself names them.
pub(crate) fn files(path: &Path, recursive: bool) -> (Vec<PathBuf>, Vec<Problem>) {
    let files = match gavel_manifest::files(path, recursive) {
        Ok(files) => files,
        Err(problem) => return (Vec::new(), vec![problem]),
    };
    if !path.is_dir() {
        return (files, Vec::new());
    }
    // Reading a link that leads nowhere reports why.
    let is_regular = |file: &PathBuf| file.metadata().map_or(true, |found| found.is_file());
    let (files, others): (Vec<_>, Vec<_>) = files.into_iter().partition(is_regular);
    let others = others.iter();
    let problems = others.map(|file| Problem::unreadable(file, "is not a regular file"));
    (files, problems.collect())
}

/// The documents of the files at a path. If a file cannot be used, all problems of finding the files or of reading it are returned.
pub(crate) fn all_documents(path: &Path) -> Result<Vec<Document>, Vec<Problem>> {
    let (files, problems) = files(path, false);
    if !problems.is_empty() {
        return Err(problems);
    }
    if files.is_empty() {
        return Err(vec![gavel_manifest::no_files(path, true)]);
    }
    let mut all = Vec::new();
    for file in files {
        all.extend(documents(&file)?);
    }
    Ok(all)
}

/// The text of a file; `-` is standard input.
pub(crate) fn text(path: &Path) -> Result<String, Problem> {
    let bytes = match path.as_os_str() == "-" {
        true => bounded(io::stdin().lock(), MAX_INPUT),
        false => file(path),
    };
    let bytes = bytes.map_err(|error| Problem::unreadable(path, error))?;
    gavel_manifest::decode(bytes).map_err(|problem| problem.in_file(&Arc::from(path)))
}

/// The bytes of a file. A device is read only if it ends soon, as `/dev/null` and a terminal do.
fn file(path: &Path) -> io::Result<Vec<u8>> {
    let file = File::open(path)?;
    match is_device(&file.metadata()?) {
        false => bounded(file, MAX_INPUT),
        true => bounded(file, MAX_DEVICE).map_err(|_| {
            io::Error::other("must be a file, a folder, or - for standard input, but is a device")
        }),
    }
}

#[cfg(unix)]
fn is_device(found: &Metadata) -> bool {
    use std::os::unix::fs::FileTypeExt;
    found.file_type().is_char_device() || found.file_type().is_block_device()
}

#[cfg(not(unix))]
fn is_device(_: &Metadata) -> bool {
    false
}

/// Reads an input to its end.
fn bounded(input: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut input = input.take(most.saturating_add(1));
    input.read_to_end(&mut bytes)?;
    match input.limit() {
        0 => Err(io::Error::other(format!("must have at most {most} bytes"))),
        _ => Ok(bytes),
    }
}

/// The only document of a file, or `null` if the file has none. A second document is an error.
pub(crate) fn document(path: &Path) -> Result<Json, Vec<Problem>> {
    let mut documents = documents(path)?.into_iter();
    let document = documents.next().map(Document::into_value);
    match documents.count() {
        0 => Ok(document.unwrap_or_default()),
        more => {
            let message = format!("must be one document, but {more} follow the first");
            Err(vec![Problem::unreadable(path, message)])
        }
    }
}

/// All documents in a file, except empty documents. Each duplicate key is an error.
pub(crate) fn documents(path: &Path) -> Result<Vec<Document>, Vec<Problem>> {
    let documents = manifest(path).and_then(Reading::all);
    let documents = documents.map_err(|problem| vec![problem])?;
    let twice = documents.iter().flat_map(Document::duplicate_keys);
    let twice: Vec<Problem> = twice.cloned().collect();
    match twice.is_empty() {
        true => Ok(documents),
        false => Err(twice),
    }
}

/// The texts of problems, one line each.
pub(crate) fn lines(problems: &[Problem]) -> String {
    let lines: Vec<String> = problems.iter().map(Problem::full_text).collect();
    lines.join("\n")
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
