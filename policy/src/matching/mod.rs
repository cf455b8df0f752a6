//! Determines which requests a policy or a binding matches (apiserver `pkg/admission/plugin/policy/matching`,
//! `policy/generic/policy_matcher.go`, `webhook/predicates`).

mod equivalents;
mod rules;
mod selectors;

use std::collections::BTreeSet;
use std::sync::Arc;

use gavel_apimachinery::labels::{LabelSelector, Selector};

use crate::api::MatchResources;
use crate::namespace::Namespaces;
use crate::request::{AdmissionRequest, RequestLabels};
use crate::resource::{GroupVersionKind, GroupVersionResource};
use crate::shared::Shared;

pub use equivalents::EquivalentResources;
use rules::Rules;
pub use rules::resource_matches;

/// The resource and kind with which a policy matches a request: the request's own or an equivalent one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Matched<'a> {
    /// The resource.
    pub resource: &'a GroupVersionResource,
    /// The kind. Objects of the request are converted to it.
    pub kind: &'a GroupVersionKind,
}

/// The compiled match constraints of a policy or a binding; `None` if they are absent.
#[derive(Debug)]
pub(crate) struct Matcher(Option<Arc<Constraints>>);

/// Compiled match constraints.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(crate) struct Constraints {
    /// Whether the selectors select all requests, as most do.
    selects_all: bool,
    namespace_selector: Option<Result<Selector, String>>,
    object_selector: Option<Result<Selector, String>>,
    rules: Rules,
    excluded: Rules,
}

/// The namespaces, equivalent resources and labels, which matching needs besides the request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Surroundings<'a> {
    pub(crate) namespaces: &'a Namespaces,
    pub(crate) equivalents: &'a EquivalentResources,
    /// The labels of the request's objects.
    pub(crate) labels: &'a RequestLabels<'a>,
}

impl Matcher {
    /// Compiles match constraints. Their defaults must be set.
    pub(crate) fn new(resources: Option<&MatchResources>) -> Self {
        Matcher(resources.map(|resources| Arc::new(Constraints::new(resources))))
    }

    /// Compiles match constraints, or shares equal ones. Their defaults must be set.
    pub(crate) fn shared(resources: Option<&MatchResources>, shared: &Shared<Constraints>) -> Self {
        Matcher(resources.map(|resources| {
            let constraints = Constraints::new(resources);
            shared.get_or_insert(
                &constraints,
                |known| *known == constraints,
                || Constraints::new(resources),
            )
        }))
    }

    /// Whether two matchers share their constraints, and therefore match the same requests.
    pub(crate) fn is_same(&self, other: &Matcher) -> bool {
        match (&self.0, &other.0) {
            (Some(constraints), Some(others)) => Arc::ptr_eq(constraints, others),
            _ => false,
        }
    }

    /// The plural names of the resources in the rules; `None` if any resource can match or if matching can fail.
    pub(crate) fn resource_names(&self) -> Option<BTreeSet<&str>> {
        let constraints = self.0.as_ref()?;
        let has_selectors =
            constraints.namespace_selector.is_some() && constraints.object_selector.is_some();
        if constraints.rules.is_empty() || !has_selectors {
            return None;
        }
        let mut names = constraints.rules.resource_names()?;
        names.extend(constraints.excluded.resource_names()?);
        Some(names.into_iter().collect())
    }

    /// The resource and kind with which a policy matches a request; `None` if the policy does not match. A policy without match constraints
    /// is an error.
    pub(crate) fn policy_matches<'a>(
        &self,
        request: &'a AdmissionRequest<'_>,
        around: Surroundings<'a>,
    ) -> Result<Option<Matched<'a>>, String> {
        match &self.0 {
            None => Err("policy contained no match constraints, a required field".to_owned()),
            Some(constraints) => constraints.matches(request, around),
        }
    }

    /// Whether a binding matches a request; a binding without constraints matches all requests.
    pub(crate) fn binding_matches<'a>(
        &self,
        request: &'a AdmissionRequest<'_>,
        around: Surroundings<'a>,
    ) -> Result<bool, String> {
        match &self.0 {
            None => Ok(true),
            Some(constraints) => Ok(constraints.matches(request, around)?.is_some()),
        }
    }
}

impl Constraints {
    fn new(resources: &MatchResources) -> Self {
        let policy = resources.match_policy.as_deref();
        let selector =
            |selector: &Option<LabelSelector>| selector.as_ref().map(LabelSelector::compile);
        let namespace_selector = selector(&resources.namespace_selector);
        let object_selector = selector(&resources.object_selector);
        let all = |selector: &Option<Result<Selector, String>>| matches!(selector, Some(Ok(selector)) if selector.is_empty());
        Constraints {
            selects_all: all(&namespace_selector) && all(&object_selector),
            namespace_selector,
            object_selector,
            rules: Rules::new(&resources.resource_rules, policy),
            excluded: Rules::new(&resources.exclude_resource_rules, policy),
        }
    }

    fn matches<'a>(
        &self,
        request: &'a AdmissionRequest<'_>,
        around: Surroundings<'a>,
    ) -> Result<Option<Matched<'a>>, String> {
        let equivalents = around.equivalents;
        // Invalid selectors and missing namespaces are errors only if the rules match.
        let selected = match self.selects_all {
            true => Ok(true),
            false => self.selects(request, around)?,
        };
        if selected == Ok(false) {
            return Ok(None);
        }
        if !self.excluded.is_empty() && self.excluded.matches(request, equivalents)?.is_some() {
            return Ok(None);
        }
        let matched = match self.rules.is_empty() {
            true => Some(Matched {
                resource: &request.resource,
                kind: &request.kind,
            }),
            false => self.rules.matches(request, equivalents)?,
        };
        if matched.is_some() {
            selected?;
        }
        Ok(matched)
    }

    /// Whether the selectors select the request. The inner error is that of a selector that cannot be evaluated, for example because the
    /// namespace of the request does not exist.
    ///
    /// # Errors
    ///
    /// A selector is absent.
    #[inline(never)]
    fn selects<'a>(
        &self,
        request: &'a AdmissionRequest<'_>,
        around: Surroundings<'a>,
    ) -> Result<Result<bool, String>, String> {
        let nil = |what: &str| {
            format!(
                "a nil {what} selector was passed, please ensure selectors are initialized properly"
            )
        };
        let namespace = self.namespace_selector.as_ref();
        let namespace = namespace.ok_or_else(|| nil("namespace"))?;
        let object = self.object_selector.as_ref();
        let object = object.ok_or_else(|| nil("object"))?;
        let namespace = selectors::namespace_matches(namespace, request, around);
        if namespace == Ok(false) {
            return Ok(namespace);
        }
        Ok(match selectors::object_matches(object, request, around) {
            Ok(true) => namespace,
            Err(_) if namespace.is_err() => namespace,
            object => object,
        })
    }
}
