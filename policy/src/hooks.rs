//! Policies with their bindings, found by the resources that they are about (apiserver
//! `pkg/admission/plugin/policy/generic/policy_source.go`, `PolicyHook`).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use indexmap::IndexMap;

use crate::compiled::CompiledPolicy;
use crate::compiled_binding::CompiledBinding;
use crate::matching::EquivalentResources;

/// The policies that are bound.
#[derive(Debug, Default)]
pub(crate) struct Hooks {
    /// By the name of the policy.
    hooks: Vec<Hook>,
    /// The positions of those that are about certain resources, by the plural name.
    of_resource: HashMap<String, Vec<usize>>,
    /// The positions of those that may be about any resource.
    of_any: Vec<usize>,
}

/// A policy with its bindings.
#[derive(Debug)]
pub(crate) struct Hook {
    policy: Arc<CompiledPolicy>,
    /// In the order in which they came.
    bindings: Vec<Arc<CompiledBinding>>,
}

impl Hooks {
    /// Of policies by name and bindings in the order in which they came.
    pub(crate) fn new(
        policies: &BTreeMap<String, Arc<CompiledPolicy>>,
        bindings: &IndexMap<String, Arc<CompiledBinding>>,
        equivalents: &EquivalentResources,
    ) -> Self {
        let mut of_policy: HashMap<&str, Vec<Arc<CompiledBinding>>> = HashMap::new();
        for binding in bindings.values() {
            let name = binding.binding().spec.policy_name.as_str();
            of_policy.entry(name).or_default().push(Arc::clone(binding));
        }
        let mut found = Hooks::default();
        for (name, policy) in policies {
            let Some(bindings) = of_policy.remove(name.as_str()) else {
                continue;
            };
            let position = found.hooks.len();
            match policy.matcher.resource_names() {
                // A resource of another name may lead to the same objects.
                Some(names) if !equivalents.has_other_names() => {
                    for name in names {
                        let of_resource = found.of_resource.entry(name.to_owned());
                        of_resource.or_default().push(position);
                    }
                }
                _ => found.of_any.push(position),
            }
            found.hooks.push(Hook {
                policy: Arc::clone(policy),
                bindings,
            });
        }
        found
    }

    /// The policies that may be about a resource, by name.
    pub(crate) fn about(&self, resource: &str) -> impl Iterator<Item = &Hook> {
        let of_resource = self.of_resource.get(resource).map(Vec::as_slice);
        let mut of_resource = of_resource.unwrap_or_default().iter().peekable();
        let mut of_any = self.of_any.iter().peekable();
        std::iter::from_fn(move || {
            let next = match (of_resource.peek(), of_any.peek()) {
                (Some(one), Some(other)) if one > other => of_any.next(),
                (Some(_), _) => of_resource.next(),
                (None, _) => of_any.next(),
            };
            self.hooks.get(*next?)
        })
    }
}

impl Hook {
    /// The policy, and its bindings in the order in which they came.
    pub(crate) fn parts(
        &self,
    ) -> (
        &CompiledPolicy,
        impl Iterator<Item = &CompiledBinding> + Clone,
    ) {
        let bindings = self.bindings.iter().map(|binding| &**binding);
        (&self.policy, bindings)
    }
}
