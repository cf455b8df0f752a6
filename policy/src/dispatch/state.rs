//! The values that all policies of a request share, and the params of their bindings.

use std::cell::{Cell, OnceCell, RefCell};
use std::ptr;
use std::sync::Arc;

use gavel_engine::value::{Arena, Json, Value};
use gavel_golang::work::Work;
use gavel_libraries::Server;
use gavel_libraries::authorizer::{Authorizer, CachingAuthorizer, NoOpinion, ResourceAttributes};
use gavel_libraries::kubernetes::authorizer::{AuthorizerValue, ResourceCheck};
use gavel_schema::built_in::is_cluster_scoped;

use crate::api::ParamKind;
use crate::cel::{Inputs, Runner, TypedInputs};
use crate::compiled::Reads;
use crate::fields::{fields_of, text_field};
use crate::go_values::GoValues;
use crate::index::Snapshot;
use crate::kept::KeptObject;
use crate::matching::{Matched, Surroundings};
use crate::namespace::Namespace;
use crate::observer::Observer;
use crate::options::Options;
use crate::params::{Found, ParamSelection, ParamSource};
use crate::request::{AdmissionRequest, RequestLabels};
use crate::resource::GroupVersionKind;

/// The units of work that the decision counts before each evaluation, however short the evaluation is: the interrupt is checked once for 16
/// evaluations. A long evaluation also checks the interrupt itself.
const WORK_PER_EVALUATION: usize = 1 << 13;

/// The state that all policies of a request share.
pub(crate) struct Dispatch<'a> {
    snapshot: &'a Snapshot,
    request: &'a AdmissionRequest<'a>,
    options: &'a Options<'a>,
    /// The observer, if it follows expressions.
    follower: Option<&'a dyn Observer>,
    /// Counts the work of the decision, and checks the host's interrupt from time to time.
    work: Work<'a>,
    arena: &'a Arena,
    labels: &'a RequestLabels<'a>,
    authorizer_values: OnceCell<(Value<'a>, Value<'a>)>,
    /// The value of `request` for policies that match the request's own resource.
    request_value: OnceCell<Value<'a>>,
    /// The objects for policies that match the request's own kind.
    objects: OnceCell<Objects<'a>>,
    /// The objects in other kinds that policies match, or why they cannot be converted.
    converted: RefCell<Vec<(&'a GroupVersionKind, Result<Objects<'a>, String>)>>,
    /// The inputs of the latest policy that matched the request's own kind, with the flags that say which inputs the policy reads. The
    /// next policy uses the same inputs if its flags are equal, as they mostly are.
    inputs: Cell<Option<(Reads, TypedInputs<'a>)>>,
    namespace: OnceCell<Result<Option<&'a Namespace>, String>>,
    /// The value of `namespaceObject` for audit annotations, then its value for all other expressions.
    namespace_values: OnceCell<[Value<'a>; 2]>,
}

/// The object and the old object, converted to the kind that a policy matches.
pub(crate) type Objects<'a> = [Value<'a>; 2];

impl<'a> Dispatch<'a> {
    /// The state of one decision. Values that policies share live in the arena.
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        request: &'a AdmissionRequest<'a>,
        options: &'a Options<'a>,
        arena: &'a Arena,
    ) -> Self {
        let work = Work::new(options.interrupt);
        // The result is not needed here: if the interrupt returns true, `work` checks it again before the first evaluation, which then
        // fails.
        let _ = work.ask();
        Dispatch {
            snapshot,
            request,
            options,
            follower: Some(options.observer).filter(|observer| observer.follows_expressions()),
            work,
            arena,
            labels: arena.bump().alloc(RequestLabels::default()),
            authorizer_values: OnceCell::new(),
            request_value: OnceCell::new(),
            objects: OnceCell::new(),
            converted: RefCell::default(),
            inputs: Cell::new(None),
            namespace: OnceCell::new(),
            namespace_values: OnceCell::new(),
        }
    }

    pub(crate) fn request(&self) -> &'a AdmissionRequest<'a> {
        self.request
    }

    pub(crate) fn observer(&self) -> &'a dyn Observer {
        self.options.observer
    }

    /// The version of the API server.
    pub(crate) fn server(&self) -> Server {
        self.snapshot.server()
    }

    pub(crate) fn cost_budget(&self) -> Option<i64> {
        self.options.cost_budget
    }

    /// The namespaces, equivalent resources and labels, which matching needs besides the request.
    pub(crate) fn surroundings(&self) -> Surroundings<'a> {
        Surroundings {
            namespaces: self.snapshot.namespaces(),
            equivalents: self.snapshot.equivalents(),
            labels: self.labels,
        }
    }

    /// Checks that the API server serves the kind of a policy's params. A kind is assumed to be served unless the host has set
    /// `ParamFault::NotFound`.
    pub(crate) fn check_param_kind(&self, kind: Option<&ParamKind>) -> Result<(), String> {
        let params = |kind| self.snapshot.params(kind).0.map(|params| (params, kind));
        let known = kind.and_then(params);
        known.map_or(Ok(()), |(params, kind)| params.check_found(kind))
    }

    /// The source of the params for a policy with this `paramKind`; `None` if the policy has no `paramKind`.
    ///
    /// If the snapshot does not know whether the kind is namespaced, the kind counts as namespaced in two cases: it belongs to the core
    /// group and is not cluster-scoped there, or the `paramRef` of a binding sets a namespace.
    pub(crate) fn params_of<'b>(
        &self,
        kind: Option<&ParamKind>,
        mut selections: impl Iterator<Item = &'b ParamSelection>,
    ) -> Option<ParamSource<'a>> {
        let kind = kind?;
        let (params, is_namespaced) = self.snapshot.params(kind);
        let of_core = || kind.api_version == "v1" && !is_cluster_scoped(&kind.kind);
        let is_namespaced = is_namespaced
            .unwrap_or_else(|| of_core() || selections.any(ParamSelection::has_namespace));
        let namespace = self.request.namespace;
        Some(ParamSource::new(params, is_namespaced, namespace))
    }

    /// The params that a binding selects. If the policy has no `paramKind` or the binding has no `paramRef`, the policy is evaluated once
    /// for the binding, with `None`.
    pub(crate) fn collect(
        &self,
        kind: Option<&ParamKind>,
        source: Option<&ParamSource<'a>>,
        selection: Option<&ParamSelection>,
    ) -> Result<Found<'a>, String> {
        let (Some(kind), Some(source), Some(selection)) = (kind, source, selection) else {
            return Ok(Found::One(None));
        };
        (source.params).map_or(Ok(()), |params| params.check_synced(kind))?;
        selection.collect(source)
    }

    /// The namespace of the request's object, if it has one. A Namespace object has none, although its requests contain a namespace name.
    pub(crate) fn namespace(&self) -> Result<Option<&'a Namespace>, String> {
        let find = || {
            let GroupVersionKind {
                group,
                version,
                kind,
            } = &self.request.kind;
            let is_namespace = group.is_empty() && version == "v1" && kind == "Namespace";
            let name = &self.request.namespace;
            if is_namespace || name.is_empty() {
                return Ok(None);
            }
            self.snapshot.namespaces().find(name).map(Some)
        };
        self.namespace.get_or_init(find).clone()
    }

    /// Whether a policy matches the request's own kind and not an equivalent kind. Most policies do, and they share the objects of the
    /// request.
    pub(crate) fn is_as_sent(&self, matched: Matched<'_>) -> bool {
        ptr::eq(matched.kind, &self.request.kind)
    }

    /// The object and the old object in the kind that a policy matches. All policies share them.
    ///
    /// # Errors
    ///
    /// The host cannot convert an object.
    #[inline]
    pub(crate) fn objects(&self, matched: Matched<'a>) -> Result<Objects<'a>, String> {
        match self.is_as_sent(matched) {
            true => Ok(self.objects_as_sent()),
            false => self.converted_objects(matched.kind),
        }
    }

    fn objects_as_sent(&self) -> Objects<'a> {
        let AdmissionRequest {
            object, old_object, ..
        } = *self.request;
        let rename = |each| as_kind(each, &self.request.kind, self.arena);
        *self
            .objects
            .get_or_init(|| [object, old_object].map(rename))
    }

    #[cold]
    fn converted_objects(&self, kind: &'a GroupVersionKind) -> Result<Objects<'a>, String> {
        let AdmissionRequest {
            object, old_object, ..
        } = *self.request;
        let mut converted = self.converted.borrow_mut();
        if let Some((_, known)) = converted.iter().find(|(known, _)| *known == kind) {
            return known.clone();
        }
        let convert = |object| {
            let converted = self.convert(object, kind)?;
            let document = converted.map(|converted| self.arena.document(converted));
            Ok(document.unwrap_or_else(|| as_kind(object, kind, self.arena)))
        };
        let objects = convert(object).and_then(|object| Ok([object, convert(old_object)?]));
        converted.push((kind, objects.clone()));
        objects
    }

    /// Converts an object to a kind with the host's function. `None` if the object already has the kind, or may only need another
    /// `apiVersion` and `kind`.
    pub(crate) fn convert(
        &self,
        object: Value<'_>,
        kind: &GroupVersionKind,
    ) -> Result<Option<Json>, String> {
        match self.options.convert {
            Some(convert) if !has_kind(object, kind) => convert(object, kind),
            _ => Ok(None),
        }
    }

    /// The inputs of a policy's expressions, except params. Inputs that other policies cannot share are allocated in `arena`.
    pub(super) fn shared_inputs<'b>(
        &'b self,
        reads: Reads,
        matched: Matched<'a>,
        namespace: Option<&'a Namespace>,
        arena: &'b Arena,
    ) -> TypedInputs<'b> {
        if !self.is_as_sent(matched) {
            return self.typed_inputs(reads, matched, namespace, arena);
        }
        if let Some((known, inputs)) = self.inputs.get()
            && known == reads
        {
            return inputs;
        }
        let inputs = self.typed_inputs(reads, matched, namespace, self.arena);
        self.inputs.set(Some((reads, inputs)));
        inputs
    }

    /// The inputs of a policy's expressions with their types, except params.
    fn typed_inputs<'b>(
        &self,
        reads: Reads,
        matched: Matched<'a>,
        namespace: Option<&'a Namespace>,
        arena: &'b Arena,
    ) -> TypedInputs<'b>
    where
        'a: 'b,
    {
        let objects = match self.is_as_sent(matched) {
            true => self.objects_as_sent(),
            // If the objects cannot be converted, the policy is not evaluated.
            false => self.objects(matched).unwrap_or([Value::NULL; 2]),
        };
        let inputs = self.inputs_of(reads, matched, objects, namespace, arena);
        let are_typed = [self.options.is_typed; 2];
        GoValues::of(inputs, are_typed, Value::NULL, self.server(), arena).0
    }

    /// The inputs of a policy's expressions, except params, without their types. Inputs that no expression reads are not built.
    pub(crate) fn inputs_of<'b>(
        &self,
        reads: Reads,
        matched: Matched<'b>,
        [object, old_object]: Objects<'b>,
        namespace: Option<&'a Namespace>,
        arena: &'b Arena,
    ) -> Inputs<'b>
    where
        'a: 'b,
    {
        let request = |resource| match reads.request {
            false => Value::NULL,
            true if self.is_as_sent(matched) => {
                let sent = self.request;
                let make = || sent.value(&sent.kind, &sent.resource, self.arena);
                *self.request_value.get_or_init(make)
            }
            true => self.request.value(matched.kind, resource, arena),
        };
        let [whole, exposed] = match namespace {
            Some(namespace) if reads.namespace => *self
                .namespace_values
                .get_or_init(|| namespace.values(self.arena)),
            _ => [Value::NULL; 2],
        };
        Inputs {
            object,
            old_object,
            request: request(matched.resource),
            original_request: request(&self.request.resource),
            namespace_object: exposed,
            whole_namespace: whole,
            authorizer: reads.authorizer.then(|| self.authorizer()),
        }
    }

    /// The values of `authorizer` and `authorizer.requestResource`. All policies share them and their cached answers.
    fn authorizer(&self) -> (Value<'a>, Value<'a>) {
        let make = || authorizer_values(self.request, self.options.authorizer, self.arena);
        *self.authorizer_values.get_or_init(make)
    }

    pub(crate) fn runner<'b>(&'b self, arena: &'b Arena) -> Runner<'b> {
        Runner {
            arena,
            interrupt: self.options.interrupt,
            follower: self.follower,
        }
    }

    /// The work counter of the decision, which checks the interrupt of the request.
    pub(crate) fn work(&self) -> &Work<'a> {
        &self.work
    }

    /// Whether the decision is interrupted before the next evaluation. The interrupt is checked only once for several evaluations: it
    /// usually reads the clock, which takes up to 50 ns, as long as a short evaluation.
    pub(super) fn is_interrupted(&self) -> bool {
        self.work.spend(WORK_PER_EVALUATION).is_err()
    }
}

/// The value of `params` in the arena of the current evaluation.
pub(crate) fn param_value<'a>(param: Option<&'a KeptObject>, arena: &'a Arena) -> Value<'a> {
    param.map_or(Value::NULL, |param| param.value(arena))
}

/// The object with the `apiVersion` and `kind` that a policy matches. All other fields are assumed to be the same in every version.
fn as_kind<'a>(object: Value<'a>, kind: &'a GroupVersionKind, arena: &'a Arena) -> Value<'a> {
    if has_kind(object, kind) {
        return object;
    }
    let api_version = arena.bump().alloc_str(&kind.api_version());
    let mut fields = fields_of(object);
    fields.insert("apiVersion", Value::from(&*api_version));
    fields.insert("kind", Value::from(&kind.kind));
    arena.object(fields)
}

/// Whether an object has a kind. Null has every kind.
fn has_kind(object: Value<'_>, kind: &GroupVersionKind) -> bool {
    let is_object = object.as_map().is_some();
    !is_object || kind.is(text_field(object, "apiVersion"), text_field(object, "kind"))
}

/// The values of `authorizer` and `authorizer.requestResource`.
fn authorizer_values<'a>(
    request: &AdmissionRequest<'_>,
    authorizer: Option<&Arc<dyn Authorizer>>,
    arena: &'a Arena,
) -> (Value<'a>, Value<'a>) {
    let authorizer = authorizer.map_or_else(|| Arc::new(NoOpinion) as _, Arc::clone);
    let caching = CachingAuthorizer::new(authorizer);
    let value = AuthorizerValue::new(Arc::clone(&request.user), Arc::new(caching));
    let resource = ResourceAttributes {
        api_group: request.resource.group.to_string(),
        resource: request.resource.resource.to_string(),
        subresource: request.subresource.to_owned(),
        namespace: request.namespace.to_owned(),
        name: request.name.to_owned(),
        ..ResourceAttributes::default()
    };
    let check = ResourceCheck::new(value.clone(), resource);
    (arena.opaque(value), arena.opaque(check))
}
