//! Finds mistakes in policies, definitions and the other objects in which Kubernetes accepts CEL, before they reach a cluster. A mistake is
//! something that an API server rejects, or something that it accepts although it is probably wrong. Layer 4: no IO.
//!
//! [`Linter`] finds [`Problem`](gavel_manifest::Problem)s in documents. [`rules::RULES`] has a row for each rule.
//!
//! ```
//! use gavel_lint::{Linter, Options};
//! use gavel_manifest::{Format, read};
//!
//! let policy = "
//! apiVersion: admissionregistration.k8s.io/v1
//! kind: ValidatingAdmissionPolicy
//! metadata: {name: replicas}
//! spec:
//!   matchConstraints:
//!     resourceRules:
//!       - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}
//!   validations:
//!     - expression: object.spec.replica <= 5
//! ";
//! let documents = read(policy, Format::Yaml).documents;
//! let linter = Linter::new(&Options::default(), &documents)?;
//! let problems = linter.document(&documents[0]);
//! assert_eq!(problems[0].rule, "undefined-field");
//! assert!(problems[0].message.contains("undefined field 'replica'"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Use the linter before objects are written to a cluster: in editors and in CI. It does not evaluate expressions; `gavel-check` evaluates
//! them over given objects. The linter only knows the given documents: if the definition of a custom resource is not among them, the custom
//! resource has no type.

mod apis;
mod bounds;
mod builtin;
mod configuration;
mod context;
mod contradictions;
mod cost;
mod definition;
mod dialects;
mod expressions;
mod kinds;
mod linter;
mod meant;
mod messages;
mod near_keys;
mod page;
mod policy;
mod references;
mod refusal;
mod registration;
mod resources;
mod rule_part;
pub mod rules;
mod schema_keywords;
mod selection;
mod strict;
mod stricter;
mod suppression;
mod types;
mod unclosed;

pub use bounds::share;
pub use context::{Linter, Options};
pub use cost::{Figure, ObjectCost, RuleCost, TotalCost};
pub use meant::help;
pub use near_keys::{NearKeys, near_key};
pub use page::document as rules_document;
pub use selection::Selection;
pub use suppression::Suppressions;
