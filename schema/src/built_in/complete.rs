//! Completes objects as an API server does when it reads them: sets defaults, normalizes quantities, and writes or omits fields
//! as Go does.

use std::fmt::Write;

use ::base64::Engine;
use ::base64::engine::general_purpose::STANDARD;
use gavel_apimachinery::quantity::Quantity;
use gavel_apimachinery::server::Server;
use gavel_engine::value::{Json, JsonObject};
use gavel_golang::base64::{self, Encoding};
use gavel_golang::time::Layout;

use super::kubernetes::{GoFields, Kubernetes};
use super::typed::GoType;
use super::{defaults, dependent};
use crate::JsonSchema;

/// Completes an object of a built-in kind as this API server does. Values that do not fit the kind's type, fields that the type does not
/// have, and objects of other kinds stay unchanged.
pub fn complete(object: &mut Json, api_version: &str, kind: &str, server: Server) {
    let kubernetes = Kubernetes::of(server);
    if let Some(name) = kubernetes.decoded_name_of(api_version, kind) {
        complete_value(object, GoType::named(name, kubernetes), name, server);
    }
}

/// Whether this API server always sets a field of a built-in kind, whatever the values of other fields, if the object that has the field
/// exists. In `path`, any text stands for the items of a list or the values of a map.
///
/// ```
/// use gavel_apimachinery::server::Server;
/// use gavel_schema::built_in::is_always_set;
///
/// let server = Server::default();
/// assert!(is_always_set("batch/v1", "Job", &["spec", "suspend"], server));
/// assert!(!is_always_set("batch/v1", "Job", &["spec", "completions"], server));
/// // Go always writes quantities.
/// let path = ["spec", "containers", "0", "env", "0", "valueFrom", "resourceFieldRef", "divisor"];
/// assert!(is_always_set("v1", "Pod", &path, server));
/// ```
pub fn is_always_set(
    api_version: &str,
    kind: &str,
    path: &[impl AsRef<str>],
    server: Server,
) -> bool {
    let kubernetes = Kubernetes::of(server);
    let Some(name) = kubernetes.name_of(api_version, kind) else {
        return false;
    };
    let mut ty = GoType::named(name, kubernetes);
    let mut rest = path;
    while let [step, deeper @ ..] = rest {
        let next = match ty {
            GoType::Struct(name, _) if defaults::has(short(name), rest) => return true,
            GoType::Struct(name, _) if deeper.is_empty() => {
                let written = kubernetes.fields(name).written.get(step.as_ref());
                return written.is_some_and(|zero| !zero.is_null());
            }
            GoType::Struct(_, schema) => schema.properties.get(step.as_ref()).map(|field| &**field),
            GoType::List(of) | GoType::Map(of) => Some(of),
            _ => None,
        };
        let Some(next) = next else { return false };
        ty = GoType::of(next, kubernetes);
        rest = deeper;
    }
    false
}

/// Completes a value. `holder` is the name of the struct that has the value.
// Recurses as deep as the document, at most 127 levels.
fn complete_value(value: &mut Json, ty: GoType<'_>, holder: &str, server: Server) {
    let kubernetes = Kubernetes::of(server);
    match (ty, value) {
        (GoType::Struct(name, schema), Json::Object(fields)) => {
            complete_struct(fields, name, schema, server);
        }
        (GoType::Map(of), Json::Object(fields)) => {
            let of = GoType::of(of, kubernetes);
            let is_rounded = matches!(of, GoType::Quantity)
                && holder.starts_with("io.k8s.api.core.")
                && !holder.ends_with(".NodeAllocatableResourceClaimStatus");
            for value in fields.values_mut() {
                replace_null(value, of);
                match is_rounded {
                    true => write_amount(value, Quantity::rounded_up_to_milli),
                    false => complete_value(value, of, holder, server),
                }
            }
        }
        (GoType::List(of), Json::Array(items)) => {
            let of = GoType::of(of, kubernetes);
            for item in items {
                replace_null(item, of);
                complete_value(item, of, holder, server);
            }
        }
        (GoType::Quantity, value) => write_amount(value, Quantity::clone),
        (GoType::Time(layout), value) => write_time(value, layout),
        (GoType::Bytes, value) => write_bytes(value),
        _ => {}
    }
}

/// Replaces null in a list or map by the zero value of its type.
fn replace_null(value: &mut Json, ty: GoType<'_>) {
    if value.is_null() {
        *value = ty.zero();
    }
}

fn complete_struct(fields: &mut JsonObject, name: &str, schema: &JsonSchema, server: Server) {
    let kubernetes = Kubernetes::of(server);
    let go = kubernetes.fields(name);
    fields.retain(|name, value| !value.is_null() || !schema.properties.contains_key(name.as_str()));
    for (name, zero) in &go.written {
        if zero.is_object() && !fields.contains_key(&**name) {
            fields.insert(name.to_string(), zero.clone());
        }
    }
    for (field, schema) in &schema.properties {
        let default = schema.default_value();
        if let Some(default) = default.filter(|_| is_unset(fields.get(field.as_str()), field, go)) {
            fields.insert(field.to_string(), default.clone());
        }
    }
    defaults::set(fields, short(name));
    dependent::set(fields, short(name), server);
    for (field, value) in &mut *fields {
        if let Some(schema) = schema.properties.get(field.as_str()) {
            complete_value(value, GoType::of(schema, kubernetes), name, server);
        }
    }
    fields.retain(|name, value| !is_left_out(name, value, schema, kubernetes, go));
    for (name, zero) in &go.written {
        if !fields.contains_key(&**name) {
            fields.insert(name.to_string(), zero.clone());
        }
    }
}

/// The group, version and name of a schema, such as `core.v1.Pod`.
fn short(name: &str) -> &str {
    let prefix = name.rsplitn(4, '.').nth(3).unwrap_or_default();
    let short = name.strip_prefix(prefix).unwrap_or(name);
    short.strip_prefix('.').unwrap_or(short)
}

fn is_unset(value: Option<&Json>, field: &str, go: &GoFields) -> bool {
    value.is_none_or(|value| go.is_plain(field) && is_zero(value))
}

/// Whether Go omits a field when it writes a struct.
fn is_left_out(
    name: &str,
    value: &Json,
    schema: &JsonSchema,
    kubernetes: &Kubernetes,
    go: &GoFields,
) -> bool {
    let Some(field) = schema.properties.get(name) else {
        return false;
    };
    let ty = GoType::of(field, kubernetes);
    let is_empty = match value {
        Json::Array(items) => items.is_empty(),
        Json::Object(entries) => entries.is_empty() && matches!(ty, GoType::Map(_)),
        Json::String(text) if matches!(ty, GoType::Bytes) => text.is_empty(),
        value => go.is_plain(name) && is_zero(value),
    };
    is_empty && !go.is_written(name, schema)
}

/// Whether a value is null, `false`, 0 or an empty string.
fn is_zero(value: &Json) -> bool {
    match value {
        Json::Null => true,
        Json::Bool(value) => !value,
        Json::Number(number) => number.as_i64() == Some(0),
        Json::String(text) => text.is_empty(),
        _ => false,
    }
}

/// Applies `change` to a quantity, and writes the result in its canonical form.
fn write_amount(value: &mut Json, change: impl Fn(&Quantity) -> Quantity) {
    let amount = match &*value {
        Json::String(text) => Quantity::parse(text.trim()),
        Json::Number(number) => Quantity::parse(&number.to_string()),
        _ => return,
    };
    if let Ok(amount) = amount {
        *value = Json::String(change(&amount).to_string());
    }
}

/// Writes a time in UTC: as whole seconds, or in microseconds if `layout` has them. Go writes its zero time as null.
fn write_time(value: &mut Json, layout: Layout) {
    let time = value.as_str().and_then(|text| layout.parse(text).ok());
    let Some(time) = time else {
        return;
    };
    let mut text = String::new();
    // Writing to a String does not fail.
    let _ = time.utc_second().write_rfc3339(&mut text);
    if layout == Layout::Rfc3339Micro {
        text.pop();
        let _ = write!(text, ".{:06}Z", time.nanos / 1000);
    }
    *value = match time.is_zero() {
        true => Json::Null,
        false => text.into(),
    };
}

/// Writes bytes as base64 without line breaks. The bytes are base64 or a list of numbers.
fn write_bytes(value: &mut Json) {
    let bytes = match &*value {
        Json::String(text) => base64::decode(text, Encoding::Standard).ok(),
        Json::Array(items) => items
            .iter()
            .map(|item| match item {
                Json::Null => Some(0),
                item => item.as_u64().and_then(|byte| u8::try_from(byte).ok()),
            })
            .collect(),
        _ => None,
    };
    if let Some(bytes) = bytes {
        *value = STANDARD.encode(bytes).into();
    }
}
