#!/usr/bin/env bash
# prepare.sh OUT [SHARED]: makes OUT a Go module that builds kube-apiserver 1.36 with Gavel inside.
#
# SHARED is the folder with upstream/ (by default ../../../shared beside this repository). Its prepare.sh copies the public modules
# k8s.io/apiserver and k8s.io/apiextensions-apiserver. In the copies, this script replaces the code that compiles and evaluates expressions
# of definitions, policies, mutations and match conditions by calls of this repository's Go module. Afterwards, run:
#
#     SHARED/upstream/run.sh OUT unit          # Kubernetes' own unit tests, on Gavel
#     SHARED/upstream/run.sh OUT integration   # real API servers with Gavel inside
#     (cd OUT && go build -mod=mod .)          # kube-apiserver
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
[ $# -ge 1 ] || { echo "usage: prepare.sh OUT [SHARED]" >&2; exit 2; }
shared=$(cd "${2:-$here/../../../shared}" && pwd)
[ -e "$here/../internal/capi/lib/libgavel_capi.a" ] || "$here/../build.sh"
out=$("$shared/upstream/prepare.sh" "$1")
chmod -R u+w "$out"
python3 "$here/replace.py" "$out/modules" "$here/_overlay"
cd "$out"
go mod edit -require gavel.dev/go@v0.0.0 -replace "gavel.dev/go=$(cd "$here/.." && pwd)"
echo "$out"
