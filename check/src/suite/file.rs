//! This project's format of suites: `kind: PolicyTest`.

use std::collections::BTreeMap;
use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_lint::Linter;
use gavel_manifest::problem::rule;
use gavel_manifest::{Document, Fields, Problem, Severity};
use gavel_policy::api::FieldValidation;
use gavel_state::as_built_in;

use super::edit::KnownFields;
use super::fault::Fault;
use super::{Decision, Expected, Files, Question, Suite, Test, given_objects};
use super::{kind_of, name_of, operation};
use crate::custom::{Key, KnownDefinitions};
use crate::role::Role;
use crate::subject::Operation;
use crate::user::user;

/// The kind of this format.
const KIND: &str = "PolicyTest";
/// The version of this format.
const API_VERSION: &str = "gavel/v1";

/// The group of this format; nothing else is of this group.
const GROUP: &str = "gavel/";

pub(super) fn is_suite(document: &Json) -> bool {
    let api_version = document.get("apiVersion").and_then(Json::as_str);
    kind_of(document) == KIND || api_version.is_some_and(|version| version.starts_with(GROUP))
}

/// The input of a test; the suite provides what a test omits.
#[derive(Debug, Default, PartialEq)]
struct RowSubject<'d> {
    object: Option<Json>,
    old_object: Option<Json>,
    operation: Option<Operation>,
    /// Whether only the status is updated, through its subresource.
    is_status: bool,
    namespace: Option<&'d str>,
    user: Option<&'d str>,
    groups: Option<Vec<String>>,
}

/// What all tests of a file share.
struct Shared<'d> {
    server: Server,
    given: Arc<[Document]>,
    definitions: Arc<KnownDefinitions>,
    common: RowSubject<'d>,
    fields: KnownFields,
    files: &'d dyn Files,
}

/// Reads the tests of a file. The error lists all problems, if not all of them are within tests.
pub(super) fn read(
    document: &Document,
    server: Server,
    files: &dyn Files,
) -> Result<Suite, Vec<Problem>> {
    let mut warnings = Vec::new();
    let ((tests, within_tests), problems) = Fields::read_with_problems(document, |fields| {
        fields.value("metadata");
        fields.required("kind");
        if let Some(other) = fields.text("kind").filter(|kind| *kind != KIND) {
            fields.problem("kind", format!("must be {KIND}, but is {other:?}"));
        }
        match fields.text("apiVersion") {
            None | Some(API_VERSION) => {}
            Some(other) => {
                let message = format!("must be {API_VERSION}, but is {other:?}");
                fields.problem("apiVersion", message);
            }
        }
        let given = given(fields, files);
        let shared = Shared {
            server,
            fields: KnownFields::new(&given, server),
            definitions: definitions(&given, server),
            given: given.into(),
            common: RowSubject::read(fields, files),
            files,
        };
        warnings.extend(shared.common.warnings(&shared.fields));
        fields.required("tests");
        let before = fields.problems();
        let tests = fields.objects("tests", |fields| test(fields, &shared, &mut warnings));
        (tests, fields.problems().saturating_sub(before))
    });
    let of_fault = |fault: Fault| document.problem(fault.rule, &fault.field, fault.message);
    let warnings = warnings.into_iter();
    let suite = Suite {
        tests,
        warnings: warnings.map(|fault| of_fault(fault).as_warning()).collect(),
        ..Suite::default()
    };
    suite.with_problems(problems, within_tests)
}

impl<'d> RowSubject<'d> {
    fn read(fields: &mut Fields<'d>, files: &dyn Files) -> Self {
        let operation = operation(fields, "; others need a review");
        let is_status = match fields.text("subresource") {
            Some("status") => true,
            None => false,
            Some(other) => {
                let message = format!("must be status, but is {other:?}; others need a review");
                fields.problem("subresource", message);
                false
            }
        };
        RowSubject {
            object: resolved(fields, "object", files),
            old_object: resolved(fields, "oldObject", files),
            operation,
            is_status,
            namespace: fields.text("namespace"),
            user: fields.text("user"),
            groups: fields.texts("groups"),
        }
    }

    /// Warns of the fields of the objects that their kinds do not have.
    fn warnings(&self, known: &KnownFields) -> Vec<Fault> {
        let objects = [("object", &self.object), ("oldObject", &self.old_object)];
        let objects = objects.into_iter();
        let warnings = objects.filter_map(|(key, object)| {
            let object = object.as_ref()?;
            Some(known.warnings(object, key))
        });
        warnings.flatten().collect()
    }
}

/// The objects that the field `given` lists: paths of files, or inline objects.
fn given(fields: &mut Fields<'_>, files: &dyn Files) -> Vec<Document> {
    let mut given = Vec::new();
    for (path, item) in fields.list("given") {
        let found = match item {
            Json::String(name) => given_objects(files, name),
            Json::Object(_) => {
                let object = fields.part(&path, item);
                if let Some(problem) = Linter::misspelled_group(&object) {
                    fields.add(problem);
                }
                Ok(vec![as_built_in(object)])
            }
            _ => Err("must be the path of a file, or an object".to_owned()),
        };
        match found {
            Ok(found) => given.extend(found),
            Err(message) => fields.problem_at(rule::OBJECT, &path, message),
        }
    }
    given
}

/// The CustomResourceDefinitions among the given objects.
fn definitions(given: &[Document], server: Server) -> Arc<KnownDefinitions> {
    let mut definitions = KnownDefinitions::default();
    for document in given {
        // Errors are ignored here, because a test reports the problems of its definitions.
        let _ = definitions.add(document, server, FieldValidation::Ignore);
    }
    definitions.into()
}

/// Reads a test, and adds its warnings. The fields of the warnings are paths in the document.
fn test(fields: &mut Fields<'_>, shared: &Shared<'_>, warnings: &mut Vec<Fault>) -> Test {
    fields.required("name");
    let name = fields.text("name").unwrap_or_default().to_owned();
    let own_given = given(fields, shared.files);
    let given = match own_given.is_empty() {
        true => Arc::clone(&shared.given),
        false => shared.given.iter().chain(&own_given).cloned().collect(),
    };
    let own_fields = (!own_given.is_empty()).then(|| KnownFields::new(&given, shared.server));
    let known = own_fields.as_ref().unwrap_or(&shared.fields);
    let has_definition = own_given
        .iter()
        .any(|each| Role::of(each.value()) == Role::Definition);
    let definitions = match has_definition {
        true => definitions(&given, shared.server),
        false => Arc::clone(&shared.definitions),
    };
    let set = fields.entries("set").into_iter();
    let set: BTreeMap<String, Json> = set
        .map(|(path, value)| (path.to_owned(), value.clone()))
        .collect();
    let is_in_status = |path: &String| path.split(['.', '[']).next() == Some("status");
    let sets_status = set.keys().any(is_in_status);
    let remove = fields.texts("remove").unwrap_or_default();
    let own = RowSubject::read(fields, shared.files);
    let review = resolved(fields, "review", shared.files);
    let question = match review {
        Some(review) => {
            if own != RowSubject::default() || !set.is_empty() || !remove.is_empty() {
                let message = format!(
                    "test {name:?}: only name, given and expect may be set beside review, which is the whole request"
                );
                fields.problem("", message);
            }
            Question::Review(review.get("request").cloned().unwrap_or(review))
        }
        None => {
            let common = &shared.common;
            let mut faults = own.warnings(known);
            let old = own.old_object.or_else(|| common.old_object.clone());
            let named = own.operation.or(common.operation);
            let deleted = old.as_ref().filter(|_| named == Some(Operation::Delete));
            let mut object = own
                .object
                .or_else(|| common.object.clone())
                .or_else(|| deleted.cloned())
                .unwrap_or_else(|| {
                    fields.problem("", format!("test {name:?}: needs an object or a review"));
                    Json::Null
                });
            faults.extend(known.edit(&mut object, set, &remove));
            for fault in faults {
                let fault = Fault {
                    field: fields.path_of(&fault.field),
                    message: format!("test {name:?}: {}", fault.message),
                    ..fault
                };
                match fault.severity {
                    Severity::Error => fields.problem_at(fault.rule, &fault.field, fault.message),
                    _ => warnings.push(fault),
                }
            }
            let operation = named.unwrap_or(match old {
                Some(_) => Operation::Update,
                None => Operation::Create,
            });
            if operation == Operation::Update && old.is_none() {
                let key = own.operation.map_or("", |_| "operation");
                let message = format!(
                    "test {name:?}: UPDATE needs an oldObject, which an API server always sends"
                );
                fields.problem(key, message);
            }
            let is_status = own.is_status || common.is_status;
            if is_status && operation != Operation::Update {
                let key = if own.is_status { "subresource" } else { "" };
                let message = format!(
                    "test {name:?}: the subresource status can only be updated, which needs an oldObject"
                );
                fields.problem(key, message);
            }
            let is_dropped = sets_status && !is_status && operation != Operation::Delete;
            if let (true, Ok(key)) = (is_dropped, Key::of(&object))
                && (definitions.find(&key)).is_some_and(|known| known.has_status(key.version()))
            {
                warnings.push(Fault {
                    rule: rule::OBJECT,
                    severity: Severity::Warning,
                    field: fields.path_of("set"),
                    message: format!(
                        "test {name:?}: an API server ignores the status, except in updates with `subresource: status`"
                    ),
                });
            }
            let user_name = own.user.or(common.user).unwrap_or("kubernetes-admin");
            let groups = own.groups.as_ref().or(common.groups.as_ref());
            Question::Subject {
                operation,
                object,
                old,
                is_status,
                namespace: own
                    .namespace
                    .or(common.namespace)
                    .unwrap_or("default")
                    .to_owned(),
                user: Box::new(user(
                    user_name,
                    groups.map(Vec::as_slice).unwrap_or_default(),
                )),
            }
        }
    };
    let expected = expected(fields, shared.files);
    let key = question.object().map(Key::of);
    if let (true, Some(Ok(key))) = (expected.stored.is_some(), key)
        && definitions.find(&key).is_none()
    {
        let field = fields.path_of("expect.stored");
        let message =
            format!("test {name:?}: needs the CustomResourceDefinition of {key} in given");
        fields.problem_at(rule::OBJECT, &field, message);
    }
    Test {
        name,
        field: fields.path().to_owned(),
        given,
        definitions,
        policy: None,
        is_bare: false,
        param: None,
        question,
        expected,
    }
}

/// Reads the field `expect`: a decision, or an object.
fn expected(fields: &mut Fields<'_>, files: &dyn Files) -> Expected {
    let decision =
        |fields: &mut Fields<'_>, key: &'static str| match Decision::read(fields.text(key)?) {
            Ok(decision) => Some(decision),
            Err(message) => {
                fields.problem(key, message);
                None
            }
        };
    if let Some(Json::String(_)) = fields.required("expect") {
        return Expected {
            decision: decision(fields, "expect"),
            ..Expected::default()
        };
    }
    let before = fields.problems();
    let expected = fields.object("expect", |fields| {
        let mut annotations = BTreeMap::new();
        for (key, value) in fields.entries("auditAnnotations") {
            match value {
                // A policy's annotation has the key `POLICY/KEY`, and the keys of all other annotations have a slash too.
                Json::String(_) if !key.contains('/') => fields.problem(
                    &format!("auditAnnotations.{key}"),
                    "the key must be POLICY/KEY, such as replicas/count",
                ),
                Json::String(value) => {
                    annotations.insert(key.to_owned(), value.clone());
                }
                _ => fields.problem(&format!("auditAnnotations.{key}"), "must be a string"),
            }
        }
        Expected {
            decision: decision(fields, "decision"),
            excludes_errors: false,
            message: (fields.text("message").filter(|part| !part.is_empty())).map(str::to_owned),
            warnings: fields.texts("warnings"),
            audit_annotations: annotations,
            object: resolved(fields, "object", files),
            stored: resolved(fields, "stored", files),
            patch: fields.value("patch").cloned(),
        }
    });
    if expected == Some(Expected::default()) && fields.problems() == before {
        let message =
            "must have decision, message, warnings, auditAnnotations, object, stored or patch";
        fields.problem("expect", message);
    }
    expected.unwrap_or_default()
}

/// The object in a field, which is given inline or in a file; `None` if the field is absent. An object that cannot be read is a problem, and
/// null is returned.
fn resolved(fields: &mut Fields<'_>, key: &'static str, files: &dyn Files) -> Option<Json> {
    let found = find(fields.value(key)?, files);
    Some(found.unwrap_or_else(|message| {
        fields.problem(key, message);
        Json::Null
    }))
}

/// An object that is given inline, or in a file: `pods.yaml`, `pods.yaml#web` or `pods.yaml#Pod/web`.
fn find(object: &Json, files: &dyn Files) -> Result<Json, String> {
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
