//! Decides about manifests by policies and CustomResourceDefinitions, and explains the decisions. Layer 5: no IO, no clock.
//!
//! A [`Setup`] collects policies, bindings, params, namespaces, roles and definitions, and builds a [`World`]. The world decides about
//! [`Subject`]s: objects that a user creates, updates or deletes.
//!
//! ```
//! use gavel_check::{Operation, Setup, Subject, Trace, user};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), String> {
//! let mut setup = Setup::new(Default::default())?;
//! setup.add_value(json!({
//!     "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "replicas"},
//!     "spec": {
//!         "matchConstraints": {"resourceRules": [
//!             {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]},
//!         ]},
//!         "validations": [{"expression": "object.spec.replicas <= 5", "message": "at most 5 replicas"}],
//!     },
//! }));
//! setup.bind_unbound();
//! let world = setup.finish();
//! let object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 7}});
//! let alice = user("alice", &[]);
//! let subject = Subject { operation: Operation::Create, object: &object, old: None, namespace: "default", user: &alice };
//! let ruling = world.decide(&world.request(&subject), &Trace::new(|value| format!("{value:?}")))?;
//! assert_eq!(ruling.findings[0].message, "at most 5 replicas");
//! # Ok(())
//! # }
//! ```
//!
//! Only the given objects are known. A param or role that was not given counts as missing; a Namespace that was not given counts as
//! existing, with the label `kubernetes.io/metadata.name` only. [`World::decide`] does not decode the fields of Kubernetes' own kinds, unless
//! a mutating policy matches; [`built_in::check`] does.

mod bare;
pub mod built_in;
mod conditions;
pub mod custom;
mod kinds;
mod parts;
mod probe;
mod role;
mod subject;
pub mod suite;
mod trace;
mod user;
mod world;
mod written;

pub use conditions::Condition;
pub use kinds::{Kinds, ResourceOfKind};
pub use parts::Part;
pub use probe::{Probe, Probed, Seen, explain};
pub use role::Role;
pub use subject::{Operation, Subject};
pub use trace::{Invocation, Ran, Step, Trace};
pub use user::user;
pub use world::{Action, Finding, Ruling, Setup, World};
