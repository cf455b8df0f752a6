//! The types of a policy's expressions, checked against the schemas of the kinds that it matches
//! (apiserver `pkg/admission/plugin/policy/validating/typechecking.go`).

use std::collections::BTreeMap;
use std::fmt::Write;

use gavel_engine::env::Env;
use gavel_engine::types::TypeTextError;
use gavel_libraries::{EnvSet, KubeVersion};
use gavel_schema::JsonSchema;
use gavel_schema::cel::CelSchema;

use crate::api::{ExpressionWarning, RuleWithOperations, ValidatingAdmissionPolicy};
use crate::cel::{Compiler, Declarations, ObjectTypes, TypeFault};
use crate::resource::{GroupVersionKind, GroupVersionResource};

/// How many kinds upstream looks at.
const MAX_KINDS: usize = 10;

/// Checks types against what is known of kinds and resources.
///
/// ```
/// use gavel_policy::typecheck::{Extent, TypeChecker};
/// use gavel_policy::GroupVersionKind;
/// use gavel_policy::api::{Registration, ValidatingAdmissionPolicy};
/// use gavel_schema::JsonSchema;
/// use serde_json::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut checker = TypeChecker::new("1.36".parse()?)?;
/// let schema: JsonSchema = serde_json::from_value(json!({
///     "type": "object",
///     "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
/// }))?;
/// checker.add_kind(GroupVersionKind::new("example.com/v1", "Thing"), &schema);
///
/// let policy = ValidatingAdmissionPolicy::from_json(&json!({"spec": {
///     "matchConstraints": {"resourceRules": [{
///         "apiGroups": ["example.com"], "apiVersions": ["v1"], "resources": ["things"], "operations": ["*"],
///     }]},
///     "validations": [{"expression": "object.spec.sise < 3"}],
/// }}))?;
/// let warnings = checker.check(&policy, Extent::Upstream);
/// assert_eq!(warnings[0].field_ref, "spec.validations[0].expression");
/// assert!(warnings[0].warning.contains("undefined field 'sise'"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TypeChecker {
    base: Env,
    schemas: BTreeMap<GroupVersionKind, CelSchema>,
    /// Plural and singular names.
    resources: BTreeMap<GroupVersionResource, GroupVersionKind>,
}

/// What of a policy is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// What upstream looks at: validations and their messages, against ten kinds of a rule at most.
    Upstream,
    /// Variables, match conditions and audit annotations too, against all kinds.
    Everything,
}

impl TypeChecker {
    /// A checker that knows no kind yet, of the language of a version of Kubernetes.
    ///
    /// # Errors
    ///
    /// Never, but for faults in the tables of functions.
    pub fn new(version: KubeVersion) -> Result<Self, TypeTextError> {
        let base = EnvSet::new(version)?.stored_expressions().clone();
        Ok(TypeChecker {
            base,
            schemas: BTreeMap::new(),
            resources: BTreeMap::new(),
        })
    }

    /// Makes a kind known, and its resource by the name that Kubernetes guesses for it.
    pub fn add_kind(&mut self, kind: GroupVersionKind, schema: &JsonSchema) {
        let singular = kind.kind.to_lowercase();
        for resource in [plural(&singular), singular] {
            self.add_resource(resource, kind.clone());
        }
        // What is known of a map's entries leaves no room for the fields of a resource.
        let is_resource = schema.value().is_none();
        let schema = CelSchema::new(schema, is_resource).named(type_name(&kind));
        self.schemas.insert(kind, schema);
    }

    /// Makes a resource of a kind known.
    pub fn add_resource(&mut self, resource: String, kind: GroupVersionKind) {
        let resource = GroupVersionResource {
            group: kind.group.clone(),
            version: kind.version.clone(),
            resource,
        };
        self.resources.insert(resource, kind);
    }

    /// What is wrong with the types of the policy's expressions; expressions without a fault are left out.
    pub fn check(
        &self,
        policy: &ValidatingAdmissionPolicy,
        extent: Extent,
    ) -> Vec<ExpressionWarning> {
        let spec = &policy.spec;
        let params = spec
            .param_kind
            .as_ref()
            .and_then(|kind| parse_kind(&kind.api_version, &kind.kind));
        let declarations = Declarations {
            params: params.is_some(),
            authorizer: true,
            patch_types: false,
        };
        let params = params.and_then(|kind| self.schemas.get(&kind).cloned());
        let kinds = self.kinds(policy, extent);
        let mut faults = Faults::default();
        for kind in &kinds {
            let Some(object) = self.schemas.get(kind).cloned() else {
                continue;
            };
            let types = ObjectTypes {
                object,
                params: params.clone(),
            };
            let mut compiler = Compiler::for_type_checking(&self.base, types);
            for (n, variable) in spec.variables.iter().enumerate() {
                let (name, text) = (&variable.name, &variable.expression);
                let found = compiler.check_variable(name, text, declarations);
                if extent == Extent::Everything {
                    faults.add((Part::Variable, n), kind, found);
                }
            }
            let mut check = |part, n, text: &str| {
                faults.add((part, n), kind, compiler.check(text, declarations));
            };
            for (n, validation) in spec.validations.iter().enumerate() {
                check(Part::Validation, n, &validation.expression);
                if !validation.message_expression.is_empty() {
                    check(Part::Message, n, &validation.message_expression);
                }
            }
            if extent == Extent::Everything {
                for (n, condition) in spec.match_conditions.iter().enumerate() {
                    check(Part::MatchCondition, n, &condition.expression);
                }
                for (n, annotation) in spec.audit_annotations.iter().enumerate() {
                    check(Part::AuditAnnotation, n, &annotation.value_expression);
                }
            }
        }
        faults.into_warnings()
    }

    /// The kinds that the policy matches, in order.
    fn kinds(&self, policy: &ValidatingAdmissionPolicy, extent: Extent) -> Vec<GroupVersionKind> {
        let mut kinds = Vec::new();
        let constraints = policy.spec.match_constraints.as_ref();
        let rules = constraints
            .into_iter()
            .flat_map(|constraints| &constraints.resource_rules);
        'rules: for rule in rules {
            let mut found = 0_usize;
            for kind in self.kinds_of_rule(&rule.rule) {
                kinds.push(kind.clone());
                found = found.saturating_add(1);
                if extent == Extent::Upstream && found == MAX_KINDS {
                    break 'rules;
                }
            }
        }
        kinds.sort();
        kinds.dedup();
        kinds
    }

    /// The kinds of a rule's resources, some of them several times. A rule with a wildcard names none.
    fn kinds_of_rule(&self, rule: &RuleWithOperations) -> Vec<&GroupVersionKind> {
        let sorted = |names: &[String]| {
            let mut names: Vec<_> = names.to_vec();
            names.sort();
            names
        };
        let has_wildcard = |names: &[String]| names.iter().any(|name| name.contains('*'));
        if has_wildcard(&rule.api_groups) || has_wildcard(&rule.api_versions) {
            return Vec::new();
        }
        let mut resources = sorted(&rule.resources);
        resources.retain(|name| !name.contains(['*', '/']));
        let mut kinds = Vec::new();
        for group in &sorted(&rule.api_groups) {
            for version in &sorted(&rule.api_versions) {
                for resource in &resources {
                    kinds.extend(self.kinds_for(group, version, &resource.to_lowercase()));
                }
            }
        }
        kinds
    }

    /// The kinds of a resource. An empty group or version stands for any, and a group also for those that begin with it
    /// where it has no such resource itself (apimachinery `pkg/api/meta/restmapper.go`).
    fn kinds_for(&self, group: &str, version: &str, resource: &str) -> Vec<&GroupVersionKind> {
        let named = |of_group: &dyn Fn(&str) -> bool| {
            let matches = |known: &GroupVersionResource| {
                known.resource == resource
                    && of_group(&known.group)
                    && (version.is_empty() || known.version == version)
            };
            let found = self.resources.iter().filter(|(known, _)| matches(known));
            found.map(|(_, kind)| kind).collect::<Vec<_>>()
        };
        let exact = named(&|known| group.is_empty() || known == group);
        match exact.is_empty() && !group.is_empty() && version.is_empty() {
            true => named(&|known| known.starts_with(group)),
            false => exact,
        }
    }
}

/// A part of a policy that holds expressions, in the order in which they are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Variable,
    MatchCondition,
    Validation,
    Message,
    AuditAnnotation,
}

impl Part {
    fn field(self, n: usize) -> String {
        match self {
            Part::Variable => format!("spec.variables[{n}].expression"),
            Part::MatchCondition => format!("spec.matchConditions[{n}].expression"),
            Part::Validation => format!("spec.validations[{n}].expression"),
            Part::Message => format!("spec.validations[{n}].messageExpression"),
            Part::AuditAnnotation => format!("spec.auditAnnotations[{n}].valueExpression"),
        }
    }

    /// Messages stand beside their validations.
    fn order(self, n: usize) -> (usize, usize, usize) {
        match self {
            Part::Variable => (0, n, 0),
            Part::MatchCondition => (1, n, 0),
            Part::Validation => (2, n, 0),
            Part::Message => (2, n, 1),
            Part::AuditAnnotation => (3, n, 0),
        }
    }
}

/// Faults by expression, in the order in which they are told: of each expression, kind by kind.
#[derive(Debug, Default)]
struct Faults(BTreeMap<(usize, usize, usize), ExpressionWarning>);

impl Faults {
    fn add(
        &mut self,
        (part, n): (Part, usize),
        kind: &GroupVersionKind,
        found: Result<(), TypeFault>,
    ) {
        let Err(fault) = found else { return };
        let warning = self
            .0
            .entry(part.order(n))
            .or_insert_with(|| ExpressionWarning {
                field_ref: part.field(n),
                ..ExpressionWarning::default()
            });
        if !warning.warning.is_empty() {
            warning.warning.push('\n');
        }
        let GroupVersionKind {
            group,
            version,
            kind,
        } = kind;
        // Writing to a text does not fail.
        let _ = match fault {
            TypeFault::Issues(issues) => {
                writeln!(warning.warning, "{group}/{version}, Kind={kind}: {issues}")
            }
            TypeFault::Internal(error) => writeln!(
                warning.warning,
                "{group}/{version}, Kind={kind}: type checking error: {error}"
            ),
        };
    }

    fn into_warnings(self) -> Vec<ExpressionWarning> {
        self.0.into_values().collect()
    }
}

/// The name of the type of a kind's objects. Upstream puts a number behind it that is different every time.
fn type_name(kind: &GroupVersionKind) -> String {
    format!("{}1", kind.kind)
}

/// The kind that `paramKind` names; none where its `apiVersion` cannot be read, or says nothing.
fn parse_kind(api_version: &str, kind: &str) -> Option<GroupVersionKind> {
    let named = match api_version {
        "/" => GroupVersionKind::new("", kind),
        text if text.matches('/').count() > 1 => return None,
        text => GroupVersionKind::new(text, kind),
    };
    (named != GroupVersionKind::default()).then_some(named)
}

/// The plural that Kubernetes guesses for a name.
fn plural(singular: &str) -> String {
    if singular.ends_with("endpoints") {
        return singular.to_owned();
    }
    if let Some(stem) = singular.strip_suffix('y') {
        return format!("{stem}ies");
    }
    match singular.ends_with('s') {
        true => format!("{singular}es"),
        false => format!("{singular}s"),
    }
}
