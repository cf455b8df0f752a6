//! Coverage: what counts, and the formats in which it is written.

use gavel_engine::value::Json;

use super::{POLICY, folder, gavel};
use crate::exit_code::Exit;

#[test]
fn coverage_counts_both_outcomes_of_validations() {
    let folder = folder();
    let lcov = folder.path().join("lcov.info");
    let lcov_path = lcov.display().to_string();
    let args = [
        "./tests",
        "--coverage",
        "--coverage-threshold",
        "90",
        "--lcov",
        &lcov_path,
    ];
    let (exit, out) = gavel(&folder, &args);
    let missing =
        "tests/../policy.yaml:11: replicas: spec.validations[1].expression: never false\n";
    assert!(
        out.ends_with(&format!("{missing}coverage: 80 % (4 of 5)\n")),
        "{out}"
    );
    assert_eq!(exit, Exit::Rejected);
    let (exit, out) = gavel(&folder, &[&args[..], &["-o", "github"]].concat());
    let expected =
        "::error title=coverage::less than 90 %25 is covered%0Atests/../policy.yaml:11: replicas: ";
    assert!(out.starts_with(expected), "{out}");
    assert_eq!(exit, Exit::Rejected);
    let lcov = std::fs::read_to_string(lcov).unwrap();
    assert!(
        lcov.contains("/policy.yaml\nDA:9,3\nBRDA:9,0,0,1\nBRDA:9,0,1,1\n"),
        "{lcov}"
    );
}

#[test]
fn operands_that_are_skipped_do_not_count_even_in_loops() {
    let expression = "object.metadata.labels.all(k, k == 'a' || k == 'b')";
    let policy = POLICY.replace("object.metadata.name != 'forbidden'", expression);
    let coverage = |labels: &str| {
        let tests = format!(
            "kind: PolicyTest
given: [policy.yaml]
object: {{apiVersion: apps/v1, kind: Deployment, metadata: {{name: web}}, spec: {{replicas: 1}}}}
tests: [{{name: one, set: {{metadata.labels: {labels}}}, expect: {{warnings: []}}}}]
"
        );
        let folder = folder()
            .with("policy.yaml", &policy)
            .with("one.yaml", &tests);
        let (_, out) = gavel(&folder, &["./one.yaml", "--coverage"]);
        let lines = out.lines().filter_map(|line| {
            let (condition, why) = line.split_once("replicas: k == ")?.1.rsplit_once(": ")?;
            Some(format!("{condition}: {why}"))
        });
        lines.collect::<Vec<_>>()
    };
    let first = "\"a\" || k == \"b\"";
    let never_false = |condition: &str| format!("{condition}: never false");
    assert_eq!(
        coverage("{a: x}"),
        [
            never_false(first),
            never_false("\"a\""),
            "\"b\": never evaluated".to_owned()
        ]
    );
    assert_eq!(
        coverage("{a: x, b: x}"),
        [never_false(first), never_false("\"b\"")]
    );
    assert_eq!(coverage("{a: x, b: x, c: x}"), [] as [&str; 0]);
}

#[test]
fn coverage_is_a_page_and_json_too() {
    let policy = POLICY
        .replace("another name, please", "a <name>, please")
        .replace(
            "object.metadata.name != 'forbidden'",
            "object.metadata.name != '<b>' && object.metadata.name != 'forbidden'",
        );
    let folder = folder().with("policy.yaml", &policy);
    let args = [
        "./tests",
        "--coverage",
        "--html",
        "./coverage.html",
        "--output",
        "json",
    ];
    let (exit, out) = gavel(&folder, &args);
    assert_eq!(exit, Exit::Success, "{out}");
    let last = out.lines().last().unwrap();
    let coverage: Json = serde_json::from_str(last).unwrap();
    let coverage = &coverage["coverage"];
    let missing = coverage["missing"].as_array().unwrap();
    let why: Vec<_> = missing
        .iter()
        .map(|each| each["why"].as_str().unwrap())
        .collect();
    assert_eq!(why, ["never false"; 3]);
    assert!(
        missing.is_sorted_by_key(|each| each["line"].as_u64()),
        "{out}"
    );
    assert_eq!(
        (&coverage["covered"], &coverage["all"]),
        (&6.into(), &9.into())
    );
    let page = std::fs::read_to_string(folder.path().join("coverage.html")).unwrap();
    assert!(page.contains("<h1>Coverage: 66 %</h1>"), "{page}");
    let validation = "<td>spec.validations[1].expression</td><td class=\"\"><code>object.metadata.name != &#39;&lt;b&gt;&#39;";
    assert!(page.contains(&validation.replace("&#39;", "'")), "{page}");
    assert_eq!(page.matches("<tr class=\"partly\">").count(), 3, "{page}");
    assert!(!page.contains("<b>"), "{page}");
}

#[test]
fn policies_with_the_same_name_in_different_files_are_counted_separately() {
    let tests = "kind: PolicyTest
given: [policy.yaml]
object: {apiVersion: apps/v1, kind: Deployment, metadata: {name: web}, spec: {replicas: 1}}
tests: [{name: one, expect: {decision: admit}}]
";
    // The variable has the text of the first validation.
    let variables = "  variables: [{name: same, expression: \"object.metadata.name != 'forbidden'\"}]\n  validations:\n";
    let folder = folder()
        .with("one/policy.yaml", POLICY)
        .with("one/tests.yaml", tests)
        .with(
            "two/policy.yaml",
            &POLICY.replace("  validations:\n", variables),
        )
        .with("two/tests.yaml", tests);
    let counts = |paths: &[&str]| -> [u64; 2] {
        let args = [paths, &["--coverage", "-o", "json"]].concat();
        let (_, out) = gavel(&folder, &args);
        let last: Json = serde_json::from_str(out.lines().last().unwrap()).unwrap();
        ["covered", "all"].map(|key| last["coverage"][key].as_u64().unwrap())
    };
    let [one, two] = ["./one/tests.yaml", "./two/tests.yaml"].map(|path| counts(&[path]));
    assert_eq!(one[1].checked_add(1), Some(two[1]));
    let both = counts(&["./one/tests.yaml", "./two/tests.yaml"]);
    assert_eq!(both, [one[0] + two[0], one[1] + two[1]]);
    assert_eq!(
        counts(&["./one/tests.yaml", "./one/../one/tests.yaml"]),
        one
    );
}
