//! Looks up the objects that requests need besides policies: namespaces and params.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::api::ParamKind;
use crate::kept::KeptObject;
use crate::names::Names;
use crate::namespace::Namespaces;
use crate::params::Params;

/// The namespaces and params, each kept once. Cloning is cheap. A clone does not change when the original does; the two share their
/// unchanged parts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resolver {
    pub(crate) namespaces: Namespaces,
    /// The params of each kind, by `apiVersion` and kind.
    params: Arc<IndexMap<(String, String), Params>>,
}

impl Resolver {
    /// The params of a kind, if the kind is known.
    pub(crate) fn params(&self, kind: &ParamKind) -> Option<&Params> {
        self.params.get(&Names(&kind.api_version, &kind.kind))
    }

    /// Mutable access to the params of a kind.
    pub(crate) fn params_mut(&mut self, api_version: &str, kind: &str) -> &mut Params {
        let params = Arc::make_mut(&mut self.params);
        let params = params.entry((api_version.to_owned(), kind.to_owned()));
        params.or_default()
    }

    /// Inserts an object that policies can use as params.
    pub(crate) fn insert_param(&mut self, object: Arc<KeptObject>) {
        let params = self.params_mut(object.api_version(), object.kind());
        params.insert(object);
    }

    /// Removes an object, whether it is a namespace or a param.
    pub(crate) fn remove(&mut self, api_version: &str, kind: &str, namespace: &str, name: &str) {
        if (api_version, kind) == ("v1", "Namespace") {
            self.namespaces.remove(name);
        }
        let params = Arc::make_mut(&mut self.params);
        if let Some(params) = params.get_mut(&Names(api_version, kind)) {
            params.remove(namespace, name);
        }
    }
}
