//! Resources that are the same objects under other versions or groups (apimachinery `pkg/runtime/mapper.go`).

use crate::resource::{GroupVersionKind, GroupVersionResource};

/// Which resources lead to the same objects. The versions of one resource always do; a host may know more, such as that
/// events of the core group are those of events.k8s.io.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EquivalentResources {
    served: Vec<Served>,
    /// Whether there are equivalents that go by different names, whatever their group.
    has_other_names: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Served {
    identity: String,
    resource: GroupVersionResource,
    subresource: String,
    kind: GroupVersionKind,
}

impl EquivalentResources {
    /// Makes a resource or a subresource and its kind known. Resources of one `identity` are the same objects; where it
    /// is empty, those of one group and name.
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
        let goes_by_another_name = |served: &Served| {
            served.identity == identity && served.resource.resource != resource.resource
        };
        self.has_other_names |= self.served.iter().any(goes_by_another_name);
        self.served.push(Served {
            identity,
            resource,
            subresource: subresource.to_owned(),
            kind,
        });
    }

    /// Whether there are equivalents that go by different names, whatever their group.
    pub(crate) fn has_other_names(&self) -> bool {
        self.has_other_names
    }

    /// The equivalents of a resource, itself among them, in the order in which they came.
    pub(super) fn of<'a>(
        &'a self,
        resource: &GroupVersionResource,
        subresource: &'a str,
    ) -> impl Iterator<Item = &'a GroupVersionResource> {
        let same = |served: &&Served| {
            served.resource.group == resource.group && served.resource.resource == resource.resource
        };
        // The identity under which the group's resource was made known last counts.
        let identity = self.served.iter().rev().find(same);
        let identity = identity.map(|served| served.identity.as_str());
        self.served
            .iter()
            .filter(move |served| {
                Some(served.identity.as_str()) == identity && served.subresource == subresource
            })
            .map(|served| &served.resource)
    }

    /// The kind of a resource or subresource, if it is known.
    pub(super) fn kind(
        &self,
        resource: &GroupVersionResource,
        subresource: &str,
    ) -> Option<&GroupVersionKind> {
        let known = self
            .served
            .iter()
            .rev()
            .find(|served| served.resource == *resource && served.subresource == subresource)?;
        Some(&known.kind).filter(|kind| **kind != GroupVersionKind::default())
    }
}
