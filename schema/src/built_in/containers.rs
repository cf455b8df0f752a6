//! The defaults of pods and containers (`pkg/apis/core/v1/defaults.go` of k8s.io/kubernetes). Most of these defaults depend on other fields.

use std::collections::BTreeMap;

use gavel_apimachinery::quantity::Quantity;
use gavel_apimachinery::server::{Difference, Server};
use gavel_engine::value::{Json, JsonObject};
use serde_json::json;

use super::fields::{has_any, is_set, items, part};
use super::image::pull_policy;

/// The fields of a pod that list containers, except `ephemeralContainers`.
const CONTAINERS: [&str; 2] = ["containers", "initContainers"];

/// Sets the defaults of a container: ordinary, init or ephemeral.
pub(super) fn container(fields: &mut JsonObject) {
    let image = fields.get("image").and_then(Json::as_str);
    let policy = pull_policy(image.unwrap_or_default());
    for (field, default) in [
        ("imagePullPolicy", policy),
        ("terminationMessagePath", "/dev/termination-log"),
        ("terminationMessagePolicy", "File"),
    ] {
        if !is_set(fields, field) {
            fields.insert(field.to_owned(), default.into());
        }
    }
}

/// Sets the defaults that only a pod's own `spec` gets; the `spec` of a pod template does not get them.
pub(super) fn pod(spec: &mut JsonObject, server: Server) {
    let grace = spec.get("terminationGracePeriodSeconds");
    if grace.and_then(Json::as_i64).is_some_and(|grace| grace < 0) {
        spec.insert("terminationGracePeriodSeconds".to_owned(), json!(1));
    }
    for list in CONTAINERS {
        for container in items(spec, list) {
            if let Some(Json::Object(resources)) = container.get_mut("resources") {
                fill_amounts(resources, "limits", "requests");
            }
        }
    }
    // Newer API servers set the pod's limits and requests after admission.
    if !server.has(Difference::WorkloadDefaults) {
        pod_limits(spec);
        pod_requests(spec);
    }
    if spec.get("hostNetwork").is_some_and(|host| *host == true) {
        for list in CONTAINERS {
            for port in items(spec, list).flat_map(|container| items(container, "ports")) {
                let is_unset = port
                    .get("hostPort")
                    .is_none_or(|port| port.is_null() || *port == 0);
                if let Some(number) = port.get("containerPort").filter(|_| is_unset).cloned() {
                    port.insert("hostPort".to_owned(), number);
                }
            }
        }
    }
}

/// Sets `serviceAccountName` and `serviceAccount`, two names of one field, to the same value.
pub(super) fn pod_spec(spec: &mut JsonObject) {
    let names = ["serviceAccountName", "serviceAccount"];
    let name = names.into_iter().find(|name| is_set(spec, name));
    if let Some(name) = name.and_then(|name| spec.get(name)).cloned() {
        for field in names {
            spec.insert(field.to_owned(), name.clone());
        }
    }
}

/// Synchronizes the field `one` with the first element of `list` or, if `field` is given, with that field of the first element. If `one` is
/// not set, it gets the value from `list`. If the two values differ, `list` becomes a list of one element with the value of `one`.
pub(super) fn alike(fields: &mut JsonObject, one: &str, list: &str, field: Option<&str>) {
    let first = fields.get(list).and_then(|list| list.get(0));
    let first = first.and_then(|first| field.map_or(Some(first), |field| first.get(field)));
    let first = first.filter(|first| !first.is_null()).cloned();
    let found = fields.get(one).cloned();
    match found.filter(|found| *found != "") {
        None => {
            if let Some(first) = first {
                fields.insert(one.to_owned(), first);
            }
        }
        Some(found) if first.as_ref() != Some(&found) => {
            let element = field.map_or(found.clone(), |field| json!({field: found}));
            fields.insert(list.to_owned(), json!([element]));
        }
        Some(_) => {}
    }
}

/// Copies the amounts in the field `from` to the field `to`, except those that `to` already has.
pub(super) fn fill_amounts(fields: &mut JsonObject, from: &str, to: &str) {
    let amounts = fields.get(from).and_then(Json::as_object).cloned();
    let Some(amounts) = amounts.filter(|amounts| !amounts.is_empty()) else {
        return;
    };
    if let Some(to) = part(fields, to) {
        for (name, amount) in amounts {
            to.entry(name).or_insert(amount);
        }
    }
}

/// Sets the pod's limits for huge pages from the limits of its containers.
fn pod_limits(spec: &mut JsonObject) {
    let total = total(spec, "limits");
    let Some(Json::Object(resources)) = spec.get_mut("resources") else {
        return;
    };
    if !has_any(resources, "limits") && !has_any(resources, "requests") {
        return;
    }
    let requests = resources.get("requests").cloned().unwrap_or_default();
    for (name, amount) in total {
        if is_huge_page(&name)
            && requests.get(&name).is_none()
            && let Some(limits) = part(resources, "limits")
        {
            limits
                .entry(name)
                .or_insert_with(|| amount.to_string().into());
        }
    }
}

/// If the pod has limits, sets its missing requests: from the requests of its containers, otherwise from the limits.
fn pod_requests(spec: &mut JsonObject) {
    let total = total(spec, "requests");
    let Some(Json::Object(resources)) = spec.get_mut("resources") else {
        return;
    };
    if !has_any(resources, "limits") {
        return;
    }
    for (name, amount) in total {
        if matches!(name.as_str(), "cpu" | "memory")
            && let Some(requests) = part(resources, "requests")
        {
            requests
                .entry(name)
                .or_insert_with(|| amount.to_string().into());
        }
    }
    let limits = resources.get("limits").and_then(Json::as_object).cloned();
    for (name, limit) in limits.into_iter().flatten() {
        let is_of_pods = matches!(name.as_str(), "cpu" | "memory") || is_huge_page(&name);
        if is_of_pods && let Some(requests) = part(resources, "requests") {
            requests.entry(name).or_insert(limit);
        }
    }
}

fn is_huge_page(name: &str) -> bool {
    name.starts_with("hugepages-")
}

type Amounts = BTreeMap<String, Quantity>;

/// The maximum amounts that the containers of a pod use at the same time: the sum of containers and sidecars, or of an init container and
/// the sidecars started before it (component-helpers `resource/helpers.go`).
fn total(spec: &mut JsonObject, kind: &str) -> Amounts {
    let of = |container: &mut JsonObject| -> Amounts {
        let amounts = container
            .get("resources")
            .and_then(|resources| resources.get(kind));
        let amounts = amounts.and_then(Json::as_object).into_iter().flatten();
        let amounts = amounts.filter_map(|(name, amount)| {
            let text = amount
                .as_str()
                .map_or_else(|| amount.to_string(), str::to_owned);
            Some((name.clone(), Quantity::parse(&text).ok()?))
        });
        amounts.collect()
    };
    let mut total = Amounts::new();
    for container in items(spec, "containers") {
        add(&mut total, of(container));
    }
    let (mut beside, mut most) = (Amounts::new(), Amounts::new());
    for container in items(spec, "initContainers") {
        let mut amounts = of(container);
        if container
            .get("restartPolicy")
            .is_some_and(|policy| policy == "Always")
        {
            add(&mut total, amounts.clone());
            add(&mut beside, amounts);
            amounts = beside.clone();
        } else {
            add(&mut amounts, beside.clone());
        }
        raise(&mut most, amounts);
    }
    raise(&mut total, most);
    total
}

fn add(to: &mut Amounts, amounts: Amounts) {
    for (name, amount) in amounts {
        let sum = to.get(&name).map(|known| known.plus(&amount));
        let sum = sum.and_then(Result::ok).unwrap_or(amount);
        to.insert(name, sum);
    }
}

fn raise(to: &mut Amounts, amounts: Amounts) {
    for (name, amount) in amounts {
        let is_more = to
            .get(&name)
            .is_none_or(|known| amount.compare(known).is_gt());
        if is_more {
            to.insert(name, amount);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn preparing_containers_count_where_they_take_more() {
        let mut spec = json!({
            "containers": [{"resources": {"requests": {"cpu": "100m"}}}, {"resources": {"requests": {"cpu": "200m"}}}],
            "initContainers": [{"resources": {"requests": {"cpu": "2", "memory": "1Gi"}}}],
        });
        let spec = spec.as_object_mut().unwrap_or_else(|| panic!("an object"));
        let total = total(spec, "requests");
        let total: Vec<_> = total
            .iter()
            .map(|(name, amount)| format!("{name} {amount}"))
            .collect();
        assert_eq!(total, ["cpu 2", "memory 1Gi"]);
    }
}
