//! Stores the params of policies, and finds those that a binding selects (apiserver `policy/generic/policy_dispatcher.go`,
//! `CollectParams`).

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};

use gavel_apimachinery::labels::Selector;
use smol_str::SmolStr;

use crate::api::{ParamKind, ParamRef};
use crate::by_hash::ByHash;
use crate::kept::KeptObject;
use crate::resource::GroupVersionKind;

/// The objects of one kind that policies use as params. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct Params {
    /// The objects of each namespace, by the hash of the namespace.
    namespaces: ByHash<Inside>,
    /// The number of objects inserted so far. New versions of an object are not counted.
    count: u64,
    /// Whether the kind is namespaced, if known.
    namespaced: Option<bool>,
    /// The reason why the params are unavailable, if they are.
    fault: Option<ParamFault>,
}

/// The params in one namespace; the namespace of cluster-scoped objects is empty.
#[derive(Debug, Clone)]
struct Inside {
    namespace: SmolStr,
    /// The params by the hashes of their names.
    params: ByHash<Param>,
}

/// An object that policies use as params.
#[derive(Debug, Clone)]
struct Param {
    /// The number of objects that were inserted before this one. A new version of an object keeps this number.
    before: u64,
    object: Arc<KeptObject>,
}

/// Why the params of a kind are unavailable.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParamFault {
    /// The API server does not serve the kind. Policies with this `paramKind` fail.
    NotFound,
    /// The kind is served, but its objects have not been listed yet. Bindings that select params of this kind fail.
    NotSynced,
}

/// The params that a binding selects.
#[derive(Debug)]
pub(crate) enum Found<'a> {
    /// One param, as most bindings select. `None` stands for a policy or binding without params.
    One(Option<&'a KeptObject>),
    /// Any number of params.
    Several(Vec<Option<&'a KeptObject>>),
}

impl<'a> Found<'a> {
    /// All params.
    #[inline]
    pub(crate) fn all(&self) -> &[Option<&'a KeptObject>] {
        match self {
            Found::One(param) => std::slice::from_ref(param),
            Found::Several(params) => params,
        }
    }
}

/// The input of [`ParamSelection::collect`] for one policy and request.
#[derive(Debug)]
pub(crate) struct ParamSource<'a> {
    /// The objects of the policy's `paramKind`; `None` if no object of the kind is known.
    pub(crate) params: Option<&'a Params>,
    /// Whether the kind is namespaced.
    is_namespaced: bool,
    /// The namespace of the request.
    request_namespace: &'a str,
    /// The params that a `paramRef` without a namespace selects by name: those in the namespace of the request if the kind is namespaced.
    inside: Option<&'a Inside>,
}

/// A namespace or name with its hash. Bindings store the hashes, so that they are not computed for each request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hashed<T> {
    text: T,
    hash: u64,
}

/// Makes the hashes with a random key, so that an attacker cannot provoke collisions.
static HASHER: LazyLock<RandomState> = LazyLock::new(RandomState::new);

/// A compiled `paramRef`, which selects the params of a binding by name or by labels.
#[derive(Debug)]
pub(crate) struct ParamSelection {
    name: Hashed<SmolStr>,
    namespace: Hashed<SmolStr>,
    selector: Option<Result<Selector, String>>,
    denies_without: bool,
}

impl<T: AsRef<str>> Hashed<T> {
    /// Computes the hash of a string.
    pub(crate) fn new(text: T) -> Self {
        let hash = HASHER.hash_one(text.as_ref());
        Hashed { text, hash }
    }

    fn text(&self) -> &str {
        self.text.as_ref()
    }

    fn borrow(&self) -> Hashed<&str> {
        Hashed {
            text: self.text(),
            hash: self.hash,
        }
    }
}

impl Params {
    /// Sets why the params are unavailable; `None` if they are available.
    pub(crate) fn set_fault(&mut self, fault: Option<ParamFault>) {
        self.fault = fault;
    }

    /// Checks that the API server serves the kind: the fault is not `NotFound`.
    pub(crate) fn check_found(&self, kind: &ParamKind) -> Result<(), String> {
        if self.fault != Some(ParamFault::NotFound) {
            return Ok(());
        }
        let kind = GroupVersionKind::new(&kind.api_version, &kind.kind);
        Err(format!(
            "failed to find resource referenced by paramKind: '{kind}'"
        ))
    }

    /// Checks that the objects have been listed.
    #[inline]
    pub(crate) fn check_synced(&self, kind: &ParamKind) -> Result<(), String> {
        match self.fault {
            Some(ParamFault::NotSynced) => Err(not_synced(kind)),
            _ => Ok(()),
        }
    }

    /// Sets whether objects of the kind are namespaced.
    pub(crate) fn set_namespaced(&mut self, namespaced: bool) {
        self.namespaced = Some(namespaced);
    }

    /// Inserts an object or replaces its earlier version. If it is not known whether the kind is namespaced, a namespaced object also marks
    /// the kind as namespaced.
    pub(crate) fn insert(&mut self, object: Arc<KeptObject>) {
        if !object.namespace().is_empty() {
            self.namespaced.get_or_insert(true);
        }
        let of_name = Arc::clone(&object);
        let [namespace, name] = [of_name.namespace(), of_name.name()].map(Hashed::new);
        let before = match self.find(namespace, name) {
            Some(known) => known.before,
            None => {
                let before = self.count;
                self.count = before.wrapping_add(1);
                before
            }
        };
        self.replace(namespace, name, Some(Param { before, object }));
    }

    /// Removes an object.
    pub(crate) fn remove(&mut self, namespace: &str, name: &str) {
        self.replace(Hashed::new(namespace), Hashed::new(name), None);
    }

    fn replace(&mut self, namespace: Hashed<&str>, name: Hashed<&str>, new: Option<Param>) {
        let inside = self.inside(namespace).cloned();
        let mut inside = inside.unwrap_or_else(|| Inside {
            namespace: namespace.text.into(),
            params: ByHash::default(),
        });
        let is_named = |known: &Param| known.object.name() == name.text;
        inside.params.replace(name.hash, is_named, new);
        let is_same = |known: &Inside| known.namespace == namespace.text;
        let inside = (!inside.params.is_empty()).then_some(inside);
        self.namespaces.replace(namespace.hash, is_same, inside);
    }

    /// Whether objects of the kind are namespaced, if known.
    pub(crate) fn is_namespaced(&self) -> Option<bool> {
        self.namespaced
    }

    /// Whether the params contain an object.
    pub(crate) fn contains(&self, namespace: &str, name: &str) -> bool {
        self.find(Hashed::new(namespace), Hashed::new(name))
            .is_some()
    }

    fn find(&self, namespace: Hashed<&str>, name: Hashed<&str>) -> Option<&Param> {
        self.inside(namespace)?.find(name)
    }

    fn inside(&self, namespace: Hashed<&str>) -> Option<&Inside> {
        let is_same = |known: &Inside| known.namespace == namespace.text;
        self.namespaces.find(namespace.hash, is_same)
    }
}

impl Inside {
    #[inline]
    fn find(&self, name: Hashed<&str>) -> Option<&Param> {
        let is_named = |known: &Param| known.object.name() == name.text;
        self.params.find(name.hash, is_named)
    }

    /// Adds the params that match a label selector to `found`, in any order.
    fn select<'a>(&'a self, selector: &Selector, found: &mut Vec<&'a Param>) {
        let params = self.params.iter();
        found.extend(params.filter(|param| selector.matches(|key| param.object.labels().get(key))));
    }
}

/// The message for a kind whose objects have not been listed yet.
#[cold]
fn not_synced(kind: &ParamKind) -> String {
    // The message contains a `ParamKind` as Go prints it.
    let ParamKind { api_version, kind } = kind;
    let kind = format!("&ParamKind{{APIVersion:{api_version},Kind:{kind},}}");
    format!("paramKind kind `{kind}` not yet synced to use for admission")
}

impl<'a> ParamSource<'a> {
    /// The params of a policy for a request in this namespace.
    pub(crate) fn new(
        params: Option<&'a Params>,
        is_namespaced: bool,
        request_namespace: &'a str,
    ) -> Self {
        let namespace = if is_namespaced { request_namespace } else { "" };
        ParamSource {
            params,
            is_namespaced,
            request_namespace,
            inside: params.and_then(|params| params.inside(Hashed::new(namespace))),
        }
    }
}

impl ParamSelection {
    /// Compiles a binding's `paramRef`.
    pub(crate) fn new(reference: &ParamRef) -> Self {
        ParamSelection {
            name: Hashed::new(SmolStr::new(&reference.name)),
            namespace: Hashed::new(SmolStr::new(&reference.namespace)),
            selector: reference.selector.as_ref().map(|each| each.compile()),
            denies_without: reference.parameter_not_found_action.as_deref() == Some("Deny"),
        }
    }

    /// The namespace and name of the param for a request in this namespace; `None` if a label selector selects the params.
    pub(crate) fn named<'n>(&'n self, request_namespace: &'n str) -> Option<(&'n str, &'n str)> {
        let namespace = match self.namespace.text() {
            "" => request_namespace,
            namespace => namespace,
        };
        let is_named = !self.name.text().is_empty() && self.selector.is_none();
        is_named.then_some((namespace, self.name.text()))
    }

    /// Whether the `paramRef` sets a namespace.
    pub(crate) fn has_namespace(&self) -> bool {
        !self.namespace.text().is_empty()
    }

    /// Finds the params that the binding selects.
    ///
    /// # Errors
    ///
    /// The `paramRef` is invalid for the kind or the request, or it selects no params and `parameterNotFoundAction` is `Deny`. The message
    /// is upstream's.
    pub(crate) fn collect<'a>(&self, source: &ParamSource<'a>) -> Result<Found<'a>, String> {
        let inside = match (self.namespace.text(), source.request_namespace) {
            ("", "") if source.is_namespaced => return Err(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
                    .to_owned(),
            ),
            ("", _) => source.inside,
            (_, _) if !source.is_namespaced => {
                return Err(
                    "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
                        .to_owned(),
                );
            }
            (_, _) => (source.params).and_then(|params| params.inside(self.namespace.borrow())),
        };
        let found = match (self.name.text(), &self.selector) {
            ("", None) => return Err("one of name or selector must be provided".to_owned()),
            ("", Some(selector)) => {
                let selector = selector.as_ref().map_err(String::clone)?;
                let mut found = Vec::new();
                let select = |inside: &'a Inside| inside.select(selector, &mut found);
                match source.params {
                    Some(params) if !source.is_namespaced => {
                        params.namespaces.iter().for_each(select)
                    }
                    _ => inside.into_iter().for_each(select),
                }
                found.sort_by_key(|param| param.before);
                let found = found.into_iter().map(|param| Some(&*param.object));
                Found::Several(found.collect())
            }
            (_, Some(_)) => {
                return Err("paramRef.name and paramRef.selector are mutually exclusive".to_owned());
            }
            (_, None) => {
                let found = inside.and_then(|inside| inside.find(self.name.borrow()));
                found.map_or_else(
                    || Found::Several(Vec::new()),
                    |param| Found::One(Some(&param.object)),
                )
            }
        };
        if self.denies_without && found.all().is_empty() {
            return Err(
                "no params found for policy binding with `Deny` parameterNotFoundAction".to_owned(),
            );
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use gavel_apimachinery::labels::LabelSelector;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_selector_finds_the_params_of_its_namespace_in_the_order_of_insertion() {
        let param = |n: u32, value: u32| {
            Arc::new(KeptObject::new(json!({
                "apiVersion": "v1", "kind": "ConfigMap",
                "metadata": {"name": format!("p{}", (n * 7) % 300), "namespace": format!("ns{}", n % 50)},
                "data": {"value": value},
            })))
        };
        let mut params = Params::default();
        (0..300).for_each(|n| params.insert(param(n, 1)));
        params.insert(param(57, 2));
        params.remove("ns7", "p49");
        let everything = LabelSelector::default().compile().unwrap();
        let selection = ParamSelection {
            name: Hashed::new(SmolStr::default()),
            namespace: Hashed::new(SmolStr::default()),
            selector: Some(Ok(everything)),
            denies_without: false,
        };
        let named = |is_namespaced, namespace| -> Vec<&str> {
            let source = ParamSource::new(Some(&params), is_namespaced, namespace);
            let found = selection.collect(&source).unwrap();
            found
                .all()
                .iter()
                .map(|param| param.unwrap().name())
                .collect()
        };
        assert_eq!(named(true, "ns7"), ["p99", "p149", "p199", "p249", "p299"]);
        assert!(named(true, "ns50").is_empty());
        assert_eq!(named(false, "ns7").len(), 299);
        let replaced = params.find(Hashed::new("ns7"), Hashed::new("p99")).unwrap();
        assert_eq!(replaced.object.to_json()["data"]["value"], 2);
        assert!(!params.contains("ns7", "p49") && !params.contains("ns8", "p99"));
    }
}
