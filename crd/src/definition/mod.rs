//! Reads CustomResourceDefinitions, and validates them as an API server does when they are created or updated (apiextensions-apiserver
//! `pkg/apis/apiextensions/{v1,validation}`, `pkg/registry/customresourcedefinition`).

mod api;
mod deprecation;
mod go_json;
mod options;
mod read;
mod report;
mod schema;
mod shared;
mod types;
mod validate;
mod walk;
mod warnings;

pub use api::{
    ClientConfig, Condition, Conversion, CustomResourceDefinitionStatus, Names, PrinterColumn,
    Scale, SelectableField, ServiceReference, Spec, Subresources, Validation, Version,
    WebhookConversion,
};
pub use read::{Definition, field_at_fault, written_field};
pub use report::{RuleOutcome, RuleReport, SchemaReport};
pub(crate) use schema::conversion_error;
pub use schema::{RULE_LIMIT, SCHEMA_LIMIT};
pub use warnings::{set_of_objects, unknown_format};

#[cfg(test)]
pub(crate) mod tests;
