//! The batch protocol: JSON requests in, JSON answers out, one per line. Layer 4: this crate does no IO. It converts the line of a request
//! to the line of an answer.
//!
//! `gavel batch` is this crate behind standard input and output, so that programs in any language can use Gavel without linking it.
//!
//! ```
//! let mut session = gavel_protocol::Session::new();
//! let mut answer = Vec::new();
//! let request = br#"{"id": 1, "op": "eval", "expr": "x + 1", "vars": {"x": "int"}, "bindings": {"x": 1}}"#;
//! session.answer(request, &mut answer);
//! let answer: serde_json::Value = serde_json::from_slice(&answer)?;
//! assert_eq!(answer["value"], serde_json::json!({"int": "2"}));
//! # Ok::<(), serde_json::Error>(())
//! ```
//!
//! `docs/batch.md` describes the requests. A Rust program that evaluates often links the crate `gavel` instead, because this crate parses
//! each request from JSON and writes each answer as JSON.

mod admission;
mod answer;
mod authorizer;
mod binding;
mod definition;
mod definitions;
mod depth;
mod environment;
mod evaluate;
mod evaluation;
mod field_error;
pub mod line;
mod mutation;
mod object;
mod request;
mod resource;
mod run;
mod server;
mod session;
mod typecheck;
mod types;
mod value;

pub use admission::{Explanation, as_validated, errors as policy_errors};
pub use answer::{Answer, Problem, Range};
pub use authorizer::{Attributes, asked_attributes, read_resource, read_user};
pub use binding::Binder;
pub use definition::{Rule, Total};
pub use environment::{
    EnvironmentSpec, Environments, FunctionSpec, Language, kubernetes_version, version_since,
};
pub use evaluate::{Bound, EvalRequest, Sizes};
pub use evaluation::{Compiled, Failure, Outcome};
pub use field_error::FieldError;
pub use request::RequestError;
pub use run::ValuesTooLarge;
pub use server::server_of;
pub use session::Session;
pub use types::{AUTHORIZER, Declared, SchemaSpec, read_text as read_type};
pub use value::TypedValue;
