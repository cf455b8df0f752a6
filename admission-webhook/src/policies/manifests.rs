//! The files of manifests, in the layout that `kubectl apply -f` takes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gavel_lint::Linter;
use gavel_manifest::{Format, Problem, decode};
use gavel_state::{Object, Origin, as_built_in};

/// The size limit of one file, in bytes.
const MAX_FILE: u64 = 8 << 20;
/// The size limit of all files together, in bytes.
const MAX_FILES: u64 = 32 << 20;
/// The limit of documents in one file.
const MAX_DOCUMENTS: usize = 20_000;

/// The texts of manifests, by their origin. An error says why a file cannot be read, or that a given path does not exist.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Manifests {
    pub(super) texts: BTreeMap<Origin, Result<String, String>>,
}

impl Manifests {
    /// Reads the files at some paths: a path can be a file, or a folder whose `.json`, `.yaml` and `.yml` files are read in the order of
    /// their names. Names that begin with `..` are skipped, because a mounted ConfigMap keeps its versions there.
    ///
    /// # Errors
    ///
    /// A folder that cannot be listed, or that contains no manifests. If a file cannot be read or does not exist, only its text is an error.
    pub(super) fn read(paths: &[PathBuf], recursive: bool) -> Result<Self, Vec<String>> {
        let (mut files, mut problems) = (BTreeSet::new(), Vec::new());
        for path in paths {
            match gavel_manifest::files(path, recursive) {
                Ok(found) if found.is_empty() => {
                    problems.push(gavel_manifest::no_files(path, recursive).to_string());
                }
                Ok(found) => files.extend(found),
                Err(problem) => problems.push(problem.to_string()),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        let mut read = Manifests::default();
        let mut left = MAX_FILES;
        for path in gavel_manifest::distinct(files) {
            let text = text(&path, &mut left).map_err(|problem| problem.to_string());
            read.texts.insert(origin(&path), text);
        }
        Ok(read)
    }

    /// The manifests of a built-in text.
    pub(super) fn built_in(name: &str, text: &str) -> Self {
        Manifests {
            texts: BTreeMap::from([(Origin::new(name), Ok(text.to_owned()))]),
        }
    }
}

/// The origin of the objects in a file.
pub(super) fn origin(path: &Path) -> Origin {
    Origin::new(&path.display().to_string())
}

/// The objects of a text, including the items of lists.
///
/// # Errors
///
/// The text is not YAML or JSON, has a duplicate key, holds too many documents, or contains a policy of a misspelled API group.
pub(super) fn objects(origin: &Origin, text: &str) -> Result<Vec<Object>, Vec<String>> {
    let at = |problem: &Problem| format!("{origin}:{}", problem.full_text());
    let format = Format::of(Path::new(&origin.to_string())).unwrap_or(Format::Yaml);
    let separators = text.lines().filter(|line| line.starts_with("---"));
    if separators.count() > MAX_DOCUMENTS {
        return Err(vec![format!(
            "{origin}: contains more than {MAX_DOCUMENTS} documents"
        )]);
    }
    let reading = gavel_manifest::read(text, format);
    let (mut objects, mut problems) = (Vec::new(), Vec::new());
    problems.extend(reading.problems.iter().map(at));
    for document in reading.documents {
        problems.extend(document.duplicate_keys().iter().map(at));
        for document in document.into_objects() {
            problems.extend(Linter::misspelled_group(&document).iter().map(at));
            objects.push(Object::of_manifest(origin.clone(), as_built_in(document)));
        }
    }
    match problems.is_empty() {
        true => Ok(objects),
        false => Err(problems),
    }
}

/// Reads a regular file within the size limit. Other kinds of files are not opened: opening a pipe may block forever, and a device may
/// never end.
fn text(path: &Path, left: &mut u64) -> Result<String, Problem> {
    let failed = |error: std::io::Error| Problem::unreadable(path, error);
    let refused = |message: String| Err(Problem::unreadable(path, message));
    if !std::fs::metadata(path).map_err(failed)?.is_file() {
        return refused("is not a regular file".to_owned());
    }
    let mut read = Vec::new();
    let most = MAX_FILE.min(*left);
    let file = File::open(path).map_err(failed)?;
    let length = file.take(most.saturating_add(1)).read_to_end(&mut read);
    let length = u64::try_from(length.map_err(failed)?).unwrap_or(u64::MAX);
    if length > MAX_FILE {
        return refused(format!("is larger than {MAX_FILE} bytes"));
    }
    let Some(rest) = left.checked_sub(length) else {
        return refused(format!("all manifests are larger than {MAX_FILES} bytes"));
    };
    let text = decode(read).map_err(|problem| problem.in_file(&Arc::from(path)))?;
    *left = rest;
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_a_file_are_bounded() {
        let name = Origin::new("many.yaml");
        let many = "---\n".repeat(MAX_DOCUMENTS);
        assert_eq!(objects(&name, &many).map(|objects| objects.len()), Ok(0));
        let too_many = format!("{many}---\n");
        assert_eq!(
            objects(&name, &too_many).err(),
            Some(vec![
                "many.yaml: contains more than 20000 documents".to_owned()
            ])
        );
    }

    #[test]
    fn bytes_of_all_files_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a.yaml", "b.yaml", "c.yaml", "d.yaml", "e.yaml", "f.yaml"];
        for name in files {
            let file = File::create(folder.path().join(name)).unwrap();
            file.set_len(if name == "b.yaml" {
                MAX_FILE + 1
            } else {
                MAX_FILE
            })
            .unwrap();
        }
        let read = Manifests::read(&[folder.path().to_owned()], false).unwrap();
        let texts = read.texts.values();
        let problems: Vec<_> = texts
            .filter_map(|text| text.as_ref().err())
            .map(|problem| problem.rsplit_once('/').unwrap().1)
            .collect();
        assert_eq!(
            problems,
            [
                "b.yaml: is larger than 8388608 bytes",
                "f.yaml: all manifests are larger than 33554432 bytes",
            ]
        );
        let read: Vec<_> = read.texts.values().map(Result::is_ok).collect();
        assert_eq!(read, [true, false, true, true, true, false]);
    }

    #[test]
    fn policies_of_misspelled_groups_are_problems() {
        let text = "apiVersion: admissionregistration/v1\nkind: ValidatingAdmissionPolicy\n";
        let problem = "a.yaml:1:13: apiVersion: must name the group admissionregistration.k8s.io, as admissionregistration.k8s.io/v1 does";
        let found = objects(&Origin::new("a.yaml"), text);
        assert_eq!(found.err(), Some(vec![problem.to_owned()]));
        let other = text.replace("ValidatingAdmissionPolicy", "Kustomization");
        assert!(objects(&Origin::new("a.yaml"), &other).is_ok());
    }
}
