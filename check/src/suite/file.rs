//! This project's format of suites: `kind: PolicyTest`.

use std::collections::BTreeMap;

use gavel_engine::value::Json;
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Problem, nearest};
use serde::de::{DeserializeOwned, Deserializer, Error, Visitor, value};
use serde::{Deserialize, forward_to_deserialize_any};

use super::edit::KnownFields;
use super::fault::Fault;
use super::{Decision, Expected, Files, Question, Suite, Test, kind_of, name_of};
use crate::subject::Operation;
use crate::user::user;

/// The kind of this format.
const KIND: &str = "PolicyTest";
/// The version of this format.
const API_VERSION: &str = "gavel/v1";

pub(super) fn is_suite(document: &Json) -> bool {
    kind_of(document) == KIND
}

/// The contents of a suite's file, without the input that all tests share.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct TestFile {
    api_version: Option<String>,
    #[serde(rename = "kind")]
    _kind: String,
    #[serde(rename = "metadata", default)]
    _metadata: Json,
    /// Paths of files, or inline objects.
    #[serde(default)]
    given: Vec<Json>,
    tests: Vec<Json>,
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

/// A test, as the file contains it, without the fields of [`RowSubject`].
#[derive(Debug, Deserialize)]
struct Row {
    name: String,
    #[serde(default)]
    given: Vec<Json>,
    review: Option<Json>,
    /// The values that are set in the object, by path.
    #[serde(default)]
    set: BTreeMap<String, Json>,
    /// The paths of the values that are removed from the object.
    #[serde(default)]
    remove: Vec<String>,
    expect: Json,
}

/// The expectation of a test, as written.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
struct ExpectedFields {
    decision: Option<String>,
    message: Option<String>,
    warnings: Option<Vec<String>>,
    #[serde(default)]
    audit_annotations: BTreeMap<String, String>,
    object: Option<Json>,
    patch: Option<Json>,
}

/// Reads the tests of a file. The error lists all unknown keys; if there are none, the first problem of the file itself; if the file itself
/// has none, the first problem of each test.
pub(super) fn read(document: &Document, files: &dyn Files) -> Result<Suite, Vec<Problem>> {
    let value = document.value();
    let unknown = unknown_keys(document);
    if !unknown.is_empty() {
        return Err(unknown);
    }
    let problem = |field: &str, message: String| document.problem(rule::OBJECT, field, message);
    let of_fault = |fault: Fault| document.problem(fault.rule, &fault.field, fault.message);
    let whole = |(field, message): (String, String)| vec![problem(&field, message)];
    let file: TestFile = typed(value, "").map_err(whole)?;
    if let Some(other) = file.api_version.filter(|version| version != API_VERSION) {
        let message = format!("must be {API_VERSION}, but is {other:?}");
        return Err(whole(("apiVersion".to_owned(), message)));
    }
    let common: RowSubject = typed(value, "").map_err(whole)?;
    let given = given(&file.given, files).map_err(|fault| vec![of_fault(fault)])?;
    let shared = Shared {
        fields: KnownFields::new(&given),
        given,
        common,
    };
    let (mut suite, mut problems) = (Suite::default(), Vec::new());
    for (n, row) in file.tests.iter().enumerate() {
        match read_test(row, format!("tests[{n}]"), &shared, files) {
            Ok((test, warnings)) => {
                suite.tests.push(test);
                let warnings = warnings.into_iter().map(of_fault);
                suite.warnings.extend(warnings.map(Problem::as_warning));
            }
            Err(fault) => problems.push(of_fault(fault)),
        }
    }
    match problems.is_empty() {
        true => Ok(suite),
        false => Err(problems),
    }
}

/// What all tests of a file share.
struct Shared {
    given: Vec<Document>,
    common: RowSubject,
    fields: KnownFields,
}

/// Reads a test, and returns it with its warnings. The fields of problems are paths in the document.
fn read_test(
    value: &Json,
    field: String,
    shared: &Shared,
    files: &dyn Files,
) -> Result<(Test, Vec<Fault>), Fault> {
    let at_field = |(field, message): (String, String)| Fault {
        field,
        ..Fault::from(message)
    };
    let row: Row = typed(value, &field).map_err(at_field)?;
    let own: RowSubject = typed(value, &field).map_err(at_field)?;
    let expect = match &row.expect {
        Json::String(decision) => ExpectedFields {
            decision: Some(decision.clone()),
            ..ExpectedFields::default()
        },
        expect => typed(expect, &format!("{field}.expect")).map_err(at_field)?,
    };
    let name = row.name.clone();
    let named = |fault: Fault| Fault {
        field: match fault.field.as_str() {
            "" => field.clone(),
            within => format!("{field}.{within}"),
        },
        message: format!("test {name:?}: {}", fault.message),
        ..fault
    };
    match test(row, own, expect, shared, files) {
        Ok((test, warnings)) => {
            let warnings = warnings.into_iter().map(named).collect();
            Ok((
                Test {
                    field: field.clone(),
                    ..test
                },
                warnings,
            ))
        }
        Err(fault) => Err(named(fault)),
    }
}

/// Converts a value. The error is the path of a field, which begins with `field`, and the problem of the field.
fn typed<T: DeserializeOwned>(value: &Json, field: &str) -> Result<T, (String, String)> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let within = error.path().to_string();
        let field = match (field, within.as_str()) {
            (field, ".") => field.to_owned(),
            ("", within) => within.to_owned(),
            (field, within) => format!("{field}.{within}"),
        };
        (field, error.into_inner().to_string())
    })
}

/// A problem for each unknown key of the file, of its tests and of their expectations.
fn unknown_keys(document: &Document) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut check = |object: Option<&Json>, prefix: &str, known: &[&str]| {
        let found = object.and_then(Json::as_object).into_iter().flatten();
        for (key, _) in found.filter(|(key, _)| !known.contains(&key.as_str())) {
            let problem = document.unknown_field(&format!("{prefix}{key}"));
            let message = match nearest(key, known.iter().copied()) {
                Some(meant) => format!("{}; did you mean {meant}?", problem.message),
                None => problem.message.clone(),
            };
            problems.push(Problem { message, ..problem });
        }
    };
    let value = document.value();
    let shared = keys_of::<RowSubject>();
    check(Some(value), "", &[keys_of::<TestFile>(), shared].concat());
    let of_row = [keys_of::<Row>(), shared].concat();
    let tests = value.get("tests").and_then(Json::as_array);
    for (n, row) in tests.into_iter().flatten().enumerate() {
        check(Some(row), &format!("tests[{n}]."), &of_row);
        let expect = row.get("expect");
        let prefix = format!("tests[{n}].expect.");
        check(expect, &prefix, keys_of::<ExpectedFields>());
    }
    problems
}

/// The keys that serde reads into the fields of a struct.
fn keys_of<T: DeserializeOwned>() -> &'static [&'static str] {
    /// Receives the keys instead of a value.
    struct Keys<'k>(&'k mut &'static [&'static str]);

    impl<'de> Deserializer<'de> for Keys<'_> {
        type Error = value::Error;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, value::Error> {
            Err(value::Error::custom("there is no value"))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            keys: &'static [&'static str],
            visitor: V,
        ) -> Result<V::Value, value::Error> {
            *self.0 = keys;
            self.deserialize_any(visitor)
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct newtype_struct seq
            tuple tuple_struct map enum identifier ignored_any
        }
    }

    let mut keys: &'static [&'static str] = &[];
    // The keys are all that is wanted; there is never a value.
    let _ = T::deserialize(Keys(&mut keys));
    keys
}

fn given(listed: &[Json], files: &dyn Files) -> Result<Vec<Document>, Fault> {
    let mut given = Vec::new();
    for (n, item) in listed.iter().enumerate() {
        let fault = |message: String| Fault {
            field: format!("given[{n}]"),
            ..Fault::from(message)
        };
        match item {
            Json::String(path) => given.extend(files.objects(path).map_err(fault)?),
            Json::Object(_) => given.push(Document::from(item.clone())),
            _ => {
                let message = "must be the path of a file, or an object";
                return Err(fault(message.to_owned()));
            }
        }
    }
    Ok(given)
}

fn test(
    row: Row,
    own: RowSubject,
    expect: ExpectedFields,
    shared: &Shared,
    files: &dyn Files,
) -> Result<(Test, Vec<Fault>), Fault> {
    let Row {
        name,
        given: own_given,
        review,
        set: changes,
        remove,
        ..
    } = row;
    let common = &shared.common;
    let mut given = shared.given.clone();
    let own_given = self::given(&own_given, files)?;
    given.extend(own_given.iter().cloned());
    let mut warnings = Vec::new();
    let question = match review {
        Some(review) => {
            if own != RowSubject::default() || !changes.is_empty() || !remove.is_empty() {
                return Err(
                    "only name, given and expect may be set beside review, which is the whole request"
                        .to_owned()
                        .into(),
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
                None => return Err("needs an object or a review".to_owned().into()),
            };
            let own_fields = (!own_given.is_empty()).then(|| KnownFields::new(&given));
            let fields = own_fields.as_ref().unwrap_or(&shared.fields);
            warnings.extend(fields.edit(&mut object, changes, &remove)?);
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
    let test = Test {
        name,
        field: String::new(),
        given,
        policy: None,
        is_bare: false,
        param: None,
        question,
        expected: expectation(expect, files)?,
    };
    Ok((test, warnings))
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

fn expectation(expect: ExpectedFields, files: &dyn Files) -> Result<Expected, String> {
    let read = |name: &str| Decision::read(name).map_err(|error| format!("expect: {error}"));
    let object = expect.object.map(|object| resolved(&object, files));
    Ok(Expected {
        decision: expect.decision.as_deref().map(read).transpose()?,
        message: expect.message,
        warnings: expect.warnings,
        audit_annotations: expect.audit_annotations,
        object: object.transpose()?,
        patch: expect.patch,
    })
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
