//! The objects in which Kubernetes accepts CEL, other than CustomResourceDefinitions and policies: the API server's authentication and
//! authorization configuration (apiserver `pkg/apis/apiserver/validation`, `pkg/{authentication,authorization}/cel`), and device classes
//! and resource claims, whose selectors are CEL (`dynamic-resource-allocation/cel`).
//!
//! Besides expressions, only API versions, unknown fields and, for the kinds of `resource.k8s.io`, the types of fields are checked.

use std::collections::BTreeSet;
use std::sync::Arc;

use gavel_engine::check::CheckedAst;
use gavel_engine::decl::TypeProvider;
use gavel_engine::env::Env;
use gavel_engine::estimate::{NoSizes, estimate};
use gavel_engine::syntax::BINDINGS;
use gavel_engine::types::Type;
use gavel_engine::value::Json;
use gavel_golang::quote::quote;
use gavel_manifest::{Document, Problem, Range};

use crate::context::Linter;
use crate::expressions::{Subject, problem};
use crate::kinds::is_kind;
use crate::refusal::at_opener;
use crate::rules::{INVALID_EXPRESSION, INVALID_VALUE, OVER_BUDGET};
use crate::{meant, strict};

/// The group of the API server's own configuration.
const CONFIGURATION: &str = "apiserver.config.k8s.io";
/// The API group of device classes and resource claims.
const RESOURCE: &str = "resource.k8s.io";
/// The cost limit of a selector of devices, in cost units.
const SELECTOR_LIMIT: u64 = 1_000_000;

/// Whether a document is of a kind that this module checks.
pub(crate) fn is_subject(document: &Document) -> bool {
    let is = |group, kinds: &[&str]| kinds.iter().any(|kind| is_kind(document, group, kind));
    is(
        CONFIGURATION,
        &["AuthenticationConfiguration", "AuthorizationConfiguration"],
    ) || is(
        RESOURCE,
        &["DeviceClass", "ResourceClaim", "ResourceClaimTemplate"],
    )
}

/// Reports the problems of a document's expressions.
pub(crate) fn check(linter: &Linter, document: &Document, problems: &mut Vec<Problem>) {
    if !strict::check_version(linter, document, problems) {
        return;
    }
    strict::check_fields(document, linter.server, problems);
    let value = document.value();
    let mut found = Vec::new();
    match crate::kinds::text(document, "kind") {
        "AuthenticationConfiguration" => {
            for (n, jwt) in items(value, "/jwt") {
                authenticator(jwt, &format!("jwt[{n}]"), &mut found);
            }
        }
        "AuthorizationConfiguration" => {
            for (n, authorizer) in items(value, "/authorizers") {
                let field = format!("authorizers[{n}].webhook.matchConditions");
                for (n, condition) in items(authorizer, "/webhook/matchConditions") {
                    found.push(FoundExpression::new(
                        condition,
                        "expression",
                        format!("{field}[{n}]"),
                        Purpose::Request,
                    ));
                }
            }
        }
        "DeviceClass" => selectors(value, "/spec/selectors", "spec.selectors", &mut found),
        "ResourceClaim" => requests(
            value,
            "/spec/devices/requests",
            "spec.devices.requests",
            &mut found,
        ),
        _ => requests(
            value,
            "/spec/spec/devices/requests",
            "spec.spec.devices.requests",
            &mut found,
        ),
    }
    let mut before = BTreeSet::new();
    for each in &found {
        let Some(text) = each.text else { continue };
        let (list, _) = each.field.rsplit_once('[').unwrap_or_default();
        if !before.insert((list, text)) && each.purpose.is_unique() {
            let message = format!("Duplicate value: {}", quote(text));
            problems.push(problem(document, &INVALID_VALUE, &each.field, message));
            continue;
        }
        each.check(linter, document, text, problems);
    }
}

fn items<'j>(value: &'j Json, pointer: &str) -> impl Iterator<Item = (usize, &'j Json)> {
    let items = value.pointer(pointer).and_then(Json::as_array);
    items.into_iter().flatten().enumerate()
}

fn authenticator<'j>(jwt: &'j Json, field: &str, found: &mut Vec<FoundExpression<'j>>) {
    for (n, rule) in items(jwt, "/claimValidationRules") {
        found.push(FoundExpression::new(
            rule,
            "expression",
            format!("{field}.claimValidationRules[{n}]"),
            Purpose::ClaimRule,
        ));
    }
    for (name, place) in [
        ("username", Purpose::Text),
        ("groups", Purpose::Texts),
        ("uid", Purpose::Text),
    ] {
        if let Some(mapping) = jwt.pointer(&format!("/claimMappings/{name}")) {
            found.push(FoundExpression::new(
                mapping,
                "expression",
                format!("{field}.claimMappings.{name}"),
                place,
            ));
        }
    }
    for (n, extra) in items(jwt, "/claimMappings/extra") {
        found.push(FoundExpression::new(
            extra,
            "valueExpression",
            format!("{field}.claimMappings.extra[{n}]"),
            Purpose::Texts,
        ));
    }
    for (n, rule) in items(jwt, "/userValidationRules") {
        found.push(FoundExpression::new(
            rule,
            "expression",
            format!("{field}.userValidationRules[{n}]"),
            Purpose::UserRule,
        ));
    }
}

fn requests<'j>(value: &'j Json, pointer: &str, field: &str, found: &mut Vec<FoundExpression<'j>>) {
    for (n, request) in items(value, pointer) {
        let field = format!("{field}[{n}]");
        selectors(request, "/selectors", &format!("{field}.selectors"), found);
        selectors(
            request,
            "/exactly/selectors",
            &format!("{field}.exactly.selectors"),
            found,
        );
        for (n, sub) in items(request, "/firstAvailable") {
            let field = format!("{field}.firstAvailable[{n}].selectors");
            selectors(sub, "/selectors", &field, found);
        }
    }
}

fn selectors<'j>(
    value: &'j Json,
    pointer: &str,
    field: &str,
    found: &mut Vec<FoundExpression<'j>>,
) {
    for (n, selector) in items(value, pointer) {
        if let Some(cel) = selector.get("cel") {
            found.push(FoundExpression::new(
                cel,
                "expression",
                format!("{field}[{n}].cel"),
                Purpose::Device,
            ));
        }
    }
}

/// The role of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Maps claims to a text, such as the name of the user.
    Text,
    /// Maps claims to a text or a list of texts, such as the groups of the user.
    Texts,
    /// A condition on claims; the expression returns a bool, as for all conditions.
    ClaimRule,
    /// A condition on the user.
    UserRule,
    /// A condition on a request to authorize.
    Request,
    /// A condition on a device.
    Device,
}

impl Purpose {
    fn is_unique(self) -> bool {
        matches!(
            self,
            Purpose::ClaimRule | Purpose::UserRule | Purpose::Request
        )
    }

    fn variable(self) -> (&'static str, Type) {
        let named = |name: &str| Type::Struct(name.into());
        match self {
            Purpose::Text | Purpose::Texts | Purpose::ClaimRule => {
                ("claims", Type::map(Type::String, Type::Any))
            }
            Purpose::UserRule => ("user", named(USER)),
            Purpose::Request => ("request", named(REVIEW)),
            Purpose::Device => ("device", named(DEVICE)),
        }
    }

    fn accepts(self, ty: &Type) -> bool {
        let is_text = |ty: &Type| matches!(ty, Type::String | Type::Any | Type::Dyn);
        match self {
            Purpose::Text => is_text(ty),
            Purpose::Texts => is_text(ty) || matches!(ty, Type::List(element) if is_text(element)),
            Purpose::ClaimRule | Purpose::UserRule | Purpose::Request => *ty == Type::Bool,
            Purpose::Device => matches!(ty, Type::Bool | Type::Any | Type::Dyn),
        }
    }

    fn wants(self) -> &'static str {
        match self {
            Purpose::Text => "must evaluate to string",
            Purpose::Texts => "must evaluate to one of [string list(string)]",
            Purpose::Device => "must evaluate to bool or the unknown type",
            Purpose::ClaimRule | Purpose::UserRule | Purpose::Request => "must evaluate to bool",
        }
    }
}

/// An expression that was found.
struct FoundExpression<'j> {
    text: Option<&'j str>,
    field: String,
    purpose: Purpose,
}

impl<'j> FoundExpression<'j> {
    fn new(value: &'j Json, key: &str, field: String, purpose: Purpose) -> Self {
        let text = value.get(key).and_then(Json::as_str);
        FoundExpression {
            text,
            field: format!("{field}.{key}"),
            purpose,
        }
    }

    fn check(&self, linter: &Linter, document: &Document, text: &str, problems: &mut Vec<Problem>) {
        let (variable, ty) = self.purpose.variable();
        let env = match self.purpose {
            Purpose::Device => linter.new.extend().add_macros(BINDINGS),
            _ => linter.stored.extend(),
        };
        let env = env.variable(variable, ty);
        let Ok(env) = env.provider(Arc::new(Declared)).build() else {
            return;
        };
        match env.compile(text) {
            Err(issues) => {
                let message = format!(
                    "Invalid value: {}: compilation failed: {issues}",
                    quote(text)
                );
                let mut found = problem(document, &INVALID_EXPRESSION, &self.field, message);
                if let Some((line, column)) = issues.position() {
                    let place = document.place_within(&self.field, line, column);
                    found = found.at(Range::from(place));
                }
                let found = at_opener(found, document, &self.field);
                problems.push(meant::expression(found, &env));
            }
            Ok(checked) => self.check_compiled(document, &env, &checked, problems),
        }
    }

    fn check_compiled(
        &self,
        document: &Document,
        env: &Env,
        checked: &CheckedAst,
        problems: &mut Vec<Problem>,
    ) {
        if !self.purpose.accepts(checked.output_type()) {
            let message = format!("{}, not {}", self.purpose.wants(), checked.output_type());
            problems.push(problem(document, &INVALID_EXPRESSION, &self.field, message));
            return;
        }
        if let Err(error) = env.plan(checked) {
            problems.push(problem(
                document,
                &INVALID_EXPRESSION,
                &self.field,
                error.to_string(),
            ));
            return;
        }
        let cost = estimate(checked, &NoSizes).min;
        if self.purpose == Purpose::Device && cost > SELECTOR_LIMIT {
            let message = format!("too complex, exceeds cost limit {SELECTOR_LIMIT}");
            problems.push(problem(document, &OVER_BUDGET, &self.field, message));
        }
        let subject = Subject {
            document,
            field: &self.field,
            checked,
            decides: self.purpose.is_unique(),
        };
        subject.check(env, problems);
    }
}

const USER: &str = "kubernetes.UserInfo";
const REVIEW: &str = "kubernetes.SubjectAccessReviewSpec";
const RESOURCE_ATTRIBUTES: &str = "kubernetes.ResourceAttributes";
const NON_RESOURCE_ATTRIBUTES: &str = "kubernetes.NonResourceAttributes";
const FIELD_SELECTOR: &str = "kubernetes.FieldSelectorAttributes";
const LABEL_SELECTOR: &str = "kubernetes.LabelSelectorAttributes";
const REQUIREMENT: &str = "kubernetes.SelectorRequirement";
const DEVICE: &str = "kubernetes.DRADevice";

const TYPES: [&str; 8] = [
    USER,
    REVIEW,
    RESOURCE_ATTRIBUTES,
    NON_RESOURCE_ATTRIBUTES,
    FIELD_SELECTOR,
    LABEL_SELECTOR,
    REQUIREMENT,
    DEVICE,
];

/// The types of the variables.
#[derive(Debug)]
struct Declared;

impl TypeProvider for Declared {
    fn find_type(&self, name: &str) -> Option<Type> {
        let name = TYPES.into_iter().find(|known| *known == name)?;
        Some(Type::Struct(name.into()))
    }

    fn field_type(&self, type_name: &str, field: &str) -> Option<Type> {
        let named = |name: &str| Type::Struct(name.into());
        let texts = || Type::list(Type::String);
        let by_name = |value| Type::map(Type::String, value);
        Some(match (type_name, field) {
            (USER, "username" | "uid") | (REVIEW, "user" | "uid") => Type::String,
            (USER | REVIEW, "groups") => texts(),
            (USER | REVIEW, "extra") => by_name(texts()),
            (REVIEW, "resourceAttributes") => named(RESOURCE_ATTRIBUTES),
            (REVIEW, "nonResourceAttributes") => named(NON_RESOURCE_ATTRIBUTES),
            (
                RESOURCE_ATTRIBUTES,
                "namespace" | "verb" | "group" | "version" | "resource" | "subresource" | "name",
            )
            | (NON_RESOURCE_ATTRIBUTES, "path" | "verb")
            | (FIELD_SELECTOR | LABEL_SELECTOR, "rawSelector")
            | (REQUIREMENT, "key" | "operator")
            | (DEVICE, "driver") => Type::String,
            (RESOURCE_ATTRIBUTES, "fieldSelector") => named(FIELD_SELECTOR),
            (RESOURCE_ATTRIBUTES, "labelSelector") => named(LABEL_SELECTOR),
            (FIELD_SELECTOR | LABEL_SELECTOR, "requirements") => Type::list(named(REQUIREMENT)),
            (REQUIREMENT, "values") => texts(),
            (DEVICE, "attributes") => by_name(by_name(Type::Dyn)),
            (DEVICE, "capacity") => by_name(by_name(named("kubernetes.Quantity"))),
            (DEVICE, "allowMultipleAllocations") => Type::Bool,
            _ => return None,
        })
    }
}
