//! `gavel validate`, run as a user runs it.
#![expect(clippy::unwrap_used, reason = "a test")]

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const DEFINITION: &str = r#"
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.com
spec:
  group: example.com
  names: {plural: things, kind: Thing}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
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
"#;

fn thing(name: &str, spec: &str) -> String {
    format!("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  name: {name}\nspec:\n{spec}")
}

/// A folder of files, which goes away with the value.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        std::fs::create_dir_all(folder.join("inner")).unwrap();
        std::fs::write(folder.join("crd.yaml"), DEFINITION).unwrap();
        for (name, text) in files {
            std::fs::write(folder.join(name), text).unwrap();
        }
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).ok();
    }
}

/// The exit status, standard output and standard error.
fn gavel(folder: &Folder, args: &[&str], stdin: &str) -> (Option<i32>, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gavel"))
        .arg("validate")
        .args(args)
        .current_dir(&folder.0)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(stdin.as_bytes())
        .unwrap();
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn each_problem_is_a_line_with_its_place() {
    let good = thing("a", "  color: red\n");
    let bad = thing("b", "  replicas: 7\n  size: 1\n");
    let folder = Folder::new("lines", &[("things.yaml", &format!("{good}---\n{bad}"))]);
    let (code, out, err) = gavel(&folder, &["--crd", "crd.yaml", "things.yaml"], "");
    assert_eq!(
        out,
        "things.yaml:14:9: unknown field \"spec.size\"\n\
         things.yaml:13:13: spec.replicas: Invalid value: too many\n"
    );
    assert_eq!((code, err.as_str()), (Some(1), "2 objects, 1 invalid\n"));
}

#[test]
fn an_old_object_makes_it_an_update() {
    let folder = Folder::new(
        "update",
        &[
            ("old.yaml", &thing("a", "  color: red\n  replicas: 9\n")),
            ("new.yaml", &thing("a", "  color: blue\n  replicas: 9\n")),
        ],
    );
    let args = ["--crd", "crd.yaml", "--old", "old.yaml", "new.yaml"];
    let (code, out, _) = gavel(&folder, &args, "");
    assert_eq!(
        out,
        "new.yaml:7:13: spec.replicas: Invalid value: too many\n\
         new.yaml:6:3: spec: Invalid value: color is immutable\n"
    );
    assert_eq!(code, Some(1));
    let args = ["--crd", "crd.yaml", "--old", "old.yaml", "old.yaml"];
    let (code, out, err) = gavel(&folder, &args, "");
    assert_eq!(
        (code, out.as_str()),
        (Some(0), ""),
        "what was there may stay"
    );
    assert!(err.contains("warning: "), "{err}");
}

#[test]
fn json_is_the_answer_of_an_api_server() {
    let folder = Folder::new("json", &[]);
    let object = thing("a", "  color: green\n");
    let args = ["--crd", "crd.yaml", "--output", "json", "-"];
    let (code, out, _) = gavel(&folder, &args, &object);
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
    assert_eq!(code, Some(1));
    let (code, out, _) = gavel(&folder, &args, &thing("a", "  color: red\n"));
    assert!(out.contains("\"status\":\"Success\""), "{out}");
    assert_eq!(code, Some(0));
}

#[test]
fn what_cannot_be_used_is_told_and_the_rest_is_validated() {
    let folder = Folder::new(
        "unusable",
        &[
            ("inner/a.yaml", &thing("a", "  replicas: 6\n")),
            ("inner/b.yaml", "a: [\n"),
            ("inner/c.yaml", "apiVersion: v1\nkind: Pod\n"),
        ],
    );
    let (code, out, err) = gavel(&folder, &["--crd", "crd.yaml", "-R", "inner"], "");
    assert_eq!(code, Some(2));
    assert_eq!(
        out,
        "inner/a.yaml:6:13: spec.replicas: Invalid value: too many\n"
    );
    assert!(err.contains("inner/b.yaml:1:4: "), "{err}");
    assert!(
        err.contains("inner/c.yaml:1:1: no definition of v1 Pod"),
        "{err}"
    );
}

#[test]
fn a_definition_that_would_be_refused_is_told_where() {
    let folder = Folder::new("refused", &[]);
    let definition = DEFINITION.replace("self.replicas <= 5", "self.replica <= 5");
    std::fs::write(folder.0.join("crd.yaml"), definition).unwrap();
    let args = ["--crd", "crd.yaml", "-"];
    let (code, out, _) = gavel(&folder, &args, &thing("a", "  color: red\n"));
    assert!(
        out.contains("crd.yaml:21:25: spec.validation.openAPIV3Schema"),
        "{out}"
    );
    assert!(out.contains("undefined field 'replica'"), "{out}");
    assert_eq!(code, Some(2));
}
