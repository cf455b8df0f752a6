//! Files that cannot be used: every command reports them with the same text.
#![cfg(test)]

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

use program::{Folder, gavel, mutating_policy, root};

/// The commands that read manifests. The file that cannot be used is the last argument.
const COMMANDS: [&str; 13] = [
    "check policy.yaml",
    "cost",
    "test",
    "test --init",
    "mutate deployments.yaml --policies",
    "audit deployments.yaml --policies",
    "audit --policies policy.yaml --",
    "validate deployments.yaml --crd",
    "upgrade-check --from 1.36",
    "upgrade-check --from 1.36 policy.yaml --sample",
    "eval true --as a --rbac",
    "lint policy.yaml --config",
    "serve --plain-http --listen 127.0.0.1:0 --policies",
];

#[test]
fn every_command_reports_an_input_with_the_same_text() {
    let folder = Folder::new()
        .with_copies(&["check/policy.yaml", "check/deployments.yaml"])
        .with("bad.yaml", "kind: Pod\nmetadata: {name: a\n")
        .with("bad.json", "{\"kind\": \"Pod\", \"metadata\": }\n")
        .with("open.json", "{\"kind\": \"Pod\"\n");
    for name in ["latin.yaml", "latin.json"] {
        std::fs::write(folder.path().join(name), b"{\"kind\": \"\xe9\"}\n").unwrap();
    }
    std::fs::write(folder.path().join("packed.yaml"), b"\x1f\x8b\x08").unwrap();
    let latin =
        "1:11: must be UTF-8, but looks like another encoding: the byte 0xe9 is no UTF-8 here";
    for (file, expected) in [
        ("bad.yaml", "2:11: this { is not closed\n"),
        ("bad.json", "1:29: expected value\n"),
        ("open.json", "1:1: this { is not closed ("),
        ("latin.yaml", latin),
        ("latin.json", latin),
        (
            "packed.yaml",
            " must be UTF-8, but looks like a file packed with gzip; unpack it first (gunzip)\n",
        ),
        ("none.yaml", " No such file or directory\n"),
    ] {
        for command in COMMANDS {
            let (status, out, err) = folder.gavel(&format!("{command} {file}"));
            assert_eq!(status, 2, "{command} {file}: {out}{err}");
            let expected = format!("error: {file}:{expected}");
            assert!(err.contains(&expected), "{command} {file}: {err}");
        }
    }
    for command in [
        "validate bad.yaml --crd bad.yaml",
        "check bad.yaml --policies bad.yaml --crd .",
    ] {
        let (status, _, err) = folder.gavel(command);
        let count = err.matches("error: bad.yaml:2:11:").count();
        assert_eq!((status, count), (2, 1), "{command}: {err}");
    }
    std::fs::create_dir(folder.path().join("empty")).unwrap();
    for command in COMMANDS {
        if command.contains("--config") {
            continue;
        }
        let (_, _, err) = folder.gavel(&format!("{command} empty"));
        let expected = "error: empty: has no files that end in .yaml, .yml or .json\n";
        assert!(err.contains(expected), "{command}: {err}");
    }
}

#[test]
fn pipes_in_folders_are_reported_and_not_read() {
    let folder = Folder::new()
        .with_copies(&["check/policy.yaml", "check/deployments.yaml"])
        .with(
            "all/a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
        )
        .with("test.yaml", "kind: PolicyTest\ngiven: [all]\ntests: []\n");
    let pipe = folder.path().join("all/pipe.yaml");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    let of_folder = COMMANDS
        .iter()
        .filter(|command| !command.contains("--config"));
    let of_folder = of_folder.map(|command| format!("{command} all"));
    let others = ["lint -R .", "test test.yaml"].map(str::to_owned);
    for command in of_folder.chain(others) {
        let (status, out, err) = folder.gavel(&command);
        assert_eq!(status, 2, "{command}: {out}{err}");
        let expected = "all/pipe.yaml: is not a regular file\n";
        assert!(err.contains(expected), "{command}: {out}{err}");
    }
    let (status, _, err) = std::thread::scope(|scope| {
        scope.spawn(|| std::fs::copy(root().join("testdata/check/policy.yaml"), &pipe));
        folder.gavel("lint all/pipe.yaml")
    });
    assert_eq!(
        (status, err.as_str()),
        (0, "2 objects: 0 errors, 0 warnings, 1 note\n")
    );
}

#[test]
fn templates_are_recognized() {
    let test = "kind: PolicyTest\ngiven: [helm.yaml]\ntests: []\n";
    let folder = Folder::new()
        .with_copies(&["check/policy.yaml", "check/deployments.yaml"])
        .with("helm.yaml", "kind: {{ .Values.kind }}\n")
        .with("test.yaml", test);
    let of_file = COMMANDS.map(|command| format!("{command} helm.yaml"));
    let others = [
        "lint helm.yaml",
        "test test.yaml",
        "eval a --bind a=@helm.yaml",
    ];
    let others = others.map(str::to_owned);
    for command in of_file.into_iter().chain(others) {
        let (_, out, err) = folder.gavel(&command);
        let help =
            "the file looks like a template: render it first, such as with `helm template`\n";
        assert!(
            format!("{out}{err}").contains(help),
            "{command}: {out}{err}"
        );
    }
}

#[test]
fn each_duplicate_key_is_an_error() {
    let map =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {a: b}\ndata: {c: d, c: e}\n";
    let test = "kind: PolicyTest\ngiven: [map.yaml]\ntests: []\n";
    let folder = Folder::new()
        .with_copies(&["check/policy.yaml"])
        .with("map.yaml", map)
        .with("map.json", r#"{"kind": "ConfigMap", "a": 1, "a": 2}"#)
        .with("test.yaml", test)
        .with("twice.yaml", &format!("{test}tests: []\n"))
        .with("rbac.yaml", &map.replace("ConfigMap", "Role"));
    let check = |args: &str, status: i32, expected: &[&str]| {
        let (exit, out, err) = folder.gavel(args);
        assert_eq!(exit, status, "{args}: {out}{err}");
        for line in expected {
            let count = format!("{out}{err}").matches(line).count();
            assert_eq!(count, 1, "{args} {line}: {out}{err}");
        }
    };
    let denied = [
        "map.yaml:5:1: ConfigMap/a: denied: the key `data` is already set at 4:1\n",
        "map.yaml:5:14: ConfigMap/a: denied: the key `c` is already set at 5:8\n",
    ];
    check("check policy.yaml map.yaml", 1, &denied);
    let errors = [
        "map.yaml:5:1: the key `data` is already set at 4:1\n",
        "map.yaml:5:14: the key `c` is already set at 5:8\n",
    ];
    for command in [
        "check policy.yaml --policies map.yaml",
        "check policy.yaml --old map.yaml",
        "mutate policy.yaml --policies map.yaml",
        "audit map.yaml --policies policy.yaml",
        "audit policy.yaml --policies map.yaml",
        "upgrade-check --from 1.36 policy.yaml --sample map.yaml",
        "upgrade-check --from 1.36 map.yaml",
        "test test.yaml",
        "test --init map.yaml",
        "lint policy.yaml --config map.yaml",
        "lint policy.yaml --baseline map.yaml",
        "eval a --bind a=@map.yaml",
    ] {
        check(command, 2, &errors);
    }
    let of_json = ["map.json:1:31: the key `a` is already set at 1:23\n"];
    check("audit map.json --policies policy.yaml", 2, &of_json);
    let of_test = ["twice.yaml:4:1: the key `tests` is already set at 3:1\n"];
    check("test twice.yaml", 2, &of_test);
    let rbac = errors.map(|line| line.replace("map.yaml", "rbac.yaml"));
    let rbac = rbac.each_ref().map(String::as_str);
    check("eval true --as a --rbac rbac.yaml", 2, &rbac);
}

#[test]
fn errors_about_outputs_name_the_file() {
    let folder = Folder::new()
        .with_copies(&["policies/policy.yaml", "policies/deployment.yaml"])
        .with("test.yaml", "kind: PolicyTest\ngiven: [policy.yaml]\nobject: deployment.yaml\ntests: [{name: a, expect: deny}]\n");
    for command in [
        "test test.yaml --coverage --lcov",
        "test test.yaml --coverage --html",
        "lint policy.yaml --write-baseline",
        "audit deployment.yaml --policies policy.yaml --metrics",
    ] {
        for format in ["text", "json", "sarif", "junit", "github"] {
            let args = format!("{command} none/file --output {format}");
            let (status, out, err) = folder.gavel(&args);
            let message = "No such file or directory";
            assert_eq!(status, 2, "{args}");
            assert!(
                err.contains(&format!("error: none/file: {message}\n")),
                "{args}: {out}{err}"
            );
            // The results are printed nevertheless, and the error is among them.
            assert!(format == "text" || out.contains(message), "{args}: {out}");
        }
    }
    let (status, _, err) = folder.gavel("man policy.yaml/man");
    let expected = "error: policy.yaml/man: Not a directory\n";
    assert_eq!((status, err.as_str()), (2, expected));
}

#[test]
fn all_missing_files_are_reported_and_nothing_else() {
    let folder = Folder::new();
    for (args, missing) in [
        ("test --init a.yaml", &["a.yaml"][..]),
        ("check a.yaml", &["a.yaml"]),
        ("mutate a.yaml --policies b.yaml", &["b.yaml", "a.yaml"]),
    ] {
        let (status, _, err) = folder.gavel(args);
        let expected = missing
            .iter()
            .map(|name| format!("error: {name}: No such file or directory\n"));
        assert_eq!((status, err), (2, expected.collect()));
    }
}

#[test]
fn a_file_that_is_named_twice_is_read_once() {
    for (command, again) in [
        ("lint check/policy.yaml", "check/../check/policy.yaml"),
        ("cost check", "check/policy.yaml"),
        ("check check", "./check/deployments.yaml"),
    ] {
        let once = gavel(&root().join("testdata"), command, "");
        let twice = gavel(&root().join("testdata"), &format!("{command} {again}"), "");
        assert_eq!(once, twice, "{command}");
    }
}

#[test]
fn policies_of_misspelled_groups_are_errors() {
    let policy = std::fs::read_to_string(root().join("testdata/policies/policy.yaml")).unwrap();
    let misspelled = policy.replace("admissionregistration.k8s.io", "admissionregistration");
    let folder = Folder::new()
        .with_copies(&["policies/policy.yaml", "policies/deployment.yaml"])
        .with("other.yaml", &misspelled);
    for args in [
        "check policy.yaml other.yaml deployment.yaml",
        "check --policies policy.yaml --policies other.yaml deployment.yaml",
        "audit --policies policy.yaml --policies other.yaml deployment.yaml",
        "mutate --policies other.yaml deployment.yaml",
        "test --init other.yaml",
    ] {
        let (status, _, err) = folder.gavel(args);
        for line in [1, 16] {
            let expected = format!(
                "error: other.yaml:{line}:13: apiVersion: must name the group admissionregistration.k8s.io, as admissionregistration.k8s.io/v1 does\n"
            );
            assert!(err.contains(&expected), "{args}: {err}");
        }
        assert_eq!(status, 2, "{args}");
    }
}

#[test]
fn objects_given_to_tests_are_read_like_other_policies() {
    let policy = std::fs::read_to_string(root().join("testdata/policies/policy.yaml")).unwrap();
    let test = "\
kind: PolicyTest
given:
- policy.yaml
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicy
  metadata: {name: inline}
  spec:
    matchConstraints:
      resourceRules:
      - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
    validations: [{expression: 'false', message: 'no'}]
- apiVersion: admissionregistration.k8s.io/v1
  kind: ValidatingAdmissionPolicyBinding
  metadata: {name: inline}
  spec: {policyName: inline, validationActions: [Deny]}
object: deployment.yaml
tests:
- {name: a, set: {metadata.labels.owner: b}, expect: {decision: deny, message: 'no'}}
";
    let folder = Folder::new().with_copies(&["policies/deployment.yaml"]);
    for (group, expected) in [
        ("admissionregistration.k8s.io", None),
        ("policies.gavel.example.com", None),
        (
            "admissionregistration.k8s.oi",
            Some("admissionregistration.k8s.io"),
        ),
    ] {
        let of_group = |text: &str| text.replace("admissionregistration.k8s.io", group);
        folder.write("policy.yaml", &of_group(&policy));
        folder.write("test.yaml", &of_group(test));
        let (status, out, err) = folder.gavel("test test.yaml");
        let Some(meant) = expected else {
            assert_eq!((status, err.as_str()), (0, "1 test, 0 failed\n"), "{out}");
            continue;
        };
        let message = format!("apiVersion: must name the group {meant}, as {meant}/v1 does");
        let expected = format!(
            "\
error: test.yaml:3:3: given[0]: policy.yaml:1:13: {message}
    policy.yaml:16:13: {message}
error: test.yaml:4:15: {message}
error: test.yaml:12:15: {message}\n"
        );
        assert_eq!((status, err), (2, expected), "{out}");
    }
}

#[test]
fn standard_input_has_one_name_in_json() {
    let testdata = root().join("testdata/check");
    let objects = std::fs::read_to_string(testdata.join("deployments.yaml")).unwrap();
    let (_, out, _) = gavel(&testdata, "check policy.yaml - -o json", &objects);
    assert_eq!(out.matches("\"file\":\"stdin\"").count(), 2, "{out}");
    for command in ["check", "lint", "test"] {
        let (_, out, _) = gavel(&testdata, &format!("{command} - -o json"), "a: [");
        assert!(out.contains("\"file\":\"stdin\""), "{command}: {out}");
    }
}

#[test]
fn inputs_that_can_be_used_are_counted() {
    let testdata = root().join("testdata/check");
    for (args, summary) in [
        (
            "check policy.yaml deployments.yaml none.yaml",
            "2 objects: 1 denied, 0 warned, 0 audited\n",
        ),
        (
            "audit --policies policy.yaml deployments.yaml none.yaml",
            "s: 2 violations\n",
        ),
    ] {
        let (status, _, err) = gavel(&testdata, args, "");
        assert!(err.ends_with(summary), "{args}: {err}");
        assert_eq!(status, 2, "{args}");
    }
}

#[test]
fn a_baseline_holds_in_every_working_directory() {
    let policy = std::fs::read_to_string(root().join("testdata/policies/typo.yaml")).unwrap();
    let folder = Folder::new().with("a/policy.yaml", &policy);
    let (_, _, err) = folder.gavel("lint a --write-baseline b.json");
    assert_eq!(err, "b.json: 1 finding\n");
    let absolute = folder.file("a");
    for (working_directory, args) in [
        (".", "lint a --baseline b.json"),
        (".", &format!("lint {absolute} --baseline b.json")),
        ("a", "lint policy.yaml --baseline ../b.json"),
    ] {
        let (_, out, _) = gavel(&folder.path().join(working_directory), args, "");
        assert_eq!(out, "", "{args}");
    }
}

#[test]
fn older_manifests_without_a_definition_are_reported() {
    let (_, _, err) = gavel(
        &root().join("testdata/lint"),
        "lint crd.yaml --old policy.yaml",
        "",
    );
    let expected = "warning: --old: there is no older definition to compare with\n";
    assert!(err.starts_with(expected), "{err}");
}

#[test]
fn only_policies_need_a_binding() {
    let kinds = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmisionPolicy
metadata: {name: a}
---
apiVersion: admissionregistration.k8s.io/v1
kind: validatingadmissionpolicy
---
apiVersion: admissionregistration.k8s.io/v1
kind: 3
---
apiVersion: 1
kind: Pod
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata: {name: b}
spec:
  matchConstraints:
    resourceRules:
    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
  validations: [{expression: 1 + true == 2}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata: {name: bound}
spec: {policyName: b, validationActions: [Deny]}
";
    let folder = Folder::new().with("kinds.yaml", kinds);
    let (_, out, err) = folder.gavel("check kinds.yaml");
    let of_group = "is registered for version \"admissionregistration.k8s.io/v1\"";
    for expected in [
        format!("kinds.yaml:2:7: no kind \"ValidatingAdmisionPolicy\" {of_group}\n"),
        "kinds.yaml:5:1: metadata.name must be set\n".to_owned(),
        format!("kinds.yaml:6:7: no kind \"validatingadmissionpolicy\" {of_group}\n"),
        "kinds.yaml:9:7: kind must be a string\n".to_owned(),
    ] {
        assert!(out.contains(&expected), "{out}");
    }
    let expected = "warning: binding bound names the policy \"b\", which is invalid
error: kinds.yaml:11:1: apiVersion must be a string\n";
    assert_eq!(err, expected);
}

#[test]
fn every_command_reads_lists_as_kubectl_does() {
    let item = |note: &str| {
        format!("[{{\"metadata\": {{\"name\": \"a\", \"annotations\": {{\"note\": {note:?}}}}}}}]")
    };
    let list = |items: &str| {
        format!("{{\"kind\": \"DeploymentList\", \"apiVersion\": \"apps/v1\", \"items\": {items}}}")
    };
    let large = list(&item(&"a".repeat(1 << 20)));
    let folder = Folder::new()
        .with_copies(&["policies/policy.yaml"])
        .with("list.json", &list(&item("")))
        .with("null.json", &list("null"))
        .with("large.json", &format!("\u{feff}{large}"))
        .with(
            "item.yaml",
            "kind: List\napiVersion: v1\nitems:\n- kind: Deployment\n- {kind: A, apiVersion: a/b/c}\n",
        );
    for (args, expected) in [
        (
            "check policy.yaml list.json",
            "1 object: 1 denied, 0 warned, 0 audited\n",
        ),
        ("check policy.yaml null.json", "error: nothing was checked"),
        ("audit --policies policy.yaml null.json", "0 objects in "),
        ("audit --policies policy.yaml list.json", "s: 1 violation\n"),
        (
            "audit --policies policy.yaml large.json",
            "s: 1 violation\n",
        ),
        (
            "upgrade-check --from 1.36 policy.yaml --sample list.json",
            "2 objects, 1 sample, 0 changes\n",
        ),
    ] {
        let (_, _, err) = folder.gavel(args);
        assert!(err.contains(expected), "{args}: {err}");
    }
    let missing = "error: item.yaml:4:3: apiVersion must be set
error: item.yaml:5:3: unexpected GroupVersion string: a/b/c\n";
    for args in [
        "check policy.yaml item.yaml",
        "audit --policies policy.yaml item.yaml",
        "upgrade-check --from 1.36 policy.yaml --sample item.yaml",
        "mutate --policies mutating.yaml item.yaml",
    ] {
        folder.write(
            "mutating.yaml",
            &mutating_policy("a", "deployments", "Object{}"),
        );
        let (status, _, err) = folder.gavel(args);
        assert!(err.contains(missing), "{args}: {err}");
        let note = "note: --ignore-missing-schemas ignores documents";
        assert_eq!(
            err.contains(note),
            args.starts_with("check"),
            "{args}: {err}"
        );
        assert_eq!(status, 2, "{args}");
    }
}
