//! The output formats for other programs.
#![cfg(test)]

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

use std::path::Path;

use program::{Folder, gavel, root};
use serde_json::{Value as Json, json};

/// Commands that report findings, each with its folder of testdata.
const RUNS: [(&str, &str); 3] = [
    ("lint", "lint policy.yaml crd.yaml"),
    ("check", "check policy.yaml deployments.yaml"),
    ("check", "test wrong-test.yaml replicas-test.yaml"),
];

/// Runs a command, which must exit with status 1, and returns its output.
fn printed(folder: &str, args: &str, format: &str) -> String {
    let folder = root().join("testdata").join(folder);
    let (status, out, err) = gavel(&folder, &format!("{args} --output {format}"), "");
    assert_eq!(status, 1, "{args}: {out}{err}");
    out
}

/// The SARIF log of each run.
fn logs() -> [Json; 3] {
    RUNS.map(|(folder, args)| serde_json::from_str(&printed(folder, args, "sarif")).unwrap())
}

#[test]
fn sarif_is_valid_by_its_schema() {
    let schema = std::fs::read(root().join("testdata/schemas/sarif-2.1.0.json")).unwrap();
    let schema: Json = serde_json::from_slice(&schema).unwrap();
    let mut faults = Vec::new();
    for log in logs() {
        check(&schema, &schema, &log, "", &mut faults);
        assert_eq!(faults, [] as [String; 0]);
        let mut wrong = log.clone();
        wrong["runs"][0]["results"][0]["level"] = json!("bad");
        check(&schema, &schema, &wrong, "", &mut faults);
        assert_eq!(faults.len(), 1, "{faults:?}");
        faults.clear();
    }
}

#[test]
fn sarif_has_a_result_for_each_finding() {
    let results = logs().map(|log| {
        let results = log["runs"][0]["results"].as_array().unwrap().clone();
        let lines = results.iter().map(|result| {
            let place = &result["locations"][0]["physicalLocation"];
            format!(
                "{} {} {}:{} {}",
                result["level"].as_str().unwrap(),
                result["ruleId"].as_str().unwrap(),
                place["artifactLocation"]["uri"].as_str().unwrap(),
                place["region"]["startLine"],
                result["message"]["text"]
                    .as_str()
                    .unwrap()
                    .lines()
                    .next()
                    .unwrap(),
            )
        });
        lines.collect::<Vec<String>>()
    });
    assert_eq!(results[0].len(), 4, "{:?}", results[0]);
    assert!(
        results[0][0].starts_with("warning undefined-field policy.yaml:23 spec.validations[0]"),
        "{}",
        results[0][0]
    );
    assert_eq!(
        results[1],
        [
            "error policy/replicas deployments.yaml:13 Deployment/shop: at most 5 replicas without the label size: large",
            "error policy/replicas deployments.yaml:13 Deployment/shop: images must be from registry.example.com",
        ]
    );
    assert_eq!(
        results[2],
        [
            "error failed-test wrong-test.yaml:16 another registry: decision: expected allow, got deny"
        ]
    );
}

#[test]
fn junit_is_read_by_its_library() {
    // The number of cases, the number of failed cases, and the file of the last suite.
    let expected = [
        (4, 1, "policy.yaml"),
        (2, 1, "deployments.yaml"),
        (8, 1, "wrong-test.yaml"),
    ];
    for ((folder, args), expected) in RUNS.into_iter().zip(expected) {
        let out = printed(folder, args, "junit");
        let report = quick_junit::Report::deserialize_from_str(&out).unwrap();
        let suite = report.test_suites.last().unwrap().name.as_str();
        assert_eq!((report.tests, report.failures, suite), expected, "{out}");
    }
}

#[test]
fn github_gets_workflow_commands() {
    let first = RUNS.map(|(folder, args)| {
        let out = printed(folder, args, "github");
        out.lines().next().unwrap().to_owned()
    });
    assert_eq!(
        first,
        [
            "::warning file=policy.yaml,line=23,col=28,endLine=23,endColumn=28,title=undefined-field::spec.validations[0].expression: undefined field 'replica' (apps/v1 Deployment, example.com/v1 Route)%0Adid you mean `replicas`?",
            "::error file=deployments.yaml,line=13,col=1,endLine=13,endColumn=1,title=policy/replicas::Deployment/shop: at most 5 replicas without the label size: large",
            "::error file=wrong-test.yaml,line=16,col=3,endLine=16,endColumn=3,title=failed-test::another registry: decision: expected allow, got deny%0Amessage: [\"images must be from registry.example.com\"]",
        ]
    );
}

#[test]
fn inputs_that_cannot_be_used_are_errors_in_every_format() {
    let schema = std::fs::read(root().join("testdata/schemas/sarif-2.1.0.json")).unwrap();
    let schema: Json = serde_json::from_slice(&schema).unwrap();
    let folder = Folder::new()
        .with_copies(&[
            "check/policy.yaml",
            "check/deployments.yaml",
            "check/replicas-test.yaml",
        ])
        .with("bad.yaml", "kind: Pod\nmetadata: {name: a\n");
    std::fs::write(folder.path().join("latin.yaml"), b"kind: \xe9\n").unwrap();
    for args in [
        "check policy.yaml deployments.yaml",
        "test replicas-test.yaml",
        "lint policy.yaml",
        "audit --policies policy.yaml --",
        "validate --crd policy.yaml --",
    ] {
        // `gavel lint` reports a document that is not YAML as a finding of the rule `syntax`.
        let unusable = if args.starts_with("lint") { 2 } else { 3 };
        let printed = |format: &str| {
            let (command, rest) = args.split_once(' ').unwrap();
            let all = format!("{command} -o {format} {rest} none.yaml bad.yaml latin.yaml");
            let (status, out, err) = folder.gavel(&all);
            assert_eq!(status, 2, "{args}: {out}{err}");
            out
        };
        let out = printed("github");
        for line in [
            "::error file=none.yaml,title=unreadable::No such file or directory\n",
            "::error file=bad.yaml,line=2,col=11,endLine=2,endColumn=11,title=syntax::",
            "::error file=latin.yaml,line=1,col=7,endLine=1,endColumn=7,title=unreadable::must be UTF-8, ",
        ] {
            assert!(out.contains(line), "{args}: {out}");
        }
        let out = printed("junit");
        let report = quick_junit::Report::deserialize_from_str(&out).unwrap();
        assert!(report.errors >= unusable, "{args}: {out}");
        let case = "<testcase name=\"unreadable 1:7\" classname=\"latin.yaml\">\n            <error message=\"must be UTF-8, ";
        assert!(out.contains(case), "{args}: {out}");
        let log: Json = serde_json::from_str(&printed("sarif")).unwrap();
        let mut faults = Vec::new();
        check(&schema, &schema, &log, "", &mut faults);
        assert_eq!(faults, [] as [String; 0]);
        let run = &log["runs"][0];
        assert_eq!(run["invocations"][0]["executionSuccessful"], false);
        let notifications = &run["invocations"][0]["toolExecutionNotifications"];
        let missing = json!({
            "descriptor": {"id": "unreadable"},
            "level": "error",
            "message": {"text": "No such file or directory"},
            "locations": [{"physicalLocation": {"artifactLocation": {"uri": "none.yaml"}}}],
        });
        let notifications = notifications.as_array().unwrap();
        assert!(notifications.contains(&missing), "{args}: {run:#}");
        let results = run["results"].as_array().unwrap().iter();
        let of_file = |uri: &str| {
            let place = "/locations/0/physicalLocation/artifactLocation/uri";
            results
                .clone()
                .filter(|result| result.pointer(place) == Some(&json!(uri)))
                .count()
        };
        let counts = ["none.yaml", "bad.yaml", "latin.yaml"].map(of_file);
        assert_eq!(counts, [0, 1, 1], "{args}: {run:#}");
        let out = printed("json");
        let lines = out
            .lines()
            .map(|line| serde_json::from_str::<Json>(line).unwrap());
        let files: Vec<Json> = lines.map(|line| line["file"].clone()).collect();
        for file in ["none.yaml", "bad.yaml", "latin.yaml"] {
            assert!(files.contains(&json!(file)), "{args}: {out}");
        }
    }
    // Nothing to examine, and an unusable configuration, are errors too.
    for (args, message) in [
        (
            "lint deployments.yaml",
            "::error title=unusable-input::nothing to lint: ",
        ),
        (
            "lint --config bad.yaml policy.yaml",
            "::error file=bad.yaml,line=2,",
        ),
        (
            "check deployments.yaml",
            "::error title=unusable-input::nothing to check with: ",
        ),
        (
            "test deployments.yaml",
            "::error title=unusable-input::no test ran: ",
        ),
    ] {
        let (status, out, _) = folder.gavel(&format!("{args} -o github"));
        assert_eq!(status, 2, "{args}");
        assert!(out.starts_with(message), "{args}: {out}");
    }
}

#[test]
fn validate_and_audit_have_the_same_formats() {
    let schema = std::fs::read(root().join("testdata/schemas/sarif-2.1.0.json")).unwrap();
    let schema: Json = serde_json::from_slice(&schema).unwrap();
    let types = "        type: object\n        properties: {size: {type: integer, maximum: 3}}\n";
    let thing = |name: &str, size: u32| {
        format!(
            "apiVersion: example.com/v1\nkind: Thing\nmetadata: {{name: {name}}}\nsize: {size}\n"
        )
    };
    let folder = Folder::new()
        .with("crd.yaml", &program::definition(types))
        .with(
            "things.yaml",
            &format!("{}---\n{}", thing("a", 1), thing("b", 5)),
        );
    let policies = root().join("testdata/check");
    let [validate, audit] = [
        (folder.path(), "validate --crd crd.yaml things.yaml"),
        (&policies, "audit --policies policy.yaml deployments.yaml"),
    ];
    for ((folder, args), level, first, cases) in [
        (
            validate,
            "error",
            "::error file=things.yaml,line=9,col=7,endLine=9,endColumn=8,title=FieldValueInvalid::Thing/b: size: Invalid value: 5: size in body should be less than or equal to 3",
            (2, 1),
        ),
        (
            audit,
            "error",
            "::error file=deployments.yaml,line=13,col=1,endLine=13,endColumn=1,title=policy/replicas::Deployment default/shop: at most 5 replicas without the label size: large",
            (2, 1),
        ),
    ] {
        let printed = |format: &str| gavel(folder, &format!("{args} -o {format}"), "");
        let (status, out, _) = printed("sarif");
        let log: Json = serde_json::from_str(&out).unwrap();
        let mut faults = Vec::new();
        check(&schema, &schema, &log, "", &mut faults);
        assert_eq!((status, faults.as_slice()), (1, [].as_slice()));
        assert_eq!(log["runs"][0]["results"][0]["level"], level);
        let (_, out, _) = printed("github");
        assert_eq!(out.lines().next(), Some(first));
        let (_, out, _) = printed("junit");
        let report = quick_junit::Report::deserialize_from_str(&out).unwrap();
        assert_eq!((report.tests, report.failures), cases, "{out}");
    }
    let (folder, args) = audit;
    let (_, out, _) = gavel(folder, &format!("{args} -o json"), "");
    let line: Json = serde_json::from_str(out.lines().next().unwrap()).unwrap();
    let position = (line["file"].as_str(), line["line"].as_u64());
    assert_eq!(position, (Some("deployments.yaml"), Some(13)));
}

#[test]
fn warnings_of_check_are_findings() {
    let copy = |name: &str| std::fs::read_to_string(root().join("testdata").join(name)).unwrap();
    let bound = copy("check/policy.yaml");
    let (bound, _) = bound.split_once("---\napiVersion: v1\n").unwrap();
    let unbound = copy("policies/policy.yaml");
    let unbound = unbound.split("---\n").next().unwrap();
    let folder = Folder::new()
        .with("policies.yaml", &format!("{bound}---\n{unbound}"))
        .with("deployment.yaml", &copy("policies/deployment.yaml"))
        .with(
            "old.yaml",
            "apiVersion: admissionregistration.k8s.io/v1beta1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: a}\nspec: {policyName: replicas, validationActions: [Deny]}\n",
        );
    let args = "check policies.yaml deployment.yaml -o github --policies old.yaml";
    let (_, out, err) = folder.gavel(args);
    let expected = "::warning file=old.yaml,line=1,col=13,endLine=1,endColumn=49,title=unserved-kind::apiVersion: no matches for kind \"ValidatingAdmissionPolicyBinding\" in version \"admissionregistration.k8s.io/v1beta1\" (Kubernetes 1.34 removed it: use admissionregistration.k8s.io/v1)
::warning title=unbound-policy::ValidatingAdmissionPolicy \"owners\" has no binding: it does nothing
::warning title=missing-object::replicas: no ConfigMap default/limits
";
    assert!(out.starts_with(expected), "{out}");
    assert_eq!(err, "");
}

/// Runs the commands of the hooks in `.pre-commit-hooks.yaml`.
#[test]
fn hooks_run_existing_commands() {
    let hooks = std::fs::read_to_string(root().join(".pre-commit-hooks.yaml")).unwrap();
    let hooks = gavel_manifest::read(&hooks, gavel_manifest::Format::Yaml)
        .all()
        .unwrap();
    let texts = |value: &Json| -> Vec<String> {
        let texts = value
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Json::as_str);
        texts.map(str::to_owned).collect()
    };
    let hooks = hooks[0].value().as_array().unwrap();
    let runs = hooks.iter().map(|hook| {
        let entry = hook["entry"]
            .as_str()
            .unwrap()
            .strip_prefix("gavel ")
            .unwrap();
        let line = format!("{entry} {}", texts(&hook["args"]).join(" "));
        let (status, _, err) = gavel(&root().join("testdata/check"), &line, "");
        (
            hook["id"].as_str().unwrap(),
            status,
            err.lines().last().unwrap_or_default().to_owned(),
        )
    });
    let expected = [
        ("gavel-lint", 0, "2 objects: 0 errors, 0 warnings, 1 note"),
        ("gavel-check", 1, "2 objects: 1 denied, 0 warned, 0 audited"),
        ("gavel-test", 1, "8 tests, 1 failed"),
    ];
    let expected = expected.map(|(id, status, err)| (id, status, err.to_owned()));
    assert_eq!(runs.collect::<Vec<_>>(), expected);
}

/// Runs the commands of the action in `action.yml`, with the inputs of a workflow.
#[cfg(unix)]
#[test]
fn the_action_runs_gavel() {
    let action = std::fs::read_to_string(root().join("action.yml")).unwrap();
    let action = gavel_manifest::read(&action, gavel_manifest::Format::Yaml)
        .all()
        .unwrap();
    let steps = &action[0].value()["runs"]["steps"];
    let script = steps[3]["run"].as_str().unwrap();
    let binary = Path::new(env!("CARGO_BIN_EXE_gavel")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let folder = Folder::new();
    let file = folder.file("gavel.sarif");
    for (output, file, expected) in [("github", "", "::error file="), ("sarif", &*file, "")] {
        let ran = std::process::Command::new("bash")
            .args(["-e", "-c", script])
            .current_dir(root().join("testdata/check"))
            .env("PATH", &path)
            .env("ARGUMENTS", "check policy.yaml deployments.yaml")
            .env("OUTPUT", output)
            .env("FILE", file)
            .output()
            .unwrap();
        let out = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(ran.status.code(), Some(1), "{out}");
        assert!(out.starts_with(expected), "{out}");
    }
    let log: Json = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(log["runs"][0]["results"].as_array().unwrap().len(), 2);
}

/// Validates a value against a JSON schema (draft 7), and adds the violations to `faults`. Supports only some of the keywords.
fn check(root: &Json, schema: &Json, value: &Json, path: &str, faults: &mut Vec<String>) {
    if let Some(reference) = schema["$ref"].as_str() {
        let referred = root.pointer(reference.trim_start_matches('#')).unwrap();
        check(root, referred, value, path, faults);
    }
    let mut fault = |what: &str| faults.push(format!("{path}: {what}"));
    let is_of_type = match schema["type"].as_str() {
        Some("object") => value.is_object(),
        Some("array") => value.is_array(),
        Some("string") => value.is_string(),
        Some("integer") => value.is_i64(),
        Some("number") => value.is_number(),
        Some("boolean") => value.is_boolean(),
        _ => true,
    };
    if !is_of_type {
        fault("has another type");
    }
    if schema["enum"]
        .as_array()
        .is_some_and(|known| !known.contains(value))
    {
        fault("is not one of the values");
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64())
        && number < least
    {
        fault("is too small");
    }
    for name in schema["required"].as_array().into_iter().flatten() {
        if value.get(name.as_str().unwrap()).is_none() {
            fault(&format!("{name} is missing"));
        }
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(name) {
            Some(schema) => check(root, schema, value, &format!("{path}.{name}"), faults),
            None if schema["additionalProperties"] == false => {
                faults.push(format!("{path}: {name} is unknown"));
            }
            None => {}
        }
    }
    for (n, value) in value.as_array().into_iter().flatten().enumerate() {
        if schema["items"].is_object() {
            check(
                root,
                &schema["items"],
                value,
                &format!("{path}[{n}]"),
                faults,
            );
        }
    }
}

#[test]
fn policies_of_both_groups_have_the_same_outcome() {
    let native = root().join("testdata/check");
    let text = std::fs::read_to_string(native.join("policy.yaml")).unwrap();
    let own = text.replace(
        "admissionregistration.k8s.io/",
        "policies.gavel.example.com/",
    );
    assert_ne!(text, own);
    let folder = Folder::new().with("policy.yaml", &own);
    for name in ["deployments.yaml", "replicas-test.yaml"] {
        let text = std::fs::read_to_string(native.join(name)).unwrap();
        folder.write(name, &text);
    }
    for (args, status) in [
        ("check --explain policy.yaml deployments.yaml", 1),
        ("test replicas-test.yaml", 0),
        ("cost policy.yaml", 1),
        ("lint policy.yaml", 0),
        ("audit --policies policy.yaml -- deployments.yaml", 1),
        ("upgrade-check --from 1.34 --to 1.36 policy.yaml", 0),
    ] {
        let (expected, out, _) = gavel(&native, args, "");
        let of_own = folder.gavel(args);
        assert_eq!(expected, status, "{args}: {out}");
        assert_eq!((of_own.0, of_own.1), (status, out), "{args}: {}", of_own.2);
    }
}
