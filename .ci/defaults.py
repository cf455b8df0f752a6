#!/usr/bin/env python3
"""Print requests whose answers show which defaults objects of built-in kinds get.

    defaults.py --seed 1 --count 1000 > requests.ndjson
    ../shared/tools/differential.py --requests requests.ndjson

Each object is random, with the structure of its kind (schema/kubernetes). Each request rewrites an object as an API server reads
it: `op=map` with `typed: true`, and with a policy that adds an annotation or with none.
"""
import argparse
import gzip
import json
import os
import random

HERE = os.path.dirname(os.path.abspath(__file__))
MACHINERY = "io.k8s.apimachinery.pkg."
# The groups of kinds that are left out: policies do not see their objects, the objects are not stored, another server serves the kinds, or
# the oracle does not have their Go types.
LEFT_OUT = ("admissionregistration", "apiextensions", "apiregistration", "authentication", "authorization",
            "internal.apiserver", "lifecycle", "storagemigration", "scheduling.k8s.io/v1alpha1")
TEXTS = {
    "type": ["RollingUpdate", "Recreate", "OnDelete", "ClusterIP", "NodePort", "LoadBalancer", "Container", "Pod", "", "Resource"],
    "image": ["web", "web:latest", "web:1", "Web", "", "a.b:5000/c/d", "web@sha256:" + "a" * 64, "x:latest@sha256:" + "b" * 64],
    "reference": ["web", "web:1", ""],
    "sessionAffinity": ["None", "ClientIP", ""],
    "restartPolicy": ["Always", "Never", ""],
    "kind": ["User", "Group", "ServiceAccount", "Deployment"],
    "allocationMode": ["", "All", "ExactCount"],
    "deviceClassName": ["", "gpu"],
    "protocol": ["TCP", "UDP", ""],
}
AMOUNTS = ["1", "500m", "0.5", "1024Mi", "1Gi", "1e3", "0.0001", "100u", "1.5Ki", "0", 2, 3]
RESOURCES = ["cpu", "memory", "hugepages-2Mi", "example.com/gpu", "ephemeral-storage"]
TIME = "2026-01-02T03:04:05Z"


class Maker:
    def __init__(self, structure, seed, server):
        self.schemas, self.random, self.server = structure["schemas"], random.Random(seed), server

    def value(self, schema, name, depth):
        reference = schema.get("$ref")
        if reference == MACHINERY + "api.resource.Quantity":
            return self.random.choice(AMOUNTS)
        if reference == MACHINERY + "util.intstr.IntOrString":
            return self.random.choice([0, 5, "25%", "http", ""])
        if reference in (MACHINERY + "apis.meta.v1.Time", MACHINERY + "apis.meta.v1.MicroTime"):
            return TIME if reference.endswith("v1.Time") else None
        if reference == MACHINERY + "runtime.RawExtension":
            return {"a": 1}
        if reference == MACHINERY + "apis.meta.v1.FieldsV1":
            return {}
        if reference:
            schema = self.schemas[reference]
        kind = schema.get("type")
        if "properties" in schema:
            return self.struct(schema, depth)
        if kind == "object":
            value = schema.get("additionalProperties")
            if not isinstance(value, dict):
                return {}
            keys = RESOURCES if str(value.get("$ref", "")).endswith("Quantity") else ["a", "b"]
            keys = self.random.sample(keys, self.random.randint(0, 2))
            return {key: self.value(value, name, depth - 1) for key in keys}
        if kind == "array":
            return [self.value(schema["items"], name, depth - 1) for _ in range(self.random.choice([0, 1, 1, 2]))]
        if kind == "integer":
            return self.random.choice([0, 1, 5, -1])
        if kind == "number":
            return 0.5
        if kind == "boolean":
            return self.random.random() < 0.5
        if schema.get("format") == "byte":
            return self.random.choice(["", "YQ=="])
        return self.random.choice(TEXTS.get(name, ["a", "b", ""]))

    def struct(self, schema, depth):
        found = {}
        for name, field in schema["properties"].items():
            likely = 0.8 if name in ("spec", "template", "containers", "initContainers", "resources", "limits") else 0.25
            if name == "timeAdded":  # If absent, the API server sets the time of the request.
                found[name] = TIME
            elif depth > 0 and self.random.random() < likely:
                found[name] = self.value(field, name, depth - 1)
            elif self.random.random() < 0.02:
                found[name] = None
        return found

    def request(self, number, version, kind, name):
        group, _, version_name = version.rpartition("/")
        made = self.struct(self.schemas[name], 8)
        made.update(apiVersion=version, kind=kind)
        made["metadata"] = {"name": "x", **({"labels": {"a": "b"}} if self.random.random() < 0.3 else {})}
        gvk = {"group": group, "version": version_name, "kind": kind}
        gvr = {"group": group, "version": version_name, "resource": "things"}
        add = "[JSONPatch{op: 'add', path: '/metadata/annotations', value: {'a': 'b'}}]"
        spec = {
            "matchConstraints": {"resourceRules": [
                {"apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"], "operations": ["*"]}]},
            "matchConditions": [{"name": "m", "expression": self.random.choice(["true", "false"])}],
            "mutations": [{"patchType": "JSONPatch", "jsonPatch": {"expression": add}}],
            "reinvocationPolicy": "Never",
        }
        admission = {"apiVersion": "admissionregistration.k8s.io/v1"}
        return {
            "server": self.server, "id": "defaults-%d" % number, "op": "map", "typed": True,
            "policy": {**admission, "kind": "MutatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": spec},
            "bindings": [{**admission, "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "b"}, "spec": {"policyName": "p"}}],
            "request": {"uid": "u", "kind": gvk, "resource": gvr, "name": "x", "namespace": "default", "operation": "CREATE",
                        "userInfo": {"username": "alice"}, "object": made, "oldObject": None},
        }


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--seed", type=int, default=1)
    arguments.add_argument("--count", type=int, default=1000)
    arguments.add_argument("--server", default="1.36", help="the version of the API server that is asked")
    arguments.add_argument("--kind", help="this kind alone")
    options = arguments.parse_args()
    with gzip.open(os.path.join(HERE, f"../schema/kubernetes/structure-{options.server}.json.gz")) as packed:
        structure = json.load(packed)
    kinds = [(version, kind, name) for version, kinds in sorted(structure["kinds"].items()) for kind, name in sorted(kinds.items())
             if not version.startswith(LEFT_OUT) and not kind.endswith("List") and kind not in ("DeleteOptions", "WatchEvent", "Status", "Binding")
             and options.kind in (None, kind)]
    maker = Maker(structure, options.seed, options.server)
    for number in range(options.count):
        print(json.dumps(maker.request(number, *kinds[number % len(kinds)])))


if __name__ == "__main__":
    main()
