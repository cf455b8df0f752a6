//! The CEL language as Kubernetes evaluates it. This crate is layer 1: it has no Kubernetes types, no IO and no clock.
//!
//! An [`env::Env`] parses and checks an expression and plans a [`program::Program`]. The program can be evaluated any number of times, from
//! any number of threads. [`estimate::estimate`] computes the cost of a checked expression before it is evaluated.
//!
//! ```
//! use gavel_engine::env::Env;
//! use gavel_engine::program::{Activation, EvalOptions};
//! use gavel_engine::syntax::{Macros, STANDARD};
//! use gavel_engine::types::Type;
//! use gavel_engine::value::Arena;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = Env::builder().macros(Macros::new(&[STANDARD])).variable("xs", Type::list(Type::Int));
//! for table in gavel_engine::stdlib::TABLES {
//!     builder = builder.overloads(table);
//! }
//! let env = builder.build()?;
//! let program = env.plan(&env.compile("xs.all(x, x > 0)")?)?;
//!
//! let json = serde_json::json!([1, 2, 3]);
//! let arena = Arena::new();
//! let mut activation = Activation::new();
//! activation.bind("xs", &json);
//! let evaluation = program.eval(&activation, &arena, &EvalOptions::default());
//! assert!(bool::try_from(evaluation.result?)?);
//! # Ok(())
//! # }
//! ```
//!
//! To add a function of your own, declare a [`decl::Overload`]. [`program::EvalOptions::cost_limit`] limits the cost of an evaluation;
//! [`program::EvalOptions::interrupt`] limits its time.

pub mod ast;
pub mod check;
pub mod cost;
pub mod decl;
pub mod env;
pub mod error;
pub mod estimate;
pub mod issues;
pub mod program;
pub mod source;
pub mod stdlib;
pub mod syntax;
pub mod types;
pub mod value;
