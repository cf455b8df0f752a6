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
struct KaptestFile {
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
        let file = KaptestFile {
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
                let read = |fields: &mut Fields<'_>| file.test(fields, kind, policy);
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

impl KaptestFile {
    fn test(&self, fields: &mut Fields<'_>, kind: &str, policy: &str) -> Test {
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
        let expect = fields.text("expect");
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
        let expected = match kind {
            MUTATING => self.mutated(fields, expect, object.as_ref()),
            _ => Ok(validated(fields, expect)),
        };
        let policies = self.policies.iter();
        let policies = policies
            .filter(|each| kind_of(each.value()) == kind && name_of(each.value()) == policy);
        let find = || {
            let tested = policies.clone().next();
            let tested = tested.ok_or_else(|| format!("the {kind} {policy:?} is not given"))?;
            let param = self.param(tested.value(), param)?;
            let [object, old] =
                [&object, &old].map(|named| named.as_ref().map(|named| self.find(named)));
            let (object, old) = (object.transpose()?, old.transpose()?);
            let namespaces = [object, old].map(|each| each.map(|each| metadata(each, "namespace")));
            if let [Some(new), Some(old)] = namespaces
                && new != old
            {
                return Err("object and oldObject must have the same namespace".to_owned());
            }
            let question = Question::Subject {
                operation,
                object: object.or(old).cloned().unwrap_or_default(),
                old: old.filter(|_| object.is_some()).cloned(),
                is_status: false,
                namespace: "default".to_owned(),
                user: Box::new(user_info.unwrap_or_else(|| user("kubernetes-admin", &[]))),
            };
            Ok((expected?, param, question))
        };
        let (expected, param, question) =
            find().unwrap_or_else(|reason| (Expected::default(), None, Question::Missing(reason)));
        Test {
            name: format!(
                "{policy}: {} {subject}: {}",
                operation.name(),
                expect.unwrap_or_default()
            ),
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
        expect: Option<&str>,
        object: Option<&Named<'_>>,
    ) -> Result<Expected, String> {
        let wanted = Named::read(fields, "expectObject");
        let keeps_name = fields.value("disableNameOverwrite") == Some(&Json::Bool(true));
        let decision = match expect {
            Some("mutate") => Decision::Allow,
            Some("error") => Decision::Error,
            Some("skip") => Decision::Skip,
            other => return Ok(unknown(fields, other, "mutate, error or skip")),
        };
        let mut expected = Expected {
            decision: Some(decision),
            ..Expected::default()
        };
        match (object, decision) {
            // A mutating policy needs an object; in kaptest, the result of such a test is always an error.
            (None, Decision::Error) => expected.decision = None,
            (None, _) => {
                return Err("a test of a mutating policy without object must expect error".into());
            }
            (Some(object), Decision::Allow) => match wanted {
                None => fields.problem("", "expectObject must be set, because expect is mutate"),
                Some(wanted) => {
                    let mut wanted = self.find(&wanted)?.clone();
                    if let (false, Some(name)) = (keeps_name, wanted.pointer_mut("/metadata/name"))
                    {
                        *name = object.name.into();
                    }
                    expected.object = Some(wanted);
                }
            },
            _ => {}
        }
        Ok(expected)
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

/// Reads what a validating policy must decide.
fn validated(fields: &mut Fields<'_>, expect: Option<&str>) -> Expected {
    let message = fields.text("deniedMessage");
    let decision = match expect {
        Some("admit") => Decision::Allow,
        Some("deny") => Decision::Deny,
        Some("error") => Decision::Error,
        Some("skip") => Decision::Skip,
        other => return unknown(fields, other, "admit, deny, error or skip"),
    };
    let message = message.filter(|_| decision == Decision::Deny);
    Expected {
        decision: Some(decision),
        message: message.map(str::to_owned),
        ..Expected::default()
    }
}

/// Reports a value of the field `expect` that is not one of the known ones.
fn unknown(fields: &mut Fields<'_>, expect: Option<&str>, known: &str) -> Expected {
    if let Some(other) = expect {
        fields.problem("expect", format!("must be {known}, but is {other:?}"));
    }
    Expected::default()
}
