// Package bench holds benchmarks of Gavel beside the code that Kubernetes has built in: .ci/go-bench runs both and tells the ratios.
package bench
