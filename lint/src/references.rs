//! Reports documents that contradict each other: duplicates, and bindings that do not fit their policies or params.

use std::collections::{BTreeMap, HashMap, HashSet};

use gavel_engine::value::Json;
use gavel_manifest::{Document, Problem};
use gavel_policy::GroupVersionKind;

use crate::context::Linter;
use crate::expressions::problem;
use crate::kinds::{GROUPS, group_of, is_kind, name_of, text};
use crate::meant;
use crate::rules::{DUPLICATE_OBJECT, MISSING_POLICY, PARAM_MISMATCH, UNBOUND_POLICY};
use gavel_manifest::nearest;

/// The kinds of policies and of their bindings.
const KINDS: [(&str, &str); 2] = [
    (
        "ValidatingAdmissionPolicy",
        "ValidatingAdmissionPolicyBinding",
    ),
    ("MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"),
];

/// Reports the problems between documents.
pub(crate) fn check(linter: &Linter, documents: &[Document]) -> Vec<Problem> {
    let mut problems = Vec::new();
    duplicates(documents, &mut problems);
    for (group, (policy, binding)) in GROUPS
        .into_iter()
        .flat_map(|group| KINDS.map(|kinds| (group, kinds)))
    {
        let of_kind = |kind| {
            documents
                .iter()
                .filter(move |each| is_kind(each, group, kind))
        };
        let policies: Vec<_> = of_kind(policy).collect();
        let bindings: Vec<_> = of_kind(binding).collect();
        bound(linter, &policies, &bindings, &mut problems);
    }
    problems
}

fn duplicates(documents: &[Document], problems: &mut Vec<Problem>) {
    let mut known: BTreeMap<[&str; 4], &Document> = BTreeMap::new();
    for document in documents.iter().filter(|each| Linter::is_subject(each)) {
        let namespace = document.value().pointer("/metadata/namespace");
        let namespace = namespace.and_then(Json::as_str).unwrap_or_default();
        let kind = text(document, "kind");
        let name = name_of(document);
        if name.is_empty() {
            continue;
        }
        let key = [group_of(document), kind, namespace, name];
        let Some(first) = known.get(&key) else {
            known.insert(key, document);
            continue;
        };
        let place = first.place_of("metadata.name");
        let place = match first.file() {
            Some(file) => format!("{}:{place}", file.display()),
            None => place.to_string(),
        };
        let message = format!("{kind} {name:?} is also at {place}");
        problems.push(problem(
            document,
            &DUPLICATE_OBJECT,
            "metadata.name",
            message,
        ));
    }
}

fn bound(
    linter: &Linter,
    policies: &[&Document],
    bindings: &[&Document],
    problems: &mut Vec<Problem>,
) {
    if policies.is_empty() || bindings.is_empty() {
        return;
    }
    // Of policies with the same name, the first counts.
    let named = policies.iter().rev();
    let named: HashMap<&str, &Document> = named.map(|policy| (name_of(policy), *policy)).collect();
    let mut bound = HashSet::new();
    for binding in bindings {
        let policy_name = binding.value().pointer("/spec/policyName");
        let Some(policy_name) = policy_name.and_then(Json::as_str) else {
            continue;
        };
        bound.insert(policy_name);
        match named.get(policy_name) {
            Some(policy) => params(linter, policy, binding, problems),
            None => {
                let message = format!("there is no policy {policy_name:?}");
                let found = problem(binding, &MISSING_POLICY, "spec.policyName", message);
                let names = policies.iter().map(|policy| name_of(policy));
                problems.push(meant::name(found, nearest(policy_name, names)));
            }
        }
    }
    for policy in policies.iter().filter(|policy| !name_of(policy).is_empty()) {
        if !bound.contains(name_of(policy)) {
            let message = "no binding names the policy, so it does nothing";
            problems.push(problem(policy, &UNBOUND_POLICY, "metadata.name", message));
        }
    }
}

/// Reports a policy and a binding that do not agree on params.
fn params(linter: &Linter, policy: &Document, binding: &Document, problems: &mut Vec<Problem>) {
    let kind = policy.value().pointer("/spec/paramKind");
    let reference = binding.value().pointer("/spec/paramRef");
    let name = name_of(policy);
    match (kind, reference) {
        (Some(_), None) => {
            let message = format!(
                "the policy {name:?} has a paramKind, but the binding no paramRef: `params` is null"
            );
            problems.push(problem(binding, &PARAM_MISMATCH, "spec", message));
        }
        (None, Some(_)) => {
            let message =
                format!("the policy {name:?} has no paramKind, so nothing reads the paramRef");
            problems.push(problem(binding, &PARAM_MISMATCH, "spec.paramRef", message));
        }
        (Some(kind), Some(reference)) => {
            let part = |key: &str| kind.get(key).and_then(Json::as_str).unwrap_or_default();
            let kind = GroupVersionKind::new(part("apiVersion"), part("kind"));
            let known = linter.kinds.get(&kind);
            let is_cluster = known.is_some_and(|known| known.is_namespaced == Some(false));
            if is_cluster && reference.get("namespace").is_some() {
                let message = format!(
                    "objects of {} {} have no namespace",
                    kind.api_version(),
                    kind.kind
                );
                problems.push(problem(
                    binding,
                    &PARAM_MISMATCH,
                    "spec.paramRef.namespace",
                    message,
                ));
            }
        }
        (None, None) => {}
    }
}
