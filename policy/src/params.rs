//! Stores the params of policies, and finds those that a binding selects (apiserver `policy/generic/policy_dispatcher.go`,
//! `CollectParams`).

use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, LazyLock};

use gavel_apimachinery::labels::Selector;
use immutable_chunkmap::map::Map;
use smallvec::SmallVec;

use crate::api::{ParamKind, ParamRef};
use crate::kept::{CHUNK, KeptObject};
use crate::resource::GroupVersionKind;

/// The objects of one kind that policies use as params. Cloning is cheap.
#[derive(Debug, Clone, Default)]
pub(crate) struct Params {
    /// The objects by the hashes of their namespace and name. Objects with equal hashes share a bucket.
    objects: Map<(u64, u64), Bucket, CHUNK>,
    /// The number of objects inserted so far. New versions of an object are not counted.
    count: u64,
    /// Whether the kind is namespaced, if known.
    namespaced: Option<bool>,
    /// The reason why the params are unavailable, if they are.
    fault: Option<ParamFault>,
}

type Bucket = SmallVec<[Param; 1]>;

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

/// The params that a binding selects, usually one. A single `None` stands for a policy or binding without params.
pub(crate) type Found<'a> = SmallVec<[Option<&'a KeptObject>; 1]>;

/// The input of [`ParamSelection::collect`] for one policy and request.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParamSource<'a> {
    /// The objects of the policy's `paramKind`; `None` if no object of the kind is known.
    pub(crate) params: Option<&'a Params>,
    /// Whether the kind is namespaced.
    pub(crate) is_namespaced: bool,
    /// The namespace of the request.
    pub(crate) request_namespace: Hashed<&'a str>,
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
    name: Hashed<String>,
    namespace: Hashed<String>,
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
    pub(crate) fn check_synced(&self, kind: &ParamKind) -> Result<(), String> {
        if self.fault != Some(ParamFault::NotSynced) {
            return Ok(());
        }
        // The message contains a `ParamKind` as Go prints it.
        let ParamKind { api_version, kind } = kind;
        let kind = format!("&ParamKind{{APIVersion:{api_version},Kind:{kind},}}");
        Err(format!(
            "paramKind kind `{kind}` not yet synced to use for admission"
        ))
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
        let hash = hashes(object.namespace(), object.name());
        let mut bucket = self.objects.get(&hash).cloned().unwrap_or_default();
        let mut known = bucket.iter_mut();
        match known.find(|known| known.is_named(object.namespace(), object.name())) {
            Some(known) => known.object = object,
            None => {
                let before = self.count;
                self.count = before.wrapping_add(1);
                bucket.push(Param { before, object });
            }
        }
        self.objects.insert_cow(hash, bucket);
    }

    /// Removes an object.
    pub(crate) fn remove(&mut self, namespace: &str, name: &str) {
        let hash = hashes(namespace, name);
        let mut bucket = self.objects.get(&hash).cloned().unwrap_or_default();
        bucket.retain(|known| !known.is_named(namespace, name));
        match bucket.is_empty() {
            true => self.objects.remove_cow(&hash),
            false => self.objects.insert_cow(hash, bucket),
        };
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

    fn find(&self, namespace: Hashed<&str>, name: Hashed<&str>) -> Option<&KeptObject> {
        let mut bucket = self.objects.get(&(namespace.hash, name.hash))?.iter();
        let param = bucket.find(|known| known.is_named(namespace.text, name.text));
        param.map(|param| &*param.object)
    }

    /// The objects that match a label selector, in the order in which they were inserted. With a namespace, only the objects in that
    /// namespace.
    fn select<'a>(
        &'a self,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> impl Iterator<Item = &'a KeptObject> {
        let inside = |of: &str| namespace.is_none_or(|wanted| wanted == of);
        let hash = namespace.map(|namespace| Hashed::new(namespace).hash);
        let mut found: Vec<&Param> = self
            .objects
            .range((hash.unwrap_or_default(), 0)..)
            .take_while(|((of, _), _)| hash.is_none_or(|hash| hash == *of))
            .flat_map(|(_, bucket)| bucket)
            .filter(|param| inside(param.object.namespace()))
            .filter(|param| selector.matches(|key| param.object.labels().get(key)))
            .collect();
        found.sort_by_key(|param| param.before);
        found.into_iter().map(|param| &*param.object)
    }
}

/// The hashes of an object's namespace and name, which are its key in `objects`.
fn hashes(namespace: &str, name: &str) -> (u64, u64) {
    (Hashed::new(namespace).hash, Hashed::new(name).hash)
}

impl Param {
    fn is_named(&self, namespace: &str, name: &str) -> bool {
        self.object.namespace() == namespace && self.object.name() == name
    }
}

impl ParamSelection {
    /// Compiles a binding's `paramRef`.
    pub(crate) fn new(reference: &ParamRef) -> Self {
        ParamSelection {
            name: Hashed::new(reference.name.clone()),
            namespace: Hashed::new(reference.namespace.clone()),
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
    pub(crate) fn collect<'a>(&self, source: ParamSource<'a>) -> Result<Found<'a>, String> {
        let ParamSource {
            params,
            is_namespaced,
            request_namespace,
        } = source;
        let namespace = match (self.namespace.text(), request_namespace.text) {
            ("", "") if is_namespaced => return Err(
                "cannot use namespaced paramRef in policy binding that matches cluster-scoped resources"
                    .to_owned(),
            ),
            ("", _) => request_namespace,
            (_, _) if !is_namespaced => {
                return Err(
                    "paramRef.namespace must not be provided for a cluster-scoped `paramKind`"
                        .to_owned(),
                );
            }
            (_, _) => self.namespace.borrow(),
        };
        let found: Found<'a> = match (self.name.text(), &self.selector) {
            ("", None) => return Err("one of name or selector must be provided".to_owned()),
            ("", Some(selector)) => {
                let selector = selector.as_ref().map_err(String::clone)?;
                let inside = is_namespaced.then_some(namespace.text);
                let select = |params: &'a Params| params.select(inside, selector);
                params.into_iter().flat_map(select).map(Some).collect()
            }
            (_, Some(_)) => {
                return Err("paramRef.name and paramRef.selector are mutually exclusive".to_owned());
            }
            (_, None) => {
                let namespace = match is_namespaced {
                    true => namespace,
                    false => Hashed::new(""),
                };
                let find = |params: &'a Params| params.find(namespace, self.name.borrow());
                params.and_then(find).map(Some).into_iter().collect()
            }
        };
        if found.is_empty() && self.denies_without {
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
        let named = |namespace| -> Vec<String> {
            let found = params.select(namespace, &everything);
            found.map(|param| param.name().to_owned()).collect()
        };
        assert_eq!(named(Some("ns7")), ["p99", "p149", "p199", "p249", "p299"]);
        assert!(named(Some("ns50")).is_empty());
        assert_eq!(named(None).len(), 299);
        let replaced = params.find(Hashed::new("ns7"), Hashed::new("p99")).unwrap();
        assert_eq!(replaced.to_json()["data"]["value"], 2);
        assert!(!params.contains("ns7", "p49") && !params.contains("ns8", "p99"));
    }
}
