//! The crates of the workspace and their files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// The workspace: its folder and its crates.
#[derive(Debug, Clone)]
pub struct Workspace {
    /// The folder of the workspace.
    pub root: PathBuf,
    /// The crates that `members` in the workspace's Cargo.toml lists.
    pub packages: Vec<Package>,
}

/// A crate of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// The folder of the crate.
    pub folder: String,
    /// The folders of the workspace crates on which this crate depends. Dev-dependencies are not included.
    pub dependencies: Vec<String>,
}

impl Workspace {
    /// Reads the workspace that contains this crate.
    ///
    /// # Errors
    ///
    /// A Cargo.toml cannot be read.
    pub fn read() -> io::Result<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = root.parent().unwrap_or(root).to_owned();
        let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
        let members = manifest.lines().find(|line| line.starts_with("members = "));
        let members = members.into_iter().flat_map(|line| line.split('"'));
        // Every second item is the text between two quotes.
        let packages = members.skip(1).step_by(2).map(|folder| {
            let manifest = fs::read_to_string(root.join(folder).join("Cargo.toml"))?;
            Ok(Package {
                folder: folder.to_owned(),
                dependencies: dependencies(&manifest),
            })
        });
        let packages = packages.collect::<io::Result<_>>()?;
        Ok(Workspace { root, packages })
    }

    /// The paths and texts of the Rust files below a folder of the workspace, ordered by path.
    ///
    /// # Errors
    ///
    /// A file or folder cannot be read.
    pub fn files(&self, folder: &str) -> io::Result<Vec<(PathBuf, String)>> {
        let (mut found, mut open) = (Vec::new(), vec![self.root.join(folder)]);
        while let Some(folder) = open.pop() {
            for entry in fs::read_dir(folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    // Skip build outputs.
                    if path.file_name().is_some_and(|name| name != "target") {
                        open.push(path);
                    }
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(&path)?;
                    let path = path.strip_prefix(&self.root).unwrap_or(&path).to_owned();
                    found.push((path, text));
                }
            }
        }
        found.sort();
        Ok(found)
    }
}

/// The folders of the dependencies in `[dependencies]` whose names are `gavel-FOLDER`.
fn dependencies(manifest: &str) -> Vec<String> {
    let section = manifest
        .lines()
        .skip_while(|line| *line != "[dependencies]");
    let section = section.skip(1).take_while(|line| !line.starts_with('['));
    let named = section.filter_map(|line| line.strip_prefix("gavel-"));
    let folder = named.filter_map(|line| line.split(['.', ' ', '=']).next());
    folder.map(str::to_owned).collect()
}
