//! Warnings about accepted definitions (apiextensions-apiserver `pkg/registry/customresourcedefinition/strategy.go`).

use gavel_apimachinery::formats::Format;
use gavel_apimachinery::server::{Difference, Server};
use gavel_golang::quote::quote;
use gavel_schema::JsonSchema;

use super::Definition;
use super::walk::each_schema;

impl Definition {
    /// The warnings that a client gets: one for each format that the server does not know, unless the old definition has this format too.
    pub fn warnings(&self, old: Option<&Definition>, server: Server) -> Vec<String> {
        let known = old.map(|old| old.unknown_formats(server));
        let known = known.unwrap_or_default();
        let formats = self.unknown_formats(server).into_iter();
        let new = formats.filter(|format| !known.contains(format));
        new.map(|format| format!("unrecognized format {}", quote(format)))
            .collect()
    }

    fn unknown_formats(&self, server: Server) -> Vec<&str> {
        let shared = self.shared();
        let own = self.spec.versions.iter();
        let own = own.filter_map(|version| shared.validation.own(version.schema.as_ref()));
        let mut formats = Vec::new();
        for validation in shared.validation.common.into_iter().chain(own) {
            if let Some(schema) = validation.schema.as_deref() {
                each_schema(schema, &mut |schema| {
                    if !schema.format.is_empty() && !is_known(schema, server) {
                        formats.push(schema.format.as_str());
                    }
                });
            }
        }
        formats
    }
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
