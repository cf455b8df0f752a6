//! Warnings about accepted definitions (apiextensions-apiserver `pkg/registry/customresourcedefinition/strategy.go`).

use std::collections::BTreeSet;

use gavel_apimachinery::formats::Format;
use gavel_apimachinery::server::{Difference, Server};
use gavel_golang::quote::quote;
use gavel_schema::{Items, JsonSchema};

use super::Definition;
use super::walk::each_schema;

impl Definition {
    /// The warnings that a client gets: about formats that the server does not know, and about sets of objects or lists. Warnings that the
    /// old definition caused too are left out.
    pub fn warnings(&self, old: Option<&Definition>, server: Server) -> Vec<String> {
        let mut warnings = self.unknown_formats(server);
        warnings.extend(self.sets_of_objects(server));
        if let Some(old) = old {
            let known = [old.unknown_formats(server), old.sets_of_objects(server)].concat();
            warnings.retain(|warning| !known.contains(warning));
        }
        warnings
    }

    /// A warning for each unknown format, in the order of the schemas.
    fn unknown_formats(&self, server: Server) -> Vec<String> {
        let mut warnings = Vec::new();
        self.each_schema(&mut |schema| warnings.extend(unknown_format(schema, server)));
        warnings
    }

    /// A warning for sets of lists and one for sets of objects, if the definition has them.
    fn sets_of_objects(&self, server: Server) -> Vec<String> {
        let mut warnings = BTreeSet::new();
        self.each_schema(&mut |schema| warnings.extend(set_of_objects(schema, server)));
        warnings.into_iter().collect()
    }

    /// Calls `visit` with each schema of the versions and all schemas within it. A schema that all versions share is visited once.
    fn each_schema<'d>(&'d self, visit: &mut dyn FnMut(&'d JsonSchema)) {
        let shared = self.shared();
        let own = self.spec.versions.iter();
        let own = own.filter_map(|version| shared.validation.own(version.schema.as_ref()));
        for validation in shared.validation.common.into_iter().chain(own) {
            if let Some(schema) = validation.schema.as_deref() {
                each_schema(schema, visit);
            }
        }
    }
}

/// The warning about the format of a schema, not about schemas within it.
pub fn unknown_format(schema: &JsonSchema, server: Server) -> Option<String> {
    let is_unknown = !schema.format.is_empty() && !is_known(schema, server);
    is_unknown.then(|| format!("unrecognized format {}", quote(&schema.format)))
}

/// The warning about a set of objects or of lists, not about schemas within it.
pub fn set_of_objects(schema: &JsonSchema, server: Server) -> Option<String> {
    let Some(Items::Schema(items)) = &schema.items else {
        return None;
    };
    let is_warned_of = server.has(Difference::SetsOfObjectsAreWarnedOf)
        && schema.topology.list_type.as_deref() == Some("set")
        && matches!(items.kind.as_str(), "object" | "array");
    is_warned_of.then(|| {
        format!(
            "x-kubernetes-list-type: set for items of type {} is not supported by server-side apply or CEL validation rules",
            quote(&items.kind)
        )
    })
}

fn is_known(schema: &JsonSchema, server: Server) -> bool {
    let format = schema.format.as_str();
    if schema.kind != "string" && !server.has(Difference::FormatsDependOnTypes) {
        return true;
    }
    match schema.kind.as_str() {
        "" | "string" => Format::named(format, server.language()).is_some(),
        "integer" => matches!(format, "int32" | "int64"),
        "number" => matches!(format, "float" | "double"),
        _ => false,
    }
}
