//! Checks that the commands in the documentation print what the documentation shows.
//!
//! The commands in a block that follows `<!-- run in FOLDER -->` are run in that folder. Each line that begins with `$ ` is a command for
//! the shell, in which `gavel` is the tested program. `UPDATE_GOLDEN=1` updates the pages.
#![cfg(unix)]
#![expect(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    reason = "a test"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const MARK: &str = "<!-- run in ";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// Runs a command. Returns what the command prints to standard output and standard error.
fn run(command: &str, folder: &Path) -> String {
    let program = Path::new(env!("CARGO_BIN_EXE_gavel"));
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", program.parent().unwrap().display());
    let output = Command::new("sh")
        .args(["-c", &format!("{{ {command}\n}} 2>&1")])
        .current_dir(folder)
        .env("PATH", path)
        .output()
        .unwrap();
    String::from_utf8(output.stdout).unwrap()
}

/// Returns a block with the current output of its commands. Each line of the block begins with `indent`.
fn rerun(block: &str, indent: &str, folder: &Path) -> String {
    let mut now = String::new();
    let mut lines = block
        .lines()
        .map(|line| line.strip_prefix(indent).unwrap_or(line));
    while let Some(line) = lines.next() {
        // The lines up to the next command are earlier output.
        let Some(first) = line.strip_prefix("$ ") else {
            continue;
        };
        let mut command = first.to_owned();
        let mut shown = vec![line];
        while command.ends_with('\\') {
            let next = lines.next().unwrap();
            command.push('\n');
            command.push_str(next);
            shown.push(next);
        }
        let printed = run(&command, folder);
        for line in shown.into_iter().chain(printed.lines()) {
            now.push_str(format!("{indent}{line}").trim_end());
            now.push('\n');
        }
    }
    now
}

/// Returns a page with the current output of its commands, and the number of its blocks that were run.
fn rewritten(page: &str) -> (String, usize) {
    let mut parts = page.split(MARK);
    let mut now = parts.next().unwrap().to_owned();
    let mut blocks = 0;
    for part in parts {
        let indent = now.rsplit('\n').next().unwrap().to_owned();
        let (folder, rest) = part.split_once(" -->\n").unwrap();
        let (fence, rest) = rest.split_once('\n').unwrap();
        assert!(fence.trim_start().starts_with("```"), "{folder}: {fence}");
        let (block, rest) = rest.split_once("```").unwrap();
        let block = rerun(block, &indent, &root().join(folder));
        now.push_str(&format!(
            "{MARK}{folder} -->\n{fence}\n{block}{indent}```{rest}"
        ));
        blocks += 1;
    }
    (now, blocks)
}

#[test]
fn commands_print_what_the_pages_show() {
    let entries = fs::read_dir(root().join("docs")).unwrap();
    let pages = entries.map(|entry| entry.unwrap().path());
    let pages = pages.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let mut blocks = 0;
    for path in pages.chain([root().join("README.md")]) {
        let before = fs::read_to_string(&path).unwrap();
        let (now, run) = rewritten(&before);
        blocks += run;
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, &now).unwrap();
        } else {
            let page = path.display();
            assert_eq!(
                before, now,
                "{page} is stale; UPDATE_GOLDEN=1 writes it anew"
            );
        }
    }
    assert!(blocks > 10, "only {blocks} blocks are run");
}

#[test]
fn a_stale_page_is_found() {
    let page = "a\n\n  <!-- run in testdata -->\n  ```\n  $ gavel eval \\\n    '1 + 1'\n  3\n  $ echo b\n  ```\nc\n";
    let expected = page
        .replace("  3\n", "  2\n  type: int\n")
        .replace("echo b\n", "echo b\n  b\n");
    assert_eq!(rewritten(page), (expected, 1));
}
