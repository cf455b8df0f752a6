//! Tests that every relative link of the documentation leads to a file, and that every anchor leads to a heading of the file.
#![cfg(test)]

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// The Markdown files in the root and in the folders directly below it, such as `docs/`.
fn pages() -> Vec<PathBuf> {
    let folders = fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir());
    let folders = folders.filter(|path| {
        !path.file_name().unwrap().to_string_lossy().starts_with('.') && !path.ends_with("target")
    });
    let files = folders
        .chain([root()])
        .flat_map(|folder| fs::read_dir(folder).unwrap());
    let mut pages: Vec<_> = files
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "md"))
        .collect();
    pages.sort();
    pages
}

/// The lines of `text` outside of code blocks.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut in_code = false;
    text.lines().enumerate().filter(move |(_, line)| {
        let fence = line.trim_start().starts_with("```");
        in_code ^= fence;
        !in_code && !fence
    })
}

/// The targets of the links in a line: the texts between `](` and `)`. Code spans are skipped.
fn links(line: &str) -> Vec<&str> {
    let outside = line.split('`').step_by(2);
    outside
        .flat_map(|part| part.split("](").skip(1))
        .filter_map(|rest| rest.split_once(')'))
        .map(|(link, _)| link)
        .collect()
}

/// The anchors of the headings of a page. As on GitHub, an anchor is the heading in lower case, with dashes for spaces and without
/// punctuation.
fn anchors(page: &Path) -> BTreeSet<String> {
    let text = fs::read_to_string(page).unwrap();
    let headings = prose(&text)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| line.trim_start_matches('#').trim().to_owned());
    headings
        .map(|heading| {
            let kept = heading
                .to_lowercase()
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
                .collect::<String>();
            kept.replace(' ', "-")
        })
        .collect()
}

/// The error if `link` on `page` leads nowhere.
fn fault(page: &Path, link: &str) -> Option<String> {
    if link.contains("://") || link.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
    let target = if file.is_empty() {
        page.to_owned()
    } else {
        page.parent().unwrap().join(file)
    };
    if !target.exists() {
        return Some(format!("no such file: {link}"));
    }
    (!anchor.is_empty()
        && target.extension().is_some_and(|ending| ending == "md")
        && !anchors(&target).contains(anchor))
    .then(|| format!("no such heading: {link}"))
}

#[test]
fn every_link_leads_somewhere() {
    let mut seen = 0_usize;
    let mut faults = Vec::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        for (line, text) in prose(&text) {
            for link in links(text) {
                seen += 1;
                let place = format!(
                    "{}:{}",
                    page.strip_prefix(root()).unwrap().display(),
                    line + 1
                );
                faults.extend(fault(&page, link).map(|fault| format!("{place}: {fault}")));
            }
        }
    }
    assert!(
        seen > 20,
        "the test found {seen} links only: it no longer reads the pages"
    );
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_page_of_docs_is_in_the_book_and_in_its_index() {
    let docs = root().join("docs");
    let of = |page: &str| {
        let text = fs::read_to_string(docs.join(page)).unwrap();
        let lines = prose(&text).flat_map(|(_, line)| links(line));
        lines.map(str::to_owned).collect::<BTreeSet<_>>()
    };
    let (book, index) = (of("SUMMARY.md"), of("README.md"));
    for entry in fs::read_dir(&docs).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        if name.ends_with(".md") && name != "SUMMARY.md" {
            assert!(book.contains(&name), "docs/SUMMARY.md lacks {name}");
            assert!(
                name == "README.md" || index.contains(&name),
                "docs/README.md lacks {name}"
            );
        }
    }
}

#[test]
fn dead_links_are_found() {
    let readme = root().join("README.md");
    assert_eq!(
        links("see [a](docs/a.md), `[b](no.md)` and [c](#c)"),
        ["docs/a.md", "#c"]
    );
    assert!(fault(&readme, "docs/no-such-page.md").is_some());
    assert!(fault(&readme, "README.md#no-such-heading").is_some());
    assert!(fault(&readme, "#speed").is_none());
}
