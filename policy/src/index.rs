//! What is known of policies, bindings, params and namespaces: events in, snapshots out (apiserver
//! `pkg/admission/plugin/policy/generic/policy_source.go`).

use std::collections::BTreeMap;
use std::sync::Arc;

use gavel_engine::env::Env;
use gavel_engine::value::Json;
use indexmap::IndexMap;

use crate::api::{
    DecodeError, ParamKind, Registration, ValidatingAdmissionPolicy,
    ValidatingAdmissionPolicyBinding,
};
use crate::compiled::CompiledPolicy;
use crate::matching::{EquivalentResources, Matcher};
use crate::namespace::{Namespace, Namespaces};
use crate::params::{ParamSelection, Params};
use crate::request::text_of;

/// Takes in events and keeps the snapshot that they lead to.
#[derive(Debug, Clone)]
pub struct PolicyIndex {
    base: Env,
    snapshot: Snapshot,
}

/// Everything that a decision depends on beside the request and the authorizer, at one moment. Cloning is cheap, and a clone
/// stays as it is.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    policies: Arc<BTreeMap<String, Arc<CompiledPolicy>>>,
    /// By the name of the policy, then by their own in the order in which they came.
    bindings: Arc<BTreeMap<String, IndexMap<String, Arc<CompiledBinding>>>>,
    /// By apiVersion and kind.
    params: Arc<BTreeMap<(String, String), Arc<Params>>>,
    namespaces: Arc<Namespaces>,
    equivalents: Arc<EquivalentResources>,
}

/// A binding that is ready to be asked.
#[derive(Debug)]
pub struct CompiledBinding {
    binding: ValidatingAdmissionPolicyBinding,
    pub(crate) matcher: Matcher,
    pub(crate) params: Option<ParamSelection>,
}

/// Why an object cannot be taken in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IndexError(pub String);

impl From<DecodeError> for IndexError {
    fn from(error: DecodeError) -> Self {
        IndexError(error.0)
    }
}

impl PolicyIndex {
    /// Knows of nothing; `stored_expressions` is the environment in which policies run (`EnvSet::stored_expressions`).
    pub fn new(stored_expressions: &Env) -> Self {
        PolicyIndex {
            base: stored_expressions.clone(),
            snapshot: Snapshot::default(),
        }
    }

    /// What is known now.
    pub fn snapshot(&self) -> Snapshot {
        self.snapshot.clone()
    }

    /// Takes in an object as it now is: a policy, a binding or a namespace, by its kind; any other is one that policies
    /// may use as params.
    ///
    /// # Errors
    ///
    /// An object that is not of the type that its kind names. A policy whose expressions do not compile is taken in.
    pub fn apply(&mut self, object: Json) -> Result<(), IndexError> {
        match kind_of(&object) {
            Kind::Policy => {
                self.apply_policy(ValidatingAdmissionPolicy::from_json(&object)?);
            }
            Kind::Binding => {
                self.apply_binding(ValidatingAdmissionPolicyBinding::from_json(&object)?);
            }
            Kind::Namespace => {
                self.apply_namespace(&object)?;
                self.apply_param(object);
            }
            Kind::Other => self.apply_param(object),
        }
        Ok(())
    }

    /// Forgets an object; of its content, only kind, name and namespace count.
    pub fn delete(&mut self, object: &Json) {
        let name = text_of(object, "name");
        match kind_of(object) {
            Kind::Policy => {
                Arc::make_mut(&mut self.snapshot.policies).remove(name);
            }
            Kind::Binding => self.delete_binding(name),
            kind => {
                if kind == Kind::Namespace {
                    Arc::make_mut(&mut self.snapshot.namespaces).remove(name);
                }
                let params = Arc::make_mut(&mut self.snapshot.params);
                if let Some(params) = params.get_mut(&type_of(object)) {
                    Arc::make_mut(params).remove(text_of(object, "namespace"), name);
                }
            }
        }
    }

    /// Takes in a policy with its defaults, compiled.
    pub fn apply_policy(&mut self, policy: ValidatingAdmissionPolicy) {
        let compiled = CompiledPolicy::new(policy, &self.base);
        let policies = Arc::make_mut(&mut self.snapshot.policies);
        policies.insert(compiled.name().to_owned(), Arc::new(compiled));
    }

    /// Takes in a binding with its defaults.
    pub fn apply_binding(&mut self, binding: ValidatingAdmissionPolicyBinding) {
        self.delete_binding(&binding.metadata.name);
        let bindings = Arc::make_mut(&mut self.snapshot.bindings);
        let of_policy = bindings.entry(binding.spec.policy_name.clone());
        of_policy.or_default().insert(
            binding.metadata.name.clone(),
            Arc::new(CompiledBinding::new(binding)),
        );
    }

    /// Takes in a namespace, but not as an object that policies may use as params.
    ///
    /// # Errors
    ///
    /// A field that is of another type than a Namespace's.
    pub fn apply_namespace(&mut self, object: &Json) -> Result<(), IndexError> {
        let namespace = Namespace::from_json(object).map_err(IndexError)?;
        let name = text_of(object, "name").to_owned();
        Arc::make_mut(&mut self.snapshot.namespaces).insert(name, namespace);
        Ok(())
    }

    /// Takes in an object that policies may use as params.
    pub fn apply_param(&mut self, object: Json) {
        self.params_of(type_of(&object)).insert(Arc::new(object));
    }

    /// Says whether objects of a kind have a namespace. Where nothing says so, the objects and the bindings tell.
    pub fn set_namespaced(&mut self, kind: &ParamKind, namespaced: bool) {
        let kind = (kind.api_version.clone(), kind.kind.clone());
        self.params_of(kind).set_namespaced(namespaced);
    }

    /// Says which resources lead to the same objects.
    pub fn set_equivalents(&mut self, equivalents: EquivalentResources) {
        self.snapshot.equivalents = Arc::new(equivalents);
    }

    fn params_of(&mut self, kind: (String, String)) -> &mut Params {
        let params = Arc::make_mut(&mut self.snapshot.params);
        Arc::make_mut(params.entry(kind).or_default())
    }

    fn delete_binding(&mut self, name: &str) {
        let bindings = Arc::make_mut(&mut self.snapshot.bindings);
        bindings.retain(|_, of_policy| {
            of_policy.shift_remove(name);
            !of_policy.is_empty()
        });
    }
}

impl Snapshot {
    /// The policies, by name; those whose expressions do not compile are among them.
    pub fn policies(&self) -> impl Iterator<Item = &CompiledPolicy> {
        self.policies.values().map(|policy| &**policy)
    }

    /// The policies that are bound, by name, each with its bindings in the order in which they came.
    pub fn hooks(
        &self,
    ) -> impl Iterator<
        Item = (
            &CompiledPolicy,
            impl Iterator<Item = &CompiledBinding> + Clone,
        ),
    > {
        self.policies().filter_map(|policy| {
            let bindings = self.bindings.get(policy.name())?;
            Some((policy, bindings.values().map(|binding| &**binding)))
        })
    }

    pub(crate) fn namespaces(&self) -> &Namespaces {
        &self.namespaces
    }

    pub(crate) fn equivalents(&self) -> &EquivalentResources {
        &self.equivalents
    }

    /// The params of a kind, and whether they have a namespace, if anything tells.
    pub(crate) fn params(&self, kind: &ParamKind) -> (Option<&Params>, Option<bool>) {
        let key = (kind.api_version.clone(), kind.kind.clone());
        let params = self.params.get(&key).map(|params| &**params);
        (params, params.and_then(Params::is_namespaced))
    }
}

impl CompiledBinding {
    /// A binding that has its defaults.
    pub fn new(binding: ValidatingAdmissionPolicyBinding) -> Self {
        let spec = &binding.spec;
        CompiledBinding {
            matcher: Matcher::new(spec.match_resources.as_ref()),
            params: spec.param_ref.as_ref().map(ParamSelection::new),
            binding,
        }
    }

    /// The name of the binding.
    pub fn name(&self) -> &str {
        &self.binding.metadata.name
    }

    /// The binding itself.
    pub fn binding(&self) -> &ValidatingAdmissionPolicyBinding {
        &self.binding
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Policy,
    Binding,
    Namespace,
    Other,
}

fn kind_of(object: &Json) -> Kind {
    let (api_version, kind) = type_of(object);
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    match (group, kind.as_str()) {
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy") => Kind::Policy,
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding") => Kind::Binding,
        ("", "Namespace") => Kind::Namespace,
        _ => Kind::Other,
    }
}

/// `apiVersion` and `kind` of an object.
fn type_of(object: &Json) -> (String, String) {
    let text = |key| object.get(key).and_then(Json::as_str).unwrap_or_default();
    (text("apiVersion").to_owned(), text("kind").to_owned())
}
