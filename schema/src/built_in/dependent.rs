//! Defaults that depend on other fields, for the built-in kinds (`pkg/apis/*/*/defaults.go` of k8s.io/kubernetes).
//!
//! One default is not set: the time at which a device was tainted, because it is the time of the request.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gavel_apimachinery::server::{Difference, Server};
use gavel_engine::value::{Json, JsonObject};
use serde_json::json;

use super::containers;
use super::fields::{absent, has_any, is_set, items, part};
use super::image::pull_policy;

/// Sets the defaults of a struct. `name` is the group, version and name of the struct.
pub(super) fn set(fields: &mut JsonObject, name: &str, server: Server) {
    match name {
        "apiextensions.v1.CustomResourceDefinition" => definition(fields),
        "apps.v1.DaemonSet" => daemon_set(fields),
        "apps.v1.Deployment" => in_spec(fields, deployment),
        "apps.v1.StatefulSet" => in_spec(fields, |spec| stateful_set(spec, server)),
        "autoscaling.v1.HorizontalPodAutoscaler" => older_autoscaler(fields),
        "autoscaling.v2.HorizontalPodAutoscaler" => in_spec(fields, autoscaler),
        "batch.v1.Job" => job(fields),
        "core.v1.Container" | "core.v1.EphemeralContainer" => containers::container(fields),
        "core.v1.LimitRangeItem" => limit_range_item(fields),
        "core.v1.Namespace" => namespace(fields),
        "core.v1.NodeSpec" => containers::alike(fields, "podCIDR", "podCIDRs", None),
        "core.v1.NodeStatus" => copy(fields, "capacity", "allocatable"),
        "core.v1.Pod" => in_spec(fields, |spec| containers::pod(spec, server)),
        "core.v1.PodSpec" => containers::pod_spec(fields),
        "core.v1.PodStatus" => containers::alike(fields, "podIP", "podIPs", Some("ip")),
        "core.v1.ReplicationController" => replication_controller(fields),
        "core.v1.Secret" => secret(fields),
        "core.v1.Service" => service(fields),
        "core.v1.Volume" => volume(fields),
        "networking.v1.NetworkPolicy" => in_spec(fields, network_policy),
        "rbac.v1.Subject" => subject(fields),
        "resource.v1beta1.Device" => absent(fields, "basic", json!({})),
        "resource.v1beta1.DeviceRequest" if !is_set(fields, "deviceClassName") => {}
        "resource.v1.DeviceSubRequest"
        | "resource.v1.ExactDeviceRequest"
        | "resource.v1beta1.DeviceRequest"
        | "resource.v1beta1.DeviceSubRequest"
        | "resource.v1beta2.DeviceSubRequest"
        | "resource.v1beta2.ExactDeviceRequest" => device_request(fields),
        "storage.v1.CSIDriver" => in_spec(fields, |spec| csi_driver(spec, server)),
        _ => {}
    }
}

fn in_spec(fields: &mut JsonObject, set: impl FnOnce(&mut JsonObject)) {
    if let Some(spec) = part(fields, "spec") {
        set(spec);
    }
}

/// Copies the field `from` to the field `to`, if `from` has a value, and `to` is absent or null.
fn copy(fields: &mut JsonObject, from: &str, to: &str) {
    if let Some(value) = fields.get(from).filter(|value| !value.is_null()).cloned() {
        absent(fields, to, value);
    }
}

fn definition(fields: &mut JsonObject) {
    in_spec(fields, |spec| {
        absent(spec, "conversion", json!({"strategy": "None"}));
        let Some(names) = part(spec, "names") else {
            return;
        };
        let kind = names.get("kind").and_then(Json::as_str);
        let kind = kind.unwrap_or_default().to_owned();
        if !is_set(names, "singular") {
            names.insert("singular".to_owned(), kind.to_lowercase().into());
        }
        if !is_set(names, "listKind") && !kind.is_empty() {
            names.insert("listKind".to_owned(), format!("{kind}List").into());
        }
    });
    let versions = fields.get("spec").and_then(|spec| spec.get("versions"));
    let mut versions = versions.and_then(Json::as_array).into_iter().flatten();
    let stored = versions.find(|version| version.get("storage") == Some(&json!(true)));
    let stored = stored.and_then(|stored| stored.get("name")).cloned();
    if let Some(stored) = stored
        && let Some(status) = part(fields, "status")
        && !has_any(status, "storedVersions")
    {
        status.insert("storedVersions".to_owned(), json!([stored]));
    }
}

fn daemon_set(fields: &mut JsonObject) {
    in_spec(fields, |spec| {
        rolling_update(spec, "updateStrategy", json!(1), json!(0))
    });
    // API servers store this field of older API versions as an annotation.
    let metadata = part(fields, "metadata");
    if let Some(annotations) = metadata.and_then(|metadata| part(metadata, "annotations")) {
        absent(annotations, "deprecated.daemonset.template.generation", "0");
    }
}

fn deployment(spec: &mut JsonObject) {
    rolling_update(spec, "strategy", json!("25%"), json!("25%"));
}

fn rolling_update(spec: &mut JsonObject, strategy: &str, unavailable: Json, surge: Json) {
    let Some(strategy) = part(spec, strategy) else {
        return;
    };
    let is_rolling = strategy.get("type").is_some_and(|ty| ty == "RollingUpdate");
    // With other strategies, `rollingUpdate` gets defaults only if it is set.
    if !is_rolling && !is_set(strategy, "rollingUpdate") {
        return;
    }
    let none = || json!(0);
    let (unavailable, surge) = match is_rolling {
        true => (unavailable, surge),
        false => (none(), none()),
    };
    if let Some(rolling) = part(strategy, "rollingUpdate") {
        absent(rolling, "maxUnavailable", unavailable);
        absent(rolling, "maxSurge", surge);
    }
}

fn stateful_set(spec: &mut JsonObject, server: Server) {
    for claim in items(spec, "volumeClaimTemplates") {
        claim.insert("apiVersion".to_owned(), json!("v1"));
        claim.insert("kind".to_owned(), json!("PersistentVolumeClaim"));
    }
    let Some(strategy) = part(spec, "updateStrategy") else {
        return;
    };
    if !is_set(strategy, "type") {
        strategy.insert("type".to_owned(), json!("RollingUpdate"));
        absent(strategy, "rollingUpdate", json!({}));
    }
    let is_rolling = strategy.get("type").is_some_and(|ty| ty == "RollingUpdate");
    if let Some(Json::Object(rolling)) = strategy.get_mut("rollingUpdate") {
        absent(rolling, "partition", 0);
        if is_rolling && server.has(Difference::WorkloadDefaults) {
            absent(rolling, "maxUnavailable", 1);
        }
    }
}

fn older_autoscaler(fields: &mut JsonObject) {
    let metadata = fields.get("metadata");
    let metrics = metadata.and_then(|metadata| {
        metadata
            .get("annotations")?
            .get("autoscaling.alpha.kubernetes.io/metrics")
    });
    if metrics.is_none() {
        in_spec(fields, |spec| {
            absent(spec, "targetCPUUtilizationPercentage", 80)
        });
    }
}

fn autoscaler(spec: &mut JsonObject) {
    if !has_any(spec, "metrics") {
        let target = json!({"type": "Utilization", "averageUtilization": 80});
        let resource = json!({"name": "cpu", "target": target});
        let metrics = json!([{"type": "Resource", "resource": resource}]);
        spec.insert("metrics".to_owned(), metrics);
    }
    let Some(Json::Object(behavior)) = spec.get_mut("behavior") else {
        return;
    };
    let policy = |ty: &str, value: i64| json!({"type": ty, "value": value, "periodSeconds": 15});
    if let Some(up) = part(behavior, "scaleUp") {
        absent(up, "stabilizationWindowSeconds", 0);
        absent(up, "selectPolicy", "Max");
        absent(
            up,
            "policies",
            json!([policy("Pods", 4), policy("Percent", 100)]),
        );
    }
    if let Some(down) = part(behavior, "scaleDown") {
        absent(down, "selectPolicy", "Max");
        absent(down, "policies", json!([policy("Percent", 100)]));
    }
}

fn job(fields: &mut JsonObject) {
    in_spec(fields, |spec| {
        if !is_set(spec, "parallelism") {
            absent(spec, "completions", 1);
        }
        absent(spec, "parallelism", 1);
        let retries = match is_set(spec, "backoffLimitPerIndex") {
            true => i32::MAX,
            false => 6,
        };
        absent(spec, "backoffLimit", retries);
        let replaced = match is_set(spec, "podFailurePolicy") {
            true => "Failed",
            false => "TerminatingOrFailed",
        };
        absent(spec, "podReplacementPolicy", replaced);
    });
    label(fields);
}

/// Adds the labels of the template to an object without labels.
fn label(fields: &mut JsonObject) {
    let labels = fields
        .get("spec")
        .and_then(|spec| spec.pointer("/template/metadata/labels"));
    if let Some(labels) = labels.filter(|labels| labels.is_object()).cloned()
        && let Some(metadata) = part(fields, "metadata")
        && !has_any(metadata, "labels")
    {
        metadata.insert("labels".to_owned(), labels);
    }
}

fn replication_controller(fields: &mut JsonObject) {
    in_spec(fields, |spec| {
        let labels = spec
            .get("template")
            .and_then(|template| template.pointer("/metadata/labels"));
        if let Some(labels) = labels.filter(|labels| labels.is_object()).cloned()
            && !has_any(spec, "selector")
        {
            spec.insert("selector".to_owned(), labels);
        }
    });
    label(fields);
}

fn limit_range_item(fields: &mut JsonObject) {
    if fields.get("type").is_none_or(|ty| ty != "Container") {
        return;
    }
    for (from, to) in [
        ("max", "default"),
        ("default", "defaultRequest"),
        ("min", "defaultRequest"),
    ] {
        containers::fill_amounts(fields, from, to);
    }
}

fn namespace(fields: &mut JsonObject) {
    let Some(metadata) = part(fields, "metadata") else {
        return;
    };
    if let Some(name) = metadata.get("name").filter(|name| **name != "").cloned()
        && let Some(labels) = part(metadata, "labels")
    {
        labels.insert("kubernetes.io/metadata.name".to_owned(), name);
    }
}

/// Moves `stringData` of a secret to `data`, encoded as base64.
fn secret(fields: &mut JsonObject) {
    let texts = fields.remove("stringData");
    let Some(Json::Object(texts)) = texts.filter(|texts| texts.is_object()) else {
        return;
    };
    for (name, text) in texts {
        if let Some(data) = part(fields, "data") {
            let text = text.as_str().unwrap_or_default();
            data.insert(name, STANDARD.encode(text).into());
        }
    }
}

fn service(fields: &mut JsonObject) {
    let is_balanced = in_service_spec(fields);
    let status = fields
        .get_mut("status")
        .and_then(|status| status.pointer_mut("/loadBalancer"));
    if let Some(balancer) = status.and_then(Json::as_object_mut).filter(|_| is_balanced) {
        for ingress in items(balancer, "ingress").filter(|ingress| is_set(ingress, "ip")) {
            absent(ingress, "ipMode", "VIP");
        }
    }
}

/// Sets the defaults of the `spec` of a service. Returns whether the service has a load balancer.
fn in_service_spec(fields: &mut JsonObject) -> bool {
    let Some(spec) = part(fields, "spec") else {
        return false;
    };
    let affinity = spec.get("sessionAffinity").and_then(Json::as_str);
    match affinity {
        Some("None") => {
            spec.remove("sessionAffinityConfig");
        }
        Some("ClientIP") => {
            let timeout = spec.get("sessionAffinityConfig");
            let timeout = timeout.and_then(|config| config.pointer("/clientIP/timeoutSeconds"));
            if timeout.is_none_or(Json::is_null) {
                let config = json!({"clientIP": {"timeoutSeconds": 10_800}});
                spec.insert("sessionAffinityConfig".to_owned(), config);
            }
        }
        _ => {}
    }
    for port in items(spec, "ports") {
        let is_unset = |target: &Json| target.is_null() || *target == 0 || *target == "";
        if port.get("targetPort").is_none_or(is_unset) {
            let number = port.get("port").cloned().unwrap_or(json!(0));
            port.insert("targetPort".to_owned(), number);
        }
    }
    let ty = spec.get("type").and_then(Json::as_str).unwrap_or_default();
    let [is_cluster, is_node, is_balanced] =
        ["ClusterIP", "NodePort", "LoadBalancer"].map(|known| ty == known);
    let is_external = is_node || is_balanced || is_cluster && has_any(spec, "externalIPs");
    if is_external && !is_set(spec, "externalTrafficPolicy") {
        spec.insert("externalTrafficPolicy".to_owned(), json!("Cluster"));
    }
    if is_cluster || is_node || is_balanced {
        absent(spec, "internalTrafficPolicy", "Cluster");
    }
    if is_balanced {
        absent(spec, "allocateLoadBalancerNodePorts", true);
    }
    is_balanced
}

fn volume(fields: &mut JsonObject) {
    let mut sources = fields
        .iter()
        .filter(|(name, value)| *name != "name" && !value.is_null());
    if sources.next().is_none() {
        fields.insert("emptyDir".to_owned(), json!({}));
    }
    if let Some(Json::Object(image)) = fields.get_mut("image")
        && !is_set(image, "pullPolicy")
    {
        let reference = image.get("reference").and_then(Json::as_str);
        let policy = pull_policy(reference.unwrap_or_default());
        image.insert("pullPolicy".to_owned(), policy.into());
    }
}

fn csi_driver(spec: &mut JsonObject, server: Server) {
    if !has_any(spec, "volumeLifecycleModes") {
        spec.insert("volumeLifecycleModes".to_owned(), json!(["Persistent"]));
    }
    if server.has(Difference::WorkloadDefaults) {
        absent(spec, "preventPodSchedulingIfMissing", false);
    }
}

fn network_policy(spec: &mut JsonObject) {
    if !has_any(spec, "policyTypes") {
        let types = match has_any(spec, "egress") {
            true => json!(["Ingress", "Egress"]),
            false => json!(["Ingress"]),
        };
        spec.insert("policyTypes".to_owned(), types);
    }
}

fn subject(fields: &mut JsonObject) {
    let kind = fields.get("kind").and_then(Json::as_str);
    if matches!(kind, Some("User" | "Group")) && !is_set(fields, "apiGroup") {
        fields.insert("apiGroup".to_owned(), json!("rbac.authorization.k8s.io"));
    }
}

fn device_request(fields: &mut JsonObject) {
    if !is_set(fields, "allocationMode") {
        fields.insert("allocationMode".to_owned(), json!("ExactCount"));
    }
    let is_exact = fields
        .get("allocationMode")
        .is_some_and(|mode| mode == "ExactCount");
    if is_exact
        && fields
            .get("count")
            .is_none_or(|count| count.is_null() || *count == 0)
    {
        fields.insert("count".to_owned(), json!(1));
    }
}
