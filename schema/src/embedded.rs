//! Objects within objects: their type and metadata (apiextensions-apiserver `pkg/apiserver/schema/objectmeta`).

use gavel_apimachinery::field::{Error, Path};
use gavel_apimachinery::meta::{self, GroupVersion, ObjectMeta};
use gavel_apimachinery::names;
use gavel_engine::value::Json;

use crate::JsonSchema;

/// Brings the metadata of all embedded objects in place to the form in which an API server writes it, and returns the
/// paths of its unknown fields in the order of their texts. `resource` says whether the value itself is such an object,
/// whatever the schema says; `path` where it lies.
///
/// # Errors
///
/// The first embedded object, in the order of names, whose type is no text or whose metadata cannot be read.
pub fn coerce(
    value: &mut Json,
    schema: Option<&JsonSchema>,
    resource: bool,
    path: &Path<'_>,
) -> Result<Vec<String>, Error> {
    walk(value, schema, resource, false, path)
}

/// As [`coerce`], of what was read from storage: what cannot be read is left out.
pub fn coerce_stored(value: &mut Json, schema: Option<&JsonSchema>, resource: bool) {
    // Nothing fails where it may be left out.
    let _ = walk(value, schema, resource, true, &Path::root());
}

fn walk(
    value: &mut Json,
    schema: Option<&JsonSchema>,
    resource: bool,
    stored: bool,
    path: &Path<'_>,
) -> Result<Vec<String>, Error> {
    let empty = JsonSchema::default();
    let mut coercion = Coercion {
        stored,
        unknown: Vec::new(),
    };
    match schema {
        Some(schema) => {
            coercion.value(value, schema, resource || schema.embedded_resource, path)?
        }
        None if resource => coercion.value(value, &empty, true, path)?,
        None => {}
    }
    coercion.unknown.sort_unstable();
    Ok(coercion.unknown)
}

struct Coercion {
    stored: bool,
    unknown: Vec<String>,
}

impl Coercion {
    fn value(
        &mut self,
        value: &mut Json,
        schema: &JsonSchema,
        embedded: bool,
        path: &Path<'_>,
    ) -> Result<(), Error> {
        if embedded {
            self.object(value, path)?;
        }
        match value {
            Json::Object(fields) => {
                for (name, value) in fields {
                    if let Some(schema) = schema.properties.get(name) {
                        self.value(value, schema, schema.embedded_resource, &path.child(name))?;
                    } else if let Some(schema) = schema.value() {
                        self.value(value, schema, schema.embedded_resource, &path.key(name))?;
                    }
                }
            }
            Json::Array(items) => {
                if let Some(schema) = schema.item() {
                    for (n, value) in items.iter_mut().enumerate() {
                        self.value(value, schema, schema.embedded_resource, &path.index(n))?;
                    }
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn object(&mut self, value: &mut Json, path: &Path<'_>) -> Result<(), Error> {
        let Json::Object(fields) = value else {
            return Ok(());
        };
        for name in ["apiVersion", "kind"] {
            match fields.get(name) {
                None | Some(Json::String(_)) => {}
                Some(_) if self.stored => {
                    fields.remove(name);
                }
                Some(other) => {
                    return Err(Error::invalid(&path.child(name), other, "must be a string"));
                }
            }
        }
        let Some(metadata) = fields.get_mut("metadata") else {
            return Ok(());
        };
        let path = path.child("metadata");
        match self.stored {
            true => {
                // Metadata that is no object stays.
                let _ = meta::decode_stored(metadata);
            }
            false => {
                let unknown = meta::decode(metadata)
                    .map_err(|error| Error::invalid(&path, &*metadata, error))?;
                self.unknown
                    .extend(unknown.iter().map(|field| format!("{path}.{field}")));
            }
        }
        Ok(())
    }
}

/// What is wrong with the type and metadata of all embedded objects. `resource` and `path` are as for [`coerce`].
pub fn validate(
    value: &Json,
    schema: Option<&JsonSchema>,
    resource: bool,
    path: &Path<'_>,
) -> Vec<Error> {
    let mut errors = Vec::new();
    let empty = JsonSchema::default();
    match schema {
        Some(schema) => {
            let embedded = resource || schema.embedded_resource;
            validate_value(&mut errors, value, schema, embedded, path);
        }
        None if resource => validate_value(&mut errors, value, &empty, true, path),
        None => {}
    }
    errors
}

fn validate_value(
    errors: &mut Vec<Error>,
    value: &Json,
    schema: &JsonSchema,
    embedded: bool,
    path: &Path<'_>,
) {
    match value {
        Json::Object(fields) => {
            if embedded {
                validate_object(errors, value, path);
            }
            for (name, value) in fields {
                if let Some(schema) = schema.properties.get(name) {
                    let path = path.child(name);
                    validate_value(errors, value, schema, schema.embedded_resource, &path);
                } else if let Some(schema) = schema.value() {
                    let path = path.key(name);
                    validate_value(errors, value, schema, schema.embedded_resource, &path);
                }
            }
        }
        Json::Array(items) => {
            if let Some(schema) = schema.item() {
                for (n, value) in items.iter().enumerate() {
                    let path = path.index(n);
                    validate_value(errors, value, schema, schema.embedded_resource, &path);
                }
            }
        }
        _ => {}
    }
}

fn validate_object(errors: &mut Vec<Error>, object: &Json, path: &Path<'_>) {
    let fields: [(&str, fn(&str) -> Option<String>); 2] =
        [("apiVersion", api_version_fault), ("kind", kind_fault)];
    for (name, fault) in fields {
        let path = path.child(name);
        match object.get(name) {
            None => errors.push(Error::required(&path, "")),
            Some(Json::String(text)) => {
                errors.extend(fault(text).map(|fault| Error::invalid(&path, text, fault)));
            }
            Some(other) => errors.push(Error::invalid(&path, other, "must be a string")),
        }
    }
    let Some(metadata) = object.get("metadata") else {
        return;
    };
    let path = path.child("metadata");
    match meta::check(metadata) {
        Err(error) => errors.push(Error::invalid(&path, metadata, error)),
        Ok(_) => {
            let metadata = ObjectMeta::new(metadata);
            // An embedded object needs no name.
            let name = match metadata.name() {
                "" => "fakename",
                name => name,
            };
            let namespaced = !metadata.namespace().is_empty();
            let rule = names::path_segment;
            errors.extend(meta::validate_named(
                metadata, name, namespaced, rule, &path,
            ));
        }
    }
}

fn api_version_fault(text: &str) -> Option<String> {
    match text {
        "" => Some("must not be empty".to_owned()),
        text => GroupVersion::parse(text).err(),
    }
}

fn kind_fault(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some("must not be empty".to_owned());
    }
    let faults = names::dns1035_label(names::lower_case(text).as_bytes());
    let may = "may have mixed case, but should otherwise match: ";
    (!faults.is_empty()).then(|| format!("{may}{}", faults.join(",")))
}
