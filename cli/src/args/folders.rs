//! Which files of folders a command reads.

use std::path::Path;

use clap::Args;
use glob::{MatchOptions, Pattern};

/// The files of folders that a command reads.
#[derive(Debug, Default, Clone, Args)]
pub(crate) struct FolderArgs {
    /// Also read subfolders
    #[arg(short = 'R', long)]
    pub(crate) recursive: bool,

    /// Leave out the files and subfolders of folders that match this glob, such as templates or 'charts/**'; can be repeated. A glob is
    /// matched with the path, and a glob without / also with the name
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<Pattern>,
}

impl FolderArgs {
    /// Whether a file that was found in `folder`, or a subfolder that contains it, is left out.
    pub(crate) fn excludes(&self, file: &Path, folder: &Path) -> bool {
        let options = MatchOptions {
            require_literal_separator: true,
            ..MatchOptions::default()
        };
        let found = file.ancestors().take_while(|found| *found != folder);
        let mut names = found.flat_map(|found| {
            let path = found.strip_prefix(".").unwrap_or(found);
            [Some(path), found.file_name().map(Path::new)]
        });
        let matches = |name: &Path| {
            let mut globs = self.exclude.iter();
            globs.any(|glob| glob.matches_path_with(name, options))
        };
        names.any(|name| name.is_some_and(matches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_glob_is_matched_with_paths_and_names() {
        #[track_caller]
        fn check(glob: &str, folder: &str, file: &str, expected: bool) {
            let args = FolderArgs {
                recursive: true,
                exclude: vec![Pattern::new(glob).unwrap()],
            };
            let found = args.excludes(Path::new(file), Path::new(folder));
            assert_eq!(found, expected, "{glob} {folder} {file}");
        }
        check("templates", ".", "./charts/a/templates/b.yaml", true);
        check("charts", "charts", "charts/a/templates/b.yaml", false);
        check("charts/**", ".", "./charts/a/templates/b.yaml", true);
        check(
            "charts/*/templates",
            ".",
            "./charts/a/templates/b.yaml",
            true,
        );
        check(
            "charts/*/templates",
            ".",
            "./charts/a/b/templates/c.yaml",
            false,
        );
        check(
            "charts/*/templates",
            ".",
            "./x/charts/a/templates/b.yaml",
            false,
        );
        check(
            "**/charts/*/templates",
            "/x",
            "/x/charts/a/templates/b.yaml",
            true,
        );
        check("x/charts", "x", "x/charts/a.yaml", true);
        check("*-assert.yaml", ".", "./a/pod-assert.yaml", true);
        check("*-assert.yaml", ".", "./a/pod.yaml", false);
    }
}
