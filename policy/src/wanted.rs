//! Finds the params that a request needs and the index lacks, for hosts that fetch objects on demand.

use crate::api::ParamKind;
use crate::index::Snapshot;
use crate::params::ParamSelection;
use crate::request::AdmissionRequest;

/// A missing param: its kind, namespace and name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedParam {
    /// `apiVersion`
    pub api_version: String,
    /// `kind`
    pub kind: String,
    /// The namespace in the binding's `paramRef`. If the `paramRef` has none, the namespace of the request, which is empty for
    /// cluster-scoped requests. Always empty for kinds that the index knows to be cluster-scoped.
    pub namespace: String,
    /// The name in the binding's `paramRef`.
    pub name: String,
}

impl Snapshot {
    /// The params that the snapshot lacks and that bindings name, for all policies that may match the request. Params that bindings select
    /// by labels are not included; the host must have added all such objects beforehand.
    pub fn unknown_params(&self, request: &AdmissionRequest<'_>) -> Vec<WantedParam> {
        let mut wanted = Vec::new();
        let mut want = |kind: &ParamKind, selection: Option<&ParamSelection>| {
            let found = selection.and_then(|selection| self.unknown(kind, selection, request));
            if let Some(found) = found.filter(|found| !wanted.contains(found)) {
                wanted.push(found);
            }
        };
        for (policy, bindings) in self.hooks(request) {
            if let Some(kind) = &policy.policy().spec.param_kind {
                bindings.for_each(|binding| want(kind, binding.params.as_ref()));
            }
        }
        for (policy, bindings) in self.mutating_hooks(request) {
            if let Some(kind) = &policy.policy().spec.param_kind {
                bindings.for_each(|binding| want(kind, binding.params.as_ref()));
            }
        }
        wanted
    }

    fn unknown(
        &self,
        kind: &ParamKind,
        selection: &ParamSelection,
        request: &AdmissionRequest<'_>,
    ) -> Option<WantedParam> {
        let (namespace, name) = selection.named(request.namespace)?;
        let (params, is_namespaced) = self.params(kind);
        let namespace = match is_namespaced {
            Some(false) => "",
            _ => namespace,
        };
        let is_known = |namespace| params.is_some_and(|params| params.contains(namespace, name));
        if is_known(namespace) || is_known("") {
            return None;
        }
        Some(WantedParam {
            api_version: kind.api_version.clone(),
            kind: kind.kind.clone(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use gavel_engine::value::{Arena, Value};
    use gavel_libraries::EnvSet;
    use serde_json::json;

    use super::*;
    use crate::index::PolicyIndex;
    use crate::{Options, dispatch};

    #[test]
    fn params_that_bindings_name_are_wanted_until_they_are_known() {
        let kubernetes = EnvSet::new("1.36".parse().unwrap()).unwrap();
        let mut index = PolicyIndex::new(&kubernetes);
        let group = "admissionregistration.k8s.io/v1";
        let rules = json!([{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["*"], "resources": ["pods"]}]);
        for object in [
            json!({"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": {
                "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
                "matchConstraints": {"resourceRules": rules},
                "validations": [{"expression": "params.data.ok == 'yes'"}],
            }}),
            json!({"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "b"}, "spec": {
                "policyName": "p", "validationActions": ["Deny"],
                "paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"},
            }}),
            json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}),
        ] {
            index.apply(object).unwrap();
        }
        let request = json!({
            "operation": "CREATE", "namespace": "shop", "name": "a",
            "kind": {"group": "", "version": "v1", "kind": "Pod"},
            "resource": {"group": "", "version": "v1", "resource": "pods"},
            "object": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a", "namespace": "shop"}},
        });
        let arena = Arena::new();
        let request = AdmissionRequest::read(Value::from(&request), &arena).unwrap();
        let snapshot = index.snapshot();
        let wanted = WantedParam {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
            namespace: "shop".to_owned(),
            name: "limits".to_owned(),
        };
        assert_eq!(snapshot.unknown_params(&request), [wanted]);
        assert!(!dispatch(&snapshot, &request, &Options::default()).allowed());
        let kind = ParamKind {
            api_version: "v1".to_owned(),
            kind: "ConfigMap".to_owned(),
        };
        index.set_namespaced(&kind, false);
        let wanted = index.snapshot().unknown_params(&request);
        assert_eq!(wanted.first().map(|wanted| &*wanted.namespace), Some(""));
        let known = snapshot.with_param(json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {"name": "limits", "namespace": "shop"}, "data": {"ok": "yes"},
        }));
        assert_eq!(known.unknown_params(&request), []);
        assert!(dispatch(&known, &request, &Options::default()).allowed());
    }
}
