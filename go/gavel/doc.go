// Package gavel evaluates CEL as Kubernetes does: the same values, costs, verdicts and messages, in process.
//
// An [Env] defines which functions and variables expressions can use. [Env.Compile] compiles an expression to a [Program], and
// [Program.Eval] evaluates it. Variables are Go values: map[string]any, *unstructured.Unstructured (or anything else with
// UnstructuredContent), json.RawMessage, and values such as int64, time.Duration or []string. Convert an object that several evaluations
// use only once, to a [Value].
//
// Environments, programs and values can be used by many goroutines. Close frees their memory. The garbage collector frees those that were
// not closed, but it does not know how much memory they hold.
//
// Package crd validates custom resources; package admission decides requests with admission policies.
package gavel
