//! What requests look up beside policies: namespaces and params.

use std::sync::Arc;

use indexmap::IndexMap;

use crate::api::ParamKind;
use crate::kept::KeptObject;
use crate::names::Names;
use crate::namespace::Namespaces;
use crate::params::Params;

/// Looks up namespaces and params, each of which is held once. Cloning is cheap, and a clone stays as it is; whatever is changed
/// later, what is not changed is shared.
#[derive(Debug, Clone, Default)]
pub(crate) struct Resolver {
    pub(crate) namespaces: Namespaces,
    /// By apiVersion and kind.
    params: Arc<IndexMap<(String, String), Params>>,
}

impl Resolver {
    /// The params of a kind, if anything is known of it.
    pub(crate) fn params(&self, kind: &ParamKind) -> Option<&Params> {
        self.params.get(&Names(&kind.api_version, &kind.kind))
    }

    /// The params of a kind, to be changed.
    pub(crate) fn params_mut(&mut self, api_version: &str, kind: &str) -> &mut Params {
        let params = Arc::make_mut(&mut self.params);
        let params = params.entry((api_version.to_owned(), kind.to_owned()));
        params.or_default()
    }

    /// Takes in an object that policies may use as params.
    pub(crate) fn insert_param(&mut self, object: Arc<KeptObject>) {
        let params = self.params_mut(object.api_version(), object.kind());
        params.insert(object);
    }

    /// Forgets an object, whatever it was good for.
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
