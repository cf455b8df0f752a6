//! Tests that `docs/versions.md` matches the table of differences.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::fmt::Write;
use std::path::Path;

use gavel_apimachinery::server::{DIFFERENCES, Effect, PATCH_RELEASES, REPRODUCED, Server};
use gavel_apimachinery::version::KubeVersion;

fn document() -> String {
    let mut text = String::from(
        "# Versions of Kubernetes\n\n\
         The differences between the answers of API servers of successive versions, which Gavel reproduces. This page is generated from the\n\
         table `apimachinery/src/server/table.rs` (`UPDATE_GOLDEN=1 cargo test -p gavel-apimachinery --test versions`). The functions\n\
         of each version are in [functions.md](functions.md). [`gavel upgrade-check`](upgrade-check.md) finds the rows that matter to\n\
         your definitions, policies and requests.\n",
    );
    let oldest = Server::OLDEST.minor.saturating_add(1);
    for minor in (oldest..=KubeVersion::NEWEST.minor).rev() {
        let version = KubeVersion::v1(minor);
        write!(
            text,
            "\n## {version}\n\n| row | changes | what | upstream |\n|---|---|---|---|\n"
        )
        .unwrap();
        for row in DIFFERENCES.iter().filter(|row| row.since == version) {
            let effect = match row.effect {
                Effect::Verdict => "verdicts, values",
                Effect::Cost => "costs",
                Effect::Message => "messages",
            };
            let what = row.what.replace('|', "\\|");
            writeln!(
                text,
                "| `{:?}` | {effect} | {what} | {} |",
                row.difference, row.upstream
            )
            .unwrap();
        }
    }
    text.push_str(
        "\n## Patch releases\n\n\
         Within a minor version the API server seldom changes what it answers. Gavel answers as these releases do:\n",
    );
    let reproduced = REPRODUCED
        .iter()
        .map(|(version, patch)| format!("{version}.{patch}"));
    writeln!(text, "{}.", reproduced.collect::<Vec<_>>().join(", ")).unwrap();
    text.push_str(
        "The fields, types and defaults of Kubernetes' own kinds, and how these kinds are merged, are those of these releases too\n\
         (`schema/kubernetes`). A version outside of this range has the kinds of the oldest or the newest of these releases.\n\n\
         Of the releases up to 1.34.13, 1.35.10, 1.36.6 and 1.37.2, the following changed an answer:\n\n\
         | since | what | Gavel | upstream |\n|---|---|---|---|\n",
    );
    for release in PATCH_RELEASES {
        let (version, patch) = (release.version, release.patch);
        let (what, here, upstream) = (release.what, release.here, release.upstream);
        writeln!(text, "| {version}.{patch} | {what} | {here} | {upstream} |").unwrap();
    }
    text
}

#[test]
fn the_page_is_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/versions.md");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, document()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap();
    assert!(
        written == document(),
        "docs/versions.md is not what the table says; UPDATE_GOLDEN=1 writes it anew"
    );
}
