#!/usr/bin/env bash
# build.sh [debug|release]: builds the static library of ../capi, and copies it and its header to the folder from which cgo links it.
# The default is release. Needs Rust. Run it once before `go build` and `go test`.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${1:-release}
case $profile in
  release) cargo build --release -p gavel-capi ;;
  debug) cargo build -p gavel-capi ;;
  *) echo "usage: build.sh [debug|release]" >&2; exit 2 ;;
esac
library=${CARGO_TARGET_DIR:-target}/$profile/libgavel_capi.a
package=go/internal/capi
mkdir -p $package/lib
cp capi/include/gavel.h $package/
cp "$library" $package/lib/
# Go's build cache does not notice changes of the library. The package contains this text, so that Go links programs again.
echo "#define GAVEL_BUILD \"$(sha256sum "$library" | cut -d' ' -f1)\"" > $package/build_mark.h
