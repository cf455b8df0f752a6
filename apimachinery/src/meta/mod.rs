//! The fields that every object has, `apiVersion`, `kind` and `metadata`, read and validated as an API server does (apimachinery
//! `pkg/apis/meta/v1`, `pkg/api/validation`, `pkg/apis/meta/v1/validation`).
//!
//! Metadata stays JSON. [`decode`] checks it and rewrites it as an API server stores it, [`MetadataView`] returns single fields, and
//! [`validate`] and [`validate_update`] return its errors.

mod decode;
mod group_version;
mod object_meta;
mod update;
mod validate;
mod view;

pub use decode::{check, decode, decode_stored, decode_typed};
pub use group_version::GroupVersion;
pub use object_meta::OBJECT_META;
pub use update::keep_system_fields;
pub(crate) use validate::validate_labels;
pub use validate::{
    FOREGROUND, ORPHAN, validate, validate_any_update, validate_named, validate_type,
    validate_update, without_repetitions,
};
pub use view::{ManagedFieldsView, MetadataView, OwnerView};
