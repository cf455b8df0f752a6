//! Converting mutated objects to the types of their kinds, and back to the version of the request.

use super::*;

#[test]
fn built_in_kinds_keep_their_kind_and_what_newer_servers_know() {
    let newer = |expression: &str| {
        let mut object = config_map(&json!({"k": "v"}));
        object["newer"] = 1.into();
        mutated(
            &snapshot(
                "Never",
                &[patch(expression), configuration("Object{data: {'l': 'm'}}")],
            ),
            "configmaps",
            &object,
        )
    };
    for expression in [
        "[JSONPatch{op: 'remove', path: '/kind'}, JSONPatch{op: 'remove', path: '/apiVersion'}]",
        "[JSONPatch{op: 'add', path: '/data/a', value: 'b'}]",
    ] {
        let object = newer(expression).object.unwrap();
        assert_eq!(
            (&object["kind"], &object["newer"]),
            (&json!("ConfigMap"), &json!(1))
        );
        assert_eq!(object["data"]["l"], "m");
    }
    for (expression, expected) in [
        (
            "[JSONPatch{op: 'replace', path: '/kind', value: 'Other'}]",
            "no kind \"Other\" is registered for version \"v1\"",
        ),
        (
            "[JSONPatch{op: 'replace', path: '/apiVersion', value: 'a/b/c'}]",
            "unexpected GroupVersion string: a/b/c",
        ),
        (
            "[JSONPatch{op: 'replace', path: '/kind', value: 5}]",
            "cannot unmarshal number into Go struct field .kind of type string",
        ),
        (
            "[JSONPatch{op: 'add', path: '/data/a', value: 1}]",
            "json: cannot unmarshal number into Go struct field ConfigMap.data of type string",
        ),
    ] {
        let status = newer(expression).status.unwrap();
        assert!(status.message.contains(expected), "{}", status.message);
        assert_eq!(status.code, 500);
    }
}

/// kube-apiserver 1.36 returns the same results.
#[test]
fn the_scale_of_a_custom_resource_cannot_be_converted() {
    let scale = json!({"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "x"}, "spec": {"replicas": 1}});
    let kind = json!({"group": "autoscaling", "version": "v1", "kind": "Scale"});
    let schemas = ObjectSchemas::new(Server::default()).typed();
    let message = |group: &str, operation: &str| {
        let policies = snapshot("Never", &[patch(&format!("[JSONPatch{{{operation}}}]"))]);
        let resource = json!({"group": group, "version": "v1", "resource": "things"});
        let request = json!({"uid": "u", "operation": "UPDATE", "kind": kind, "resource": resource, "subResource": "scale", "name": "x", "object": scale, "oldObject": scale});
        let arena = Arena::new();
        let request = AdmissionRequest::read((&request).into(), &arena).unwrap();
        let mutated = mutate(&policies, &request, &schemas, &Options::default());
        assert_eq!(mutated.object.is_some(), mutated.status.is_none());
        mutated.status.map(|status| status.message)
    };
    let same_group = "request to convert CR to an invalid group/version: autoscaling/v1";
    let replace = "op: 'replace', path: '/spec/replicas', value: 2";
    for (operation, expected) in [
        (replace, Some(same_group)),
        ("op: 'add', path: '/spec/junk', value: 2", Some(same_group)),
        (
            "op: 'replace', path: '/apiVersion', value: 'example.com/v1'",
            Some(
                "example.com/v1, Kind=Scale is unstructured and is not suitable for converting to \"autoscaling/v1\"",
            ),
        ),
        ("op: 'test', path: '/spec/replicas', value: 2", None),
    ] {
        let denial = |error| format!("policy 'p' with binding 'b' denied request: {error}");
        assert_eq!(message("example.com", operation), expected.map(denial));
    }
    assert_eq!(message("apps", replace), None);
}

/// kube-apiserver 1.36 returns the same results.
#[test]
fn custom_resources_are_converted_back_to_the_version_of_the_request() {
    let object =
        json!({"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "x"}});
    let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let mut schemas = ObjectSchemas::new(Server::default()).typed();
    for version in ["example.com/v1", "example.com/v1beta1"] {
        schemas.insert(
            GroupVersionKind::new(version, "Thing"),
            Arc::new(JsonSchema::read(&free).unwrap()),
        );
    }
    let set = |key: &str, value: &str| {
        let (key, value) = (json!(key), json!(value));
        patch(&format!(
            "[JSONPatch{{op: 'replace', path: {key}, value: {value}}}]"
        ))
    };
    let unsuitable = |version: &str| {
        let message = "is unstructured and is not suitable for converting to \"example.com/v1\"";
        Err(format!(
            "Internal error occurred: failed to convert object: {version}, Kind=Thing {message}"
        ))
    };
    let fails = configuration("Object{metadata: Object.metadata{name: 1}}");
    for (mutations, expected) in [
        (vec![set("/apiVersion", "10%")], unsuitable("/10%")),
        (
            vec![set("/apiVersion", "apps/v1"), fails],
            unsuitable("apps/v1"),
        ),
        (
            vec![set("/apiVersion", "example.com/v9")],
            Err("Internal error occurred: failed to convert object: request to convert CR from an invalid group/version: example.com/v9".to_owned()),
        ),
        (
            vec![set("/apiVersion", "example.com/v1beta1")],
            Ok(object.clone()),
        ),
        (
            vec![set("/apiVersion", "example.com/v1beta1"), configuration("Object{}")],
            Err("policy 'p' with binding 'b' denied request: error applying patch: failed to convert patch object to typed object: no corresponding type for example.com/v1beta1, Kind=Thing".to_owned()),
        ),
        (
            vec![set("/kind", "Other")],
            Ok(json!({"apiVersion": "example.com/v1", "kind": "Other", "metadata": {"name": "x"}})),
        ),
    ] {
        let snapshot = snapshot("Never", &mutations);
        let request = thing_request(&object);
        let arena = Arena::new();
        let request = AdmissionRequest::read((&request).into(), &arena).unwrap();
        let mutated = mutate(&snapshot, &request, &schemas, &Options::default());
        let found = match mutated.status {
            Some(status) => Err(status.message),
            None => Ok(mutated.object.unwrap()),
        };
        assert_eq!(found, expected, "{mutations:?}");
    }
}

#[test]
fn a_json_patch_needs_no_schema_of_its_kind() {
    let mut schemas = ObjectSchemas::new(Server::default()).typed();
    let other = GroupVersionKind::new("example.com/v1", "Other");
    schemas.insert(other, Arc::new(JsonSchema::default()));
    let policies = snapshot(
        "Never",
        &[patch("[JSONPatch{op: 'add', path: '/x', value: 1}]")],
    );
    let request = thing_request(&json!({"apiVersion": "example.com/v1", "kind": "Thing"}));
    let arena = Arena::new();
    let request = AdmissionRequest::read((&request).into(), &arena).unwrap();
    let mutated = mutate(&policies, &request, &schemas, &Options::default());
    assert_eq!(mutated.object.unwrap()["x"], 1);
}

#[test]
fn optionals_nested_too_deep_are_refused() {
    let nested = ["optional.of(dyn(", "))"]
        .map(|part| part.repeat(100))
        .join("a");
    let value = format!("[1]{}[0]", format!(".map(a, {nested})").repeat(50));
    let patch = patch(&format!(
        "[JSONPatch{{op: 'add', path: '/x', value: {value}}}]"
    ));
    let object = json!({"apiVersion": "example.com/v1", "kind": "Thing"});
    let mutated = mutated_thing(&snapshot("Never", &[patch]), &object);
    let message = mutated.status.unwrap().message;
    assert!(
        message.contains("values are nested too deeply"),
        "{message:.300}"
    );
}

#[test]
fn the_host_converts_objects_to_the_version_of_the_policy_and_back() {
    let mut equivalents = EquivalentResources::default();
    let mut schemas = ObjectSchemas::new(Server::default());
    let free = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    for version in ["v1", "v2"] {
        let resource = GroupVersionResource {
            group: "example.com".into(),
            version: version.into(),
            resource: "things".into(),
        };
        let kind = GroupVersionKind::new(&format!("example.com/{version}"), "Thing");
        equivalents.register("", resource, "", kind.clone());
        schemas.insert(kind, Arc::new(JsonSchema::read(&free).unwrap()));
    }
    let object = json!({"apiVersion": "example.com/v2", "kind": "Thing", "metadata": {"name": "x"}, "spec": {"count": 3}});
    let mut request = thing_request(&object);
    for key in ["kind", "resource"] {
        request[key]["version"] = "v2".into();
    }
    let arena = Arena::new();
    let request = AdmissionRequest::read((&request).into(), &arena).unwrap();
    let add = patch(
        "[JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 1}]",
    );
    let mutated = |reinvocation: &str, convert: &Convert<'_>| {
        let policies = snapshot(reinvocation, &[add.clone(), add.clone()]);
        let options = Options {
            convert: Some(convert),
            ..Options::default()
        };
        let policies = policies.with_equivalents(equivalents.clone());
        let mutated = mutate(&policies, &request, &schemas, &options);
        match mutated.status {
            Some(status) => Err(status.message),
            None => Ok(mutated.object.unwrap()),
        }
    };
    let convert = |object: Value<'_>, kind: &GroupVersionKind| {
        let mut object = object.to_json().unwrap();
        let (from, to) = match kind.version.as_str() {
            "v1" => ("count", "replicas"),
            _ => ("replicas", "count"),
        };
        object["spec"] = json!({to: object["spec"][from]});
        object["apiVersion"] = kind.api_version().into();
        Ok(Some(object))
    };
    for (reinvocation, count) in [("Never", 5), ("IfNeeded", 7)] {
        let mut expected = object.clone();
        expected["spec"]["count"] = count.into();
        assert_eq!(mutated(reinvocation, &convert), Ok(expected));
    }
    let fail = |_: Value<'_>, _: &GroupVersionKind| Err("no way".to_owned());
    assert_eq!(
        mutated("Never", &fail).unwrap_err(),
        "policy \"p\" denied request: failed to configure policy: no way"
    );
    let fail_back = |object: Value<'_>, kind: &GroupVersionKind| match kind.version.as_str() {
        "v1" => convert(object, kind),
        _ => Err("no way".to_owned()),
    };
    assert_eq!(
        mutated("Never", &fail_back).unwrap_err(),
        "Internal error occurred: failed to convert object: no way"
    );
}
