//! The files of a crate, and the names that they use from each other.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::lexer::{without_tests, words};

/// The modules of a crate that have files of their own, without test modules.
#[derive(Debug, Default)]
pub struct Modules {
    /// The modules by their path in the crate, such as `["syntax", "parser"]`. The path of the root is empty.
    modules: BTreeMap<Vec<String>, Module>,
}

#[derive(Debug, Default)]
struct Module {
    file: PathBuf,
    /// The names of the items that the module defines.
    defined: BTreeSet<String>,
    /// The names of the types and traits in the module. A name can occur more than once.
    types: Vec<String>,
    /// The names of the module's submodules.
    children: BTreeSet<String>,
    /// The paths in the module's code.
    paths: Vec<Vec<String>>,
    /// The names that `use` declarations import, with their paths.
    imports: BTreeMap<String, Vec<String>>,
    /// The modules that the module imports with `*`.
    globs: Vec<Vec<String>>,
}

/// A name that one file uses from another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Use {
    /// The file that uses the name.
    pub from: PathBuf,
    /// The file that defines the name.
    pub to: PathBuf,
    /// The name.
    pub name: String,
}

/// The keywords before the name of an item.
const KEYWORDS: [&str; 9] = [
    "fn",
    "struct",
    "enum",
    "trait",
    "type",
    "const",
    "static",
    "union",
    "macro_rules",
];

impl Modules {
    /// Reads the files of a crate. The paths of the files begin with `src`, the source folder of the crate.
    pub fn read(src: &Path, files: &[(PathBuf, String)]) -> Self {
        let mut modules = Modules::default();
        for (file, text) in files {
            let Some(path) = module_path(src, file) else {
                continue;
            };
            let words = without_tests(words(text));
            let mut module = Module {
                file: file.clone(),
                defined: after(&words, &KEYWORDS).collect(),
                types: types(&words),
                children: after(&words, &["mod"]).collect(),
                paths: paths(&words),
                ..Module::default()
            };
            for (name, target) in uses(&words) {
                match name.as_str() {
                    "*" => module.globs.push(target),
                    _ => drop(module.imports.insert(name, target)),
                }
            }
            modules.modules.insert(path, module);
        }
        modules.drop_modules_of_tests();
        modules
    }

    /// The names that more than one type or trait has, with the files of these types and traits.
    pub fn doubled_types(&self) -> BTreeMap<&str, Vec<&Path>> {
        let mut files: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
        for module in self.modules.values() {
            for name in &module.types {
                files.entry(name).or_default().push(&module.file);
            }
        }
        files.retain(|_, files| files.len() > 1);
        files
    }

    /// The names that the files use from each other.
    pub fn uses(&self) -> BTreeSet<Use> {
        let mut uses = BTreeSet::new();
        for (path, module) in &self.modules {
            for target in module.imports.values().chain(&module.paths) {
                let Some((to, name)) = self.resolve(path, target, &mut BTreeSet::new()) else {
                    continue;
                };
                if to != module.file {
                    uses.insert(Use {
                        from: module.file.clone(),
                        to,
                        name,
                    });
                }
            }
        }
        uses
    }

    /// Removes modules that no module declares with `mod`. These are test modules: their declarations were omitted.
    fn drop_modules_of_tests(&mut self) {
        let declared = |path: &[String]| {
            let Some((name, parent)) = path.split_last() else {
                return true;
            };
            let parent = self.modules.get(parent);
            parent.is_none_or(|parent| parent.children.contains(name))
        };
        let is_known = |path: &&Vec<String>| {
            (0..=path.len()).all(|end| declared(path.get(..end).unwrap_or_default()))
        };
        let unknown: Vec<Vec<String>> = self
            .modules
            .keys()
            .filter(|path| !is_known(path))
            .cloned()
            .collect();
        for path in unknown {
            self.modules.remove(&path);
        }
    }

    /// Resolves a path in the module `from` to an item. Returns the file that defines the item, and the name of the item. `None` for items
    /// of other crates. `seen` contains the lookups in progress, because re-exports may be cyclic.
    fn resolve(
        &self,
        from: &[String],
        path: &[String],
        seen: &mut BTreeSet<(Vec<String>, Vec<String>)>,
    ) -> Option<(PathBuf, String)> {
        if !seen.insert((from.to_vec(), path.to_vec())) {
            return None;
        }
        let (at, rest) = self.walk(from, path)?;
        // Without a name, the path is a module. The uses of its items are recorded where the items occur.
        let (name, behind) = rest.split_first()?;
        let module = self.modules.get(&at)?;
        if module.defined.contains(name) {
            return Some((module.file.clone(), name.clone()));
        }
        if let Some(target) = module.imports.get(name) {
            // A name that an import maps to itself belongs to another crate.
            let is_own = at != from || target.first() != Some(name);
            let whole: Vec<String> = target.iter().chain(behind).cloned().collect();
            return is_own.then(|| self.resolve(&at, &whole, seen))?;
        }
        module.globs.iter().find_map(|glob| {
            let (target, outside) = self.walk(&at, glob)?;
            let is_module = outside.is_empty() && target != at;
            is_module.then(|| self.resolve(&target, rest, seen))?
        })
    }

    /// Follows a path through modules. Returns the last module, and the rest of the path.
    fn walk<'p>(&self, from: &[String], path: &'p [String]) -> Option<(Vec<String>, &'p [String])> {
        let (mut at, mut rest) = match path.split_first()? {
            (first, rest) if first == "crate" => (Vec::new(), rest),
            (first, rest) if first == "self" => (from.to_vec(), rest),
            _ => (from.to_vec(), path),
        };
        while let Some((next, after)) = rest.split_first() {
            let child = joined(&at, next);
            at = match next.as_str() {
                "super" => parent(&at)?,
                _ if self.modules.contains_key(&child) => child,
                _ => break,
            };
            rest = after;
        }
        Some((at, rest))
    }
}

/// The names of types and traits. Names in lower case are skipped: the word `union` before such a name is not a keyword.
fn types(words: &[&str]) -> Vec<String> {
    let names = after(words, &["struct", "enum", "trait", "union"]);
    names
        .filter(|name| name.starts_with(char::is_uppercase))
        .collect()
}

/// The words that follow the given keywords.
fn after(words: &[&str], keywords: &[&str]) -> impl Iterator<Item = String> {
    words.windows(2).filter_map(|pair| match pair {
        [keyword, name] if keywords.contains(keyword) => Some((*name).to_owned()),
        _ => None,
    })
}

/// The path of a file's module. `src/a/b.rs` and `src/a/b/mod.rs` are `a::b`. `src/lib.rs` is the root. `None` for `main.rs`.
pub(crate) fn module_path(src: &Path, file: &Path) -> Option<Vec<String>> {
    let inner = file.strip_prefix(src).ok()?.with_extension("");
    let mut path: Vec<String> = inner
        .iter()
        .map(|part| part.to_string_lossy().into_owned())
        .collect();
    match path.last().map(String::as_str) {
        // The program is a separate crate, which uses the library by its crate name.
        Some("main") => return None,
        Some("mod") => drop(path.pop()),
        Some("lib") if path.len() == 1 => path.clear(),
        _ => {}
    }
    Some(path)
}

fn parent(path: &[String]) -> Option<Vec<String>> {
    path.split_last().map(|(_, parent)| parent.to_vec())
}

fn joined(path: &[String], name: &str) -> Vec<String> {
    path.iter().cloned().chain([name.to_owned()]).collect()
}

/// The names that `use` declarations import, with their paths.
fn uses(words: &[&str]) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    let mut rest = words;
    while let Some((word, after)) = rest.split_first() {
        rest = after;
        // `use<'a>` is a capture of an `impl Trait` type, not an import.
        if *word == "use" && after.first() != Some(&"<") {
            rest = tree(after, &[], &mut found);
        }
    }
    found
}

/// Reads one tree of a `use` declaration, and returns the rest of the words. Recurses once for each level of nested braces.
fn tree<'w, 't>(
    mut words: &'w [&'t str],
    prefix: &[String],
    found: &mut Vec<(String, Vec<String>)>,
) -> &'w [&'t str] {
    let mut path = prefix.to_vec();
    while let Some((word, after)) = words.split_first() {
        match *word {
            "{" => {
                words = after;
                while !matches!(words.first(), None | Some(&"}" | &";")) {
                    words = tree(words, &path, found);
                    words = words.strip_prefix(&[","]).unwrap_or(words);
                }
                return words.get(1..).unwrap_or_default();
            }
            "," | "}" | ";" => break,
            "::" => {}
            "as" => {
                found.extend(after.first().map(|name| ((*name).to_owned(), path.clone())));
                return after.get(1..).unwrap_or_default();
            }
            "*" => {
                found.push(("*".to_owned(), path));
                return after;
            }
            // `a::{self}` imports `a`.
            "self" if !path.is_empty() => {}
            part => path.push(part.to_owned()),
        }
        words = after;
    }
    if let Some(name) = path.last().cloned() {
        found.push((name, path));
    }
    words
}

/// The paths in the code, such as `a::B` and `super::c::d`, without the paths of `use` declarations.
fn paths(words: &[&str]) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    let mut path: Vec<String> = Vec::new();
    let mut words = words.iter().peekable();
    let mut in_use = false;
    while let Some(word) = words.next() {
        match *word {
            "use" => in_use = words.peek().is_some_and(|next| **next != "<"),
            ";" => in_use = false,
            _ => {}
        }
        let is_name = word.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let continues = words.peek().is_some_and(|next| **next == "::");
        if is_name && (continues || !path.is_empty()) {
            path.push((*word).to_owned());
        }
        if *word != "::" && !continues && !path.is_empty() {
            let whole = std::mem::take(&mut path);
            if !in_use {
                found.push(whole);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<_> = files
            .iter()
            .map(|(path, text)| (PathBuf::from(path), (*text).to_owned()))
            .collect();
        let uses = Modules::read(Path::new("src"), &files).uses();
        let short = |path: &Path| path.strip_prefix("src").unwrap().display().to_string();
        uses.iter()
            .map(|each| format!("{} {} {}", short(&each.from), short(&each.to), each.name))
            .collect()
    }

    #[test]
    fn names_are_followed_to_the_file_that_defines_them() {
        let lib = "mod a; mod b; pub use b::{c::Deep, self};";
        let files = [
            ("src/lib.rs", lib),
            (
                "src/a.rs",
                "use crate::Deep as D; use crate::b::*; fn f() { crate::b::g(); }",
            ),
            ("src/b/mod.rs", "mod c; pub fn g() { c::h() }"),
            (
                "src/b/c.rs",
                "pub struct Deep; pub fn h() { super::super::a::f() }",
            ),
        ];
        assert_eq!(
            found(&files),
            [
                "a.rs b/c.rs Deep",
                "a.rs b/mod.rs g",
                "b/c.rs a.rs f",
                "b/mod.rs b/c.rs h",
                "lib.rs b/c.rs Deep",
            ]
        );
    }

    #[test]
    fn types_of_one_name_are_found() {
        let files = [
            ("src/lib.rs", "mod a; mod b; struct Once;"),
            ("src/a.rs", "enum Twice {} fn once() {}"),
            ("src/b.rs", "trait Twice { type Once; }"),
        ];
        let files = files.map(|(path, text)| (PathBuf::from(path), text.to_owned()));
        let modules = Modules::read(Path::new("src"), &files);
        let found: Vec<_> = modules.doubled_types().into_keys().collect();
        assert_eq!(found, ["Twice"]);
    }

    #[test]
    fn tests_are_no_modules() {
        let files = [
            ("src/lib.rs", "mod a; #[cfg(test)] mod tests;"),
            (
                "src/a.rs",
                "pub fn f() {} #[cfg(test)] mod tests { use crate::tests::g; }",
            ),
            ("src/tests.rs", "use crate::a::f; pub fn g() {}"),
        ];
        assert!(found(&files).is_empty());
    }
}
