//! The rules of `gavel lint`, one row each. A row has the severity of the findings, and the text for `docs/rules.md` and `gavel explain`.

use gavel_manifest::Severity;

mod definitions;
mod expressions;
mod policies;
mod refused;

pub use definitions::*;
pub use expressions::*;
pub use policies::*;
pub use refused::*;

/// A rule.
#[derive(Debug, PartialEq, Eq)]
pub struct Rule {
    /// The name, which never changes: `undefined-field`.
    pub id: &'static str,
    /// The severity, unless the user sets another.
    pub severity: Severity,
    /// Whether the rule is on by default.
    pub is_default: bool,
    /// The problem in one line.
    pub title: &'static str,
    /// Why the finding matters and what to do, in Markdown.
    pub why: &'static str,
    /// A manifest with a finding, and the same manifest without it.
    pub example: Example,
}

/// An example of a problem and its correction.
#[derive(Debug, PartialEq, Eq)]
pub struct Example {
    /// The frame that turns each of the two texts into a manifest.
    pub frame: Frame,
    /// A text with a finding.
    pub before: &'static str,
    /// The text without the finding.
    pub after: &'static str,
}

/// The frame that turns the text of an example into a manifest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Frame {
    /// The fields after `matchConstraints` in the `spec` of a ValidatingAdmissionPolicy that matches Deployments of `apps/v1`.
    Policy,
    /// The `openAPIV3Schema` of a CustomResourceDefinition.
    Schema,
    /// No frame: the text is a manifest.
    Manifest,
}

/// All rules: first those for objects that an API server rejects.
pub static RULES: &[&Rule] = &[
    &SYNTAX,
    &DUPLICATE_KEY,
    &UNKNOWN_FIELD,
    &INVALID_OBJECT,
    &INVALID_VALUE,
    &INVALID_EXPRESSION,
    &OVER_BUDGET,
    &UNDEFINED_FIELD,
    &TYPE_MISMATCH,
    &OPTIONAL_FIELD,
    &OBJECT_ON_DELETE,
    &OLD_OBJECT_ON_CREATE,
    &CONSTANT_CONDITION,
    &FAILING_CALL,
    &DUPLICATE_VALIDATION,
    &UNUSED_VARIABLE,
    &QUADRATIC_LOOP,
    &UNANCHORED_REGEX,
    &REGEX_ALTERNATIVES,
    &POLICY_COST,
    &UNCHECKED_KIND,
    &UNKNOWN_RESOURCE,
    &EXEMPT_RESOURCE,
    &REMOVED_API,
    &DEPRECATED_API,
    &UNBOUND_POLICY,
    &MISSING_POLICY,
    &PARAM_MISMATCH,
    &DUPLICATE_OBJECT,
    &UNKNOWN_SUPPRESSION,
    &CONTRADICTORY_SCHEMA,
    &COST_NEAR_LIMIT,
    &SCHEMA_CAN_SAY,
    &MESSAGE_CONVENTION,
    &LONE_MESSAGE_EXPRESSION,
    &BREAKS_STORED_OBJECTS,
    &SERVER_WARNING,
];

/// The rule with this name; `None` if there is none.
pub fn find(id: &str) -> Option<&'static Rule> {
    RULES.iter().copied().find(|rule| rule.id == id)
}

/// The rule name that is nearest to another name; `None` if no rule name is similar.
pub fn nearest(id: &str) -> Option<&'static str> {
    gavel_manifest::nearest(id, RULES.iter().map(|rule| rule.id))
}

impl Frame {
    /// The manifest of an example: the frame with the example's `text` in it. For `Frame::Manifest`, the text itself.
    pub fn manifest(self, text: &str) -> String {
        match self {
            Frame::Manifest => text.to_owned(),
            Frame::Policy => format!("{POLICY}{}{BINDING}", indented(text, 2)),
            Frame::Schema => format!("{DEFINITION}{}", indented(text, 8)),
        }
    }
}

fn indented(text: &str, columns: usize) -> String {
    let lines = text.lines();
    let lines = lines.map(|line| match line.is_empty() {
        true => "\n".to_owned(),
        false => format!("{:columns$}{line}\n", ""),
    });
    lines.collect()
}

const POLICY: &str = "\
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: example
spec:
  matchConstraints:
    resourceRules:
    - apiGroups: [apps]
      apiVersions: [v1]
      operations: [CREATE, UPDATE]
      resources: [deployments]
";

const BINDING: &str = "\
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: example
spec:
  policyName: example
  validationActions: [Deny]
";

const DEFINITION: &str = "\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: routes.example.com
spec:
  group: example.com
  names: {plural: routes, kind: Route}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
";
