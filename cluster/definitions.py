#!/usr/bin/env python3
"""Write ../deploy/components/cluster/definitions.yaml: the definitions of Gavel's own kinds.

    definitions.py > ../deploy/components/cluster/definitions.yaml

They are the kinds of admissionregistration.k8s.io under another group, made of
../schema/kubernetes/structure.json.gz, which has the structure that API servers publish.
What a server validates beyond the structure, Gavel's own webhook validates.
"""
import gzip
import json
import os
import sys

import yaml

HERE = os.path.dirname(os.path.abspath(__file__))
STRUCTURE = os.path.join(HERE, "..", "schema", "kubernetes", "structure.json.gz")
GROUP = "policies.gavel.example.com"
AGE = {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"}
PARAM_KIND = {"name": "ParamKind", "type": "string", "jsonPath": ".spec.paramKind.kind"}
BINDING = [{"name": "PolicyName", "type": "string", "jsonPath": ".spec.policyName"},
           {"name": "ParamRef", "type": "string", "jsonPath": ".spec.paramRef.name"}, AGE]
# Kind, the version whose structure it has, plural name, short name, columns.
KINDS = [
    ("ValidatingAdmissionPolicy", "v1", "validatingadmissionpolicies", "gvap", [PARAM_KIND, AGE]),
    ("ValidatingAdmissionPolicyBinding", "v1", "validatingadmissionpolicybindings", "gvapb", BINDING),
    ("MutatingAdmissionPolicy", "v1beta1", "mutatingadmissionpolicies", "gmap", [PARAM_KIND, AGE]),
    ("MutatingAdmissionPolicyBinding", "v1beta1", "mutatingadmissionpolicybindings", "gmapb", BINDING),
]
KEPT = ["type", "format", "required", "x-kubernetes-list-type", "x-kubernetes-list-map-keys", "x-kubernetes-map-type"]


def structural(schema, schemas):
    """A schema without references and without the defaults that only say what Go makes of nothing."""
    if "$ref" in schema:
        return structural(schemas[schema["$ref"]], schemas)
    kept = {key: schema[key] for key in KEPT if key in schema}
    if kept.get("type") == "string" and kept.get("format") not in (None, "date-time"):
        del kept["format"]
    if "properties" in schema:
        kept["properties"] = {name: structural(each, schemas) for name, each in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            kept[key] = structural(schema[key], schemas)
    # Go has strings and times that are no objects in the structure.
    if "type" not in kept:
        kept["type"] = "object" if "properties" in kept else "string"
    return kept


def definition(structure, kind, version, plural, short, columns):
    name = structure["kinds"][f"admissionregistration.k8s.io/{version}"][kind]
    schema = structural(structure["schemas"][name], structure["schemas"])
    schema["properties"]["metadata"] = {"type": "object"}
    schema["required"] = ["spec"]
    served = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema},
              "additionalPrinterColumns": columns}
    if "status" in schema["properties"]:
        served["subresources"] = {"status": {}}
    return {
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{GROUP}"},
        "spec": {"group": GROUP, "scope": "Cluster", "versions": [served],
                 "names": {"kind": kind, "listKind": f"{kind}List", "plural": plural, "singular": kind.lower(),
                           "shortNames": [short], "categories": ["gavel"]}},
    }


class Plain(yaml.SafeDumper):
    """Writes everything out: no anchors, lists indented as elsewhere."""

    def ignore_aliases(self, data):
        return True


with gzip.open(STRUCTURE) as packed:
    structure = json.load(packed)
print("# Gavel's own kinds: those of admissionregistration.k8s.io/v1 under another group. Written by cluster/definitions.py.")
yaml.dump_all([definition(structure, *kind) for kind in KINDS], sys.stdout, Plain, sort_keys=False, width=1000)
