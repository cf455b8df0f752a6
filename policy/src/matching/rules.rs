//! Matches requests with rules, which list operations and resources (apiserver `pkg/admission/plugin/webhook/predicates/rules`).

use smallvec::SmallVec;
use smol_str::SmolStr;

use super::{EquivalentResources, Matched};
use crate::api::{NamedRuleWithOperations, RuleWithOperations};
use crate::request::AdmissionRequest;
use crate::resource::GroupVersionResource;

/// The compiled rules of a policy or a binding. Short lists and names are stored within a rule, so that matching many policies with a
/// request touches little memory.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct Rules {
    rules: SmallVec<[Rule; 1]>,
    /// Whether the rules are also matched with equivalent resources: true unless the match policy is `Exact` or absent.
    match_equivalents: bool,
}

/// A compiled rule.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Rule {
    scope: RuleScope,
    operations: Operations,
    groups: NameList,
    versions: NameList,
    resources: SmallVec<[ResourcePattern; 1]>,
    /// The names of the objects that the rule matches; empty matches all objects.
    object_names: Box<[SmolStr]>,
}

/// The scope of a rule.
#[derive(Debug, PartialEq, Eq, Hash)]
enum RuleScope {
    Any,
    Namespaced,
    Cluster,
    /// A scope that Kubernetes does not know, which matches nothing.
    Unknown,
}

/// The operations of a rule.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Operations {
    create: bool,
    update: bool,
    delete: bool,
    connect: bool,
    /// All operations of the rule. Only operations other than the four above are looked up here.
    all: NameList,
}

/// A list of names; `None` matches all names.
#[derive(Debug, PartialEq, Eq, Hash)]
struct NameList(Option<SmallVec<[SmolStr; 1]>>);

/// A pattern of `resources`: the names of the resource and the subresource, each `None` if it matches all names.
#[derive(Debug, PartialEq, Eq, Hash)]
struct ResourcePattern {
    resource: Option<SmolStr>,
    subresource: Option<SmolStr>,
}

impl Rules {
    /// Compiles rules.
    pub(super) fn new(rules: &[NamedRuleWithOperations], match_policy: Option<&str>) -> Self {
        Rules {
            rules: rules.iter().map(Rule::new).collect(),
            match_equivalents: !matches!(match_policy, None | Some("Exact")),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    /// The resource and kind with which the first matching rule matches the request; `None` if no rule matches.
    ///
    /// The rules are first matched with the request's own resource. If no rule matches, and the match policy is neither `Exact` nor absent,
    /// the rules are matched with equivalent resources.
    pub(super) fn matches<'a>(
        &self,
        request: &'a AdmissionRequest<'_>,
        equivalents: &'a EquivalentResources,
    ) -> Result<Option<Matched<'a>>, String> {
        let resource = &request.resource;
        let mut rules = self.rules.iter();
        if rules.any(|rule| rule.matches(request, resource) && rule.names(request.name)) {
            return Ok(Some(Matched {
                resource,
                kind: &request.kind,
            }));
        }
        match self.match_equivalents {
            true => self.matches_equivalent(request, equivalents),
            false => Ok(None),
        }
    }

    fn matches_equivalent<'a>(
        &self,
        request: &'a AdmissionRequest<'_>,
        equivalents: &'a EquivalentResources,
    ) -> Result<Option<Matched<'a>>, String> {
        let resource = &request.resource;
        let all = equivalents.of(resource, request.subresource);
        for rule in &self.rules {
            for equivalent in all {
                if equivalent == resource || !rule.matches(request, equivalent) {
                    continue;
                }
                let Some(kind) = equivalents.kind(equivalent, request.subresource) else {
                    return Err(format!("unable to convert to {equivalent}: unknown kind"));
                };
                if rule.names(request.name) {
                    return Ok(Some(Matched {
                        resource: equivalent,
                        kind,
                    }));
                }
            }
        }
        Ok(None)
    }

    /// The resources of all rules, such as `pods`, without their subresources; `None` if a rule matches all resources.
    pub(super) fn resource_names(&self) -> Option<Vec<&str>> {
        let patterns = self.rules.iter().flat_map(|rule| &rule.resources);
        patterns
            .map(|pattern| pattern.resource.as_deref())
            .collect()
    }
}

impl Rule {
    fn new(rule: &NamedRuleWithOperations) -> Self {
        let NamedRuleWithOperations {
            resource_names,
            rule,
        } = rule;
        Rule {
            scope: match rule.scope.as_deref() {
                None | Some("*") => RuleScope::Any,
                Some("Namespaced") => RuleScope::Namespaced,
                Some("Cluster") => RuleScope::Cluster,
                Some(_) => RuleScope::Unknown,
            },
            operations: Operations::new(&rule.operations),
            groups: NameList::new(&rule.api_groups),
            versions: NameList::new(&rule.api_versions),
            resources: patterns(rule).collect(),
            object_names: resource_names.iter().map(SmolStr::new).collect(),
        }
    }

    /// Whether the rule matches a request, with the request's own resource replaced by `resource`.
    fn matches(&self, request: &AdmissionRequest<'_>, resource: &GroupVersionResource) -> bool {
        let mut patterns = self.resources.iter();
        self.scope.matches(request, resource)
            && self.operations.have(request.operation)
            && self.groups.have(&resource.group)
            && self.versions.have(&resource.version)
            && patterns.any(|pattern| pattern.matches(&resource.resource, request.subresource))
    }

    /// Whether the rule matches objects with this name.
    fn names(&self, name: &str) -> bool {
        self.object_names.is_empty() || self.object_names.iter().any(|known| known == name)
    }
}

impl RuleScope {
    /// Whether the scope matches. Namespaces count as cluster-scoped, although a request for a namespace contains the name of that
    /// namespace.
    fn matches(&self, request: &AdmissionRequest<'_>, resource: &GroupVersionResource) -> bool {
        let in_cluster = || resource.is("", "v1", "namespaces") || request.namespace.is_empty();
        match self {
            RuleScope::Any => true,
            RuleScope::Namespaced => !in_cluster(),
            RuleScope::Cluster => in_cluster(),
            RuleScope::Unknown => false,
        }
    }
}

impl Operations {
    fn new(list: &[String]) -> Self {
        let all = NameList::new(list);
        Operations {
            create: all.have("CREATE"),
            update: all.have("UPDATE"),
            delete: all.have("DELETE"),
            connect: all.have("CONNECT"),
            all,
        }
    }

    fn have(&self, operation: &str) -> bool {
        match operation {
            "CREATE" => self.create,
            "UPDATE" => self.update,
            "DELETE" => self.delete,
            "CONNECT" => self.connect,
            other => self.all.have(other),
        }
    }
}

impl NameList {
    /// Compiles a list, in which `*` matches all names.
    fn new(list: &[String]) -> Self {
        let matches_all = list.iter().any(|name| name == "*");
        NameList((!matches_all).then(|| list.iter().map(SmolStr::new).collect()))
    }

    fn have(&self, name: &str) -> bool {
        let names = self.0.as_deref();
        names.is_none_or(|names| names.iter().any(|known| known == name))
    }
}

impl ResourcePattern {
    /// Compiles `resource` or `resource/subresource`, in which `*` matches all names. Without a subresource, the pattern matches only
    /// requests without one.
    fn new(pattern: &str) -> Self {
        let (resource, subresource) = pattern.split_once('/').unwrap_or((pattern, ""));
        let name = |name: &str| (name != "*").then(|| name.into());
        ResourcePattern {
            resource: name(resource),
            subresource: name(subresource),
        }
    }

    fn matches(&self, resource: &str, subresource: &str) -> bool {
        let is = |name: &Option<SmolStr>, wanted| name.as_deref().is_none_or(|name| name == wanted);
        is(&self.resource, resource) && is(&self.subresource, subresource)
    }
}

fn patterns(rule: &RuleWithOperations) -> impl Iterator<Item = ResourcePattern> {
    rule.resources
        .iter()
        .map(|pattern| ResourcePattern::new(pattern))
}

/// Whether a pattern, as in a rule's `resources`, matches a resource and its subresource. An empty `subresource` means that there is none.
pub fn resource_matches(pattern: &str, resource: &str, subresource: &str) -> bool {
    ResourcePattern::new(pattern).matches(resource, subresource)
}
