//! The batch protocol: JSON requests in, JSON answers out, one a line.

mod admission;
mod answer;
mod authorizer;
mod binding;
mod definition;
mod definitions;
mod depth;
mod evaluate;
mod field_error;
pub(crate) mod line;
mod object;
mod request;
mod resource;
mod session;
mod typecheck;
mod types;
mod value;

pub(crate) use answer::{Answer, Problem};
pub(crate) use evaluate::EvalRequest;
pub(crate) use request::RequestError;
pub use session::Session;
pub(crate) use types::{AUTHORIZER, SchemaSpec, read_text as read_type};
pub(crate) use value::TypedValue;
