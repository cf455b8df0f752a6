//! CEL as Kubernetes evaluates it, in process. One dependency for hosts; each module is a crate of the workspace.
//!
//! # An expression over typed data
//!
//! ```
//! use gavel::{Activation, Arena, CelSchema, EnvSet, EvalOptions};
//! use serde_json::json;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let schema = serde_json::from_value(json!({
//!     "type": "object",
//!     "properties": {"replicas": {"type": "integer"}, "max": {"type": "integer"}},
//! }))?;
//! let schema = CelSchema::new(&schema, false);
//! let kubernetes = EnvSet::new("1.36".parse()?)?;
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
//! [`EvalOptions`] bounds an evaluation: cost, memory, and an interrupt for deadlines and cancellation.
//!
//! # A custom resource
//!
//! [`CompiledCrd`] compiles a CustomResourceDefinition once and validates its objects: schema, metadata and
//! `x-kubernetes-validations`, with transition rules and ratcheting on updates.
//!
//! # Admission policies
//!
//! [`PolicyIndex`] takes policies, bindings, params and namespaces as they come and go; its [`Snapshot`] and an
//! [`AdmissionRequest`] go into [`dispatch`], a [`Decision`] comes out.

pub use gavel_apimachinery as apimachinery;
pub use gavel_crd as crd;
pub use gavel_engine as engine;
pub use gavel_libraries as libraries;
pub use gavel_policy as policy;
pub use gavel_schema as schema;

pub use gavel_crd::CompiledCrd;
pub use gavel_engine::env::{Env, EnvBuilder};
pub use gavel_engine::program::{Activation, EvalOptions, Evaluation, Program};
pub use gavel_engine::types::Type;
pub use gavel_engine::value::{Arena, Value};
pub use gavel_libraries::{EnvSet, KubeVersion, authorizer};
pub use gavel_policy::{AdmissionRequest, Decision, PolicyIndex, Snapshot, dispatch};
pub use gavel_schema::JsonSchema;
pub use gavel_schema::cel::CelSchema;
