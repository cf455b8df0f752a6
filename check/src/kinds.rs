//! The resources of kinds: their plural names, and whether their objects have a namespace.

use std::collections::HashMap;

use gavel_crd::definition::Definition;
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_manifest::{Document, Problem, nearest};
use gavel_policy::GroupVersionKind;
use gavel_policy::typecheck::plural;
use gavel_schema::built_in::{Kubernetes, is_cluster_scoped};

use crate::custom::Key;
use crate::role::Role;

/// The kinds that CustomResourceDefinitions define; the plurals of other kinds are guessed from their names.
#[derive(Debug, Default)]
pub struct Kinds(HashMap<(String, String), ResourceOfKind>);

/// The plural name and the scope of a kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResourceOfKind {
    /// The plural name: `pods`.
    pub plural: String,
    /// Whether objects of the kind are namespaced.
    pub is_namespaced: bool,
}

impl Kinds {
    /// Adds the kind that a CustomResourceDefinition defines; other objects are ignored.
    pub fn define(&mut self, object: &Json) {
        if Role::of(object) == Role::Definition
            && let Ok(Definition { spec, .. }) = Definition::read(object)
        {
            let resource = ResourceOfKind {
                plural: spec.names.plural,
                is_namespaced: spec.scope == "Namespaced",
            };
            self.0.insert((spec.group, spec.names.kind), resource);
        }
    }

    /// Returns the object with `namespace` set, if its kind is namespaced and the object names no namespace; otherwise unchanged.
    pub fn placed(&self, mut object: Json, namespace: &str) -> Json {
        let text = |key: &str| object.get(key).and_then(Json::as_str).unwrap_or_default();
        let kind = GroupVersionKind::new(text("apiVersion"), text("kind"));
        if self.resource(&kind).is_namespaced
            && let Some(Json::Object(metadata)) = object.get_mut("metadata")
        {
            let named = metadata.entry("namespace").or_insert_with(|| "".into());
            if named == "" {
                *named = namespace.into();
            }
        }
        object
    }

    /// The problem of an object whose kind the API server does not have.
    pub fn unknown(&self, document: &Document, server: Server) -> Option<Problem> {
        let key = Key::of(document.value()).ok()?;
        let kind = GroupVersionKind::new(key.api_version, key.kind);
        let mistake = self.mistake(&kind, server)?;
        let problem = document.problem("unknown-kind", "kind", mistake);
        Some(problem.of_field("").as_warning())
    }

    /// Why this API server does not have a kind: the version of Kubernetes that added the kind, where the kind is served, or the kind of the
    /// same version that was probably meant. `None` for kinds that the API server may have: those of Kubernetes, those of the added
    /// definitions, and other kinds in groups in which CustomResourceDefinitions define kinds.
    fn mistake(&self, kind: &GroupVersionKind, server: Server) -> Option<String> {
        let (api_version, name) = (kind.api_version(), kind.kind.as_str());
        let key = (kind.group.to_string(), name.to_owned());
        let known: Vec<_> = Kubernetes::of(server).kinds().collect();
        if self.0.contains_key(&key) || known.contains(&(&*api_version, name)) {
            return None;
        }
        let is_of_group = |version: &str| GroupVersionKind::new(version, name).group == kind.group;
        // The group of a CustomResourceDefinition contains a dot.
        let is_closed = !kind.group.contains('.');
        if !is_closed && !known.iter().any(|(version, _)| is_of_group(version)) {
            return None;
        }
        let of_version = known.iter().filter(|(version, _)| *version == api_version);
        let mut of_version = of_version.map(|(_, known)| *known).peekable();
        let is_known_version = of_version.peek().is_some();
        let served = known.iter().filter(|(version, known)| {
            *known == name && (is_closed || is_known_version || is_of_group(version))
        });
        let served: Vec<&str> = served.map(|(version, _)| *version).collect();
        let first = Kubernetes::first_with(&api_version, name);
        let help = if let Some(first) = first.filter(|first| *first > server.kinds()) {
            Some(format!("Kubernetes {first} is the first that has it"))
        } else if !served.is_empty() {
            // A kind without a stable version may be served in versions that are newer than Gavel.
            let is_sure = is_closed || served.iter().any(|version| is_stable(version));
            is_sure.then(|| format!("the kind is served in {}", served.join(", ")))
        } else {
            nearest(name, of_version).map(|meant| format!("did you mean {meant}?"))
        };
        if help.is_none() && !is_closed {
            return None;
        }
        let help = help.map(|help| format!("; {help}")).unwrap_or_default();
        Some(format!(
            "no matches for kind {name:?} in version {api_version:?}{help}"
        ))
    }

    /// The resource of a kind.
    pub fn resource(&self, kind: &GroupVersionKind) -> ResourceOfKind {
        let key = (kind.group.to_string(), kind.kind.to_string());
        self.0.get(&key).cloned().unwrap_or_else(|| ResourceOfKind {
            plural: plural(&kind.kind.to_lowercase()),
            is_namespaced: !is_cluster_scoped(&kind.kind),
        })
    }
}

/// Whether a version is stable: not alpha or beta.
fn is_stable(api_version: &str) -> bool {
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let number = version.strip_prefix('v').unwrap_or_default();
    !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_that_no_server_has_are_mistakes() {
        for (api_version, kind, expected) in [
            ("apps/v1", "Deployment", None),
            (
                "apps/v1",
                "deployment",
                Some(
                    "no matches for kind \"deployment\" in version \"apps/v1\"; did you mean Deployment?",
                ),
            ),
            (
                "apps/v2",
                "Deployment",
                Some(
                    "no matches for kind \"Deployment\" in version \"apps/v2\"; the kind is served in apps/v1",
                ),
            ),
            (
                "v1",
                "ServiceAcount",
                Some(
                    "no matches for kind \"ServiceAcount\" in version \"v1\"; did you mean ServiceAccount?",
                ),
            ),
            (
                "v1",
                "Deployment",
                Some(
                    "no matches for kind \"Deployment\" in version \"v1\"; the kind is served in apps/v1",
                ),
            ),
            (
                "networking/v1",
                "Ingress",
                Some(
                    "no matches for kind \"Ingress\" in version \"networking/v1\"; the kind is served in networking.k8s.io/v1",
                ),
            ),
            (
                "batch/v1",
                "Pod",
                Some(
                    "no matches for kind \"Pod\" in version \"batch/v1\"; the kind is served in v1",
                ),
            ),
            (
                "policy/v1beta1",
                "PodSecurityPolicy",
                Some("no matches for kind \"PodSecurityPolicy\" in version \"policy/v1beta1\""),
            ),
            ("resource.k8s.io/v1", "PoolOfTomorrow", None),
            ("scheduling.k8s.io/v1alpha9", "Workload", None),
            ("example.com/v1", "Deployment", None),
            ("certificates.k8s.io/v1", "ClusterTrustBundle", None),
        ] {
            let found = Kinds::default()
                .mistake(&GroupVersionKind::new(api_version, kind), Server::default());
            assert_eq!(found.as_deref(), expected);
        }
    }

    #[test]
    fn kinds_of_later_versions_are_mistakes() {
        for (server, expected) in [
            (
                "1.35",
                Some(
                    "no matches for kind \"MutatingAdmissionPolicy\" in version \"admissionregistration.k8s.io/v1\"; Kubernetes 1.36 is the first that has it",
                ),
            ),
            ("1.36", None),
        ] {
            let kind = "admissionregistration.k8s.io/v1";
            let kind = GroupVersionKind::new(kind, "MutatingAdmissionPolicy");
            let found = Kinds::default().mistake(&kind, server.parse().unwrap());
            assert_eq!(found.as_deref(), expected, "{server}");
        }
    }

    #[test]
    fn resources_of_built_in_kinds_are_guessed() {
        let of = |api_version: &str, kind: &str| {
            let found = Kinds::default().resource(&GroupVersionKind::new(api_version, kind));
            (found.plural, found.is_namespaced)
        };
        assert_eq!(of("v1", "Pod"), ("pods".to_owned(), true));
        assert_eq!(of("v1", "Namespace"), ("namespaces".to_owned(), false));
        let policies = ("networkpolicies".to_owned(), true);
        assert_eq!(of("networking.k8s.io/v1", "NetworkPolicy"), policies);
        let classes = ("ingressclasses".to_owned(), false);
        assert_eq!(of("networking.k8s.io/v1", "IngressClass"), classes);
        let classes = ("volumeattributesclasses".to_owned(), false);
        assert_eq!(of("storage.k8s.io/v1", "VolumeAttributesClass"), classes);
    }
}
