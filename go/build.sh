#!/usr/bin/env bash
# build.sh [debug|release]: builds the static library of ../capi and puts it, with its header, where cgo links it from.
# The default is release. Needs Rust; `go build`, `go test` and so on work after it.
set -euo pipefail
cd "$(dirname "$0")/.."
profile=${1:-release}
case $profile in
  release) cargo build --quiet --release -p gavel-capi ;;
  debug) cargo build --quiet -p gavel-capi ;;
  *) echo "usage: build.sh [debug|release]" >&2; exit 2 ;;
esac
library=${CARGO_TARGET_DIR:-target}/$profile/libgavel_capi.a
package=go/internal/capi
mkdir -p $package/lib
cp capi/include/gavel.h $package/
cp "$library" $package/lib/
# Go's build cache does not notice changes of the library. This header changes with the library, so that Go rebuilds the package.
echo "/* $(sha256sum "$library" | cut -d' ' -f1) */" > $package/build_mark.h
