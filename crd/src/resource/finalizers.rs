//! The warnings about new finalizers (apiextensions-apiserver `pkg/registry/customresource/{strategy,validator}.go`).

use std::collections::BTreeSet;

use gavel_apimachinery::meta::{FOREGROUND, MetadataView, ORPHAN};
use gavel_engine::value::Json;
use gavel_golang::quote::quote;

/// The finalizers without a domain that Kubernetes itself uses.
const STANDARD: [&str; 3] = [ORPHAN, FOREGROUND, "kubernetes"];

/// The warnings about finalizers without a domain or a path that a valid object has and its old version does not have.
///
/// ```
/// use gavel_crd::resource::finalizer_warnings;
///
/// let object = serde_json::json!({"metadata": {"finalizers": ["orphan", "example.com/a", "b"]}});
/// let warnings = finalizer_warnings(&object, None);
/// let expected = "metadata.finalizers: \"b\": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers";
/// assert_eq!(warnings, [expected]);
/// assert!(finalizer_warnings(&object, Some(&object)).is_empty());
/// ```
pub fn finalizer_warnings(object: &Json, old: Option<&Json>) -> Vec<String> {
    let known = old.map_or_else(Vec::new, |old| MetadataView::of(old).finalizers());
    let finalizers = MetadataView::of(object).finalizers().into_iter();
    let added: BTreeSet<&str> = finalizers.filter(|name| !known.contains(name)).collect();
    let unqualified = added
        .into_iter()
        .filter(|name| !name.contains('/') && !STANDARD.contains(name));
    let warning = |name: &str| {
        let path = if name.contains('.') {
            " including a path (/)"
        } else {
            ""
        };
        format!(
            "metadata.finalizers: {}: prefer a domain-qualified finalizer name{path} to avoid accidental conflicts with other finalizer writers",
            quote(name)
        )
    };
    unqualified.map(warning).collect()
}
