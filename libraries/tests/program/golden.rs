//! Golden tests: each file of expressions has a file with the expected outcomes beside it. `UPDATE_GOLDEN=1` rewrites the files of expected
//! outcomes.

use std::fs;
use std::path::Path;

/// Describes each expression in the `.cel` files of a folder with `describe`, and compares the texts with the `.golden` files beside
/// them. Empty lines and comments are skipped.
pub(crate) fn check(folder: &str, describe: impl Fn(&str) -> String) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/program")
        .join(folder);
    let entries = fs::read_dir(&folder).unwrap();
    let mut inputs: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    inputs.retain(|path| path.extension().is_some_and(|extension| extension == "cel"));
    assert!(!inputs.is_empty());
    for input in inputs {
        let mut actual = String::new();
        for expression in fs::read_to_string(&input).unwrap().lines() {
            if expression.is_empty() || expression.starts_with("//") {
                continue;
            }
            actual += &format!("{expression}\n\n");
            for line in describe(expression).lines() {
                actual += format!("    {line}").trim_end();
                actual.push('\n');
            }
            actual.push('\n');
        }
        actual.pop();
        let golden = input.with_extension("golden");
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&golden, actual).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&golden).unwrap_or_default();
        assert!(
            actual == expected,
            "{} is stale; look at what UPDATE_GOLDEN=1 changes. Now:\n{actual}",
            golden.display()
        );
    }
}
