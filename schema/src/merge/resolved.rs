//! Resolves the references in the schemas of built-in kinds, for type checking.

use std::collections::HashMap;
use std::sync::Arc;

use smol_str::SmolStr;

use crate::built_in::Kubernetes;
use crate::{Items, JsonSchema, MAX_DEPTH, SchemaOrBool};

impl Kubernetes {
    /// The `apiVersion`s and kinds of built-in objects with metadata. Lists and kinds without a `metadata` field are omitted.
    pub fn kinds(&self) -> impl Iterator<Item = (&str, &str)> {
        let kinds = self.all_kinds();
        kinds.filter_map(|(version, kind, name)| {
            let schema = self.schema(name)?;
            let has_metadata =
                schema.properties.contains_key("metadata") && !kind.ends_with("List");
            has_metadata.then_some((version, kind))
        })
    }

    /// The names of the fields of the value at a path such as `spec.validations[0]`, in objects of a kind; empty if the value has no
    /// fields.
    pub fn field_names(&self, api_version: &str, kind: &str, path: &str) -> Vec<&str> {
        let name = self.name_of(api_version, kind);
        let mut schema = name.and_then(|name| self.schema(name));
        for step in path.split(['.', '[']).filter(|step| !step.is_empty()) {
            let Some(known) = schema.and_then(|schema| self.referred(schema)) else {
                return Vec::new();
            };
            schema = match step.ends_with(']') {
                true => known.item().map(|item| &**item),
                false => {
                    let property = known.properties.get(step);
                    property.or_else(|| known.value()).map(|each| &**each)
                }
            };
        }
        let known = schema.and_then(|schema| self.referred(schema));
        let names = known
            .into_iter()
            .flat_map(|schema| schema.properties.keys());
        names.map(SmolStr::as_str).collect()
    }

    /// The schema that a schema refers to, or the schema itself.
    fn referred<'k>(&'k self, schema: &'k JsonSchema) -> Option<&'k JsonSchema> {
        match &schema.unsupported.reference {
            Some(name) => self.schema(name),
            None => Some(schema),
        }
    }

    /// The schema of a kind's objects, with references replaced by their targets. Schemas without a known type accept any value. A
    /// reference to an enclosing schema becomes an object with unknown fields.
    pub fn resolved(&self, api_version: &str, kind: &str) -> Option<JsonSchema> {
        let name = self.name_of(api_version, kind)?;
        let mut resolver = BuiltinResolver {
            kubernetes: self,
            known: HashMap::new(),
            within: Vec::new(),
        };
        let schema = resolver.named(name)?;
        Some(JsonSchema::clone(&schema))
    }
}

struct BuiltinResolver<'k> {
    kubernetes: &'k Kubernetes,
    known: HashMap<&'k str, Arc<JsonSchema>>,
    /// The names that are being resolved.
    within: Vec<&'k str>,
}

impl<'k> BuiltinResolver<'k> {
    /// Follows a reference. The recursion is bounded, because a name is not followed again while it is being resolved.
    fn named(&mut self, name: &'k str) -> Option<Arc<JsonSchema>> {
        if let Some(known) = self.known.get(name) {
            return Some(Arc::clone(known));
        }
        if self.within.contains(&name) || self.within.len() >= MAX_DEPTH {
            return None;
        }
        let schema = self.kubernetes.schema(name)?;
        self.within.push(name);
        let resolved = Arc::new(self.own(schema));
        self.within.pop();
        self.known.insert(name, Arc::clone(&resolved));
        Some(resolved)
    }

    fn schema(&mut self, schema: &'k JsonSchema) -> Arc<JsonSchema> {
        let Some(name) = &schema.unsupported.reference else {
            return Arc::new(self.own(schema));
        };
        let referred = self.named(name);
        let Some(referred) = referred else {
            return Arc::new(anything());
        };
        match schema.default_value() {
            // A default next to the reference applies too.
            Some(default) => Arc::new(JsonSchema {
                default: Some(Box::new(default.clone())),
                ..JsonSchema::clone(&referred)
            }),
            None => referred,
        }
    }

    /// Resolves the references within a schema that is not a reference itself.
    fn own(&mut self, schema: &'k JsonSchema) -> JsonSchema {
        let properties = schema.properties.iter();
        let properties =
            properties.map(|(name, property)| (SmolStr::clone(name), self.schema(property)));
        let properties = properties.collect();
        let items = schema.item().map(|item| Items::Schema(self.schema(item)));
        let additional_properties = match &schema.additional_properties {
            Some(SchemaOrBool::Schema(value)) => Some(SchemaOrBool::Schema(self.schema(value))),
            other => other.clone(),
        };
        let int_or_string = schema.int_or_string || schema.format == "int-or-string";
        let is_unknown = schema.kind.is_empty() && !int_or_string;
        JsonSchema {
            properties,
            items,
            additional_properties,
            // Expressions cannot read a value without a type, but they can read any value of type int-or-string.
            int_or_string: int_or_string || is_unknown,
            ..schema.clone()
        }
    }
}

fn anything() -> JsonSchema {
    JsonSchema {
        int_or_string: true,
        ..JsonSchema::default()
    }
}

#[cfg(test)]
mod tests {
    use gavel_apimachinery::server::Server;

    use super::*;

    #[test]
    fn references_are_replaced_by_what_they_refer_to() {
        let kubernetes = Kubernetes::of(Server::default());
        let pod = kubernetes.resolved("v1", "Pod").unwrap();
        let spec = pod.properties.get("spec").unwrap();
        let containers = spec.properties.get("containers").unwrap();
        let container = containers.item().unwrap();
        let image = container.properties.get("image").unwrap();
        assert_eq!(image.kind, "string");
        let limits = container.properties.get("resources").unwrap();
        let limits = limits.properties.get("limits").unwrap();
        assert!(limits.value().unwrap().int_or_string);
        assert!(kubernetes.resolved("v1", "Pot").is_none());
    }

    #[test]
    fn kinds_are_those_of_objects() {
        let kinds: Vec<_> = Kubernetes::of(Server::default()).kinds().collect();
        assert!(kinds.contains(&("apps/v1", "Deployment")));
        assert!(!kinds.contains(&("apps/v1", "DeploymentList")));
        assert!(!kinds.contains(&("apps/v1", "DeleteOptions")));
    }
}
