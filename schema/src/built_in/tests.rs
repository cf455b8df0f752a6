//! Tests that objects are read as by an API server.

use gavel_apimachinery::server::Server;
use gavel_apimachinery::version::KubeVersion;
use gavel_engine::value::Json;
use serde_json::json;

use super::{DecodingError, complete, convert, decoding_error};
use crate::merge::{MergeType, unknown_fields};

fn completed(api_version: &str, kind: &str, mut object: Json) -> Json {
    complete(&mut object, api_version, kind, Server::default());
    object
}

#[test]
fn pods_have_all_that_a_server_sets() {
    let pod = json!({"metadata": {"name": "web"}, "spec": {
        "hostNetwork": false,
        "containers": [{
            "name": "web",
            "image": "web",
            "ports": [{"containerPort": 80, "hostPort": 0}],
            "resources": {"limits": {"cpu": 0.5, "memory": "1024Mi"}},
            "readinessProbe": {"httpGet": {"port": 80}},
            "env": [],
        }],
        "volumes": [{"name": "scratch"}],
    }});
    let expected = json!({"metadata": {"name": "web"}, "status": {}, "spec": {
        "containers": [{
            "name": "web",
            "image": "web",
            "imagePullPolicy": "Always",
            "terminationMessagePath": "/dev/termination-log",
            "terminationMessagePolicy": "File",
            "ports": [{"containerPort": 80, "protocol": "TCP"}],
            "resources": {"limits": {"cpu": "500m", "memory": "1Gi"}, "requests": {"cpu": "500m", "memory": "1Gi"}},
            "readinessProbe": {
                "httpGet": {"path": "/", "port": 80, "scheme": "HTTP"},
                "timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3,
            },
        }],
        "volumes": [{"name": "scratch", "emptyDir": {}}],
        "dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler",
        "enableServiceLinks": true, "securityContext": {}, "terminationGracePeriodSeconds": 30,
    }});
    assert_eq!(completed("v1", "Pod", pod), expected);
}

#[test]
fn definitions_have_all_that_a_server_sets() {
    let definition = json!({"metadata": {"name": "widgets.example.com"}, "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {"name": "v1beta1", "served": true, "storage": false},
            {"name": "v1", "served": true, "storage": true, "deprecated": false},
        ],
    }});
    let expected = json!({
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "scope": "Namespaced",
            "names": {"plural": "widgets", "singular": "widget", "kind": "Widget", "listKind": "WidgetList"},
            "versions": [
                {"name": "v1beta1", "served": true, "storage": false},
                {"name": "v1", "served": true, "storage": true},
            ],
            "conversion": {"strategy": "None"},
        },
        "status": {"conditions": null, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": ["v1"]},
    });
    let version = "apiextensions.k8s.io/v1";
    let found = completed(version, "CustomResourceDefinition", definition);
    assert_eq!(found, expected);
    let service = json!({"spec": {"service": {"name": "s"}}});
    let found = completed("apiregistration.k8s.io/v1", "APIService", service);
    assert_eq!(found["spec"]["service"]["port"], 443);
    let wrong = json!({"spec": {"scope": 1}});
    let found = decoding_error(
        &wrong,
        version,
        "CustomResourceDefinition",
        Server::default(),
    );
    assert_eq!(
        found.map(|error| error.message).as_deref(),
        Some(
            "json: cannot unmarshal number into Go struct field CustomResourceDefinitionSpec.spec.scope of type v1.ResourceScope"
        )
    );
}

#[test]
fn each_version_has_its_own_kinds_and_fields() {
    for (api_version, kind, first, last) in [
        ("v1", "Pod", 34, 37),
        (
            "storagemigration.k8s.io/v1alpha1",
            "StorageVersionMigration",
            34,
            34,
        ),
        ("scheduling.k8s.io/v1alpha1", "Workload", 35, 35),
        (
            "admissionregistration.k8s.io/v1",
            "MutatingAdmissionPolicy",
            36,
            37,
        ),
        ("scheduling.k8s.io/v1alpha2", "PodGroup", 36, 36),
        ("certificates.k8s.io/v1", "ClusterTrustBundle", 37, 37),
    ] {
        for minor in 34..=37 {
            let server = Server::new(KubeVersion::v1(minor));
            let ty = MergeType::built_in(api_version, kind, server);
            let is_known = (first..=last).contains(&minor);
            assert_eq!(ty.is_some(), is_known, "{api_version} {kind} 1.{minor}");
        }
    }
    let pod = json!({"spec": {
        "schedulingGroup": {"podGroupName": 1}, "workloadRef": {"name": "w"}, "evictionResponders": [{"name": "r"}],
    }});
    let mismatch = "json: cannot unmarshal number into Go struct field PodSchedulingGroup.spec.schedulingGroup.podGroupName of type string";
    for (server, unknown, error) in [
        (
            "1.34",
            &[
                "spec.evictionResponders",
                "spec.schedulingGroup",
                "spec.workloadRef",
            ][..],
            None,
        ),
        (
            "1.35",
            &["spec.evictionResponders", "spec.schedulingGroup"],
            None,
        ),
        (
            "1.36",
            &["spec.evictionResponders", "spec.workloadRef"],
            Some(mismatch),
        ),
        ("1.37", &["spec.workloadRef"], Some(mismatch)),
    ] {
        let server = server.parse().unwrap();
        let ty = MergeType::built_in("v1", "Pod", server).unwrap();
        assert_eq!(unknown_fields(&pod, ty), unknown, "{server}");
        let found = decoding_error(&pod, "v1", "Pod", server);
        assert_eq!(
            found.map(|error| error.message).as_deref(),
            error,
            "{server}"
        );
    }
}

#[test]
fn structs_without_fields_are_objects() {
    let server = Server::default();
    let (version, kind) = ("scheduling.k8s.io/v1beta1", "PodGroup");
    let ty = MergeType::built_in(version, kind, server).unwrap();
    for (basic, unknown, error) in [
        (json!({}), &[][..], None),
        (json!({"x": 1}), &["spec.schedulingPolicy.basic.x"], None),
        (
            json!([]),
            &[],
            Some(
                "json: cannot unmarshal array into Go struct field PodGroupSchedulingPolicy.spec.schedulingPolicy.basic of type v1beta1.BasicSchedulingPolicy",
            ),
        ),
    ] {
        let group = json!({"spec": {"schedulingPolicy": {"basic": basic}}});
        assert_eq!(unknown_fields(&group, ty), unknown, "{group}");
        let found = decoding_error(&group, version, kind, server);
        assert_eq!(found.map(|error| error.message).as_deref(), error);
    }
}

#[test]
fn defaulting_is_idempotent() {
    let deployment = json!({"metadata": {"name": "web"}, "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "web", "image": "web:1"}]}},
    }});
    let once = completed("apps/v1", "Deployment", deployment);
    assert_eq!(once["spec"]["strategy"]["rollingUpdate"]["maxSurge"], "25%");
    assert_eq!(completed("apps/v1", "Deployment", once.clone()), once);
}

#[test]
fn other_kinds_and_wrong_types_stay_as_they_are() {
    let widget = json!({"spec": {"size": 0}});
    assert_eq!(
        completed("example.com/v1", "Widget", widget.clone()),
        widget
    );
    let wrong = json!({"spec": "none", "status": {}, "metadata": {}});
    assert_eq!(completed("v1", "Pod", wrong.clone()), wrong);
}

/// A Deployment with a field of its `spec` set.
fn deployment(field: &str, value: Json) -> Json {
    let mut object = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "x"}, "spec": {
        "selector": {"matchLabels": {"a": "b"}},
        "template": {"metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}},
    }});
    let (parent, name) = field.rsplit_once('/').unwrap();
    object.pointer_mut(parent).unwrap()[name] = value;
    object
}

/// The error of the decoding of a Deployment with a field of its `spec` set.
fn deployment_error(field: &str, value: Json) -> Option<DecodingError> {
    let object = deployment(field, value);
    decoding_error(&object, "apps/v1", "Deployment", Server::default())
}

/// The expected errors are those of Kubernetes 1.36.
#[test]
fn built_in_kinds_are_decoded_as_types_of_go() {
    let cases = r#"
/spec/replicas "3" => json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32
/spec/replicas 2.5 => json: cannot unmarshal number 2.5 into Go struct field DeploymentSpec.spec.replicas of type int32
/spec/replicas 9999999999 => json: cannot unmarshal number 9999999999 into Go struct field DeploymentSpec.spec.replicas of type int32
/spec/paused "x" => json: cannot unmarshal string into Go struct field DeploymentSpec.spec.paused of type bool
/metadata/labels {"a": 1} => json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string
/metadata/creationTimestamp "x" => parsing time "x" as "2006-01-02T15:04:05Z07:00": cannot parse "x" as "2006"
CONTAINER/image 5 => json: cannot unmarshal number into Go struct field Container.spec.template.spec.containers.image of type string
CONTAINER/resources {"limits": {"cpu": "abc"}} => quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'
/spec/strategy {"rollingUpdate": {"maxSurge": true}} => json: cannot unmarshal bool into Go struct field RollingUpdateDeployment.spec.strategy.rollingUpdate.maxSurge of type int32
/spec/template/spec/containers "x" => json: cannot unmarshal string into Go struct field PodSpec.spec.template.spec.containers of type []v1.Container
"#;
    for case in cases.trim().lines() {
        let case = case.replace("CONTAINER", "/spec/template/spec/containers/0");
        let (object, expected) = case.split_once(" => ").unwrap();
        let (field, value) = object.split_once(' ').unwrap();
        let found = deployment_error(field, serde_json::from_str(value).unwrap());
        let found = found.map(|error| error.message);
        assert_eq!(found.as_deref(), Some(expected), "{field}");
    }
    for (field, value) in [
        ("/spec/replicas", json!(3)),
        ("/metadata/creationTimestamp", json!("2024-01-02T03:04:05Z")),
        (
            "/spec/template/spec/containers/0/resources",
            json!({"limits": {"cpu": "100m", "memory": 5}}),
        ),
        (
            "/spec/strategy",
            json!({"rollingUpdate": {"maxSurge": "25%"}}),
        ),
        ("/spec", json!(null)),
        ("/spec/unknown", json!(1)),
    ] {
        assert_eq!(deployment_error(field, value), None, "{field}");
    }
}

#[test]
fn decoding_errors_name_the_field() {
    let container = "/spec/template/spec/containers/0";
    let resources = json!({"limits": {"cpu": 1, "memory": "1Gii"}});
    let ports = json!([{"containerPort": 1}, {"containerPort": "http"}]);
    for (field, value, expected) in [
        (
            "/metadata/labels",
            json!({"a.b/c": 1}),
            "metadata.labels.a.b/c",
        ),
        (
            &format!("{container}/resources"),
            resources,
            "spec.template.spec.containers[0].resources.limits.memory",
        ),
        (
            &format!("{container}/ports"),
            ports,
            "spec.template.spec.containers[0].ports[1].containerPort",
        ),
    ] {
        let found = deployment_error(field, value).map(|error| error.field);
        assert_eq!(found.as_deref(), Some(expected));
    }
}

#[test]
fn built_in_kinds_are_converted_to_types_of_go() {
    for (field, value, expected) in [
        ("/spec/replicas", json!(2.0), Ok(json!(2))),
        ("/spec/replicas", json!(4_294_967_297_i64), Ok(json!(1))),
        (
            "/spec/replicas",
            json!(2.5),
            Err("cannot convert float64 to int32"),
        ),
        (
            "/spec/strategy",
            json!({"rollingUpdate": {"maxSurge": true}}),
            Err("json: cannot unmarshal bool into Go value of type int32"),
        ),
        (
            "/metadata/creationTimestamp",
            json!("x"),
            Err(
                "parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"",
            ),
        ),
    ] {
        let mut object = deployment(field, value);
        let converted = convert(&mut object, "apps/v1", "Deployment", Server::default());
        let found = object.pointer(field).cloned().unwrap_or_default();
        let found = converted.as_ref().map(|()| found).map_err(String::as_str);
        assert_eq!(found, expected, "{field}");
    }
}

#[test]
fn null_in_lists_and_maps_becomes_the_zero_value_of_the_type() {
    let container = "/spec/template/spec/containers/0";
    for (path, value, expected) in [
        ("/metadata/labels", json!({"a": null}), json!({"a": ""})),
        ("/metadata/finalizers", json!([null, "a"]), json!(["", "a"])),
        (
            &format!("{container}/env"),
            json!([null]),
            json!([{"name": ""}]),
        ),
        (
            &format!("{container}/resources"),
            json!({"limits": {"cpu": null}}),
            json!({"limits": {"cpu": "0"}}),
        ),
    ] {
        let object = completed("apps/v1", "Deployment", deployment(path, value));
        assert_eq!(object.pointer(path), Some(&expected), "{path}");
    }
}

#[test]
fn fields_that_go_omits_are_omitted() {
    for (field, value, expected) in [
        ("/metadata/labels", json!({}), None),
        ("/metadata/finalizers", json!([]), None),
        ("/metadata/namespace", json!(""), None),
        ("/spec/paused", json!(null), None),
        ("/spec/paused", json!(false), None),
        ("/spec/replicas", json!(0), Some(json!(0))),
        ("/spec/template/spec/containers", json!([]), Some(json!([]))),
    ] {
        let object = completed("apps/v1", "Deployment", deployment(field, value));
        assert_eq!(object.pointer(field), expected.as_ref(), "{field}");
    }
}

#[test]
fn times_bytes_and_amounts_are_written_as_go_writes_them() {
    let lease = json!({
        "metadata": {"creationTimestamp": "2024-05-06T07:08:09.5+02:00", "deletionTimestamp": "0001-01-01T00:00:00Z"},
        "spec": {"renewTime": "2024-05-06T07:08:09.123456+02:00"},
    });
    let expected = json!({
        "metadata": {"creationTimestamp": "2024-05-06T05:08:09Z", "deletionTimestamp": null},
        "spec": {"renewTime": "2024-05-06T05:08:09.123456Z"},
    });
    assert_eq!(
        completed("coordination.k8s.io/v1", "Lease", lease),
        expected
    );
    let secret = json!({"metadata": {}, "data": {"a": "aGk=\n", "b": [104, null]}});
    let expected = json!({"metadata": {}, "type": "Opaque", "data": {"a": "aGk=", "b": "aAA="}});
    assert_eq!(completed("v1", "Secret", secret), expected);
    let amount = json!({"cpu": "0.0001"});
    let class = json!({"metadata": {}, "handler": "x", "overhead": {"podFixed": amount}});
    let class = completed("node.k8s.io/v1", "RuntimeClass", class);
    assert_eq!(class["overhead"]["podFixed"]["cpu"], "100u");
}

#[test]
fn kinds_of_subresources_are_decoded_but_not_merged() {
    let server = Server::default();
    let request = completed("authentication.k8s.io/v1", "TokenRequest", json!({}));
    assert_eq!(request["spec"]["expirationSeconds"], 3600);
    let scale = ["autoscaling/v1", "Scale"];
    assert!(MergeType::decoded(scale[0], scale[1], server).is_some());
    assert!(MergeType::built_in(scale[0], scale[1], server).is_none());
}

#[test]
fn errors_of_types_with_decoders_come_first() {
    let event = json!({"count": "1", "firstTimestamp": "x", "source": 1});
    let found = decoding_error(&event, "v1", "Event", Server::default());
    assert_eq!(
        found.map(|error| error.message).as_deref(),
        Some("parsing time \"x\" as \"2006-01-02T15:04:05Z07:00\": cannot parse \"x\" as \"2006\"")
    );
}
