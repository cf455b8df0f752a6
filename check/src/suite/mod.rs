//! Tests of policies: what is given, what is asked, what is expected.

use std::collections::BTreeMap;

use gavel_engine::value::Json;
use gavel_libraries::authorizer::UserInfo;
use gavel_manifest::Document;

use crate::subject::Operation;

mod difference;
mod file;
mod kaptest;
mod kyverno;
mod run;
mod set;

pub use difference::Difference;
pub use run::Report;

/// Where a suite finds the files that it names.
pub trait Files {
    /// The objects of a file, or of the files of a folder, by its path from the suite's.
    ///
    /// # Errors
    ///
    /// What cannot be read, and why.
    fn objects(&self, path: &str) -> Result<Vec<Document>, String>;
}

/// The tests of a file.
#[derive(Debug, Default)]
pub struct Suite {
    /// The tests, in order.
    pub tests: Vec<Test>,
}

/// A test.
#[derive(Debug, Clone)]
pub struct Test {
    /// The name.
    pub name: String,
    /// The path of the test in the document of its suite.
    pub field: String,
    /// Policies, bindings, params, namespaces, roles and definitions.
    pub given: Vec<Document>,
    /// The only policy that counts; none: all do.
    pub policy: Option<String>,
    /// Whether the policies count as such: asked about every request, bound to deny, and used also where an API server would
    /// refuse them.
    pub is_bare: bool,
    /// The namespace and name of the param; only where `is_bare`.
    pub param: Option<(String, String)>,
    /// What is asked.
    pub question: Question,
    /// What is expected.
    pub expected: Expected,
}

/// What is asked of policies.
#[derive(Debug, Clone)]
pub enum Question {
    /// The `request` of an AdmissionReview.
    Review(Json),
    /// About an object.
    Subject {
        /// What is done with it.
        operation: Operation,
        /// The object.
        object: Json,
        /// The object before the update.
        old: Option<Json>,
        /// The namespace of objects that name none.
        namespace: String,
        /// Who asks.
        user: Box<UserInfo>,
    },
}

/// What a test expects; of what is absent it expects nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    /// What becomes of the request.
    pub decision: Option<Decision>,
    /// A part of what a policy says.
    pub message: Option<String>,
    /// Parts of the warnings, in order; there are as many.
    pub warnings: Option<Vec<String>>,
    /// The audit annotations with these keys.
    pub audit_annotations: BTreeMap<String, String>,
    /// The object after mutation.
    pub object: Option<Json>,
    /// The JSON patch that makes the object after mutation of the one before.
    pub patch: Option<Json>,
}

/// What becomes of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// It is admitted.
    Allow,
    /// A validation is false, and the request is denied.
    Deny,
    /// An expression fails, and the request is denied for it.
    Error,
    /// No policy is asked: none is about the request, or the match conditions do not hold.
    Skip,
}

impl Decision {
    /// As suites name it.
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
    /// Whether a document is a suite: of this project's format, of kaptest's or of `kyverno test`'s.
    pub fn is_suite(document: &Json) -> bool {
        file::is_suite(document) || kaptest::is_suite(document) || kyverno::is_suite(document)
    }

    /// Reads the tests of a suite.
    ///
    /// # Errors
    ///
    /// What is no suite, or names what cannot be read; with its place where it has one.
    pub fn read(document: &Document, files: &dyn Files) -> Result<Self, String> {
        let value = document.value();
        let tests = if kaptest::is_suite(value) {
            kaptest::read(value, files)
        } else if kyverno::is_suite(value) {
            kyverno::read(value, files)
        } else {
            file::read(value, files)
        };
        tests.map(|tests| Suite { tests })
    }
}

/// The name of an object; empty where it has none.
fn name_of(object: &Json) -> &str {
    metadata(object, "name")
}

/// A text of the metadata; empty where there is none.
fn metadata<'o>(object: &'o Json, key: &str) -> &'o str {
    let metadata = object.get("metadata");
    let found = metadata.and_then(|metadata| metadata.get(key));
    found.and_then(Json::as_str).unwrap_or_default()
}

/// The kind of an object; empty where it has none.
fn kind_of(object: &Json) -> &str {
    object
        .get("kind")
        .and_then(Json::as_str)
        .unwrap_or_default()
}

/// The objects of several files.
fn all_objects(files: &dyn Files, paths: &[String]) -> Result<Vec<Document>, String> {
    let mut objects = Vec::new();
    for path in paths {
        objects.extend(files.objects(path)?);
    }
    Ok(objects)
}
