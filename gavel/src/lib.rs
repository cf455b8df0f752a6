//! CEL as Kubernetes evaluates it, in process. Hosts need only this dependency; each module is a crate of the workspace.
//!
//! The program must not enable the feature `preserve_order` of `serde_json`: it changes the order in which expressions visit the keys of
//! objects, and thus verdicts.
//!
//! # An expression over typed data
//!
//! ```
//! use gavel::{Activation, Arena, CelSchema, EnvSet, EvalOptions, Server};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = serde_json::from_value(json!({
//!     "type": "object",
//!     "properties": {"replicas": {"type": "integer"}, "max": {"type": "integer"}},
//! }))?;
//! let server: Server = "1.36".parse()?;
//! let schema = CelSchema::for_server(&schema, false, server);
//! let kubernetes = EnvSet::new(server)?;
//! let env = schema.declare("self", kubernetes.new_expressions().extend()).build()?;
//! let program = env.plan(&env.compile("self.replicas <= self.max")?)?;   // once; shared by threads
//!
//! let object = json!({"replicas": 3, "max": 5});
//! let (arena, mut activation) = (Arena::new(), Activation::new());
//! activation.bind("self", schema.view(&object));                        // viewed, not converted
//! let evaluation = program.eval(&activation, &arena, &EvalOptions::default());
//! assert_eq!(evaluation.result?.as_bool(), Some(true));
//! assert_eq!(evaluation.cost, 5);
//! assert!(env.compile("self.replica <= self.max").is_err());            // the checker knows the fields
//! # Ok(())
//! # }
//! ```
//!
//! [`EvalOptions`] limits the cost of an evaluation, and contains an interrupt for deadlines and cancellation. [`Arena::set_limit`] limits
//! its memory.
//!
//! # A custom resource
//!
//! [`CompiledCrd`] compiles a CustomResourceDefinition once and validates its objects: schema, metadata and
//! `x-kubernetes-validations`, with transition rules and ratcheting on updates. It expects a definition that an API server accepts;
//! [`Definition::validate`](crd::definition::Definition::validate) reports why an API server would reject one.
//!
//! # Admission policies
//!
//! ```
//! use gavel::{AdmissionRequest, AdmissionResponse, Arena, EnvSet, Options, PolicyIndex, Value, dispatch};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kubernetes = EnvSet::new("1.36".parse()?)?;
//! let mut index = PolicyIndex::new(&kubernetes);
//! index.apply(json!({
//!     "apiVersion": "admissionregistration.k8s.io/v1",
//!     "kind": "ValidatingAdmissionPolicy",
//!     "metadata": {"name": "replicas"},
//!     "spec": {
//!         "matchConstraints": {"resourceRules": [
//!             {"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]},
//!         ]},
//!         "validations": [{"expression": "object.spec.replicas <= 5", "message": "at most 5 replicas"}],
//!     },
//! }))?;
//! index.apply(json!({
//!     "apiVersion": "admissionregistration.k8s.io/v1",
//!     "kind": "ValidatingAdmissionPolicyBinding",
//!     "metadata": {"name": "replicas"},
//!     "spec": {"policyName": "replicas", "validationActions": ["Deny"]},
//! }))?;
//! index.apply(json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}))?;
//!
//! // The `request` of an AdmissionReview, viewed by all policies.
//! let request = json!({
//!     "uid": "705ab4f5",
//!     "operation": "CREATE",
//!     "kind": {"group": "apps", "version": "v1", "kind": "Deployment"},
//!     "resource": {"group": "apps", "version": "v1", "resource": "deployments"},
//!     "name": "web",
//!     "namespace": "shop",
//!     "userInfo": {"username": "alice"},
//!     "object": {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": {"replicas": 7}},
//! });
//! let arena = Arena::new();
//! let request = AdmissionRequest::read(Value::from(&request), &arena)?;
//! let decision = dispatch(&index.snapshot(), &request, &Options::default());
//! assert!(!decision.allowed());
//!
//! let response = AdmissionResponse::from(decision);
//! let review = serde_json::to_value(response.review("admission.k8s.io/v1", request.uid))?;
//! assert_eq!(review["response"]["status"]["code"], 422);
//! # Ok(())
//! # }
//! ```
//!
//! [`PolicyIndex::apply`] takes policies, bindings and namespaces, [`PolicyIndex::apply_param`] takes params. [`Options`] contains the
//! authorizer for the authorization checks of expressions, an interrupt, and the API server's version.

pub use gavel_apimachinery as apimachinery;
pub use gavel_crd as crd;
pub use gavel_engine as engine;
pub use gavel_libraries as libraries;
pub use gavel_policy as policy;
pub use gavel_schema as schema;

pub use gavel_apimachinery::server::Server;
pub use gavel_crd::CompiledCrd;
pub use gavel_engine::env::{Env, EnvBuilder};
pub use gavel_engine::program::{Activation, EvalOptions, Evaluation, Program};
pub use gavel_engine::types::Type;
pub use gavel_engine::value::{Arena, Value};
pub use gavel_libraries::{EnvSet, KubeVersion, authorizer};
pub use gavel_policy::{
    AdmissionRequest, AdmissionResponse, Decision, Options, PolicyIndex, Snapshot, dispatch,
};
pub use gavel_schema::JsonSchema;
pub use gavel_schema::cel::CelSchema;

/// The programs of `docs/embed-rust.md`, run as tests.
#[cfg(doctest)]
#[doc = include_str!("../../docs/embed-rust.md")]
struct EmbeddingGuide;
