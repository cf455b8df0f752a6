//! Determines which requests a policy or a binding matches (apiserver `pkg/admission/plugin/policy/matching`,
//! `policy/generic/policy_matcher.go`, `webhook/predicates`).

mod equivalents;
mod rules;
mod selectors;

use std::collections::BTreeSet;

use gavel_apimachinery::labels::Selector;

use crate::api::MatchResources;
use crate::namespace::Namespaces;
use crate::request::AdmissionRequest;
use crate::resource::{GroupVersionKind, GroupVersionResource};

pub use equivalents::EquivalentResources;
pub use rules::resource_matches;

/// The resource and kind with which a policy matches a request: the request's own or an equivalent one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matched<'a> {
    /// The resource.
    pub resource: &'a GroupVersionResource,
    /// The kind. Objects of the request are converted to it.
    pub kind: &'a GroupVersionKind,
}

/// The match constraints of a policy or a binding, with compiled selectors.
#[derive(Debug)]
pub(crate) struct Matcher {
    resources: Option<MatchResources>,
    namespace_selector: Option<Result<Selector, String>>,
    object_selector: Option<Result<Selector, String>>,
}

/// The namespaces and equivalent resources, which matching needs besides the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) namespaces: &'a Namespaces,
    pub(crate) equivalents: &'a EquivalentResources,
}

impl Matcher {
    /// Compiles the selectors of match constraints. The defaults must be set.
    pub(crate) fn new(resources: Option<&MatchResources>) -> Self {
        let namespace = resources.and_then(|all| all.namespace_selector.as_ref());
        let object = resources.and_then(|all| all.object_selector.as_ref());
        Matcher {
            namespace_selector: namespace.map(|selector| selector.compile()),
            object_selector: object.map(|selector| selector.compile()),
            resources: resources.cloned(),
        }
    }

    /// The plural names of the resources in the rules; `None` if any resource can match or if matching can fail.
    pub(crate) fn resource_names(&self) -> Option<BTreeSet<&str>> {
        let MatchResources {
            resource_rules,
            exclude_resource_rules,
            ..
        } = self.resources.as_ref()?;
        let has_selectors = self.namespace_selector.is_some() && self.object_selector.is_some();
        if resource_rules.is_empty() || !has_selectors {
            return None;
        }
        let rules = resource_rules.iter().chain(exclude_resource_rules);
        let names = rules.flat_map(|rule| rules::resource_names(&rule.rule));
        let names: BTreeSet<&str> = names.collect();
        (!names.contains("*")).then_some(names)
    }

    /// The resource and kind with which a policy matches a request; `None` if the policy does not match. A policy without match constraints
    /// is an error.
    pub(crate) fn policy_matches<'a>(
        &self,
        request: &'a AdmissionRequest<'_>,
        around: Surroundings<'a>,
    ) -> Result<Option<Matched<'a>>, String> {
        match &self.resources {
            None => Err("policy contained no match constraints, a required field".to_owned()),
            Some(resources) => self.matches(resources, request, around),
        }
    }

    /// Whether a binding matches a request; a binding without constraints matches all requests.
    pub(crate) fn binding_matches(
        &self,
        request: &AdmissionRequest<'_>,
        around: Surroundings<'_>,
    ) -> Result<bool, String> {
        match &self.resources {
            None => Ok(true),
            Some(resources) => Ok(self.matches(resources, request, around)?.is_some()),
        }
    }

    fn matches<'a>(
        &self,
        resources: &MatchResources,
        request: &'a AdmissionRequest<'_>,
        around: Surroundings<'a>,
    ) -> Result<Option<Matched<'a>>, String> {
        let nil = |what: &str| {
            format!(
                "a nil {what} selector was passed, please ensure selectors are initialized properly"
            )
        };
        let namespace_selector = self.namespace_selector.as_ref();
        let namespace_selector = namespace_selector.ok_or_else(|| nil("namespace"))?;
        let object_selector = self.object_selector.as_ref();
        let object_selector = object_selector.ok_or_else(|| nil("object"))?;
        // Invalid selectors and missing namespaces are errors only if the rules match.
        let namespace =
            selectors::namespace_matches(namespace_selector, request, around.namespaces);
        if namespace == Ok(false) {
            return Ok(None);
        }
        let object = selectors::object_matches(object_selector, request);
        if object == Ok(false) {
            return Ok(None);
        }
        let policy = resources.match_policy.as_deref();
        let equivalents = around.equivalents;
        if rules::matches(
            &resources.exclude_resource_rules,
            policy,
            request,
            equivalents,
        )?
        .is_some()
        {
            return Ok(None);
        }
        let matched = match resources.resource_rules.as_slice() {
            [] => Some(Matched {
                resource: &request.resource,
                kind: &request.kind,
            }),
            rules => rules::matches(rules, policy, request, equivalents)?,
        };
        if matched.is_some() {
            namespace?;
            object?;
        }
        Ok(matched)
    }
}
