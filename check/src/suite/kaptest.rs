//! The test files of kaptest (github.com/pfnet/kaptest, `internal/tester`), which test policies without bindings: those of its version 0.1,
//! and those of version 0.2, which can also test mutating policies.

use std::sync::Arc;

use gavel_engine::value::Json;
use gavel_libraries::authorizer::UserInfo;
use gavel_manifest::{Document, Fields, Problem};
use gavel_policy::GroupVersionKind;

use super::{Decision, Expected, Files, Question, Suite, Test};
use super::{kind_of, listed_objects, metadata, name_of};
use crate::kinds::Kinds;
use crate::role::Role;
use crate::subject::Operation;
use crate::user::user;

/// The version of the format of version 0.2.
const VERSION: &str = "v1alpha1";

const VALIDATING: &str = "ValidatingAdmissionPolicy";
const MUTATING: &str = "MutatingAdmissionPolicy";

pub(super) fn is_suite(document: &Json) -> bool {
    let has = |key: &str| document.get(key).is_some();
    is_second_format(document) || has("validatingAdmissionPolicies") && has("testSuites")
}

/// Whether the file has the format of version 0.2.
fn is_second_format(document: &Json) -> bool {
    ["vapTestSuites", "mapTestSuites"]
        .iter()
        .any(|key| document.get(key).is_some())
}

/// What all tests of a file share.
struct Shared {
    policies: Vec<Document>,
    /// The objects that tests name, and the definitions of their kinds.
    resources: Vec<Document>,
    kinds: Kinds,
}

/// The name of an object in a test.
#[derive(Default)]
struct Named<'d> {
    group: &'d str,
    version: &'d str,
    kind: &'d str,
    namespace: &'d str,
    name: &'d str,
}

/// Reads the tests of a file.
pub(super) fn read(document: &Document, files: &dyn Files) -> Result<Suite, Vec<Problem>> {
    let mut tests = Vec::new();
    let (within_tests, problems) = Fields::read_with_problems(document, |fields| {
        let is_second = is_second_format(document.value());
        let policies = match is_second {
            true => "policies",
            false => "validatingAdmissionPolicies",
        };
        fields.required(policies);
        let policies = listed_objects(fields, policies, files);
        let mut resources = listed_objects(fields, "resources", files);
        if is_second {
            if let Some(other) = fields.text("version").filter(|other| *other != VERSION) {
                fields.problem("version", format!("must be {VERSION}, but is {other:?}"));
            }
            resources.extend(listed_objects(fields, "crds", files));
            // With these fields, kaptest validates the resources.
            fields.value("schemaLocations");
            fields.value("skipSchemaValidation");
        }
        resources.retain(|each| Role::of(each.value()) != Role::Policy);
        let mut kinds = Kinds::default();
        resources.iter().for_each(|each| kinds.define(each.value()));
        let shared = Shared {
            policies,
            resources,
            kinds,
        };
        let before = fields.problems();
        let suites: &[_] = match is_second {
            true => &[("vapTestSuites", VALIDATING), ("mapTestSuites", MUTATING)],
            false => &[("testSuites", VALIDATING)],
        };
        for (key, kind) in suites {
            fields.objects(key, |fields| {
                fields.required("policy");
                fields.required("tests");
                let policy = fields.text("policy").unwrap_or_default();
                let read = |fields: &mut Fields<'_>| shared.test(fields, kind, policy);
                tests.extend(fields.objects("tests", read));
            });
        }
        fields.problems().saturating_sub(before)
    });
    let suite = Suite {
        tests,
        ..Suite::default()
    };
    suite.with_problems(problems, within_tests)
}

impl Shared {
    fn test(&self, fields: &mut Fields<'_>, kind: &str, policy: &str) -> Test {
        let is_mutating = kind == MUTATING;
        let object = Named::read(fields, "object");
        let old = Named::read(fields, "oldObject");
        let param = fields.object("param", |fields| {
            fields.required("name");
            Named {
                namespace: fields.text("namespace").unwrap_or_default(),
                name: fields.text("name").unwrap_or_default(),
                ..Named::default()
            }
        });
        let user_info = fields.object("userInfo", read_user);
        fields.required("expect");
        let expect = fields.text("expect").unwrap_or_default();
        let decision = decision(fields, expect, is_mutating);
        let operation = match (&object, &old) {
            (Some(_), None) => Operation::Create,
            (Some(_), Some(_)) => Operation::Update,
            (None, _) => Operation::Delete,
        };
        let subject = object.as_ref().or(old.as_ref());
        if subject.is_none() {
            fields.problem("", "object or oldObject must be set");
        }
        let subject = subject.map_or(String::new(), |each| format!("{} {}", each.kind, each.name));
        let mut expected = Expected {
            decision,
            ..Expected::default()
        };
        let found = match is_mutating {
            true => self.mutated(fields, decision, object.as_ref(), &mut expected),
            false => {
                let message = fields.text("deniedMessage").map(str::to_owned);
                expected.message = message.filter(|_| decision == Some(Decision::Deny));
                Ok(())
            }
        };
        let tested = (self.policies.iter().map(Document::value))
            .find(|each| kind_of(each) == kind && name_of(each) == policy);
        let found = found.and_then(|()| {
            let tested = tested.ok_or_else(|| format!("the {kind} {policy:?} is not given"))?;
            let param = self.param(tested, param)?;
            let [object, old] = [object, old].map(|named| named.map(|named| self.find(&named)));
            let (object, old) = (object.transpose()?, old.transpose()?);
            let namespaces = [object, old].map(|each| each.map(|each| metadata(each, "namespace")));
            if let [Some(new), Some(old)] = namespaces
                && new != old
            {
                return Err("object and oldObject must have the same namespace".to_owned());
            }
            Ok((param, object, old))
        });
        let (param, question) = match found {
            Ok((param, object, old)) => {
                let (object, old) = match object {
                    Some(object) => (object, old),
                    None => (old.unwrap_or(&Json::Null), None),
                };
                let question = Question::Subject {
                    operation,
                    object: object.clone(),
                    old: old.cloned(),
                    is_status: false,
                    namespace: "default".to_owned(),
                    user: Box::new(user_info.unwrap_or_else(|| user("kubernetes-admin", &[]))),
                };
                (param, question)
            }
            Err(reason) => (None, Question::Missing(reason)),
        };
        let policies = self.policies.iter();
        let policies = policies.filter(|each| Some(each.value()) == tested);
        Test {
            name: format!("{policy}: {} {subject}: {expect}", operation.name()),
            field: fields.path().to_owned(),
            given: policies.chain(&self.resources).cloned().collect(),
            definitions: Arc::default(),
            policy: Some(policy.to_owned()),
            is_bare: true,
            param,
            question,
            expected,
        }
    }

    /// Reads what a mutating policy must do with the object.
    fn mutated(
        &self,
        fields: &mut Fields<'_>,
        decision: Option<Decision>,
        object: Option<&Named<'_>>,
        expected: &mut Expected,
    ) -> Result<(), String> {
        let wanted = Named::read(fields, "expectObject");
        let keeps_name = fields.value("disableNameOverwrite") == Some(&Json::Bool(true));
        let Some(object) = object else {
            // A mutating policy needs an object; in kaptest, the result of such a test is always an error.
            expected.decision = None;
            return match decision {
                Some(Decision::Error) => Ok(()),
                _ => Err("a test of a mutating policy without object must expect error".to_owned()),
            };
        };
        if decision != Some(Decision::Allow) {
            return Ok(());
        }
        let Some(wanted) = wanted else {
            fields.problem("", "expectObject must be set, because expect is mutate");
            return Ok(());
        };
        let mut wanted = self.find(&wanted)?.clone();
        if let (false, Some(name)) = (keeps_name, wanted.pointer_mut("/metadata/name")) {
            *name = object.name.into();
        }
        expected.object = Some(wanted);
        Ok(())
    }

    /// The namespace and name of the param; `None` if the policy has no params.
    fn param(
        &self,
        policy: &Json,
        param: Option<Named<'_>>,
    ) -> Result<Option<(String, String)>, String> {
        let text = |pointer: &str| policy.pointer(pointer).and_then(Json::as_str);
        let Some(kind) = text("/spec/paramKind/kind") else {
            return Ok(None);
        };
        let api_version = text("/spec/paramKind/apiVersion").unwrap_or_default();
        let of_kind = GroupVersionKind::new(api_version, kind);
        let param = Named {
            group: &of_kind.group,
            version: &of_kind.version,
            kind,
            ..param.ok_or("param must be set, because the policy has a paramKind")?
        };
        let found = self.kinds.placed(self.find(&param)?.clone(), "default");
        Ok(Some((
            metadata(&found, "namespace").to_owned(),
            param.name.to_owned(),
        )))
    }

    /// The resource with a name.
    fn find(&self, named: &Named<'_>) -> Result<&Json, String> {
        let resources = self.resources.iter().map(Document::value);
        let mut found = resources.filter(|each| named.is_of(each));
        let subject = format!("the {} {:?}", named.kind, named.name);
        match (found.next(), found.next()) {
            (Some(found), None) => Ok(found),
            (None, _) => Err(format!("no resource is {subject}")),
            (Some(_), Some(_)) => Err(format!("several resources are {subject}")),
        }
    }
}

impl<'d> Named<'d> {
    fn read(fields: &mut Fields<'d>, key: &'static str) -> Option<Self> {
        fields.object(key, |fields| {
            fields.required("kind");
            fields.required("name");
            let mut text = |key| fields.text(key).unwrap_or_default();
            Named {
                group: text("group"),
                version: text("version"),
                kind: text("kind"),
                namespace: text("namespace"),
                name: text("name"),
            }
        })
    }

    /// Whether this is the name of an object. As in kaptest, the version counts only if there is a group.
    fn is_of(&self, object: &Json) -> bool {
        let api_version = object.get("apiVersion").and_then(Json::as_str);
        let kind = GroupVersionKind::new(api_version.unwrap_or_default(), kind_of(object));
        let is = |wanted: &str, actual: &str| wanted.is_empty() || wanted == actual;
        self.kind == &*kind.kind
            && self.name == name_of(object)
            && is(self.namespace, metadata(object, "namespace"))
            && is(self.group, &kind.group)
            && (self.group.is_empty() || is(self.version, &kind.version))
    }
}

fn read_user(fields: &mut Fields<'_>) -> UserInfo {
    let name = fields.text("name").unwrap_or_default();
    let groups = fields.texts("groups").unwrap_or_default();
    let mut found = user(name, &groups);
    for (key, values) in fields.entries("extra") {
        let texts = values.as_array().map(|values| values.iter());
        let texts =
            texts.and_then(|values| values.map(|each| Some(each.as_str()?.to_owned())).collect());
        match texts {
            None => fields.problem(&format!("extra.{key}"), "must be a list of strings"),
            texts => drop(found.extra.insert(key.to_owned(), texts)),
        }
    }
    found
}

/// Reads the field `expect`.
fn decision(fields: &mut Fields<'_>, expect: &str, is_mutating: bool) -> Option<Decision> {
    match (expect, is_mutating) {
        ("admit", false) | ("mutate", true) => Some(Decision::Allow),
        ("deny", false) => Some(Decision::Deny),
        ("error", _) => Some(Decision::Error),
        ("skip", _) => Some(Decision::Skip),
        ("", _) => None,
        (other, _) => {
            let may = match is_mutating {
                true => "mutate, error or skip",
                false => "admit, deny, error or skip",
            };
            fields.problem("expect", format!("must be {may}, but is {other:?}"));
            None
        }
    }
}
