//! Objects that policies need but that no origin contains.

use std::collections::BTreeMap;
use std::fmt;

use gavel_apimachinery::labels::LabelSelector;
use gavel_policy::api::{MatchResources, ParamRef};
use gavel_policy::{CompiledBinding, CompiledPolicy};

use crate::object::Object;
use crate::prepare::{Good, Prepared, Sort};

/// A missing object: a policy or binding needs it, but no origin contains it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unseen {
    /// A binding of the policy with this name.
    Binding(String),
    /// Any other object. The text is a sentence about the policy or binding that needs it.
    Other(String),
}

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unseen::Binding(policy) => write!(f, "{policy} has no binding"),
            Unseen::Other(sentence) => f.write_str(sentence),
        }
    }
}

/// The label that every namespace has.
const NAME_LABEL: &str = "kubernetes.io/metadata.name";

/// The objects that policies and bindings need but that no origin contains. `versions` returns the `apiVersion`s with which policies can
/// read an object as a param; `broken` are the policies with a rejected version.
pub(crate) fn unseen(
    objects: &[&Good],
    versions: impl Fn(&Object) -> Vec<String>,
    has_roles: bool,
    broken: &BTreeMap<(Sort, String), usize>,
) -> Vec<Unseen> {
    let policies: Vec<&CompiledPolicy> = objects
        .iter()
        .filter_map(|good| match &good.prepared {
            Prepared::Policy(policy) => Some(&**policy),
            _ => None,
        })
        .collect();
    let bindings: Vec<&CompiledBinding> = objects
        .iter()
        .filter_map(|good| match &good.prepared {
            Prepared::Binding(binding) => Some(&**binding),
            _ => None,
        })
        .collect();
    let has_namespaces = objects
        .iter()
        .any(|good| matches!(good.prepared, Prepared::Namespace(_)));
    let mut found = Vec::new();
    for policy in &policies {
        let (name, spec) = (policy.name(), &policy.policy().spec);
        if !has_namespaces && selects_by_label(spec.match_constraints.as_ref()) {
            found.push(namespaces(name));
        }
        if !has_roles && policy.reads_authorizer() {
            let sentence = format!("{name} asks authorizer, but there are no RBAC objects");
            found.push(Unseen::Other(sentence));
        }
        let is_bound = |binding: &&CompiledBinding| binding.binding().spec.policy_name == name;
        if !bindings.iter().any(is_bound) {
            found.push(Unseen::Binding(name.to_owned()));
        }
    }
    let params = Params::of(objects, versions);
    for binding in &bindings {
        let (name, spec) = (binding.name(), &binding.binding().spec);
        if !has_namespaces && selects_by_label(spec.match_resources.as_ref()) {
            found.push(namespaces(name));
        }
        let policy = policies
            .iter()
            .find(|policy| policy.name() == spec.policy_name);
        let Some(policy) = policy else {
            let named = spec.policy_name.as_str();
            let sentence = match broken.contains_key(&(Sort::Validating, named.to_owned())) {
                true => format!("binding {name} names the policy {named:?}, which is invalid"),
                false => format!("binding {name} names the policy {named:?}, which does not exist"),
            };
            found.push(Unseen::Other(sentence));
            continue;
        };
        let kind = policy.policy().spec.param_kind.as_ref();
        if let (Some(kind), Some(reference)) = (kind, &spec.param_ref) {
            let missing = params.missing(&kind.api_version, &kind.kind, reference);
            found.extend(missing.map(|missing| Unseen::Other(format!("{name}: {missing}"))));
        }
    }
    found
}

fn namespaces(name: &str) -> Unseen {
    Unseen::Other(format!(
        "{name} selects namespaces by label, but there are no Namespaces"
    ))
}

/// Whether namespaces are selected by labels other than `kubernetes.io/metadata.name`, the label that contains a namespace's own name.
fn selects_by_label(resources: Option<&MatchResources>) -> bool {
    let selector = resources.and_then(|resources| resources.namespace_selector.as_ref());
    selector.is_some_and(|selector| {
        let LabelSelector {
            match_labels,
            match_expressions,
        } = selector;
        let expressions = match_expressions.iter().map(|each| each.key.as_str());
        let mut keys = match_labels.keys().map(String::as_str).chain(expressions);
        keys.any(|key| key != NAME_LABEL)
    })
}

/// The objects that policies can read as params, each with the `apiVersion` of the `paramKind`.
struct Params<'g>(Vec<(String, &'g Object)>);

impl<'g> Params<'g> {
    fn of(objects: &[&'g Good], versions: impl Fn(&Object) -> Vec<String>) -> Self {
        let objects = objects.iter().map(|good| &*good.object);
        let params = objects.flat_map(|object| {
            let versions = versions(object).into_iter();
            versions.map(move |version| (version, object))
        });
        Params(params.collect())
    }

    /// Describes the params that a binding refers to, if no origin contains any of them.
    fn missing(&self, api_version: &str, kind: &str, reference: &ParamRef) -> Option<String> {
        let (namespace, name) = (reference.namespace.as_str(), reference.name.as_str());
        let fits = |(version, object): &(String, &Object)| {
            (version.as_str(), object.kind()) == (api_version, kind)
                && (namespace.is_empty() || object.namespace() == namespace)
                && (name.is_empty() || object.name() == name)
        };
        if self.0.iter().any(fits) {
            return None;
        }
        Some(match (namespace, name) {
            ("", "") => format!("no {kind}"),
            ("", name) => format!("no {kind} {name}"),
            (namespace, "") => format!("no {kind} in {namespace}"),
            (namespace, name) => format!("no {kind} {namespace}/{name}"),
        })
    }
}
