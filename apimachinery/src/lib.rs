//! What all of Kubernetes' API shares, whatever the resource (k8s.io/apimachinery): versions, names, field paths, validation errors,
//! JSON as Go writes it. Knows no CEL and does no IO.

pub mod field;
pub mod json;
pub mod meta;
pub mod labels;
pub mod names;
pub mod version;

/// Go reads null as nothing: the value's default.
fn or_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + serde::Deserialize<'de>,
{
    Ok(<Option<T> as serde::Deserialize>::deserialize(deserializer)?.unwrap_or_default())
}
