//! Tests that the code has the structure that CONTRIBUTING.md and ARCHITECTURE.md describe.
#![cfg(test)]

use std::collections::BTreeSet;
use std::path::Path;

use gavel_tidy::{Architecture, Modules, Use, Workspace, circles};

/// The maximum number of lines of a file.
const MAX_LINES: usize = 600;

/// Names of modules that say nothing about the content.
const EMPTY_NAMES: [&str; 6] = ["utils", "util", "helpers", "helper", "common", "misc"];

fn workspace() -> Workspace {
    Workspace::read().unwrap()
}

fn architecture(workspace: &Workspace) -> Architecture {
    let text = std::fs::read_to_string(workspace.root.join("ARCHITECTURE.md")).unwrap();
    Architecture::read(&text)
}

fn modules(workspace: &Workspace, folder: &str) -> Modules {
    let src = format!("{folder}/src");
    let files = workspace.files(&src).unwrap();
    Modules::read(Path::new(&src), &files)
}

fn uses(workspace: &Workspace, folder: &str) -> BTreeSet<Use> {
    modules(workspace, folder).uses()
}

/// Fails if there are faults. The message has one line for each fault.
fn none(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn crates_use_lower_layers_only() {
    let workspace = workspace();
    let architecture = architecture(&workspace);
    let mut faults = Vec::new();
    for package in &workspace.packages {
        let folder = &package.folder;
        let Some(layer) = architecture.layer(folder) else {
            faults.push(format!("{folder} has no row in ARCHITECTURE.md"));
            continue;
        };
        for dependency in &package.dependencies {
            let below = architecture.layer(dependency).flatten();
            if layer.is_some_and(|layer| below.is_none_or(|below| below >= layer)) {
                faults.push(format!(
                    "{folder} depends on {dependency}, which is no layer below"
                ));
            }
        }
    }
    none(&faults);
}

#[test]
fn modules_use_each_other_in_no_circle() {
    let workspace = workspace();
    let mut faults = Vec::new();
    for package in &workspace.packages {
        let src = format!("{}/src", package.folder);
        for circle in circles(Path::new(&src), &uses(&workspace, &package.folder)) {
            faults.push("a circle:".to_owned());
            faults.extend(circle.iter().map(|Use { from, to, name }| {
                format!("  {} uses {name} of {}", from.display(), to.display())
            }));
        }
    }
    none(&faults);
}

#[test]
fn modules_of_the_engine_use_those_above_them_in_the_list() {
    let workspace = workspace();
    let architecture = architecture(&workspace);
    let mut faults = BTreeSet::new();
    for Use { from, to, name } in uses(&workspace, "engine") {
        let (Some(upper), Some(lower)) = (engine_module(&from), engine_module(&to)) else {
            continue;
        };
        let line = |module: &str| match architecture.engine_line(module) {
            Some(line) => Ok(line),
            None => Err(format!("{module} is not in the list of ARCHITECTURE.md")),
        };
        match (line(&upper), line(&lower)) {
            (Ok(upper), Ok(lower)) if lower <= upper => {}
            (Ok(_), Ok(_)) => {
                let (from, to) = (from.display(), to.display());
                let fault = format!("{from} uses {name} of {to}, which is below it in the list");
                faults.insert(fault);
            }
            (upper, lower) => faults.extend(upper.err().into_iter().chain(lower.err())),
        }
    }
    none(&faults.into_iter().collect::<Vec<_>>());
}

/// The module of the engine to which a file belongs. `None` for the root of the crate.
fn engine_module(file: &Path) -> Option<String> {
    let first = file.strip_prefix("engine/src").ok()?.iter().next()?;
    let name = first.to_str()?.trim_end_matches(".rs");
    (name != "lib").then(|| name.to_owned())
}

#[test]
fn no_two_types_of_a_crate_have_one_name() {
    let workspace = workspace();
    let mut faults = Vec::new();
    for package in &workspace.packages {
        for (name, files) in modules(&workspace, &package.folder).doubled_types() {
            let files: Vec<_> = files
                .iter()
                .map(|file| file.display().to_string())
                .collect();
            faults.push(format!("{name} is defined in {}", files.join(" and ")));
        }
    }
    none(&faults);
}

#[test]
fn files_are_short_and_their_names_say_what_they_hold() {
    let workspace = workspace();
    let mut faults = Vec::new();
    for package in &workspace.packages {
        for (path, text) in workspace.files(&package.folder).unwrap() {
            let lines = text.lines().count();
            if lines > MAX_LINES {
                let path = path.display();
                faults.push(format!("{path} has {lines} lines, more than {MAX_LINES}"));
            }
            let mut names = path.iter().filter_map(|part| part.to_str());
            if names.any(|name| EMPTY_NAMES.contains(&name.trim_end_matches(".rs"))) {
                faults.push(format!("{} has a name that says nothing", path.display()));
            }
        }
    }
    none(&faults);
}
