//! The index of policies, bindings, params and namespaces. Hosts apply events to the index and take snapshots of it (apiserver
//! `pkg/admission/plugin/policy/generic/policy_source.go`).

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use gavel_apimachinery::server::Server;
use gavel_engine::value::Json;
use gavel_libraries::EnvSet;
use indexmap::IndexMap;

use crate::api::{
    DecodeError, FieldValidation, GROUP, MutatingAdmissionPolicy, MutatingAdmissionPolicyBinding,
    ParamKind, Registration, Resource, ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use crate::cel::Compiler;
use crate::compiled::CompiledPolicy;
use crate::compiled_binding::CompiledBinding;
use crate::compiled_mutating::{CompiledMutatingBinding, CompiledMutatingPolicy};
use crate::hooks::{Hook, Hooks};
use crate::kept::KeptObject;
use crate::matching::{Constraints, EquivalentResources};
use crate::namespace::{Namespace, Namespaces};
use crate::params::{ParamFault, Params};
use crate::request::{AdmissionRequest, text_of};
use crate::resolver::Resolver;
use crate::shared::Shared;

/// The current policies, bindings, params and namespaces. Hosts apply events to the index, and take a snapshot of it for each decision.
/// Cloning is cheap.
#[derive(Debug, Clone)]
pub struct PolicyIndex {
    server: Server,
    compiler: Arc<Compiler>,
    /// The match constraints of the policies. Equal ones are shared.
    constraints: Arc<Shared<Constraints>>,
    policies: Arc<BTreeMap<String, Arc<CompiledPolicy>>>,
    /// The bindings, in the order in which they were added.
    bindings: Arc<IndexMap<String, Arc<CompiledBinding>>>,
    mutating_policies: Arc<BTreeMap<String, Arc<CompiledMutatingPolicy>>>,
    /// The bindings of mutating policies, in the order in which they were added.
    mutating_bindings: Arc<IndexMap<String, Arc<CompiledMutatingBinding>>>,
    resolver: Resolver,
    equivalents: Arc<EquivalentResources>,
    /// The policies with their bindings, built by the first snapshot after a change.
    hooks: OnceLock<AllHooks>,
}

/// The state of a [`PolicyIndex`] at one moment. A decision depends only on the snapshot, the request and the options. Cloning is cheap,
/// and a snapshot never changes.
#[derive(Debug, Clone, Default)]
pub struct Snapshot {
    server: Server,
    policies: Arc<BTreeMap<String, Arc<CompiledPolicy>>>,
    /// Looks up params and namespaces.
    resolver: Resolver,
    equivalents: Arc<EquivalentResources>,
    mutating_policies: Arc<BTreeMap<String, Arc<CompiledMutatingPolicy>>>,
    hooks: AllHooks,
}

/// The policies that have bindings, validating and mutating.
#[derive(Debug, Clone, Default)]
struct AllHooks {
    validating: Arc<Hooks<CompiledPolicy, CompiledBinding>>,
    mutating: Arc<Hooks<CompiledMutatingPolicy, CompiledMutatingBinding>>,
}

/// Why an object cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct IndexError(pub String);

impl From<DecodeError> for IndexError {
    fn from(error: DecodeError) -> Self {
        IndexError(error.message)
    }
}

impl PolicyIndex {
    /// An empty index for an API server. Policies are evaluated in the environment of stored expressions.
    pub fn new(environments: &EnvSet) -> Self {
        let stored = environments.stored_expressions();
        PolicyIndex {
            server: environments.server(),
            compiler: Arc::new(Compiler::with_variables(stored)),
            constraints: Arc::default(),
            policies: Arc::default(),
            bindings: Arc::default(),
            mutating_policies: Arc::default(),
            mutating_bindings: Arc::default(),
            resolver: Resolver::default(),
            equivalents: Arc::default(),
            hooks: OnceLock::new(),
        }
    }

    /// Takes a snapshot of the current state. The first snapshot after a change of policies or bindings is slower: it assigns the bindings
    /// to their policies.
    pub fn snapshot(&self) -> Snapshot {
        let hooks = || AllHooks {
            validating: Arc::new(Hooks::new(&self.policies, &self.bindings)),
            mutating: Arc::new(Hooks::new(&self.mutating_policies, &self.mutating_bindings)),
        };
        Snapshot {
            server: self.server,
            policies: Arc::clone(&self.policies),
            resolver: self.resolver.clone(),
            equivalents: Arc::clone(&self.equivalents),
            mutating_policies: Arc::clone(&self.mutating_policies),
            hooks: self.hooks.get_or_init(hooks).clone(),
        }
    }

    /// Adds a policy, a binding or a namespace, or replaces its earlier version. Use [`PolicyIndex::apply_param`] to add params. A request
    /// in a namespace that was not added is denied; [`Snapshot::with_assumed_namespace`] adds one to a snapshot.
    ///
    /// # Errors
    ///
    /// The object has another kind, a field has the wrong type, or a policy or binding has an unknown field. It is not an error if an
    /// expression does not compile: [`CompiledPolicy::errors`] lists such expressions.
    pub fn apply(&mut self, object: Json) -> Result<(), IndexError> {
        let add = self.prepare(object)?;
        add(self);
        Ok(())
    }

    /// Like [`PolicyIndex::apply`], but does not change the index: returns a function that adds the compiled object to the index, or to a
    /// clone of it. Compiling takes most of the time, so a host that locks its index can lock it just for the returned function.
    ///
    /// # Errors
    ///
    /// The errors of [`PolicyIndex::apply`].
    pub fn prepare(
        &self,
        object: Json,
    ) -> Result<impl FnOnce(&mut Self) + Send + use<>, IndexError> {
        type Add = Box<dyn FnOnce(&mut PolicyIndex) + Send>;
        if type_of(&object) == ("v1", "Namespace") {
            let namespace = Arc::new(Namespace::from_json(&object)?);
            return Ok(Box::new(move |index: &mut Self| {
                index.insert_namespace(namespace);
                index.apply_param(object);
            }) as Add);
        }
        let (resource, _) = FieldValidation::Strict.apply(Resource::decode(&object)?)?;
        Ok(match resource {
            Resource::ValidatingAdmissionPolicy(policy) => {
                let policy = Arc::new(self.compile(*policy));
                Box::new(|index| index.insert_policy(policy))
            }
            Resource::ValidatingAdmissionPolicyBinding(binding) => {
                let binding = Arc::new(CompiledBinding::new(*binding));
                Box::new(|index| index.insert_binding(binding))
            }
            Resource::MutatingAdmissionPolicy(policy) => {
                let policy = Arc::new(self.compile_mutating(*policy));
                Box::new(|index| index.insert_mutating_policy(policy))
            }
            Resource::MutatingAdmissionPolicyBinding(binding) => {
                let binding = Arc::new(CompiledMutatingBinding::new(*binding));
                Box::new(|index| index.insert_mutating_binding(binding))
            }
            Resource::ValidatingWebhookConfiguration(_)
            | Resource::MutatingWebhookConfiguration(_) => {
                let kind = resource.kind();
                return Err(IndexError(format!(
                    "a {kind} is neither policy nor binding"
                )));
            }
        })
    }

    /// Removes an object. Only its `apiVersion`, kind, name and namespace are read.
    pub fn delete(&mut self, object: &Json) {
        let name = text_of(object.into(), "name");
        let (api_version, kind) = type_of(object);
        match (api_version.split('/').next(), kind) {
            (Some(GROUP), ValidatingAdmissionPolicy::KIND) => {
                Arc::make_mut(&mut self.policies).remove(name);
            }
            (Some(GROUP), ValidatingAdmissionPolicyBinding::KIND) => {
                Arc::make_mut(&mut self.bindings).shift_remove(name);
            }
            (Some(GROUP), MutatingAdmissionPolicy::KIND) => {
                Arc::make_mut(&mut self.mutating_policies).remove(name);
            }
            (Some(GROUP), MutatingAdmissionPolicyBinding::KIND) => {
                Arc::make_mut(&mut self.mutating_bindings).shift_remove(name);
            }
            _ => {
                let namespace = text_of(object.into(), "namespace");
                return self.forget(api_version, kind, namespace, name);
            }
        }
        self.hooks.take();
    }

    /// Removes a namespace or another object that policies can use as a param.
    pub fn forget(&mut self, api_version: &str, kind: &str, namespace: &str, name: &str) {
        self.resolver.remove(api_version, kind, namespace, name);
    }

    /// Compiles a policy without adding it to the index. The caller must have set the policy's defaults.
    pub fn compile(&self, policy: ValidatingAdmissionPolicy) -> CompiledPolicy {
        CompiledPolicy::compile(policy, &self.compiler, &self.constraints)
    }

    /// Inserts a policy that an index has compiled.
    pub fn insert_policy(&mut self, policy: Arc<CompiledPolicy>) {
        Arc::make_mut(&mut self.policies).insert(policy.name().to_owned(), policy);
        self.hooks.take();
    }

    /// Inserts a compiled binding.
    pub fn insert_binding(&mut self, binding: Arc<CompiledBinding>) {
        Arc::make_mut(&mut self.bindings).insert(binding.name().to_owned(), binding);
        self.hooks.take();
    }

    /// Compiles a mutating policy whose defaults are set. The index does not change.
    pub fn compile_mutating(&self, policy: MutatingAdmissionPolicy) -> CompiledMutatingPolicy {
        CompiledMutatingPolicy::compile(policy, &self.compiler)
    }

    /// Inserts a mutating policy that an index has compiled.
    pub fn insert_mutating_policy(&mut self, policy: Arc<CompiledMutatingPolicy>) {
        Arc::make_mut(&mut self.mutating_policies).insert(policy.name().to_owned(), policy);
        self.hooks.take();
    }

    /// Inserts a compiled binding of a mutating policy.
    pub fn insert_mutating_binding(&mut self, binding: Arc<CompiledMutatingBinding>) {
        Arc::make_mut(&mut self.mutating_bindings).insert(binding.name().to_owned(), binding);
        self.hooks.take();
    }

    /// Adds a namespace. It is not available as a param; use [`PolicyIndex::insert_param`] for that.
    pub fn insert_namespace(&mut self, namespace: Arc<Namespace>) {
        self.resolver.namespaces.insert(namespace);
    }

    /// Adds an object that policies can use as a param.
    pub fn apply_param(&mut self, object: Json) {
        self.insert_param(Arc::new(KeptObject::new(object)));
    }

    /// Adds a stored object that policies can use as a param.
    pub fn insert_param(&mut self, object: Arc<KeptObject>) {
        self.resolver.insert_param(object);
    }

    /// Sets whether objects of a kind are namespaced. Without this setting, a kind counts as namespaced if it is a namespaced kind of the
    /// core group, or if one of its objects or the `paramRef` of a binding has a namespace.
    pub fn set_namespaced(&mut self, kind: &ParamKind, namespaced: bool) {
        let params = self.resolver.params_mut(&kind.api_version, &kind.kind);
        params.set_namespaced(namespaced);
    }

    /// Sets why the params of a kind are unavailable; `None` means that they are available. Replaces the earlier setting.
    pub fn set_param_fault(&mut self, kind: &ParamKind, fault: Option<ParamFault>) {
        let params = self.resolver.params_mut(&kind.api_version, &kind.kind);
        params.set_fault(fault);
    }

    /// Sets which resources contain the same objects under different groups, versions or names.
    pub fn set_equivalents(&mut self, equivalents: EquivalentResources) {
        self.equivalents = Arc::new(equivalents);
    }
}

impl Snapshot {
    /// The API server whose decisions are reproduced: the server of the index.
    pub fn server(&self) -> Server {
        self.server
    }

    /// All validating policies, sorted by name, including policies whose expressions do not compile.
    pub fn policies(&self) -> impl Iterator<Item = &CompiledPolicy> {
        self.policies.values().map(|policy| &**policy)
    }

    /// Whether a namespace exists in the snapshot.
    pub fn has_namespace(&self, name: &str) -> bool {
        self.namespaces().contains(name)
    }

    /// The bindings of validating policies, as pairs of the policy's name and the binding's name.
    pub fn bound(&self) -> impl Iterator<Item = (&str, &str)> {
        self.hooks.validating.all().flat_map(|hook| {
            let (policy, bindings) = hook.parts();
            bindings.map(|binding| (policy.name(), binding.name()))
        })
    }

    /// Whether any policy has a binding, validating or mutating.
    pub fn has_bindings(&self) -> bool {
        self.hooks.validating.all().next().is_some() || self.hooks.mutating.all().next().is_some()
    }

    /// Returns this snapshot with an additional namespace, which is active and has only the label `kubernetes.io/metadata.name`. Nothing is
    /// copied.
    #[must_use]
    pub fn with_assumed_namespace(&self, name: &str) -> Self {
        self.with(Namespace::assumed(name))
    }

    /// Returns this snapshot with an additional namespace, read from the JSON of the Namespace object. Nothing is copied.
    ///
    /// # Errors
    ///
    /// A field does not have the type that it has in a Namespace.
    pub fn with_namespace(&self, object: &Json) -> Result<Self, IndexError> {
        Ok(self.with(Namespace::from_json(object)?))
    }

    fn with(&self, namespace: Namespace) -> Self {
        let mut with = self.clone();
        with.resolver.namespaces = self.resolver.namespaces.with(namespace);
        with
    }

    /// Returns this snapshot with an additional param.
    #[must_use]
    pub fn with_param(mut self, object: Json) -> Self {
        self.resolver
            .insert_param(Arc::new(KeptObject::new(object)));
        self
    }

    /// Returns this snapshot with other equivalent resources.
    #[must_use]
    pub fn with_equivalents(mut self, equivalents: EquivalentResources) -> Self {
        self.equivalents = Arc::new(equivalents);
        self
    }

    /// The policies that may match a request, sorted by name, each with its bindings in the order in which they were added.
    pub(crate) fn hooks(
        &self,
        request: &AdmissionRequest<'_>,
    ) -> impl Iterator<
        Item = (
            &CompiledPolicy,
            impl Iterator<Item = &CompiledBinding> + Clone,
        ),
    > {
        let hooks = self.hooks.validating.about(self.indexed_name(request));
        hooks.map(Hook::parts)
    }

    /// All mutating policies, sorted by name, including policies whose expressions do not compile.
    pub fn mutating_policies(&self) -> impl Iterator<Item = &CompiledMutatingPolicy> {
        self.mutating_policies.values().map(|policy| &**policy)
    }

    /// The mutating policies that may match a request, sorted by name, each with its bindings in the order in which they were added.
    pub(crate) fn mutating_hooks(
        &self,
        request: &AdmissionRequest<'_>,
    ) -> impl Iterator<
        Item = (
            &CompiledMutatingPolicy,
            impl Iterator<Item = &CompiledMutatingBinding> + Clone,
        ),
    > + Clone {
        let hooks = self.hooks.mutating.about(self.indexed_name(request));
        hooks.map(Hook::parts)
    }

    /// The name of the request's resource, by which its policies are found. `None` if equivalent resources can have other names.
    fn indexed_name<'r>(&self, request: &'r AdmissionRequest<'_>) -> Option<&'r str> {
        (!self.equivalents.has_other_names()).then_some(&*request.resource.resource)
    }

    pub(crate) fn namespaces(&self) -> &Namespaces {
        &self.resolver.namespaces
    }

    pub(crate) fn equivalents(&self) -> &EquivalentResources {
        &self.equivalents
    }

    /// The params of a kind, and whether the kind is namespaced, if known.
    pub(crate) fn params(&self, kind: &ParamKind) -> (Option<&Params>, Option<bool>) {
        let params = self.resolver.params(kind);
        (params, params.and_then(Params::is_namespaced))
    }
}

/// `apiVersion` and `kind` of an object.
fn type_of(object: &Json) -> (&str, &str) {
    let text = |key| object.get(key).and_then(Json::as_str).unwrap_or_default();
    (text("apiVersion"), text("kind"))
}
