#!/usr/bin/env python3
"""Generates structure-1.N.json.gz: the structure of the built-in kinds of Kubernetes 1.N, without descriptions.

    extract.py FOLDER FIELDS > structure-1.N.json.gz

FOLDER is api/openapi-spec/v3 in the source of k8s.io/kubernetes 1.N, of the patch release in
apimachinery/src/server/release.rs. From the OpenAPI document of each
group and version, the script takes the kinds of this group and version, and the schemas that these
kinds refer to: types, formats, references, defaults, required fields, and how lists and maps are
merged. Older patch strategies become list types, as in kube-openapi's schemaconv. FIELDS is the
output of fields.go.

"kinds" lists the kinds that API servers can merge. "decoded" lists the kinds of subresources,
such as Scale: the document of their group and version lacks them, so they cannot be merged.
"""
import gzip
import io
import json
import os
import sys

KEPT = ["type", "format", "default", "required", "additionalProperties", "x-kubernetes-list-type",
        "x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-preserve-unknown-fields"]


def structure(schema):
    if not isinstance(schema, dict):
        return schema
    alone = schema.get("allOf", [{}])
    reference = schema.get("$ref") or len(alone) == 1 and alone[0].get("$ref")
    kept = {key: schema[key] for key in KEPT if key in schema}
    if reference:
        kept["$ref"] = reference.rsplit("/", 1)[1]
    if "x-kubernetes-list-type" not in kept and schema.get("x-kubernetes-patch-strategy") in ("merge", "merge,retainKeys"):
        key = schema.get("x-kubernetes-patch-merge-key")
        kept["x-kubernetes-list-type"] = "map" if key else "set"
        if key:
            kept["x-kubernetes-list-map-keys"] = [key]
    if "properties" in schema:
        kept["properties"] = {name: structure(each) for name, each in schema["properties"].items()}
    for key in ("items", "additionalProperties"):
        if key in schema:
            kept[key] = structure(schema[key])
    return kept


def references(schema):
    if isinstance(schema, dict):
        if isinstance(schema.get("$ref"), str):
            yield schema["$ref"]
        for each in schema.values():
            yield from references(each)


def main(folder, fields):
    kinds, decoded, found = {}, {}, {}
    for file in sorted(os.listdir(folder)):
        group, _, version = file.removesuffix("_openapi.json").rpartition("__")
        if group != "api" and not group.startswith("apis__"):
            continue
        version = f"{group.removeprefix('apis__')}/{version}".removeprefix("api/")
        with open(os.path.join(folder, file), encoding="utf-8") as text:
            schemas = json.load(text)["components"]["schemas"]
        own = kinds.setdefault(version, {})
        for name, schema in schemas.items():
            found.setdefault(name, structure(schema))
            for kind in schema.get("x-kubernetes-group-version-kind", []):
                of = "/".join(filter(None, [kind["group"], kind["version"]]))
                if of == version:
                    own[kind["kind"]] = name
                elif not name.startswith("io.k8s.apimachinery."):
                    decoded.setdefault(of, {})[kind["kind"]] = name
    with open(fields, encoding="utf-8") as text:
        fields = json.load(text)
    for name, each in fields.items():
        if "kind" in each:
            decoded.setdefault("v1", {})[each.pop("kind")] = name
            found[name] = each.pop("schema")
    for version, names in decoded.items():
        for kind in set(names) & set(kinds.get(version, {})):
            del names[kind]
    decoded = {version: names for version, names in decoded.items() if names}
    wanted, schemas = [name for of in (kinds, decoded) for own in of.values() for name in own.values()], {}
    while wanted:
        name = wanted.pop()
        if name not in schemas:
            schemas[name] = found[name]
            wanted += references(found[name])
    fields = {name: each for name, each in fields.items() if name in schemas and each}
    text = json.dumps({"kinds": kinds, "decoded": decoded, "schemas": schemas, "fields": fields}, sort_keys=True, separators=(",", ":"))
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=9, mtime=0) as out:
        out.write(text.encode())
    sys.stdout.buffer.write(packed.getvalue())


if __name__ == "__main__":
    main(*sys.argv[1:])
