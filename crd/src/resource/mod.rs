//! Custom resources, held against their definition as an API server does when they are created or updated
//! (apiextensions-apiserver `pkg/registry/customresource`, `pkg/apiserver/schema/cel`).

mod accessor;
mod compile;
mod decode;
mod prepare;
mod rules;
mod scale;
mod validate;

pub use compile::{CompileError, UnknownVersion};
pub use decode::{DecodeError, DecodeOptions, Decoded};
pub use rules::Interrupt;
pub(crate) use rules::RuleNode;
pub use validate::{COST_BUDGET, Outcome, RuleRun, ValidateOptions};

use compile::CompiledVersion;

#[cfg(test)]
mod tests;

/// A definition, ready to look at its objects: schemas are compiled, and rules.
///
/// It is compiled once and used from many threads.
///
/// ```
/// use gavel_crd::CompiledCrd;
/// use gavel_crd::definition::Definition;
/// use gavel_crd::resource::{COST_BUDGET, DecodeOptions};
/// use serde_json::json;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let definition = Definition::read(&json!({
///     "apiVersion": "apiextensions.k8s.io/v1",
///     "kind": "CustomResourceDefinition",
///     "metadata": {"name": "things.example.com"},
///     "spec": {
///         "group": "example.com",
///         "names": {"plural": "things", "kind": "Thing"},
///         "scope": "Namespaced",
///         "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
///             "type": "object",
///             "properties": {"spec": {
///                 "type": "object",
///                 "properties": {"replicas": {"type": "integer", "default": 1}, "color": {"type": "string"}},
///                 "x-kubernetes-validations": [
///                     {"rule": "self.replicas <= 5", "fieldPath": ".replicas", "message": "too many"},
///                     {"rule": "self.color == oldSelf.color", "message": "color is immutable"},
///                 ],
///             }},
///         }}}],
///     },
/// }))?;
/// let crd = CompiledCrd::compile(&definition)?;
///
/// // What a client sends is read first: unknown fields are dropped, defaults set.
/// let thing = |spec| json!({
///     "apiVersion": "example.com/v1",
///     "kind": "Thing",
///     "metadata": {"name": "a", "namespace": "default", "resourceVersion": "1"},
///     "spec": spec,
/// });
/// let old = crd.decode(thing(json!({"color": "red", "size": 3})), DecodeOptions::default())?;
/// assert_eq!(old.object["spec"], json!({"color": "red", "replicas": 1}));
/// assert_eq!(old.unknown_fields, ["spec.size"]);
/// assert!(crd.validate("v1", &old.object, None, COST_BUDGET)?.is_valid());
///
/// let new = crd.decode(thing(json!({"color": "blue", "replicas": 7})), DecodeOptions::default())?;
/// let outcome = crd.validate("v1", &new.object, Some(&old.object), COST_BUDGET)?;
/// assert_eq!(outcome.errors().map(ToString::to_string).collect::<Vec<_>>(), [
///     "spec.replicas: Invalid value: too many",
///     "spec: Invalid value: color is immutable",
/// ]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct CompiledCrd {
    group: String,
    kind: String,
    is_namespaced: bool,
    preserves_unknown_fields: bool,
    versions: Vec<CompiledVersion>,
}
