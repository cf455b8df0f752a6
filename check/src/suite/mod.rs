//! Tests of policies: the given objects, the input, and the expected results.

use std::collections::BTreeMap;
use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_libraries::authorizer::UserInfo;
use gavel_lint::Linter;
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Fields, Problem};
use gavel_state::as_built_in;

use crate::custom::KnownDefinitions;
use crate::role::{Role, kind_of, metadata, name_of};
use crate::subject::Operation;

mod difference;
mod edit;
mod fault;
mod file;
mod kaptest;
mod kyverno;
mod run;
mod set;
mod validated;

pub use difference::Difference;
pub use run::Report;
pub use validated::Validated;

/// Reads the files that a suite names.
pub trait Files {
    /// Returns the objects of the file or folder at `path`, which is relative to the suite.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    fn objects(&self, path: &str) -> Result<Vec<Document>, String>;
}

/// The tests of a file.
#[derive(Debug, Default)]
pub struct Suite {
    /// The tests, in order.
    pub tests: Vec<Test>,
    /// Probable mistakes in tests that still run.
    pub warnings: Vec<Problem>,
    /// The problems of the tests that cannot run, and that `tests` therefore lacks.
    pub problems: Vec<Problem>,
    /// The tests of policies that Gavel does not evaluate.
    pub skipped: Vec<Skipped>,
}

/// A test of a policy that Gavel does not evaluate.
#[derive(Debug, Clone)]
pub struct Skipped {
    /// The name.
    pub name: String,
    /// The path of the test within the suite's document.
    pub field: String,
    /// Why the policy is not evaluated.
    pub reason: String,
}

/// A test.
#[derive(Debug, Clone)]
pub struct Test {
    /// The name.
    pub name: String,
    /// The path of the test within the suite's document.
    pub field: String,
    /// The given objects: policies, bindings, params, namespaces, roles and definitions. Tests of a file share them.
    pub given: Arc<[Document]>,
    /// The definitions by which custom resources are validated.
    pub definitions: Arc<KnownDefinitions>,
    /// The only policy that is used; `None` means all.
    pub policy: Option<String>,
    /// Whether the test evaluates the policy as kaptest does: without its bindings, validating policies without their constraints, and even
    /// if an API server would reject the policy. Failed expressions deny, whatever the `failurePolicy`, and the expected decision must be the
    /// actual one: `deny` does not include `error`.
    pub is_bare: bool,
    /// The namespace and name of the param; used only if `is_bare`.
    pub param: Option<(String, String)>,
    /// The input of the test.
    pub question: Question,
    /// The expected results.
    pub expected: Expected,
}

/// The input of a test.
#[derive(Debug, Clone)]
pub enum Question {
    /// The `request` of an AdmissionReview.
    Review(Json),
    /// An object that is created, updated or deleted.
    Subject {
        /// The operation.
        operation: Operation,
        /// The object; for a deletion, the deleted object.
        object: Json,
        /// The object before the update.
        old: Option<Json>,
        /// Whether only the status is updated, through its subresource.
        is_status: bool,
        /// The namespace of objects that do not name one.
        namespace: String,
        /// The user of the request.
        user: Box<UserInfo>,
    },
    /// An object of the test is not given, for this reason. The test fails.
    Missing(String),
}

impl Question {
    /// The object of the request.
    pub(crate) fn object(&self) -> Option<&Json> {
        match self {
            Question::Review(request) => request.get("object"),
            Question::Subject { object, .. } => Some(object),
            Question::Missing(_) => None,
        }
    }
}

/// The expected results of a test; absent ones are not compared.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    /// The decision about the request.
    pub decision: Option<Decision>,
    /// Whether the decision `deny` excludes `error`.
    pub excludes_errors: bool,
    /// A text that the message of a policy contains.
    pub message: Option<String>,
    /// Texts that the warnings contain, in order: one text for each warning.
    pub warnings: Option<Vec<String>>,
    /// The audit annotations, by key.
    pub audit_annotations: BTreeMap<String, String>,
    /// The object after mutation.
    pub object: Option<Json>,
    /// The custom resource as an API server stores it.
    pub stored: Option<Json>,
    /// The JSON patch from the object before mutation to the object after it.
    pub patch: Option<Json>,
}

/// A decision about a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// The request is admitted.
    Allow,
    /// A validation is false, and the request is denied.
    Deny,
    /// An expression fails, and the request is denied because of it.
    Error,
    /// No policy was evaluated: none matches the request, or match conditions are false.
    Skip,
}

impl Decision {
    /// The name in suites.
    pub fn name(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Deny => "deny",
            Decision::Error => "error",
            Decision::Skip => "skip",
        }
    }

    fn read(name: &str) -> Result<Self, String> {
        match name {
            "allow" | "admit" => Ok(Decision::Allow),
            "deny" => Ok(Decision::Deny),
            "error" => Ok(Decision::Error),
            "skip" => Ok(Decision::Skip),
            other => Err(format!(
                "must be allow, deny, error or skip, but is {other:?}"
            )),
        }
    }
}

impl Suite {
    /// Whether a document is a suite in the format of Gavel, of kaptest or of `kyverno test`.
    pub fn is_suite(document: &Json) -> bool {
        file::is_suite(document) || kaptest::is_suite(document) || kyverno::is_suite(document)
    }

    /// Reads the tests of a suite. The paths of `set` and `remove` must name fields of the kinds that this API server has.
    ///
    /// # Errors
    ///
    /// The document is not a suite, or names a file that cannot be read. The error lists all problems, unless all of them are within tests.
    pub fn read(
        document: &Document,
        server: Server,
        files: &dyn Files,
    ) -> Result<Self, Vec<Problem>> {
        let value = document.value();
        if kaptest::is_suite(value) {
            kaptest::read(document, files)
        } else if kyverno::is_suite(value) {
            kyverno::read(document, files)
        } else {
            file::read(document, server, files)
        }
    }

    /// The suite, with its problems; `within_tests` is the number of those that are within tests.
    fn with_problems(
        self,
        problems: Vec<Problem>,
        within_tests: usize,
    ) -> Result<Self, Vec<Problem>> {
        match problems.len() > within_tests {
            true => Err(problems),
            false => Ok(Suite { problems, ..self }),
        }
    }
}

/// The policies among objects, without their bindings.
fn policies(objects: &[Document]) -> impl Iterator<Item = &Document> {
    objects.iter().filter(|each| {
        let object = each.value();
        Role::of(object) == Role::Policy && !kind_of(object).ends_with("Binding")
    })
}

/// The objects that the files at a path give to tests.
fn given_objects(files: &dyn Files, path: &str) -> Result<Vec<Document>, String> {
    let objects = files.objects(path)?;
    let misspelled = objects.iter().filter_map(Linter::misspelled_group);
    let misspelled: Vec<String> = misspelled.map(|problem| problem.to_string()).collect();
    match misspelled.is_empty() {
        true => Ok(objects.into_iter().map(as_built_in).collect()),
        false => Err(misspelled.join("\n")),
    }
}

/// The operation in the field `operation`; `help` follows the message about any other value.
fn operation(fields: &mut Fields<'_>, help: &str) -> Option<Operation> {
    match fields.text("operation")? {
        "CREATE" => Some(Operation::Create),
        "UPDATE" => Some(Operation::Update),
        "DELETE" => Some(Operation::Delete),
        other => {
            let message = format!("must be CREATE, UPDATE or DELETE, but is {other:?}{help}");
            fields.problem("operation", message);
            None
        }
    }
}

/// The objects of the files that the field `key` lists.
fn listed_objects(fields: &mut Fields<'_>, key: &'static str, files: &dyn Files) -> Vec<Document> {
    let mut objects = Vec::new();
    for (path, item) in fields.list(key) {
        let found = match item {
            Json::String(name) if name.contains("://") => {
                Err("must be the path of a file: Gavel does not read URLs".to_owned())
            }
            Json::String(name) => given_objects(files, name),
            _ => Err("must be the path of a file".to_owned()),
        };
        match found {
            Ok(found) => objects.extend(found),
            Err(message) => fields.problem_at(rule::OBJECT, &path, message),
        }
    }
    objects
}
