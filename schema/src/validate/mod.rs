//! Validates values against a schema, as an API server validates custom resources (kube-openapi `pkg/validation/validate`,
//! apiextensions-apiserver `pkg/apiserver/validation`). Upstream visits maps in random order; Gavel reports errors in the order of keys.

use std::sync::Arc;

use gavel_apimachinery::field::{Error, ErrorType, Path};
use gavel_apimachinery::server::Server;
use gavel_engine::value::Json;
use gavel_golang::work::{Interrupted, Work};

use crate::JsonSchema;
use crate::correlate::Correlated;

mod combination;
mod compile;
mod convert;
mod enumeration;
mod fault;
mod list;
mod list_type;
mod map;
mod node;
mod number;
mod pattern;
mod text;
mod trail;
mod types;

use compile::{NodeCompiler, Purpose};
use fault::{Outcome, errors};
use node::NodeRules;
use trail::Places;

/// A compiled schema that validates values. Compile it once; any number of threads can use it.
///
/// ```
/// use gavel_apimachinery::field::Path;
/// use gavel_apimachinery::server::Server;
/// use gavel_schema::JsonSchema;
/// use gavel_schema::validate::Validator;
/// use serde_json::json;
///
/// # fn main() -> Result<(), gavel_schema::SchemaReadError> {
/// let schema = JsonSchema::read(&json!({
///     "type": "object",
///     "properties": {"spec": {"type": "object", "properties": {"replicas": {"type": "integer", "maximum": 3}}}},
/// }))?;
/// let validator = Validator::new(&schema, Server::default());
/// let errors = validator.validate(&Path::root(), &json!({"spec": {"replicas": 4}}));
/// assert_eq!(
///     errors.iter().map(ToString::to_string).collect::<Vec<_>>(),
///     ["spec.replicas: Invalid value: 4: spec.replicas in body should be less than or equal to 3"],
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Validator {
    root: Arc<NodeRules>,
}

impl Validator {
    /// Compiles a schema, with the formats that both an API server and its previous version know. Patterns are compiled when they are first
    /// needed. As in upstream, an invalid pattern rejects every string.
    pub fn new(schema: &JsonSchema, server: Server) -> Self {
        Validator {
            root: Arc::new(NodeCompiler::new(Purpose::Objects(server)).node(schema)),
        }
    }

    /// Compiles a structural schema to validate its default. The declared type applies even if the schema is int-or-string. Every format
    /// that the server's own code knows applies to schemas of every type (apiextensions-apiserver `pkg/apiserver/schema/kubeopenapi.go`).
    pub fn of_default(schema: &JsonSchema, server: Server) -> Self {
        Validator {
            root: Arc::new(NodeCompiler::new(Purpose::Defaults(server)).node(schema)),
        }
    }

    /// The validator for the values of a property; `None` if the schema does not declare the property.
    pub fn property(&self, name: &str) -> Option<Validator> {
        let maps = self.root.maps.as_ref()?;
        let property = maps.properties.get(name)?;
        Some(Validator {
            root: Arc::clone(&property.node),
        })
    }

    /// The errors of a value. `base` is the path of the value, such as the root, `status`, or the path of a default in a definition.
    pub fn validate(&self, base: &Path<'_>, value: &Json) -> Vec<Error> {
        self.validate_within(base, value, &Work::unbounded())
            .unwrap_or_default()
    }

    /// Like [`Validator::validate`], but `work` may interrupt the validation.
    ///
    /// # Errors
    ///
    /// The work is interrupted.
    pub fn validate_within(
        &self,
        base: &Path<'_>,
        value: &Json,
        work: &Work<'_>,
    ) -> Result<Vec<Error>, Interrupted> {
        let places = Places::new(work);
        let outcome = self.root.outcome(value, &places.root());
        places.check()?;
        Ok(errors(base, &places, &outcome.faults))
    }

    /// The errors of an updated value, except those of unchanged values within it.
    ///
    /// # Errors
    ///
    /// The work is interrupted.
    pub fn validate_update(
        &self,
        base: &Path<'_>,
        was: Correlated<'_, '_>,
        work: &Work<'_>,
    ) -> Result<Vec<Error>, Interrupted> {
        let places = Places::new(work);
        let mut outcome = Outcome::default();
        let value = was.new_value();
        self.root
            .check(value, &places.root(), Some(&was), &mut outcome);
        places.check()?;
        Ok(errors(base, &places, &outcome.faults))
    }

    /// The errors for duplicate elements in lists of type set, and duplicate keys in lists of type map. The caller must ignore these errors
    /// if the old object has duplicates too, as upstream does.
    ///
    /// # Errors
    ///
    /// The work is interrupted.
    pub fn validate_list_types(
        &self,
        base: &Path<'_>,
        value: &Json,
        work: &Work<'_>,
    ) -> Result<Vec<Error>, Interrupted> {
        list_type::validate(&self.root, base, value, work)
    }
}

/// Returns the error that says that rules were not checked, if any of `errors` prevents the rules from running.
pub fn blocked(errors: &[Error]) -> Option<Error> {
    const DETAIL: &str = "some validation rules were not checked because the object was invalid; correct the existing errors to complete validation";
    let blocks = |error: &Error| {
        matches!(
            error.kind,
            ErrorType::NotSupported
                | ErrorType::Required
                | ErrorType::TooLong
                | ErrorType::TooMany
                | ErrorType::TypeInvalid
        )
    };
    let error = || Error::invalid(&Path::root(), Json::Null, DETAIL);
    errors.iter().any(blocks).then(error)
}

#[cfg(test)]
mod tests;
