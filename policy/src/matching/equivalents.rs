//! Resources that are the same objects under other versions or groups (apimachinery `pkg/runtime/mapper.go`).

use std::collections::HashMap;

use indexmap::IndexMap;

use crate::names::Names;
use crate::resource::{GroupVersionKind, GroupVersionResource};

/// Which resources lead to the same objects. The versions of one resource always do; a host may know more, such as that
/// events of the core group are those of events.k8s.io.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EquivalentResources {
    /// By group and resource, which objects it leads to: the last that was said counts.
    identities: IndexMap<(String, String), String>,
    /// The resources by identity and subresource, in the order in which they were added.
    resources: IndexMap<(String, String), Vec<GroupVersionResource>>,
    /// The kinds by resource and subresource.
    kinds: HashMap<GroupVersionResource, HashMap<String, GroupVersionKind>>,
    has_other_names: bool,
}

impl EquivalentResources {
    /// Registers a resource or a subresource with its kind. Resources with the same `identity` are the same objects; if it is
    /// empty, those with the same group and name are.
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

    /// Whether there are equivalents with different names, in any group.
    pub(crate) fn has_other_names(&self) -> bool {
        self.has_other_names
    }

    /// The equivalents of a resource, itself among them, in the order in which they came.
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
