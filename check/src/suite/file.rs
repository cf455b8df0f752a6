//! This project's format of suites: `kind: PolicyTest`.

use std::collections::BTreeMap;

use gavel_engine::value::Json;
use gavel_manifest::Document;
use serde::Deserialize;

use super::{Decision, Expected, Files, Question, Test, kind_of, name_of, set};
use crate::subject::Operation;
use crate::user::user;

/// The kind of this format.
const KIND: &str = "PolicyTest";

pub(super) fn is_suite(document: &Json) -> bool {
    kind_of(document) == KIND
}

/// The contents of a suite's file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TestFile {
    #[serde(rename = "apiVersion", default)]
    _api_version: String,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(rename = "metadata", default)]
    _metadata: Json,
    /// Paths of files, or inline objects.
    #[serde(default)]
    given: Vec<Json>,
    #[serde(flatten)]
    common: RowSubject,
    tests: Vec<Row>,
}

/// The input of a test; the suite provides what a test omits.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct RowSubject {
    object: Option<Json>,
    old_object: Option<Json>,
    operation: Option<String>,
    namespace: Option<String>,
    user: Option<String>,
    groups: Option<Vec<String>>,
}

/// A test, as the file contains it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Row {
    name: String,
    #[serde(default)]
    given: Vec<Json>,
    #[serde(flatten)]
    own: RowSubject,
    review: Option<Json>,
    /// The values that are set in the object, by path.
    #[serde(default)]
    set: BTreeMap<String, Json>,
    /// The paths of the values that are removed from the object.
    #[serde(default)]
    remove: Vec<String>,
    expect: Expectation,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Expectation {
    Decision(String),
    All(Box<ExpectedFields>),
}

/// The expectation of a test, as written.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ExpectedFields {
    decision: Option<String>,
    message: Option<String>,
    warnings: Option<Vec<String>>,
    #[serde(default)]
    audit_annotations: BTreeMap<String, String>,
    object: Option<Json>,
    patch: Option<Json>,
}

pub(super) fn read(document: &Json, files: &dyn Files) -> Result<Vec<Test>, String> {
    let file = TestFile::deserialize(document).map_err(|error| error.to_string())?;
    let given = given(&file.given, files)?;
    let mut tests = Vec::new();
    for (n, row) in file.tests.into_iter().enumerate() {
        let name = row.name.clone();
        let test = test(row, &given, &file.common, files);
        let test = test.map_err(|error| format!("test {name:?}: {error}"))?;
        tests.push(Test {
            field: format!("tests[{n}]"),
            ..test
        });
    }
    Ok(tests)
}

fn given(listed: &[Json], files: &dyn Files) -> Result<Vec<Document>, String> {
    let mut given = Vec::new();
    for item in listed {
        match item {
            Json::String(path) => given.extend(files.objects(path)?),
            Json::Object(_) => given.push(Document::from(item.clone())),
            _ => return Err("given: must list paths of files and objects".to_owned()),
        }
    }
    Ok(given)
}

fn test(
    row: Row,
    shared: &[Document],
    common: &RowSubject,
    files: &dyn Files,
) -> Result<Test, String> {
    let Row {
        name,
        given: own_given,
        own,
        review,
        set: changes,
        remove,
        expect,
    } = row;
    let mut given = shared.to_vec();
    given.extend(self::given(&own_given, files)?);
    let question = match review {
        Some(review) => {
            if own != RowSubject::default() || !changes.is_empty() || !remove.is_empty() {
                return Err(
                    "only name, given and expect may be set beside review, which is the whole request"
                        .to_owned(),
                );
            }
            let review = resolved(&review, files)?;
            Question::Review(review.get("request").cloned().unwrap_or(review))
        }
        None => {
            let object = own.object.as_ref().or(common.object.as_ref());
            let old = own.old_object.as_ref().or(common.old_object.as_ref());
            let old = old.map(|old| resolved(old, files)).transpose()?;
            let mut object = match object {
                Some(object) => resolved(object, files)?,
                None => return Err("needs an object or a review".to_owned()),
            };
            for (path, value) in changes {
                set::set(&mut object, &path, value)?;
            }
            for path in remove {
                set::remove(&mut object, &path)?;
            }
            let operation = own.operation.as_ref().or(common.operation.as_ref());
            let name = own.user.as_ref().or(common.user.as_ref());
            let groups = own.groups.as_ref().or(common.groups.as_ref());
            let namespace = own.namespace.as_ref().or(common.namespace.as_ref());
            let name = name.map_or("kubernetes-admin", String::as_str);
            Question::Subject {
                operation: read_operation(operation.map(String::as_str), old.is_some())?,
                object,
                old,
                namespace: namespace.map_or("default", String::as_str).to_owned(),
                user: Box::new(user(name, groups.map(Vec::as_slice).unwrap_or_default())),
            }
        }
    };
    Ok(Test {
        name,
        field: String::new(),
        given,
        policy: None,
        is_bare: false,
        param: None,
        question,
        expected: expectation(expect, files)?,
    })
}

fn read_operation(name: Option<&str>, has_old: bool) -> Result<Operation, String> {
    match name {
        Some("CREATE") => Ok(Operation::Create),
        Some("UPDATE") => Ok(Operation::Update),
        Some("DELETE") => Ok(Operation::Delete),
        None if has_old => Ok(Operation::Update),
        None => Ok(Operation::Create),
        Some(other) => Err(format!(
            "operation: must be CREATE, UPDATE or DELETE, but is {other:?}; others need a review"
        )),
    }
}

fn expectation(expect: Expectation, files: &dyn Files) -> Result<Expected, String> {
    let read = |name: &str| Decision::read(name).map_err(|error| format!("expect: {error}"));
    match expect {
        Expectation::Decision(name) => Ok(Expected {
            decision: Some(read(&name)?),
            ..Expected::default()
        }),
        Expectation::All(all) => Ok(Expected {
            decision: all.decision.as_deref().map(read).transpose()?,
            message: all.message,
            warnings: all.warnings,
            audit_annotations: all.audit_annotations,
            object: all
                .object
                .map(|object| resolved(&object, files))
                .transpose()?,
            patch: all.patch,
        }),
    }
}

/// An object that is given inline, or in a file: `pods.yaml`, `pods.yaml#web` or `pods.yaml#Pod/web`.
fn resolved(object: &Json, files: &dyn Files) -> Result<Json, String> {
    let path = match object {
        Json::Object(_) => return Ok(object.clone()),
        Json::String(path) => path,
        _ => return Err("must be an object, or the path of a file".to_owned()),
    };
    let (path, wanted) = match path.split_once('#') {
        Some((path, wanted)) => (path, Some(wanted)),
        None => (path.as_str(), None),
    };
    let is_wanted = |object: &Document| match wanted.map(|wanted| wanted.split_once('/')) {
        None => true,
        Some(None) => Some(name_of(object.value())) == wanted,
        Some(Some((kind, name))) => {
            kind_of(object.value()) == kind && name_of(object.value()) == name
        }
    };
    let mut found = files.objects(path)?.into_iter().filter(is_wanted);
    match (found.next(), found.next()) {
        (Some(object), None) => Ok(object.into_value()),
        (None, _) => Err(format!(
            "{path} has no object {}",
            wanted.unwrap_or_default()
        )),
        (Some(_), Some(_)) => Err(format!(
            "{path} has several objects: name one as {path}#NAME"
        )),
    }
}
