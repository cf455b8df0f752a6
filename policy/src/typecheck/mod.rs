//! Checks the types of a policy's expressions with the schemas of the kinds that its rules name (apiserver
//! `pkg/admission/plugin/policy/validating/typechecking.go`).

use std::collections::BTreeMap;
use std::fmt::Write;

use gavel_apimachinery::server::Difference;
use gavel_engine::check::CheckedAst;
use gavel_engine::env::Env;
use gavel_engine::types::TypeTextError;
use gavel_libraries::{EnvSet, Server};
use gavel_schema::JsonSchema;
use gavel_schema::cel::{CelSchema, MAX_REQUEST_SIZE};
use gavel_schema::merge::MergeType;

use crate::api::{ExpressionWarning, ValidatingAdmissionPolicy};
use crate::cel::{Compiler, Declarations, ObjectTypes, TypeFault};
use crate::resource::{GroupVersionKind, GroupVersionResource};

mod cost;
mod kinds;
mod patches;
mod pointers;
mod published;
mod sizes;
mod subject;

pub use cost::{Estimate, ExpressionCost, GroupCost, KindCosts};
pub use kinds::Unchecked;
pub use subject::Subject;

use subject::Part;

/// Type-checks policies with the schemas of the kinds that their rules name.
///
/// ```
/// use gavel_policy::typecheck::TypeChecker;
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
/// let warnings = checker.check(&policy);
/// assert_eq!(warnings[0].field_ref, "spec.validations[0].expression");
/// assert!(warnings[0].warning.contains("undefined field 'sise'"));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TypeChecker {
    base: Env,
    /// The API server whose type checking is reproduced, without `NamesOfResourcesAreBounded`, which applies only to the rules of custom
    /// resources.
    server: Server,
    schemas: BTreeMap<GroupVersionKind, KindSchema>,
    /// The kind of each resource. A resource is listed by its plural and by its singular name.
    resources: BTreeMap<GroupVersionResource, GroupVersionKind>,
    /// The maximum size of an object, in bytes, assumed for cost bounds.
    max_object: u64,
}

/// The schema of a kind, for expressions and for merging objects.
#[derive(Debug)]
struct KindSchema {
    types: CelSchema,
    merged: JsonSchema,
}

/// The result of type-checking a policy for each kind that its rules name and whose schema is known.
#[derive(Debug, Default)]
pub struct Analysis {
    /// The type errors of all expressions for all kinds, in the order of the policy's fields. Variables have their exact types, unlike in
    /// upstream's check.
    pub faults: Vec<ExpressionFault>,
    /// The upper bounds of the expressions' costs, by kind.
    pub costs: Vec<KindCosts>,
    /// The resource rules and the `paramKind` for which the expressions could not be checked.
    pub unchecked: Vec<Unchecked>,
    /// The expressions without type errors, kind by kind.
    pub expressions: Vec<TypedExpression>,
}

/// An expression without type errors for the schema of a kind.
#[derive(Debug)]
pub struct TypedExpression {
    /// The path of the expression, such as `spec.validations[0].expression`.
    pub field: String,
    /// The kind whose schema the expression was checked against.
    pub kind: GroupVersionKind,
    /// The expression with its types.
    pub checked: CheckedAst,
}

/// The type errors of an expression for the schema of a kind.
#[derive(Debug)]
pub struct ExpressionFault {
    /// The path of the expression, such as `spec.validations[0].expression`.
    pub field: String,
    /// The kind whose schema the expression was checked against.
    pub kind: GroupVersionKind,
    /// The type errors.
    pub fault: TypeFault,
}

/// Which expressions of a policy are checked, for how many kinds and how strictly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Extent {
    /// The check of upstream: validations and their messages, for at most ten kinds of each rule.
    Upstream,
    /// All expressions, for all kinds.
    Everything,
}

/// An expression of a policy that was checked with the schema of a kind.
#[derive(Debug)]
struct CheckedExpression {
    part: Part,
    n: usize,
    checked: Result<CheckedAst, TypeFault>,
}

impl TypeChecker {
    /// A checker for the CEL language of an API server's version. It knows no kinds yet.
    ///
    /// # Errors
    ///
    /// A built-in table of function types is malformed.
    pub fn new(server: Server) -> Result<Self, TypeTextError> {
        let base = EnvSet::new(server)?.stored_expressions().clone();
        Ok(TypeChecker {
            base,
            server: server.with(Difference::NamesOfResourcesAreBounded, false),
            schemas: BTreeMap::new(),
            resources: BTreeMap::new(),
            max_object: MAX_REQUEST_SIZE,
        })
    }

    /// Sets the maximum size of an object in bytes of JSON, for cost bounds. The default is the maximum size of a request, 3 MiB.
    pub fn set_max_object(&mut self, bytes: u64) {
        self.max_object = bytes;
    }

    /// Adds a kind and its resource. The resource is found by two names that Kubernetes derives from the kind: the plural and the singular.
    pub fn add_kind(&mut self, kind: GroupVersionKind, schema: &JsonSchema) {
        let singular = kind.kind.to_lowercase();
        for resource in [plural(&singular), singular] {
            self.add_resource(resource, kind.clone());
        }
        // A schema with `additionalProperties` cannot declare the fields that every resource has.
        let is_resource = schema.value().is_none();
        let types = CelSchema::for_server(schema, is_resource, self.server).named(type_name(&kind));
        let merged = schema.clone();
        self.schemas.insert(kind, KindSchema { types, merged });
    }

    /// Adds the kind of a custom resource, with the schema of its definition.
    pub fn add_custom_kind(&mut self, kind: GroupVersionKind, schema: Option<&JsonSchema>) {
        self.add_kind(kind, &published::schema(schema));
    }

    /// Adds a resource by its name in lower case, with its kind.
    pub fn add_resource(&mut self, resource: String, kind: GroupVersionKind) {
        let resource = GroupVersionResource {
            group: kind.group.clone(),
            version: kind.version.clone(),
            resource: resource.into(),
        };
        self.resources.insert(resource, kind);
    }

    /// Returns the warnings that upstream reports: the type errors of validations and their messages, for at most ten kinds of each rule.
    /// There is one warning for each expression that has errors.
    pub fn check(&self, policy: &ValidatingAdmissionPolicy) -> Vec<ExpressionWarning> {
        let policy = Subject::from(policy);
        let mut warnings = BTreeMap::<_, ExpressionWarning>::new();
        for kind in self.kinds(&policy, Extent::Upstream) {
            let Some(types) = self.types(kind, &policy, Extent::Upstream) else {
                continue;
            };
            for CheckedExpression { part, n, checked } in
                self.expressions(&policy, types, Extent::Upstream)
            {
                let (Part::Validation | Part::Message, Err(fault)) = (part, checked) else {
                    continue;
                };
                let warning = warnings.entry(part.order(n)).or_default();
                warning.field_ref = part.field(n);
                if !warning.warning.is_empty() {
                    warning.warning.push('\n');
                }
                // Writing to a String does not fail.
                let _ = match fault {
                    TypeFault::Issues(issues) => {
                        writeln!(warning.warning, "{kind}: {issues}")
                    }
                    TypeFault::Internal(error) => {
                        writeln!(warning.warning, "{kind}: type checking error: {error}")
                    }
                };
            }
        }
        warnings.into_values().collect()
    }

    /// Type-checks all expressions of a validating or mutating policy, and estimates their costs, for all kinds that its rules name.
    pub fn analyze<'p>(&self, policy: impl Into<Subject<'p>>) -> Analysis {
        let policy = &policy.into();
        let mut analysis = Analysis {
            unchecked: self.unchecked(policy),
            ..Analysis::default()
        };
        let mut faults = Vec::new();
        for kind in self.kinds(policy, Extent::Everything) {
            let Some(types) = self.types(kind, policy, Extent::Everything) else {
                continue;
            };
            let expressions = self.expressions(policy, types.clone(), Extent::Everything);
            let costs = KindCosts::new(kind.clone(), policy, &types, self.max_object, &expressions);
            analysis.costs.push(costs);
            for expression in expressions {
                if let Some((order, field, fault)) = self.fault(&expression, kind) {
                    let kind = kind.clone();
                    faults.push((order, ExpressionFault { field, kind, fault }));
                } else if let CheckedExpression {
                    part,
                    n,
                    checked: Ok(checked),
                } = expression
                {
                    analysis.expressions.push(TypedExpression {
                        field: part.field(n),
                        kind: kind.clone(),
                        checked,
                    });
                }
            }
        }
        // The sort is stable, so the errors of one expression stay in the order of the kinds.
        faults.sort_by_key(|(order, _)| *order);
        analysis.faults = faults.into_iter().map(|(_, fault)| fault).collect();
        analysis
    }

    /// The position of an expression in the report, the path of its field, and its type errors; `None` if it has no errors. Mutations are
    /// also checked with the schema of the objects of `kind`.
    fn fault(
        &self,
        CheckedExpression { part, n, checked }: &CheckedExpression,
        kind: &GroupVersionKind,
    ) -> Option<((usize, usize, usize), String, TypeFault)> {
        let fault = match checked {
            Err(fault) => fault.clone(),
            Ok(checked) => {
                let objects = &self.schemas.get(kind)?.merged;
                let objects = MergeType::custom_resource(objects, self.server);
                TypeFault::Issues(patches::faults(*part, checked, objects)?)
            }
        };
        Some((part.order(*n), part.field(*n), fault))
    }

    /// The types of `object` and `params` for a policy that matches this kind; `None` if the schema of the kind is unknown.
    fn types(
        &self,
        kind: &GroupVersionKind,
        policy: &Subject<'_>,
        extent: Extent,
    ) -> Option<ObjectTypes> {
        let params = policy.param_kind();
        Some(ObjectTypes {
            object: self.schemas.get(kind)?.types.clone(),
            params: params.and_then(|kind| Some(self.schemas.get(&kind)?.types.clone())),
            upstream: extent == Extent::Upstream,
        })
    }

    /// Checks the policy's expressions. The variables come first, in the order of their declaration.
    fn expressions(
        &self,
        policy: &Subject<'_>,
        types: ObjectTypes,
        extent: Extent,
    ) -> Vec<CheckedExpression> {
        let knows_params = types.params.is_some()
            || extent == Extent::Everything
            || self.server.has(Difference::UnknownParamsAreDyn);
        let declarations =
            Declarations::with_authorizer(policy.param_kind().is_some() && knows_params);
        let mut compiler = Compiler::for_type_checking(&self.base, types);
        let mut expressions = Vec::new();
        for (n, variable) in policy.variables.iter().enumerate() {
            let (name, text) = (&variable.name, &variable.expression);
            let checked = compiler.check_variable(name, text, declarations);
            expressions.push(CheckedExpression {
                part: Part::Variable,
                n,
                checked,
            });
        }
        for &(part, n, text) in &policy.expressions {
            let is_of_upstream = matches!(part, Part::Validation | Part::Message);
            if extent == Extent::Everything || is_of_upstream {
                let declarations = Declarations {
                    patch_types: part.is_mutation(),
                    ..declarations
                };
                let checked = compiler.check(text, declarations);
                expressions.push(CheckedExpression { part, n, checked });
            }
        }
        expressions
    }
}

/// The name of the type of a kind's objects. The digit replaces upstream's random number.
fn type_name(kind: &GroupVersionKind) -> String {
    format!("{}1", kind.kind)
}

/// The plural that Kubernetes guesses for a name in lower case (apimachinery `pkg/api/meta/restmapper.go`).
pub fn plural(singular: &str) -> String {
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
