//! `gavel test --init`: prints a first test file for policies and definitions.

use std::io::{self, Write};
use std::path::Path;

use gavel_check::custom;
use gavel_check::suite::Suite;
use gavel_crd::definition::Definition;
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_manifest::{Document, Format};
use gavel_policy::typecheck::plural;
use gavel_schema::built_in::Kubernetes;
use serde_json::json;

use super::Beside;
use crate::args::TestArgs;
use crate::exit_code::Exit;
use crate::manifests::Manifests;
use crate::report::{self, yaml};

/// Prints a test file with one test for each policy in the file `policy`, and with tests for each definition. Each test uses a minimal object
/// and expects the current decision, so all tests pass.
pub(super) fn run(
    policy: &Path,
    args: &TestArgs,
    manifests: &mut Manifests,
    out: &mut impl Write,
) -> io::Result<Exit> {
    let objects = manifests.policies(&[policy.to_owned()]);
    if manifests.unusable() {
        return Ok(manifests.exit(0));
    }
    let tests: Vec<Json> = objects.iter().flat_map(tests).collect();
    if tests.is_empty() {
        if !manifests.unusable() {
            manifests.complain(format!(
                "{}: no policy with matchConstraints, and no CustomResourceDefinition",
                policy.display()
            ));
        }
        return Ok(manifests.exit(0));
    }
    let file = policy
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    let mut suite = json!({
        "apiVersion": "gavel/v1",
        "kind": "PolicyTest",
        "given": [file.unwrap_or_default()],
        "tests": tests,
    });
    let server = args.kubernetes_version.into();
    let text = yaml::to_string(&suite);
    let reading = gavel_manifest::read(&text, Format::Yaml);
    let read = reading
        .documents
        .first()
        .map(|document| Suite::read(document, server, &Beside(policy)));
    let tests = match read {
        Some(Ok(suite)) if suite.problems.is_empty() => suite.tests,
        Some(Ok(suite)) => {
            manifests.report_all(suite.problems);
            return Ok(manifests.exit(0));
        }
        Some(Err(problems)) => {
            manifests.report_all(problems);
            return Ok(manifests.exit(0));
        }
        None => Vec::new(),
    };
    for (n, test) in tests.iter().enumerate() {
        let expect = match test.run(server, report::written) {
            Ok(found) => found.expectation(),
            Err(error) => {
                manifests.complain(error);
                return Ok(manifests.exit(0));
            }
        };
        if let Some(Json::Object(row)) = suite.pointer_mut(&format!("/tests/{n}")) {
            row.insert("expect".to_owned(), expect);
        }
    }
    // Paths in a test file are relative to the file, which is probably written to the working directory.
    if let Some(given) = suite.get_mut("given") {
        *given = json!([policy.display().to_string()]);
    }
    out.write_all(yaml::to_string(&suite).as_bytes())?;
    Ok(manifests.exit(0))
}

/// The tests of a policy or a definition; empty for other objects.
fn tests(document: &Document) -> Vec<Json> {
    let kind = document.value().get("kind").and_then(Json::as_str);
    match kind.unwrap_or_default() {
        "ValidatingAdmissionPolicy" | "MutatingAdmissionPolicy" => {
            test(document).into_iter().collect()
        }
        "CustomResourceDefinition" => tests_of_definition(document),
        _ => Vec::new(),
    }
}

/// Tests with a minimal resource of each served version of a definition, and with a name alone. The expected decisions are placeholders.
fn tests_of_definition(document: &Document) -> Vec<Json> {
    let Ok(definition) = Definition::read(document.value()) else {
        return Vec::new();
    };
    let kind = &definition.spec.names.kind;
    let versions = definition.spec.versions.iter();
    let mut tests = Vec::new();
    for version in versions.filter(|version| version.served) {
        let name = &version.name;
        let whole = custom::example(&definition, version);
        let mut bare = whole.clone();
        if let Some(fields) = bare.as_object_mut() {
            fields.retain(|field, _| matches!(field.as_str(), "apiVersion" | "kind" | "metadata"));
        }
        if bare != whole {
            tests.push(json!({
                "name": format!("{name}: a {kind} with its required fields"),
                "object": whole, "expect": "allow",
            }));
        }
        tests.push(json!({
            "name": format!("{name}: a {kind} with a name alone"),
            "object": bare, "expect": "allow",
        }));
    }
    tests
}

/// A test with a minimal object of a kind that the policy matches. The expected decision is a placeholder. `None` if the policy has no
/// name or no `resourceRules`.
fn test(policy: &Document) -> Option<Json> {
    let value = policy.value();
    let rule = value.pointer("/spec/matchConstraints/resourceRules/0")?;
    let first = |key: &str| rule.pointer(&format!("/{key}/0")).and_then(Json::as_str);
    let named = |key: &str, otherwise: &'static str| match first(key) {
        Some("*") | None => otherwise.to_owned(),
        Some(name) => name.to_owned(),
    };
    let group = named("apiGroups", "");
    let version = named("apiVersions", "v1");
    let resource = named("resources", "pods");
    let api_version = match group.as_str() {
        "" => version,
        group => format!("{group}/{version}"),
    };
    let kind = kind_of(&api_version, resource.split('/').next().unwrap_or_default());
    let name = value.pointer("/metadata/name").and_then(Json::as_str)?;
    let mut row = json!({
        "name": format!("{name}: a {kind} with a name alone"),
        "object": {"apiVersion": api_version, "kind": kind, "metadata": {"name": "example"}},
        "expect": "allow",
    });
    let operation =
        first("operations").filter(|operation| matches!(*operation, "UPDATE" | "DELETE"));
    if let (Some(operation), Json::Object(row)) = (operation, &mut row) {
        row.insert("operation".to_owned(), operation.into());
        if let (Some(object), "UPDATE") = (row.get("object").cloned(), operation) {
            row.insert("oldObject".to_owned(), object);
        }
    }
    Some(row)
}

/// The kind of a resource: one of Kubernetes' own, or guessed from the name of the resource.
fn kind_of(api_version: &str, resource: &str) -> String {
    let mut kinds = Kubernetes::of(Server::default()).kinds();
    let known = kinds.find(|(version, kind)| {
        *version == api_version && plural(&kind.to_lowercase()) == resource
    });
    if let Some((_, kind)) = known {
        return kind.to_owned();
    }
    let singular = match resource {
        name if name.ends_with("ies") => format!("{}y", name.trim_end_matches("ies")),
        name if name.ends_with("sses") => name.trim_end_matches("es").to_owned(),
        name => name.trim_end_matches('s').to_owned(),
    };
    let mut characters = singular.chars();
    let first = characters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(characters).collect()
}
