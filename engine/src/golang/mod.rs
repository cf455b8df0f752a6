//! Behaviours of Go's standard library that CEL makes visible.
