#!/usr/bin/env python3
"""Checks the policies of this folder with `gavel check` against the fixtures of k8s.io/pod-security-admission v0.36.1: manifests in
test/testdata that must pass or fail at a level and version.

    fixtures.py [--gavel PATH] [--module FOLDER]
"""
import argparse, json, pathlib, subprocess, sys, tempfile

MODULE = "k8s.io/pod-security-admission@v0.36.1"


def module():
    cache = subprocess.run(["go", "env", "GOMODCACHE"], capture_output=True, text=True).stdout.strip()
    folder = pathlib.Path(cache) / MODULE
    if not folder.is_dir():
        subprocess.run(["go", "mod", "download", MODULE], check=True)
    return folder


def namespace(level, version):
    name = f"{level}-{version}".replace(".", "-")
    labels = {
        "kubernetes.io/metadata.name": name,
        "pod-security.gavel/enforce": level,
        "pod-security.gavel/enforce-version": version,
    }
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--gavel", default="gavel")
    arguments.add_argument("--module", type=pathlib.Path)
    given = arguments.parse_args()
    data = (given.module or module()) / "test" / "testdata"
    policies = pathlib.Path(__file__).parent
    total = wrong = 0
    for folder in sorted(data.glob("*/v*")):
        level, version = folder.parent.name, folder.name
        with tempfile.TemporaryDirectory() as temporary:
            known = namespace(level, version)
            surroundings = pathlib.Path(temporary) / "namespace.json"
            surroundings.write_text(json.dumps(known))
            command = [given.gavel, "check", "--recursive", folder, "--policies", policies, "--policies", surroundings,
                       "--namespace", known["metadata"]["name"], "--output", "json"]
            run = subprocess.run([str(part) for part in command], capture_output=True, text=True)
        if run.returncode not in (0, 1):
            sys.exit(f"{level} {version}: {run.stderr}")
        for line in run.stdout.splitlines():
            found = json.loads(line)
            if "file" not in found:
                sys.exit(f"{level} {version}: {line}")
            path = pathlib.Path(found["file"])
            total += 1
            if found["allowed"] != (path.parent.name == "pass"):
                wrong += 1
                says = [finding["message"] for finding in found["findings"]]
                print(f"{path.relative_to(data)}: {'allowed' if found['allowed'] else 'denied'}", *says)
    print(f"{total} fixtures, {wrong} of them differ")
    sys.exit(1 if wrong or not total else 0)


if __name__ == "__main__":
    main()
