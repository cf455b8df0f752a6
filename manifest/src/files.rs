//! Finds the files of manifests, like `kubectl apply -f`. Only this module reads a disk.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::Format;
use crate::problem::Problem;

/// The files of manifests at a path. A path that is not a folder is returned unchanged. For a folder, these are its `.json`, `.yaml` and
/// `.yml` files and, with `recursive`, those of its subfolders, sorted by path.
///
/// Names that begin with `..` are skipped, because a mounted ConfigMap stores its versions there. Symbolic links to folders are not
/// followed, because they may form a cycle.
///
/// # Errors
///
/// A folder cannot be read.
pub fn files(path: &Path, recursive: bool) -> Result<Vec<PathBuf>, Problem> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let (mut files, mut folders) = (Vec::new(), vec![path.to_owned()]);
    while let Some(folder) = folders.pop() {
        let failed = |error| Problem::unreadable(&folder, error);
        for entry in std::fs::read_dir(&folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            if entry.file_name().to_string_lossy().starts_with("..") {
                continue;
            }
            let is_link = entry.file_type().map_err(failed)?.is_symlink();
            let found = entry.path();
            if found.is_dir() {
                if recursive && !is_link {
                    folders.push(found);
                }
            } else if Format::of(&found).is_some() {
                files.push(found);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The problem of a folder without manifests. If the subfolders were not read but have manifests, the message suggests `-R`.
pub fn no_files(folder: &Path, recursive: bool) -> Problem {
    let message = "has no files that end in .yaml, .yml or .json";
    let below = match recursive {
        true => 0,
        false => files(folder, true).map_or(0, |files| files.len()),
    };
    let more = match below {
        0 => return Problem::unreadable(folder, message),
        1 => "1 file".to_owned(),
        many => format!("{many} files"),
    };
    let message = format!("{message}, but its folders have {more}: add -R to read them");
    Problem::unreadable(folder, message)
}

/// The paths without those of a file that an earlier path names already, such as `./a.yaml` after `a.yaml`.
pub fn distinct(paths: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let mut known = HashSet::new();
    let mut paths: Vec<PathBuf> = paths.into_iter().collect();
    paths.retain(|path| known.insert(path.canonicalize().unwrap_or_else(|_| path.clone())));
    paths
}
