//! Equivalent resources, which contain the same objects in different versions or groups (apimachinery `pkg/runtime/mapper.go`).

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::names::Names;
use crate::resource::{GroupVersionKind, GroupVersionResource};

/// The resources and their equivalents. All registered versions of a resource are equivalent. A host can register resources of different
/// groups as equivalent, for example `events` in the core group and in `events.k8s.io`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EquivalentResources {
    /// The identity of each group and resource; resources with the same identity are equivalent. A later registration replaces an
    /// earlier one.
    identities: IndexMap<(String, String), String>,
    /// The resources by identity and subresource, in the order in which they were added.
    resources: IndexMap<(String, String), Vec<GroupVersionResource>>,
    /// The kinds by resource and subresource.
    kinds: HashMap<GroupVersionResource, HashMap<String, GroupVersionKind>>,
    has_other_names: bool,
}

impl EquivalentResources {
    /// Registers a resource or a subresource with its kind. Resources with the same `identity` are equivalent. If `identity` is empty, the
    /// group and the name of the resource identify it.
    pub fn register(
        &mut self,
        identity: &str,
        resource: GroupVersionResource,
        subresource: &str,
        kind: GroupVersionKind,
    ) {
        let identity = match identity {
            "" => resource.qualified(),
            identity => identity.to_owned(),
        };
        let of_same = self.resources.iter().filter(|((of, _), _)| *of == identity);
        let mut same = of_same.flat_map(|(_, resources)| resources);
        self.has_other_names |= same.any(|one| one.resource != resource.resource);
        let group_resource = (resource.group.to_string(), resource.resource.to_string());
        self.identities.insert(group_resource, identity.clone());
        let kinds = self.kinds.entry(resource.clone()).or_default();
        kinds.insert(subresource.to_owned(), kind);
        let equivalents = self.resources.entry((identity, subresource.to_owned()));
        equivalents.or_default().push(resource);
    }

    /// Whether some equivalent resources have different names.
    pub(crate) fn has_other_names(&self) -> bool {
        self.has_other_names
    }

    /// The registered equivalents of a resource, including itself, in the order in which they were registered.
    pub(super) fn of(
        &self,
        resource: &GroupVersionResource,
        subresource: &str,
    ) -> &[GroupVersionResource] {
        let identity = Names(&resource.group, &resource.resource);
        let found = self.identities.get(&identity).and_then(|identity| {
            let names = Names(identity, subresource);
            self.resources.get(&names)
        });
        found.map(Vec::as_slice).unwrap_or_default()
    }

    /// The kind of a resource or subresource, if it is known.
    pub(super) fn kind(
        &self,
        resource: &GroupVersionResource,
        subresource: &str,
    ) -> Option<&GroupVersionKind> {
        let kind = self.kinds.get(resource)?.get(subresource)?;
        Some(kind).filter(|kind| **kind != GroupVersionKind::default())
    }
}
