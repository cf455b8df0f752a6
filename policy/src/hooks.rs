//! Policies with their bindings, indexed by the resources that they may match (apiserver
//! `pkg/admission/plugin/policy/generic/policy_source.go`, `PolicyHook`).

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::FxHashMap;

use crate::matching::Matcher;

/// A compiled policy: validating or mutating.
pub(crate) trait Bounds {
    /// The requests that the policy matches.
    fn matcher(&self) -> &Matcher;
}

/// A compiled binding of either kind.
pub(crate) trait Bound {
    /// The name of the policy.
    fn policy_name(&self) -> &str;
}

/// The policies of one kind with their bindings, indexed by the resources that they may match.
#[derive(Debug)]
pub(crate) struct Hooks<P, B> {
    /// The policies that have bindings, sorted by name.
    hooks: Vec<Hook<P, B>>,
    /// The positions of the policies that match only certain resources, by the plural name of the resource.
    of_resource: FxHashMap<String, Vec<usize>>,
    /// The positions of the policies that may match any resource.
    of_any: Vec<usize>,
    /// The positions of all policies.
    positions: Vec<usize>,
}

/// A policy with its bindings.
#[derive(Debug)]
pub(crate) struct Hook<P, B> {
    policy: Arc<P>,
    /// The bindings, in the order in which they were added.
    bindings: Vec<Arc<B>>,
}

impl<P, B> Default for Hooks<P, B> {
    fn default() -> Self {
        Hooks {
            hooks: Vec::new(),
            of_resource: FxHashMap::default(),
            of_any: Vec::new(),
            positions: Vec::new(),
        }
    }
}

impl<P: Bounds, B: Bound> Hooks<P, B> {
    /// Groups the bindings by policy. Policies without bindings are left out.
    pub(crate) fn new(
        policies: &BTreeMap<String, Arc<P>>,
        bindings: &IndexMap<String, Arc<B>>,
    ) -> Self {
        let mut of_policy: HashMap<&str, Vec<Arc<B>>> = HashMap::new();
        for binding in bindings.values() {
            let name = binding.policy_name();
            of_policy.entry(name).or_default().push(Arc::clone(binding));
        }
        let mut found = Hooks::default();
        for (name, policy) in policies {
            let Some(bindings) = of_policy.remove(name.as_str()) else {
                continue;
            };
            let position = found.hooks.len();
            found.positions.push(position);
            match policy.matcher().resource_names() {
                Some(names) => {
                    for name in names {
                        let of_resource = found.of_resource.entry(name.to_owned());
                        of_resource.or_default().push(position);
                    }
                }
                None => found.of_any.push(position),
            }
            found.hooks.push(Hook {
                policy: Arc::clone(policy),
                bindings,
            });
        }
        found
    }

    /// All policies that have bindings, sorted by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Hook<P, B>> {
        self.hooks.iter()
    }

    /// The policies that may match a resource, sorted by name. With `None`, all policies.
    pub(crate) fn about(
        &self,
        resource: Option<&str>,
    ) -> impl Iterator<Item = &Hook<P, B>> + Clone {
        let (mut of_resource, mut of_any): (&[usize], &[usize]) = match resource {
            None => (&[], &self.positions),
            Some(name) => {
                let of_resource = self.of_resource.get(name).map(Vec::as_slice);
                (of_resource.unwrap_or_default(), &self.of_any)
            }
        };
        std::iter::from_fn(move || {
            let next = match (of_resource.first(), of_any.first()) {
                (Some(one), Some(other)) if one > other => of_any.split_off_first(),
                (Some(_), _) => of_resource.split_off_first(),
                (None, _) => of_any.split_off_first(),
            };
            self.hooks.get(*next?)
        })
    }
}

impl<P, B> Hook<P, B> {
    /// The policy and its bindings. The bindings are in the order in which they were added.
    pub(crate) fn parts(&self) -> (&P, impl Iterator<Item = &B> + Clone) {
        let bindings = self.bindings.iter().map(|binding| &**binding);
        (&self.policy, bindings)
    }
}
