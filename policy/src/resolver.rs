//! Finds the namespaces and params that decisions need.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::api::ParamKind;
use crate::kept::KeptObject;
use crate::names::Names;
use crate::namespace::Namespaces;
use crate::params::Params;

/// The namespaces and params. Cloning is cheap: a clone shares all data, and later changes copy only the changed data.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resolver {
    pub(crate) namespaces: Namespaces,
    /// The params of each kind, by `apiVersion` and kind.
    params: Arc<IndexMap<(String, String), Params>>,
}

impl Resolver {
    /// The params of a kind; `None` if no params of the kind were set.
    pub(crate) fn params(&self, kind: &ParamKind) -> Option<&Params> {
        self.params.get(&Names(&kind.api_version, &kind.kind))
    }

    /// The params of a kind, for changes. Adds the kind if necessary.
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

    /// Removes an object from the params and, if it is a namespace, from the namespaces.
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
