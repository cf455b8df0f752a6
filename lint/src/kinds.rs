//! The kinds of objects that policies can match: those of definitions, of OpenAPI documents, and Kubernetes' own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gavel_crd::definition::Definition;
use gavel_engine::types::TypeTextError;
use gavel_engine::value::Json;
use gavel_libraries::Server;
use gavel_manifest::{Document, nearest};
use gavel_policy::GroupVersionKind;
use gavel_policy::api::{GROUP, OWN_GROUP};
use gavel_policy::typecheck::{TypeChecker, plural};
use gavel_schema::built_in::{Kubernetes, is_cluster_scoped};
use gavel_schema::{JsonSchema, openapi};
use smol_str::SmolStr;

use crate::builtin;

/// The groups of policies and bindings: the group of the built-in kinds, and the group of Gavel's own kinds.
pub(crate) const GROUPS: [&str; 2] = [GROUP, OWN_GROUP];

/// The group of CustomResourceDefinitions.
pub(crate) const DEFINITIONS: &str = "apiextensions.k8s.io";

/// The kinds that linted documents name or define, with the schemas of their objects.
#[derive(Debug)]
pub(crate) struct Kinds {
    server: Server,
    pub(crate) types: TypeChecker,
    schemas: BTreeMap<GroupVersionKind, KnownKind>,
    /// The versions that have a resource, by the API group and plural name of the resource.
    resources: BTreeMap<(String, String), BTreeSet<String>>,
    /// The groups whose resources are all known: Kubernetes' own groups, and the groups of OpenAPI documents.
    complete: BTreeSet<SmolStr>,
}

/// A kind, with the properties of its objects.
#[derive(Debug)]
pub(crate) struct KnownKind {
    pub(crate) schema: Arc<JsonSchema>,
    /// Whether objects have a namespace; `None` if that is not known.
    pub(crate) is_namespaced: Option<bool>,
    /// Whether the kind is in an API group of Kubernetes itself.
    pub(crate) is_builtin: bool,
}

impl Kinds {
    /// The built-in kinds that the documents name, and the kinds that the documents define.
    pub(crate) fn new(
        server: Server,
        max_object: u64,
        documents: &[Document],
    ) -> Result<Self, TypeTextError> {
        let mut types = TypeChecker::new(server)?;
        types.set_max_object(max_object);
        let mut kinds = Kinds {
            server,
            types,
            schemas: BTreeMap::new(),
            resources: BTreeMap::new(),
            complete: BTreeSet::new(),
        };
        kinds.add_builtin(documents);
        // Only policies and bindings need the kinds that CustomResourceDefinitions define.
        if documents
            .iter()
            .any(|each| GROUPS.contains(&group_of(each)))
        {
            for document in documents {
                kinds.add_definition(document);
            }
        }
        Ok(kinds)
    }

    /// The known kind with this name; `None` if it is not known.
    pub(crate) fn get(&self, kind: &GroupVersionKind) -> Option<&KnownKind> {
        self.schemas.get(kind)
    }

    /// Whether resources of a group are known.
    pub(crate) fn knows_group(&self, group: &str) -> bool {
        self.resources_of(group).next().is_some()
    }

    /// The groups of the known resources.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &str> {
        self.resources.keys().map(|(group, _)| group.as_str())
    }

    /// Whether all resources of a group are known.
    pub(crate) fn is_complete(&self, group: &str) -> bool {
        self.complete.contains(group)
    }

    /// The plural names of a group's resources.
    pub(crate) fn resources_of(&self, group: &str) -> impl Iterator<Item = &str> {
        let resources = self.resources.keys();
        let of_group = resources.filter(move |(known, _)| known == group);
        of_group.map(|(_, resource)| resource.as_str())
    }

    /// The versions that have a resource; `None` if the resource is not known.
    pub(crate) fn versions_of(&self, group: &str, resource: &str) -> Option<&BTreeSet<String>> {
        self.resources.get(&(group.to_owned(), resource.to_owned()))
    }

    fn add_resource(&mut self, group: &str, resource: String, version: &str) {
        let key = (group.to_owned(), resource);
        let versions = self.resources.entry(key).or_default();
        versions.insert(version.to_owned());
    }

    /// Resolves the schemas of the built-in kinds that the documents may name. There are too many kinds to resolve all.
    fn add_builtin(&mut self, documents: &[Document]) {
        let kubernetes = Kubernetes::of(self.server);
        let named = Named::in_documents(documents);
        for (api_version, name) in kubernetes.kinds() {
            let kind = GroupVersionKind::new(api_version, name);
            let lower = name.to_lowercase();
            let resource = plural(&lower);
            self.add_resource(&kind.group, resource.clone(), &kind.version);
            self.complete.insert(kind.group.clone());
            if !named.has(&resource) && !named.has(&lower) {
                continue;
            }
            let Some(schema) = kubernetes.resolved(api_version, name) else {
                continue;
            };
            self.types.add_kind(kind.clone(), &schema);
            let known = KnownKind {
                schema: Arc::new(schema),
                is_namespaced: Some(!is_cluster_scoped(name)),
                is_builtin: true,
            };
            self.schemas.insert(kind, known);
        }
    }

    fn add_definition(&mut self, document: &Document) {
        if !is_definition(document) {
            return;
        }
        let Ok(definition) = Definition::read(document.value()) else {
            return;
        };
        let spec = &definition.spec;
        for version in &spec.versions {
            let kind = GroupVersionKind {
                group: spec.group.as_str().into(),
                version: version.name.as_str().into(),
                kind: spec.names.kind.as_str().into(),
            };
            if version.served {
                self.add_resource(&spec.group, spec.names.plural.clone(), &version.name);
            }
            let schema = definition.schema(&version.name);
            self.types.add_custom_kind(kind.clone(), schema);
            self.types
                .add_resource(spec.names.plural.clone(), kind.clone());
            let known = KnownKind {
                schema: Arc::new(schema.cloned().unwrap_or_default()),
                is_namespaced: Some(spec.scope == "Namespaced"),
                is_builtin: false,
            };
            self.schemas.insert(kind, known);
        }
    }

    /// Adds the kinds of an OpenAPI v3 document that are resources.
    ///
    /// # Errors
    ///
    /// The JSON is not such a document, or a schema cannot be resolved.
    pub(crate) fn add_openapi(&mut self, document: &Json) -> Result<(), String> {
        let schemas = document.pointer("/components/schemas");
        let schemas = schemas.and_then(Json::as_object);
        let schemas = schemas.ok_or("must be an OpenAPI v3 document, with components.schemas")?;
        let resources: Vec<_> = openapi::resources(document)
            .map(|(name, kind)| (name, GroupVersionKind::read(kind.into())))
            .collect();
        for (kind, schema) in openapi::kinds(schemas) {
            let kind = GroupVersionKind::read(kind.into());
            let names = resources.iter().filter(|(_, known)| *known == kind);
            let names: Vec<_> = names.map(|(name, _)| (*name).to_owned()).collect();
            if names.is_empty() {
                continue;
            }
            let schema = openapi::resolve(schema, &|name| schemas.get(name));
            let schema = schema.map_err(|error| error.to_string())?;
            self.types.add_kind(kind.clone(), &schema);
            self.complete.insert(kind.group.clone());
            for name in names {
                self.add_resource(&kind.group, name.clone(), &kind.version);
                self.types.add_resource(name, kind.clone());
            }
            let known = KnownKind {
                schema: Arc::new(schema),
                is_namespaced: None,
                is_builtin: builtin::has_group(&kind.group, self.server),
            };
            self.schemas.insert(kind, known);
        }
        Ok(())
    }
}

/// Whether a document is a CustomResourceDefinition.
pub(crate) fn is_definition(document: &Document) -> bool {
    is_kind(document, DEFINITIONS, "CustomResourceDefinition")
}

/// Whether a document is a CustomResourceDefinition whose API group is missing or misspelled.
pub(crate) fn is_definition_of_misspelled_group(document: &Document) -> bool {
    text(document, "kind") == "CustomResourceDefinition"
        && misspelled_group(document, &[DEFINITIONS]).is_some()
}

/// The group among `groups` that was probably meant if the group of a document is missing, is similar, or lacks `.k8s.io`. `None` for any
/// other group, because it may have kinds with the same names.
pub(crate) fn misspelled_group(
    document: &Document,
    groups: &[&'static str],
) -> Option<&'static str> {
    let group = group_of(document);
    let mut known = groups.iter().copied();
    let shortened =
        known.find(|known| group.is_empty() || known.strip_suffix(".k8s.io") == Some(group));
    shortened.or_else(|| nearest(group, groups.iter().copied()))
}

/// Whether a document is an object of a group and kind, whatever the version.
pub(crate) fn is_kind(document: &Document, group: &str, kind: &str) -> bool {
    group_of(document) == group && text(document, "kind") == kind
}

/// The group of a document; empty if it has none.
pub(crate) fn group_of(document: &Document) -> &str {
    let (group, _) = text(document, "apiVersion")
        .split_once('/')
        .unwrap_or_default();
    group
}

/// The string under a top-level key of a document; empty if there is none.
pub(crate) fn text<'d>(document: &'d Document, key: &str) -> &'d str {
    let text = document.value().get(key).and_then(Json::as_str);
    text.unwrap_or_default()
}

/// The name of a document's object; empty if it has none.
pub(crate) fn name_of(document: &Document) -> &str {
    let name = document.value().pointer("/metadata/name");
    name.and_then(Json::as_str).unwrap_or_default()
}

/// The JSON pointer for the path of a field. The path must not contain names in brackets.
pub(crate) fn pointer(field: &str) -> String {
    let steps = field
        .split(['.', '['])
        .map(|step| step.trim_end_matches(']'));
    steps.map(|step| format!("/{step}")).collect()
}

/// The resources and the kinds of params that policies name, in lower case.
struct Named(BTreeSet<String>);

impl Named {
    fn in_documents(documents: &[Document]) -> Self {
        let mut named = BTreeSet::new();
        for document in documents {
            let spec = document.value().get("spec");
            let rules = spec.and_then(|spec| spec.pointer("/matchConstraints/resourceRules"));
            let rules = rules.and_then(Json::as_array).into_iter().flatten();
            let resources = rules.filter_map(|rule| rule.get("resources")?.as_array());
            let resources = resources.flatten().filter_map(Json::as_str);
            named.extend(resources.map(str::to_lowercase));
            let params = spec.and_then(|spec| spec.pointer("/paramKind/kind")?.as_str());
            named.extend(params.map(str::to_lowercase));
        }
        Named(named)
    }

    fn has(&self, name: &str) -> bool {
        self.0.contains(name)
    }
}
