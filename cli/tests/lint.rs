//! `gavel lint` and `gavel explain`, run as a user runs them.
#![cfg(test)]

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

use program::{Folder, definition, gavel, root};
use serde_json::{Value as Json, json};

const SCHEMA: &str = "        type: object
        required: [spec]
        properties:
          spec:
            type: object
            properties:
              size: {type: integer}
";

/// A policy for the kind Thing of example.com.
const POLICY: &str = "apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: sizes
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [example.com]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [things]
  validations:
  - expression: |
      has(object.spec.size) &&
        object.spec.sise < 5
    message: size should be less than 5
  - expression: object.spec.size + 1
";

fn folder() -> Folder {
    Folder::new()
        .with("crd.yaml", &definition(SCHEMA))
        .with("policies/policy.yaml", POLICY)
}

/// Lints `crd.yaml` and the files in `policies`. Returns the exit status, standard output and standard error.
fn lint(folder: &Folder, args: &str) -> (i32, String, String) {
    folder.gavel(&format!("lint crd.yaml policies {args}"))
}

fn lines(out: &str) -> Vec<Json> {
    out.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The rule, line and column of each finding.
fn found(out: &str) -> Vec<(String, u64, u64)> {
    let place = |line: &Json| {
        (
            line["rule"].as_str().unwrap().to_owned(),
            line["line"].as_u64().unwrap(),
            line["column"].as_u64().unwrap(),
        )
    };
    lines(out).iter().map(place).collect()
}

#[test]
fn findings_have_a_rule_and_an_exact_place() {
    let (code, out, err) = lint(&folder(), "--output json");
    let expected = [
        ("undefined-field", 15, 20),
        ("message-convention", 16, 19),
        ("invalid-expression", 17, 17),
    ];
    let expected = expected.map(|(rule, line, column)| (rule.to_owned(), line, column));
    assert_eq!(found(&out), expected);
    assert_eq!((code, err.as_str()), (1, ""));
    let first = &lines(&out)[0];
    assert_eq!(first["help"], "did you mean `size`?");
    assert_eq!(first["kinds"], json!(["example.com/v1 Thing"]));
}

/// The kinds of an OpenAPI document are checked like those of definitions. `optional-field` also reports `replicas` of these kinds, because
/// the API server sets a missing `replicas` only in Kubernetes' own kinds.
#[test]
fn kinds_come_from_an_openapi_document() {
    let kind = json!({"group": "example.com", "version": "v1", "kind": "Thing"});
    let spec = json!({"type": "object", "properties": {"replicas": {"type": "integer"}}});
    let document = json!({
        "paths": {"/apis/example.com/v1/namespaces/{namespace}/things": {"get": {"x-kubernetes-group-version-kind": kind}}},
        "components": {"schemas": {"com.example.v1.Thing": {
            "type": "object",
            "properties": {"spec": spec},
            "required": ["spec"],
            "x-kubernetes-group-version-kind": [kind],
        }}},
    });
    let (before, _) = POLICY.split_once("  - expression").unwrap();
    let folder = Folder::new()
        .with(
            "policy.yaml",
            &format!("{before}  - expression: object.spec.replicas < 5\n"),
        )
        .with("thing.json", &document.to_string());
    let args = "lint policy.yaml --openapi thing.json --select optional-field --output json";
    let (code, out, err) = folder.gavel(args);
    assert_eq!(
        found(&out),
        [("optional-field".to_owned(), 13, 28)],
        "{out}"
    );
    assert_eq!((code, err.as_str()), (0, ""));
}

#[test]
fn mutating_policies_are_checked_against_schemas() {
    let (before, _) = POLICY.split_once("  validations:").unwrap();
    let policy = before.replace("Validating", "Mutating");
    let policy = format!(
        "{policy}  reinvocationPolicy: Never
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration: {{expression: \"Object{{spec: Object.spec{{size: object.spec.sise}}}}\"}}
"
    );
    let folder = folder().with("policies/policy.yaml", &policy);
    let (code, out, _) = lint(&folder, "-o json");
    assert_eq!((code, found(&out).len()), (0, 1), "{out}");
    assert!(out.contains("undefined field 'sise'"), "{out}");
}

#[test]
fn objects_that_an_api_server_accepts_have_no_errors() {
    let good = POLICY.replace("  - expression: object.spec.size + 1\n", "");
    let folder = folder().with("policies/policy.yaml", &good);
    let (code, _, err) = lint(&folder, "");
    assert_eq!(code, 0);
    assert_eq!(err, "2 objects: 0 errors, 1 warning, 1 note\n");
    assert_eq!(lint(&folder, "--deny undefined-field").0, 1);
    assert_eq!(lint(&folder, "--deny warnings").0, 1);
    let (_, out, _) = lint(&folder, "--ignore undefined-field -o json");
    assert_eq!(found(&out).len(), 1);
    let (_, out, _) = lint(&folder, "--select undefined-field -o json");
    assert_eq!(found(&out).len(), 1);
    let (code, _, err) = lint(&folder, "--ignore undefined-fields");
    assert_eq!(code, 2);
    assert_eq!(
        err,
        "error: there is no rule \"undefined-fields\"; did you mean undefined-field?\n"
    );
}

#[test]
fn comments_baselines_and_configuration_leave_findings_out() {
    let folder = folder();
    let suppressed = POLICY.replace(
        "    message: size",
        "    # gavel: ignore message-convention -- old clients look for it\n    message: size",
    );
    folder.write("policies/policy.yaml", &suppressed);
    let (_, out, _) = lint(&folder, "-o json");
    assert!(!out.contains("message-convention"), "{out}");
    folder.write("gavel.yaml", "lint:\n  ignore: [undefined-field]\n");
    let (_, out, _) = lint(&folder, "-o json");
    assert_eq!(found(&out).len(), 1, "{out}");
    folder.write("gavel.yaml", "lint:\n  ignored: [undefined-field]\n");
    let (code, _, err) = lint(&folder, "");
    assert_eq!(code, 2);
    let expected = "/gavel.yaml:2:3: unknown field \"lint.ignored\"; did you mean ignore?\n";
    assert!(err.ends_with(expected), "{err}");
    folder.write("gavel.yaml", "{}\n");
    assert_eq!(lint(&folder, "--write-baseline known.json").0, 0);
    let (code, out, _) = lint(&folder, "--baseline known.json");
    assert_eq!((code, out.as_str()), (0, ""));
    folder.write(
        "policies/policy.yaml",
        &suppressed.replace("size + 1", "size + 2"),
    );
    let (code, out, _) = lint(&folder, "--baseline known.json -o json");
    assert_eq!((code, found(&out).len()), (1, 1), "{out}");
}

#[test]
fn options_are_read_as_they_are_written() {
    let folder = folder();
    for (options, expected) in [
        ("", ""),
        ("# nothing is set\n", ""),
        ("lint:\n", ""),
        ("lint: {kubernetesVersion: 1.36, maxObject: 1Mi}\n", ""),
        ("lint: {kubernetesVersion: 1.34..1.37, maxObject: 1048576}\n", ""),
        (
            "lint: {kubernetesVersion: 1.380, maxObject: 1Mo}\n",
            "error: gavel.yaml:1:27: lint.kubernetesVersion: Kubernetes 1.380 is unknown; the version must be from 1.0 to 1.37
error: gavel.yaml:1:45: lint.maxObject: must be a number of bytes above 0 such as 7Mi, 512k or 1000000\n",
        ),
        (
            "lint:\n  select: policy-cost\n  deny: [1]\n  baselin: a.json\n",
            "error: gavel.yaml:2:11: lint.select: must be a list
error: gavel.yaml:3:10: lint.deny[0]: must be a string
error: gavel.yaml:4:3: unknown field \"lint.baselin\"; did you mean baseline?\n",
        ),
        (
            "lint: {ignore: [size, cost], deny: [all, notes]}\n",
            "error: gavel.yaml:1:17: lint.ignore[0]: there is no rule \"size\"; `gavel explain` lists all rules
error: gavel.yaml:1:23: lint.ignore[1]: there is no rule \"cost\"; `gavel explain` lists all rules
error: gavel.yaml:1:42: lint.deny[1]: there is no rule \"notes\"; `gavel explain` lists all rules\n",
        ),
        (
            "lint: {exclude: [charts, '**a']}\n",
            "error: gavel.yaml:1:26: lint.exclude[1]: Pattern syntax error near position 2: recursive wildcards must form a single path \
             component\n",
        ),
        ("- lint\n", "error: gavel.yaml:1:1: must be an object\n"),
    ] {
        folder.write("gavel.yaml", options);
        let (code, _, err) = lint(&folder, "-o json");
        let err = err.replace(&format!("{}/", folder.text()), "");
        assert_eq!(err, expected, "{options}");
        assert_eq!(code == 2, !expected.is_empty(), "{options}");
    }
}

#[test]
fn findings_with_one_right_fix_are_fixed() {
    let folder = folder();
    let (_, _, err) = lint(&folder, "--fix");
    assert!(err.starts_with("fixed 1 finding in 1 file\n"), "{err}");
    let text = std::fs::read_to_string(folder.path().join("policies/policy.yaml")).unwrap();
    assert_eq!(text, POLICY.replace("should be", "must be"));
}

/// A fix may cause another finding, and moves the findings that are left.
#[test]
fn fixed_files_are_linted_again() {
    let policy = POLICY.replace("    message: size should be less than 5\n", "");
    let (before, _) = policy.split_once("  validations:").unwrap();
    let validation = "  - expression: object.metadata.name != variables.used\n";
    let text = |variables: &str, copies: usize| {
        let validations = validation.repeat(copies);
        format!(
            "{before}  variables:\n  - {{name: used, expression: \"'a'\"}}\n{variables}  validations:\n{validations}    message: a\n"
        )
    };
    let unused = "  - {name: c, expression: \"'c'\"}\n  - {name: b, expression: variables.c}\n";
    let folder = Folder::new().with("policy.yaml", &text(unused, 3));
    let (_, out, err) = folder.gavel("lint policy.yaml --fix -o json");
    assert_eq!(err, "fixed 3 findings in 1 file\n");
    let fixed = std::fs::read_to_string(folder.path().join("policy.yaml")).unwrap();
    assert_eq!(fixed, text("", 2));
    let left = lines(&out);
    assert_eq!(left.len(), 1, "{out}");
    assert_eq!(left[0]["field"], "spec.validations[1].expression");
    assert_eq!(left[0]["line"], 16);
}

#[test]
fn standard_input_cannot_be_fixed() {
    let (code, out, err) = gavel(&root(), "lint --fix -", POLICY);
    assert_eq!((code, out.as_str()), (2, ""));
    let expected = "error: --fix cannot change standard input";
    assert!(err.starts_with(expected), "{err}");
}

#[test]
fn devices_and_configurations_are_decoded_strictly() {
    let folder = Folder::new()
        .with(
            "device.yaml",
            "apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selector:
  - cel: {expression: device.driver == 'gpu.example.com'}
",
        )
        .with(
            "old.yaml",
            "apiVersion: resource.k8s.io/v1alpha3\nkind: DeviceClass\nmetadata: {name: old}\n",
        )
        .with(
            "authentication.yaml",
            "apiVersion: apiserver.config.k8s.io/v1
kind: AuthenticationConfiguration
jwt:
- issuer: {url: https://example.com, audience: [a]}
  claimMappings:
    username: {expression: claims.sub}
",
        );
    for (file, expected) in [
        (
            "device.yaml",
            "unknown-field 5:3 unknown field \"spec.selector\" did you mean `selectors`?",
        ),
        (
            "old.yaml",
            "invalid-object 1:13 no matches for kind \"DeviceClass\" in version \"resource.k8s.io/v1alpha3\" Kubernetes 1.34 removed it: use resource.k8s.io/v1",
        ),
        (
            "authentication.yaml",
            "unknown-field 4:38 unknown field \"jwt[0].issuer.audience\" ",
        ),
    ] {
        let (code, out, _) = folder.gavel(&format!("lint {file} -o json"));
        let found = lines(&out).into_iter().map(|line| {
            let text = |key: &str| line[key].as_str().unwrap_or_default().to_owned();
            let (rule, message, help) = (text("rule"), text("message"), text("help"));
            format!(
                "{rule} {}:{} {message} {help}",
                line["line"], line["column"]
            )
        });
        assert_eq!(
            (code, found.collect::<Vec<_>>()),
            (1, vec![expected.to_owned()])
        );
    }
}

#[test]
fn no_input_is_no_success() {
    let folder = Folder::new()
        .with("empty/note.txt", "")
        .with("nested/inner/policy.yaml", POLICY)
        .with(
            "others/pod.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n",
        )
        .with("binary.yaml", "a: \u{0}")
        .with("broken.yaml", "a: [\n");
    std::fs::write(folder.path().join("packed.yaml"), [0x1f, 0x8b, 8, 0]).unwrap();
    std::fs::write(folder.path().join("wide.yaml"), [0xff, 0xfe, b'a', 0]).unwrap();
    std::fs::write(folder.path().join("latin.yaml"), b"a: 1\nb: caf\xe9\n").unwrap();
    for (path, status, expected) in [
        (
            "empty",
            2,
            "empty: has no files that end in .yaml, .yml or .json\n",
        ),
        (
            "nested",
            2,
            "but its folders have 1 file: add -R to read them",
        ),
        ("others", 2, "nothing to lint: 1 file with no policy"),
        ("-", 2, "-: standard input is empty"),
        ("packed.yaml", 2, "looks like a file packed with gzip"),
        ("wide.yaml", 2, "looks like UTF-16"),
        (
            "latin.yaml",
            2,
            "latin.yaml:2:7: must be UTF-8, but looks like another encoding: the byte 0xe9",
        ),
        ("none.yaml", 2, "none.yaml: No such file"),
        ("broken.yaml", 1, "1 error"),
    ] {
        let (code, _, err) = folder.gavel(&format!("lint {path}"));
        assert_eq!(code, status, "{path}: {err}");
        assert!(err.contains(expected), "{path}: {err}");
    }
    let (code, _, err) = folder.gavel("lint nested -R");
    assert_eq!((code, err.lines().count()), (1, 1), "{err}");
    let (code, _, err) = gavel(folder.path(), "lint -", POLICY);
    assert_eq!((code, err.lines().count()), (1, 1), "{err}");
}

#[test]
fn findings_name_the_versions_they_hold_in() {
    let policy = POLICY
        .replace(
            "has(object.spec.size) &&",
            "format.named('uuid').hasValue() &&",
        )
        .replace("object.spec.sise < 5", "isIP('1.2.3.4')");
    let folder = folder().with("policies/policy.yaml", &policy);
    let args = "--kubernetes-version 1.30..1.31 -o json";
    let (_, out, _) = lint(&folder, args);
    let lines = lines(&out);
    let expression = lines.iter().find(|line| line["line"] == 14);
    let message = expression.map(|line| line["message"].as_str().unwrap());
    let message = message.unwrap_or_else(|| panic!("{out}"));
    assert!(message.contains("(Kubernetes 1.30"), "{message}");
}

#[test]
fn definitions_are_compared_with_their_older_version() {
    let older = definition(&SCHEMA.replace("{type: integer}", "{type: integer, maximum: 10}"));
    // An exported definition has fields that manifests do not have.
    let system = "metadata: {uid: u, creationTimestamp: '2024-01-01T00:00:00Z', generation: 3, ";
    let older = older.replacen("metadata: {", system, 1);
    assert!(older.contains(system));
    let newer = definition(&SCHEMA.replace("{type: integer}", "{type: integer, maximum: 5}"));
    let folder = folder()
        .with("old/crd.yaml", &older)
        .with("crd.yaml", &newer);
    let (_, out, _) = folder.gavel("lint crd.yaml --old old -o json");
    let lines = lines(&out);
    assert_eq!(lines.len(), 1, "{out}");
    assert_eq!(lines[0]["rule"], "breaks-stored-objects");
    assert_eq!(lines[0]["message"], "maximum was 10, and is 5");
}

#[test]
fn the_scope_and_the_kind_of_a_definition_cannot_change() {
    let older = definition(SCHEMA);
    let newer = older.replace("scope: Namespaced", "scope: Cluster");
    let newer = newer.replace("kind: Thing}", "kind: Part}");
    let folder = folder().with("old.yaml", &older).with("crd.yaml", &newer);
    let args = "lint crd.yaml --old old.yaml -o json";
    let (_, out, _) = folder.gavel(args);
    let immutable: Vec<_> = lines(&out)
        .iter()
        .filter(|line| {
            line["message"]
                .as_str()
                .unwrap()
                .ends_with("field is immutable")
        })
        .map(|line| line["field"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(immutable, ["spec.names.kind", "spec.scope"]);
}

/// Lints the example of each rule, and compares the output with `testdata/lint/rules.txt`.
#[test]
fn the_text_of_every_rule_is_as_recorded() {
    let (_, rules, _) = gavel(&root(), "explain -o json", "");
    let folder = Folder::new();
    let mut recorded = String::new();
    for rule in lines(&rules) {
        let id = rule["id"].as_str().unwrap();
        folder.write("example.yaml", rule["before"].as_str().unwrap());
        folder.write("old.yaml", rule["after"].as_str().unwrap());
        let mut args = format!("lint example.yaml --select {id}");
        if id == "breaks-stored-objects" {
            args.push_str(" --old old.yaml");
        }
        let (_, out, _) = folder.gavel(&args);
        assert!(out.contains(&format!("[{id}]")), "{id}: {out}");
        recorded.push_str(&format!("=== {id}\n{out}"));
    }
    let path = root().join("testdata/lint/rules.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, &recorded).unwrap();
    }
    let before = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        recorded, before,
        "UPDATE_GOLDEN=1 writes testdata/lint/rules.txt"
    );
}

#[test]
fn rules_are_explained() {
    let (code, out, _) = gavel(&root(), "explain optional-field", "");
    assert_eq!(code, 0);
    assert!(
        out.starts_with("# optional-field\n\nThe expression reads"),
        "{out}"
    );
    let (code, _, err) = gavel(&root(), "explain optional-fields", "");
    assert_eq!(code, 2);
    assert_eq!(
        err,
        "error: there is no rule \"optional-fields\"; did you mean optional-field?\n"
    );
}

#[test]
fn version_completions_and_man_pages_are_printed() {
    let (_, out, _) = gavel(&root(), "version", "");
    assert!(out.starts_with("gavel 0."), "{out}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let (code, out, _) = gavel(&root(), &format!("completions {shell}"), "");
        assert!(code == 0 && out.contains("explain"), "{shell}");
    }
    let (_, out, _) = gavel(&root(), "completions bash", "");
    let rules = out.lines().filter(|line| line.contains(" optional-field "));
    let values = rules.filter(|line| line.contains("compgen -W"));
    // The values of --select, --ignore and --deny.
    assert_eq!(values.count(), 3, "{out}");
    let (_, page, _) = gavel(&root(), "man", "");
    assert!(page.contains(".TH gavel 1"), "{page}");
    let folder = Folder::new();
    folder.gavel("man pages");
    assert!(folder.path().join("pages/gavel-lint.1").is_file());
}

#[test]
fn the_examples_of_the_documentation_are_what_is_printed() {
    let path = root().join("docs/lint.md");
    let mut documentation = std::fs::read_to_string(&path).unwrap();
    let folder = root().join("testdata/lint");
    let (_, out, err) = gavel(&folder, "lint policy.yaml crd.yaml", "");
    let shown = format!("```\n$ gavel lint policy.yaml crd.yaml\n{out}{err}```\n");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        let (before, rest) = documentation.split_once("```\n").unwrap();
        let (_, after) = rest.split_once("\n```\n").unwrap();
        documentation = format!("{before}{shown}{after}");
        std::fs::write(&path, &documentation).unwrap();
    }
    assert!(documentation.contains(&shown), "{shown}");
}

#[test]
fn policies_are_of_versions_that_the_server_has() {
    let policy = |version: &str, kind: &str| {
        format!(
            "apiVersion: admissionregistration.k8s.io/{version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{policyName: a}}\n"
        )
    };
    let refused = |version: &str, kind: &str, server: &str| {
        let folder = Folder::new().with("policy.yaml", &policy(version, kind));
        let args = format!("lint policy.yaml --kubernetes-version {server} -o json");
        let (_, out, _) = folder.gavel(&args);
        let mut lines = lines(&out).into_iter();
        let found = lines.find(|line| line["field"] == "apiVersion");
        found.map(|line| line["help"].as_str().unwrap().to_owned())
    };
    let validating = "ValidatingAdmissionPolicyBinding";
    let removed = "Kubernetes 1.34 removed it: use admissionregistration.k8s.io/v1";
    assert_eq!(
        refused("v1beta1", validating, "1.34").as_deref(),
        Some(removed)
    );
    assert_eq!(refused("v1", validating, "1.34"), None);
    // Gavel serves its own kinds for every version.
    let own = policy("v1", "MutatingAdmissionPolicyBinding")
        .replace("admissionregistration.k8s.io", "policies.gavel.example.com");
    let folder = Folder::new().with("policy.yaml", &own);
    let (_, out, _) = folder.gavel("lint . --kubernetes-version 1.34");
    assert!(!out.contains("no matches for kind"), "{out}");
    let mutating = "MutatingAdmissionPolicyBinding";
    let first = "Kubernetes 1.36 is the first that serves it";
    assert_eq!(refused("v1", mutating, "1.35").as_deref(), Some(first));
    assert_eq!(refused("v1", mutating, "1.36"), None);
    assert_eq!(refused("v1beta1", mutating, "1.34"), None);
}
