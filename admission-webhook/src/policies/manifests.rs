//! The files of manifests, in the layout that `kubectl apply -f` takes.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gavel_manifest::{Document, Format};
use serde_json::Value as Json;

/// Texts of manifests with where they come from.
#[derive(Debug)]
pub(super) struct Manifests {
    files: Vec<(Arc<Path>, String)>,
}

impl Manifests {
    /// Reads the files of some paths: a file is itself, of a folder those that end in `.json`, `.yaml` or `.yml`, by
    /// name. Names that begin with `..` are left out: a mounted ConfigMap keeps its versions there.
    ///
    /// # Errors
    ///
    /// What cannot be read, each with its path.
    pub(super) fn read(paths: &[PathBuf], recursive: bool) -> Result<Self, Vec<String>> {
        let (mut files, mut problems) = (Vec::new(), Vec::new());
        for path in paths {
            if let Err(problem) = collect(path, recursive, &mut files) {
                problems.push(problem);
            }
        }
        let mut texts = Vec::with_capacity(files.len());
        for path in files {
            match std::fs::read_to_string(&path) {
                Ok(text) => texts.push((Arc::from(path), text)),
                Err(error) => problems.push(format!("{}: {error}", path.display())),
            }
        }
        match problems.is_empty() {
            true => Ok(Manifests { files: texts }),
            false => Err(problems),
        }
    }

    /// A text that is built in.
    pub(super) fn built_in(name: &str, text: &str) -> Self {
        Manifests {
            files: vec![(Arc::from(Path::new(name)), text.to_owned())],
        }
    }

    /// What changes when a file changes.
    pub(super) fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.files.hash(&mut hasher);
        hasher.finish()
    }

    /// The objects of all files, those in lists included.
    ///
    /// # Errors
    ///
    /// Where a text is no YAML or JSON, or has a key twice.
    pub(super) fn objects(&self) -> Result<Vec<Object>, Vec<String>> {
        let (mut objects, mut problems) = (Vec::new(), Vec::new());
        for (path, text) in &self.files {
            let format = Format::of(path).unwrap_or(Format::Yaml);
            let documents = match gavel_manifest::read(text, format) {
                Ok(documents) => documents,
                Err(problem) => {
                    problems.push(format!("{}:{problem}", path.display()));
                    continue;
                }
            };
            for document in documents {
                let twice = document.duplicate_keys().iter();
                problems.extend(twice.map(|twice| format!("{}:{twice}", path.display())));
                let documents = document.into_objects().into_iter();
                objects.extend(documents.map(|document| Object {
                    path: Arc::clone(path),
                    document,
                }));
            }
        }
        match problems.is_empty() {
            true => Ok(objects),
            false => Err(problems),
        }
    }
}

fn collect(path: &Path, recursive: bool, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let problem = |error: std::io::Error| format!("{}: {error}", path.display());
    if !std::fs::metadata(path).map_err(problem)?.is_dir() {
        files.push(path.to_owned());
        return Ok(());
    }
    let mut open = vec![path.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).map_err(problem)? {
            let entry = entry.map_err(problem)?;
            if entry.file_name().to_string_lossy().starts_with("..") {
                continue;
            }
            let path = entry.path();
            let is_link = entry.file_type().map_err(problem)?.is_symlink();
            if path.is_dir() {
                // A link may lead back to where it is.
                if recursive && !is_link {
                    open.push(path);
                }
            } else if Format::of(&path).is_some() {
                found.push(path);
            }
        }
    }
    found.sort();
    files.append(&mut found);
    Ok(())
}

/// An object of a file.
#[derive(Debug)]
pub(super) struct Object {
    path: Arc<Path>,
    document: Document,
}

impl Object {
    /// The object.
    pub(super) fn value(&self) -> &Json {
        self.document.value()
    }

    /// Where its name is: file, line and column.
    pub(super) fn place(&self) -> String {
        let place = self.document.place_of("metadata.name");
        format!("{}:{place}", self.path.display())
    }

    /// A text of it, empty where there is none.
    pub(super) fn text(&self, field: &str) -> &str {
        self.value()
            .get(field)
            .and_then(Json::as_str)
            .unwrap_or_default()
    }

    /// A text of its metadata, empty where there is none.
    pub(super) fn metadata(&self, field: &str) -> &str {
        let metadata = self.value().get("metadata");
        let text = metadata.and_then(|metadata| metadata.get(field));
        text.and_then(Json::as_str).unwrap_or_default()
    }

    /// What is wrong with it, in front of that the file and the place of the field or in its expression.
    pub(super) fn problem(&self, field: &str, message: impl std::fmt::Display) -> String {
        let message = message.to_string();
        let place = self.document.place_of_problem(field, &message);
        format!("{}:{place}: {message}", self.path.display())
    }
}
