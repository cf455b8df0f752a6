#!/usr/bin/env python3
"""Generate random merges: a schema, an object, and policies that apply configurations to the object, one `map` request per line.

    merges.py --seed 1 --count 1000 > requests.ndjson
    python3 ../shared/tools/differential.py --requests requests.ndjson

Schemas nest structs, maps (granular and atomic), lists (atomic, set, keyed by one field or two, with defaults),
int-or-string and free-form fields. Configurations set known and unknown fields, nulls, empty lists and maps, values of
wrong types, duplicates, and wrong type names. Some requests have several mutations, bindings with params, or JSON patches
between the configurations. The same seed always gives the same requests.
"""
import argparse
import json
import random

NAMES = ["alpha", "beta", "gamma", "delta", "eps"]
TEXTS = ["a", "b", "c", "x y", "é"]
SCALARS = [{"type": "string"}, {"type": "integer"}, {"type": "boolean"}, {"type": "number"}, {"type": "string", "nullable": True},
           {"x-kubernetes-int-or-string": True}, {"type": "string", "format": "date-time"}, {"type": "integer", "default": 7}]


class Merges:
    def __init__(self, rng):
        self.rng = rng

    def chance(self, p):
        return self.rng.random() < p

    def pick(self, options):
        return self.rng.choice(options)

    def schema(self, depth):
        how = self.rng.random()
        if depth <= 0 or how < 0.25:
            return dict(self.pick(SCALARS))
        if how < 0.5:
            return self.struct(depth)
        if how < 0.6:
            out = {"type": "object", "additionalProperties": self.schema(depth - 1)}
            if self.chance(0.2):
                out["x-kubernetes-map-type"] = "atomic"
            return out
        if how < 0.68:
            return {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
        if how < 0.8:
            return {"type": "array", "x-kubernetes-list-type": "set", "items": self.pick([{"type": "string"}, {"type": "integer"}, {"type": "number"}])}
        if how < 0.86:
            out = {"type": "array", "items": self.schema(depth - 1)}
            if self.chance(0.3):
                out["x-kubernetes-list-type"] = "atomic"
            return out
        item = self.struct(depth - 1)
        keys = self.rng.sample(["name", "port", "protocol"], self.pick([1, 1, 2]))
        for key in keys:
            item["properties"][key] = {"type": "integer"} if key == "port" else {"type": "string"}
            if key == "protocol" and self.chance(0.6):
                item["properties"][key]["default"] = "TCP"
        return {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": keys, "items": item}

    def struct(self, depth):
        out = {"type": "object", "properties": {n: self.schema(depth - 1) for n in self.rng.sample(NAMES, self.pick([1, 2, 3]))}}
        if self.chance(0.08):
            out["x-kubernetes-map-type"] = "atomic"
        if self.chance(0.08):
            out["x-kubernetes-preserve-unknown-fields"] = True
        return out

    def anything(self, depth=2):
        if depth and self.chance(0.3):
            return self.pick([[self.anything(depth - 1)], {"k": self.anything(depth - 1)}, {}, []])
        return self.pick([1, 2.5, "x", True, None, -3])

    def value(self, schema, wrong):
        """Returns a value of the schema or, with probability `wrong`, one that does not fit the schema."""
        if self.chance(wrong):
            return self.anything()
        kind = schema.get("type", "")
        if kind == "object":
            if "properties" in schema:
                out = {n: self.value(s, wrong) for n, s in schema["properties"].items() if self.chance(0.6)}
                if self.chance(wrong) or schema.get("x-kubernetes-preserve-unknown-fields") and self.chance(0.4):
                    out["unknown"] = self.anything()
                return out
            inner = schema.get("additionalProperties")
            return {n: self.value(inner, wrong) if inner else self.anything() for n in self.rng.sample(NAMES, self.pick([0, 1, 2, 3]))}
        if kind == "array":
            items = [self.value(schema["items"], wrong) for _ in range(self.pick([0, 1, 2, 3]))]
            for item in items:
                for key in schema.get("x-kubernetes-list-map-keys", []):
                    if isinstance(item, dict) and self.chance(0.93):
                        item[key] = self.pick([80, 443, 8080]) if key == "port" else self.pick(["TCP", "UDP"]) if key == "protocol" else self.pick(TEXTS)
            if schema.get("x-kubernetes-list-type") == "set" and self.chance(0.8):
                items = [i for n, i in enumerate(items) if i not in items[:n]]
            return items
        return {"string": lambda: self.pick(TEXTS), "integer": lambda: self.pick([0, 1, 2, 3]), "boolean": lambda: self.chance(0.5),
                "number": lambda: self.pick([0.5, 1.0, 2, 3.25])}.get(kind, lambda: self.pick([80, "http", 1]))()

    def literal(self, value, path):
        """Returns an expression for the value, in which objects are struct literals or maps."""
        if isinstance(value, dict):
            if self.chance(0.85) and all(k.isidentifier() for k in value):
                name = path if self.chance(0.985) else path + "s"
                return "%s{%s}" % (name, ", ".join("%s: %s" % (k, self.literal(v, path + "." + k)) for k, v in value.items()))
            return "{%s}" % ", ".join("%s: dyn(%s)" % (json.dumps(k, ensure_ascii=False), self.literal(v, path)) for k, v in value.items())
        if isinstance(value, list):
            dyn = len({type(v) for v in value}) > 1
            return "[%s]" % ", ".join(("dyn(%s)" if dyn else "%s") % self.literal(v, path) for v in value)
        if value is None:
            return "null"
        if isinstance(value, int) and not isinstance(value, bool) and self.chance(0.02):
            return "uint(%d)" % value if value >= 0 else str(value)
        return json.dumps(value, ensure_ascii=False)

    def mutation(self, schema):
        if self.chance(0.12):
            ops = self.pick(["JSONPatch{op: 'add', path: '/spec/%s', value: %s}" % (self.pick(NAMES), self.pick(["[]", "{}", "1", "['a']", "null"])), "JSONPatch{op: 'remove', path: '/spec/%s'}" % self.pick(NAMES),
                             "JSONPatch{op: 'copy', from: '/spec', path: '/spec/%s'}" % self.pick(NAMES), "JSONPatch{op: 'test', path: '/spec/%s', value: []}" % self.pick(NAMES)])
            return {"patchType": "JSONPatch", "jsonPatch": {"expression": "[%s]" % ops}}
        patch = {"spec": self.value(schema, self.pick([0, 0, 0, 0.04, 0.1]))}
        text = self.literal(patch, "Object")
        if not text.startswith("Object{"):
            text = "Object{spec: %s}" % self.literal(patch["spec"], "Object.spec")
        if self.chance(0.1):
            text = "Object{metadata: Object.metadata{labels: {'p': params == null ? 'none' : string(params.data.v)}}, %s" % text[len("Object{"):]
        return {"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": text}}

    def case(self):
        spec = self.struct(self.pick([2, 3, 4]))
        schema = {"type": "object", "properties": {"spec": spec}}
        if self.chance(0.15):
            schema["x-kubernetes-preserve-unknown-fields"] = True
        live = {"apiVersion": "example.com/v1", "kind": "Widget", "metadata": {"name": "w", "namespace": "default"}, "spec": self.value(spec, self.pick([0, 0, 0, 0.03]))}
        group = {"group": "example.com", "version": "v1"}
        bindings = []
        for n in range(self.pick([1, 1, 2])):
            binding = {"policyName": "p"}
            if self.chance(0.4):
                binding["paramRef"] = {"parameterNotFoundAction": "Allow", **self.pick([{"name": "one"}, {"selector": {}}])}
            bindings.append({"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "b%d" % n}, "spec": binding})
        params = [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": n, "namespace": "default"}, "data": {"v": n}} for n in ("one", "two")]
        return {"op": "map", "schemas": {"example.com/v1/Widget": schema}, "params": params[:self.pick([1, 1, 2])], "paramScope": "Namespaced", "bindings": bindings,
                "policy": {"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": "p"}, "spec": {
                    "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"}, "failurePolicy": self.pick(["Fail", "Fail", "Ignore"]), "reinvocationPolicy": self.pick(["Never", "IfNeeded"]),
                    "matchConstraints": {"resourceRules": [{"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]}]},
                    "mutations": [self.mutation(spec) for _ in range(self.pick([1, 1, 2, 3]))]}},
                "request": {"uid": "u", "operation": "CREATE", "kind": {**group, "kind": "Widget"}, "resource": {**group, "resource": "widgets"}, "requestKind": {**group, "kind": "Widget"},
                            "requestResource": {**group, "resource": "widgets"}, "name": "w", "namespace": "default", "userInfo": {"username": "me"}, "object": live}}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    args = parser.parse_args()
    rng = random.Random(args.seed)
    for n in range(args.count):
        print(json.dumps({"id": "merge%d-%d" % (args.seed, n), **Merges(rng).case()}, ensure_ascii=False))


if __name__ == "__main__":
    main()
