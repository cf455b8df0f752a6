//! Every rule finds what its example shows, and nothing in what the example says to write instead; the page of all rules is what
//! the table says.
#![cfg(test)]

use gavel_lint::rules::{Example, RULES};
use gavel_lint::{Linter, Options, Selection};
use gavel_manifest::{Format, Problem, Severity, read};

/// The older definition of the rule about changes.
const OLDER: &str = "type: object\nproperties:\n  size: {type: integer, maximum: 10}\n";

/// What is found in a text, with the rules that are off by default.
fn lint(example: &Example, text: &str) -> Vec<Problem> {
    let reading = read(&example.frame.manifest(text), Format::Yaml);
    let mut problems = reading.problems;
    let documents = reading.documents;
    let linter = Linter::new(&Options::default(), &documents).unwrap();
    let older = read(&example.frame.manifest(OLDER), Format::Yaml);
    for document in &documents {
        problems.extend(linter.document(document));
        let is_definition = document.value()["kind"] == "CustomResourceDefinition";
        if let Some(older) = older.documents.first().filter(|_| is_definition) {
            let found = linter.update(document, older);
            let is_about_size = |problem: &Problem| problem.message.contains("maximum");
            problems.extend(found.into_iter().filter(is_about_size));
        }
    }
    problems.extend(linter.references(&documents));
    problems
}

#[test]
fn each_rule_finds_its_example_and_nothing_in_the_other() {
    let mut faults = Vec::new();
    for rule in RULES {
        let found = lint(&rule.example, rule.example.before);
        if !found.iter().any(|problem| problem.rule == rule.id) {
            faults.push(format!("{}: not found in `before`: {found:?}", rule.id));
        }
        let mut found = lint(&rule.example, rule.example.after);
        Selection::default().apply(&mut found);
        if !found.is_empty() {
            faults.push(format!("{}: `after` has {found:?}", rule.id));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn findings_have_the_severity_of_their_rule() {
    for rule in RULES {
        for problem in lint(&rule.example, rule.example.before) {
            if problem.rule == rule.id {
                assert_eq!(problem.severity, rule.severity, "{problem}");
                assert!(problem.range.is_some(), "{problem} has no place");
            }
        }
    }
}

#[test]
fn rules_have_different_names_and_short_titles() {
    for (n, rule) in RULES.iter().enumerate() {
        assert!(
            RULES.iter().take(n).all(|other| other.id != rule.id),
            "{}",
            rule.id
        );
        assert!(
            rule.title.len() <= 100 && !rule.title.ends_with('.'),
            "{}",
            rule.id
        );
        assert!(
            rule.id
                .bytes()
                .all(|byte| byte.is_ascii_lowercase() || byte == b'-')
        );
    }
}

#[test]
fn what_is_denied_is_an_error_and_what_is_ignored_is_gone() {
    let rule = gavel_lint::rules::find("undefined-field").unwrap();
    let found = lint(&rule.example, rule.example.before);
    let apply = |selection: Selection| {
        let mut found = found.clone();
        selection.apply(&mut found);
        let found = found.iter().filter(|problem| problem.rule == rule.id);
        found.map(|problem| problem.severity).collect::<Vec<_>>()
    };
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(apply(Selection::default()), [Severity::Warning]);
    let denied = Selection {
        deny: names(&["warnings"]),
        ..Selection::default()
    };
    assert_eq!(apply(denied), [Severity::Error]);
    let ignored = Selection {
        ignore: names(&["undefined-field"]),
        ..Selection::default()
    };
    assert_eq!(apply(ignored), []);
    let other = Selection {
        select: names(&["unused-variable"]),
        ..Selection::default()
    };
    assert_eq!(apply(other), []);
    let misspelled = Selection {
        ignore: names(&["undefined-fields"]),
        ..Selection::default()
    };
    assert_eq!(
        misspelled.unknown(),
        [("undefined-fields", Some("undefined-field"))]
    );
}

#[test]
fn the_page_of_rules_is_what_the_table_says() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = root.join("docs/rules.md");
    let page = gavel_lint::rules_document();
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &page).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        written == page,
        "docs/rules.md differs: UPDATE_GOLDEN=1 cargo test -p gavel-lint --test rules"
    );
}

#[test]
fn maps_of_quantities_are_known_in_builtin_kinds() {
    let text = "validations:\n- expression: >-\n    object.spec.template.spec.containers.all(c, has(c.resources.limits) && 'cpu' in c.resources.limits)\n";
    let rule = gavel_lint::rules::find("undefined-field").unwrap();
    let mut found = lint(&rule.example, text);
    Selection::default().apply(&mut found);
    assert_eq!(found, []);
}
