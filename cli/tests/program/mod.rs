//! Runs the program as a user does, in a folder of files. Several tests share this module.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// Runs the program with arguments that are separated by spaces. Returns the exit status, standard output and standard error.
pub(crate) fn gavel(folder: &Path, arguments: &str, input: &str) -> (i32, String, String) {
    let arguments: Vec<&str> = arguments.split_whitespace().collect();
    run(folder, &arguments, input)
}

/// Like [`gavel`], for arguments that contain spaces.
pub(crate) fn run(folder: &Path, arguments: &[&str], input: &str) -> (i32, String, String) {
    let mut child = Command::new(env!("CARGO_BIN_EXE_gavel"))
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The write fails if the command does not read its input.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (
        output.status.code().unwrap(),
        text(output.stdout),
        text(output.stderr),
    )
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// A folder that is removed at the end of the test.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!(
            "gavel-{}-{}",
            std::process::id(),
            COUNT.fetch_add(1, Ordering::Relaxed)
        );
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Adds a file.
    pub(crate) fn with(self, name: &str, text: &str) -> Self {
        self.write(name, text);
        self
    }

    /// Adds copies of files of `testdata`.
    pub(crate) fn with_copies(self, files: &[&str]) -> Self {
        for file in files {
            let name = file.rsplit('/').next().unwrap();
            self.write(
                name,
                &std::fs::read_to_string(root().join("testdata").join(file)).unwrap(),
            );
        }
        self
    }

    /// Runs the program in this folder, without input. Returns the exit status, standard output and standard error.
    pub(crate) fn gavel(&self, arguments: &str) -> (i32, String, String) {
        gavel(&self.0, arguments, "")
    }

    /// Replaces a file atomically, by renaming a new file.
    pub(crate) fn write(&self, name: &str, text: &str) {
        let file = self.0.join(name);
        let folder = file.parent().unwrap();
        std::fs::create_dir_all(folder).unwrap();
        let new = folder.join(".new");
        std::fs::write(&new, text).unwrap();
        std::fs::rename(new, file).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn text(&self) -> &str {
        self.0.to_str().unwrap()
    }

    pub(crate) fn file(&self, name: &str) -> String {
        self.0.join(name).to_str().unwrap().to_owned()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A CustomResourceDefinition of the kind Thing with one version. `schema` is YAML, and begins at line 14 of the definition.
pub(crate) fn definition(schema: &str) -> String {
    format!(
        "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: things.example.com}}
spec:
  group: example.com
  names: {{plural: things, kind: Thing}}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
{schema}"
    )
}

/// A mutating policy and its binding. The policy applies `configuration` to created objects of the core group and the group `apps`.
pub(crate) fn mutating_policy(name: &str, resource: &str, configuration: &str) -> String {
    format!(
        "\
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {{name: {name}}}
spec:
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules:
    - apiGroups: ['', apps]
      apiVersions: [v1]
      operations: [CREATE]
      resources: [{resource}]
  mutations:
  - patchType: ApplyConfiguration
    applyConfiguration:
      expression: {configuration:?}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {{name: {name}}}
spec: {{policyName: {name}}}
"
    )
}
