//! The batch protocol: JSON requests in, JSON answers out, one a line. Layer 4: no IO; a line goes in, a line comes out.
//!
//! `gavel batch` is this crate behind standard input and output, so that programs in any language ask Gavel without linking it.

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
pub use environment::{EnvironmentSpec, Environments, FunctionSpec, Language, kubernetes_version};
pub use evaluate::{Bound, EvalRequest, Sizes};
pub use evaluation::{Compiled, Failure, Outcome};
pub use field_error::FieldError;
pub use request::RequestError;
pub use server::server_of;
pub use session::Session;
pub use types::{AUTHORIZER, Declared, SchemaSpec, read_text as read_type};
pub use value::TypedValue;
