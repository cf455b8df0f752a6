//! CEL's extension libraries, and the environments of each Kubernetes version. Layer 2: no IO.
//!
//! ```
//! use gavel_engine::program::{Activation, EvalOptions};
//! use gavel_engine::types::Type;
//! use gavel_engine::value::Arena;
//! use gavel_libraries::EnvSet;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let kubernetes = EnvSet::new("1.36".parse()?)?;
//! let env = kubernetes.new_expressions().extend().variable("object", Type::Dyn).build()?;
//! let program = env.plan(&env.compile("object.spec.replicas <= 5")?)?;
//!
//! let object = serde_json::json!({"spec": {"replicas": 3}});
//! let arena = Arena::new();
//! let mut activation = Activation::new();
//! activation.bind("object", &object);
//! let limits = EvalOptions { cost_limit: Some(1_000_000), ..EvalOptions::default() };
//! let evaluation = program.eval(&activation, &arena, &limits);
//! assert!(bool::try_from(evaluation.result?)?);
//! assert_eq!(evaluation.cost, 4);
//! # Ok(())
//! # }
//! ```

pub mod authorizer;
mod base_env;
pub mod cel;
mod cel_env;
mod cost;
mod env_set;
pub mod kubernetes;
pub mod reference;
#[cfg(test)]
mod testing;

pub use base_env::{FEATURES, Feature, Gated};
pub use cel_env::{CEL_FEATURES, cel_env};
pub use env_set::EnvSet;
pub use gavel_apimachinery::server::Server;
pub use gavel_apimachinery::version::{KubeVersion, VersionError};
