//! `gavel validate`, run as a user runs it.
#![cfg(test)]

#[expect(dead_code, reason = "other tests use the rest of this module")]
mod program;

use program::{Folder, definition};
use serde_json::json;

const SCHEMA: &str = "        type: object
        properties:
          spec:
            type: object
            x-kubernetes-validations:
            - rule: self.replicas <= 5
              message: too many
              fieldPath: .replicas
            - rule: self.color == oldSelf.color
              message: color is immutable
            properties:
              replicas: {type: integer, default: 1}
              color: {type: string, enum: [red, blue]}
";

fn thing(name: &str, spec: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: {name}\nspec:\n{spec}")
}

/// A folder with the definition and these files.
fn folder(files: &[(&str, &str)]) -> Folder {
    let folder = Folder::new().with("crd.yaml", &definition(SCHEMA));
    for (name, text) in files {
        folder.write(name, text);
    }
    folder
}

/// Runs `gavel validate`. Returns the exit status, standard output and standard error.
fn gavel(folder: &Folder, args: &str, input: &str) -> (i32, String, String) {
    program::gavel(folder.path(), &format!("validate {args}"), input)
}

#[test]
fn each_problem_is_a_line_with_its_place() {
    let good = thing("a", "  color: red\n");
    let bad = thing("b", "  replicas: 7\n  size: 1\n");
    let folder = folder(&[("things.yaml", &format!("{good}---\n{bad}"))]);
    let (code, out, err) = gavel(&folder, "--crd crd.yaml things.yaml", "");
    assert_eq!(
        out,
        "things.yaml:14:3: unknown field \"spec.size\"\n\
         things.yaml:13:13: spec.replicas: Invalid value: too many\n"
    );
    assert_eq!((code, err.as_str()), (1, "2 objects, 1 invalid\n"));
}

#[test]
fn a_definition_with_a_value_of_the_wrong_type_is_reported_as_the_api_server_reports_it() {
    let schema = "        type: object\n        maxProperties: ten\n";
    let folder = Folder::new()
        .with("crd.yaml", &definition(schema))
        .with("thing.yaml", &thing("a", "  {}\n"));
    let error = "json: cannot unmarshal string into Go struct field \
        JSONSchemaProps.spec.versions.schema.openAPIV3Schema.maxProperties of type int64";
    let args = "--crd crd.yaml thing.yaml";
    let (code, out, err) = gavel(&folder, args, "");
    assert_eq!(out, format!("crd.yaml:15:24: {error}\n"));
    assert_eq!(
        (code, err.as_str()),
        (1, "0 objects, 0 invalid; 1 definition invalid\n")
    );
    let (_, out, _) = gavel(&folder, &format!("{args} -o json"), "");
    let message = format!(
        "CustomResourceDefinition in version \"v1\" cannot be handled as a CustomResourceDefinition: {error}"
    );
    let status: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(status["message"], message);
}

#[test]
fn objects_that_cannot_be_decoded_are_reported_at_the_field() {
    let check = |old: &str, new: &str, expected: &str| {
        let thing = thing("a", "  replicas: 1\n").replace(old, new);
        let folder = folder(&[("thing.yaml", &thing)]);
        let (code, out, err) = gavel(&folder, "--crd crd.yaml thing.yaml", "");
        assert_eq!(code, 1, "{out}{err}");
        assert!(out.contains(expected), "{out}{err}");
    };
    let unmarshal = "json: cannot unmarshal number into Go struct field ObjectMeta";
    check(
        "name: a",
        "name: 3",
        &format!("thing.yaml:4:9: {unmarshal}.name of type string"),
    );
    check(
        "name: a",
        "name: a\n  annotations: {k: 3}",
        &format!("thing.yaml:5:20: {unmarshal}.annotations of type string"),
    );
    check(
        "name: a",
        "name: a\n  creationTimestamp: x",
        "thing.yaml:5:22: parsing time \"x\" as ",
    );
    check(
        "replicas: 1",
        "replicas: 1.5",
        "thing.yaml:6:13: <nil>: Invalid value: \"\": Checked value must be of type integer (default format) in spec.replicas",
    );
}

#[test]
fn definitions_are_decoded_as_strictly_as_objects() {
    let schema = SCHEMA.replace("x-kubernetes-validations", "x-kubernetes-validation");
    let folder = Folder::new().with("crd.yaml", &definition(&schema));
    folder.write("thing.yaml", &thing("a", "  replicas: 7\n"));
    let check = |validate: &str| {
        let args = format!("--crd crd.yaml --validate {validate} thing.yaml");
        let (code, out, err) = gavel(&folder, &args, "");
        (code, format!("{out}{err}"))
    };
    let unknown = "unknown field \"spec.versions[0].schema.openAPIV3Schema.properties.spec.x-kubernetes-validation\"";
    let (code, output) = check("strict");
    assert!(code == 1 && output.contains(unknown), "{code} {output}");
    let (code, output) = check("warn");
    assert!(code == 0 && output.contains(unknown), "{code} {output}");
    let (code, output) = check("ignore");
    assert!(code == 0 && !output.contains("unknown"), "{code} {output}");
}

#[test]
fn new_rules_may_use_what_the_version_before_knows() {
    let schema = SCHEMA.replace("self.replicas <= 5", "'[1].all(i, x, i < x)'");
    let folder = Folder::new().with("crd.yaml", &definition(&schema));
    folder.write("thing.yaml", &thing("a", "  color: red\n"));
    for (version, is_refused) in [("1.32", true), ("1.33", false)] {
        let args = format!("--crd crd.yaml --kubernetes-version {version} thing.yaml");
        let (_, out, err) = gavel(&folder, &args, "");
        let output = format!("{out}{err}");
        assert_eq!(
            output.contains("compilation failed"),
            is_refused,
            "{output}"
        );
    }
}

#[test]
fn an_old_object_makes_it_an_update() {
    let folder = folder(&[
        ("old.yaml", &thing("a", "  color: red\n  replicas: 9\n")),
        ("new.yaml", &thing("a", "  color: blue\n  replicas: 9\n")),
    ]);
    let args = "--crd crd.yaml --old old.yaml new.yaml";
    let (code, out, _) = gavel(&folder, args, "");
    assert_eq!(
        out,
        "new.yaml:7:13: spec.replicas: Invalid value: too many\n\
         new.yaml:6:3: spec: Invalid value: color is immutable\n"
    );
    assert_eq!(code, 1);
    let args = "--crd crd.yaml --old old.yaml old.yaml";
    let (code, out, err) = gavel(&folder, args, "");
    assert_eq!((code, out.as_str()), (0, ""), "what was there may stay");
    assert!(err.contains("warning: "), "{err}");
    let new = folder.path().join("new.yaml");
    std::fs::write(new, thing("b", "  color: blue\n")).unwrap();
    let args = "--crd crd.yaml --old old.yaml new.yaml";
    let (code, _, err) = gavel(&folder, args, "");
    let expected = "new.yaml: Thing/b is not in --old, so it is validated as a new object";
    assert!(err.contains(expected), "{err}");
    assert_eq!(code, 0);
}

#[test]
fn an_update_keeps_the_fields_that_the_api_server_sets() {
    let system = "metadata:\n  uid: u\n  creationTimestamp: 2024-01-01T00:00:00Z\n  generation: 3\n  resourceVersion: '12'\n";
    let written = thing("a", "  color: red\n");
    let folder = folder(&[
        ("old.yaml", &written.replace("metadata:\n", system)),
        ("new.yaml", &written),
    ]);
    let args = "--crd crd.yaml --old old.yaml new.yaml";
    let (code, out, _) = gavel(&folder, args, "");
    assert_eq!((code, out.as_str()), (0, ""));
}

#[test]
fn json_is_the_answer_of_an_api_server() {
    let folder = folder(&[]);
    let object = thing("a", "  color: green\n");
    let args = "--crd crd.yaml --output json -";
    let (code, out, _) = gavel(&folder, args, &object);
    let status: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(status["code"], 422);
    assert_eq!(status["reason"], "Invalid");
    assert_eq!(status["details"]["kind"], "Thing");
    assert_eq!(status["details"]["causes"][0]["field"], "spec.color");
    assert_eq!(
        status["details"]["causes"][0]["reason"],
        "FieldValueNotSupported"
    );
    let message = status["message"].as_str().unwrap();
    assert!(
        message.starts_with(
            "Thing.example.com \"a\" is invalid: [spec.color: Unsupported value: \"green\""
        ),
        "{message}"
    );
    assert_eq!(code, 1);
    assert_eq!(
        (&status["file"], &status["line"]),
        (&json!("stdin"), &json!(1))
    );
    let (code, out, _) = gavel(&folder, args, &thing("a", "  color: red\n"));
    assert!(out.contains("\"status\":\"Success\""), "{out}");
    assert_eq!(code, 0);
    let args = "--crd crd.yaml --output json --validate warn -";
    let (_, out, _) = gavel(&folder, args, &thing("a", "  colour: red\n"));
    let status: serde_json::Value = serde_json::from_str(&out).unwrap();
    let expected = json!(["unknown field \"spec.colour\""]);
    assert_eq!(status["warnings"], expected, "{out}");
}

#[test]
fn an_invalid_object_has_a_generated_name() {
    let object = thing("a", "  color: green\n").replace("name: a", "generateName: a-");
    let args = "--crd crd.yaml --output json -";
    let (_, out, _) = gavel(&folder(&[]), args, &object);
    let status: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(status["details"]["name"], "a-22222");
    let message = status["message"].as_str().unwrap();
    assert!(
        message.starts_with("Thing.example.com \"a-22222\" is invalid: "),
        "{message}"
    );
}

#[test]
fn unusable_inputs_are_reported_and_the_rest_is_validated() {
    let folder = folder(&[
        ("inner/a.yaml", &thing("a", "  replicas: 6\n")),
        ("inner/b.yaml", "a: [\n"),
        ("inner/c.yaml", "apiVersion: v1\nkind: Pod\n"),
    ]);
    let (code, out, err) = gavel(&folder, "--crd crd.yaml -R inner", "");
    assert_eq!(code, 2);
    assert_eq!(
        out,
        "inner/a.yaml:6:13: spec.replicas: Invalid value: too many\n"
    );
    assert!(err.contains("inner/b.yaml:1:4: "), "{err}");
    assert!(
        err.contains(
            "inner/c.yaml:1:1: no definition of v1 Pod was given; name it with --crd, or skip such objects with --ignore-missing-schemas\n"
        ),
        "{err}"
    );
    folder.write("inner/b.yaml", "image: {tag: v1}\n");
    let args = "--crd crd.yaml -R inner --ignore-missing-schemas";
    let (code, _, err) = gavel(&folder, args, "");
    assert_eq!(
        (code, &*err),
        (1, "1 object, 1 invalid, 2 without a definition\n")
    );
    folder.write("inner/a.yaml", "apiVersion: v1\nkind: Pod\n");
    let (code, _, err) = gavel(&folder, args, "");
    assert_eq!(code, 2);
    assert!(err.contains("nothing was validated"), "{err}");
}

#[test]
fn objects_have_versions_that_the_definition_serves() {
    let old =
        "{name: v1, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}";
    let definition = definition(SCHEMA).replace("name: v1", "name: v2");
    let definition = definition.replace("  versions:\n", &format!("  versions:\n  - {old}\n"));
    let folder = folder(&[("crd.yaml", &definition)]);
    let object = thing("a", "  color: red\n");
    for version in ["v1", "v3"] {
        let object = object.replace("/v1", &format!("/{version}"));
        let (code, out, _) = gavel(&folder, "--crd crd.yaml -", &object);
        let expected = format!(
            "-:1:13: no matches for kind \"Thing\" in version \"example.com/{version}\": the definition serves v2\n"
        );
        assert_eq!((code, out), (1, expected));
    }
    let (code, out, err) = gavel(&folder, "--crd crd.yaml -", &object.replace("/v1", "/v2"));
    assert_eq!(code, 0, "{out}{err}");
}

#[test]
fn a_second_definition_with_the_same_name_is_an_error() {
    let folder = folder(&[("other.yaml", &definition(SCHEMA))]);
    let args = "--crd crd.yaml --crd other.yaml -";
    let (code, out, err) = gavel(&folder, args, &thing("a", "  color: red\n"));
    let name = "CustomResourceDefinition \"things.example.com\"";
    let expected = format!("other.yaml:3:18: {name} is defined at crd.yaml:3:18 already\n");
    assert_eq!((code, out), (1, expected));
    assert_eq!(err, "1 object, 0 invalid; 1 definition invalid\n");
}

#[test]
fn rejected_definitions_are_reported_with_their_place() {
    let folder = folder(&[]);
    let schema = SCHEMA.replace("self.replicas <= 5", "self.replica <= 5");
    folder.write("crd.yaml", &definition(&schema));
    let args = "--crd crd.yaml -";
    let (code, out, _) = gavel(&folder, args, &thing("a", "  color: red\n"));
    assert!(
        out.contains("crd.yaml:19:25: spec.validation.openAPIV3Schema"),
        "{out}"
    );
    assert!(out.contains("undefined field 'replica'"), "{out}");
    assert_eq!(code, 1);
}
