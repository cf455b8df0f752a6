//! Tests that each row's example is true in every environment that has the row, and that `docs/functions.md` is up to date.
//!
//! `UPDATE_GOLDEN=1 cargo test -p gavel-libraries --test functions` regenerates the document.

use std::collections::HashSet;
use std::path::Path;

use gavel_libraries::reference::{Listing, example_cost};
use gavel_libraries::{CEL_FEATURES, KubeVersion, cel_env};

/// The first line of the document, which says how the document is generated.
const NOTICE: &str = "<!-- Generated from the tables of functions. To regenerate: UPDATE_GOLDEN=1 cargo test -p gavel-libraries --test functions -->\n\n";

#[test]
fn examples_are_true_in_the_versions_that_have_them() {
    for minor in 23..=KubeVersion::NEWEST.minor {
        let listing = Listing::kubernetes(KubeVersion::v1(minor));
        assert!(listing.is_ok(), "1.{minor}: {listing:?}");
    }
}

#[test]
fn examples_are_true_in_the_language_of_the_specification() {
    let env = cel_env().unwrap();
    // If several rows have the same id, the environment uses the first row.
    let mut seen = HashSet::new();
    let rows = CEL_FEATURES.iter().flat_map(|feature| feature.rows());
    for row in rows.filter(|row| seen.insert(row.id)) {
        let outcome = example_cost(&env, row);
        assert!(outcome.is_ok(), "{}: {outcome:?}", row.id);
    }
}

#[test]
fn the_document_says_what_the_rows_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/functions.md");
    let document = format!("{NOTICE}{}", Listing::all().unwrap().to_markdown());
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &document).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == document,
        "docs/functions.md is stale; run with UPDATE_GOLDEN=1"
    );
}
