// Package gavel evaluates CEL as Kubernetes does: the same values, costs, verdicts and messages, in process.
//
// An [Env] defines which functions and variables expressions can use. [Env.Compile] compiles an expression to a [Program], and
// [Program.Eval] evaluates it. Variables are Go values: map[string]any, *unstructured.Unstructured (or anything else with
// UnstructuredContent), json.RawMessage, and values such as int64, time.Duration or []string. If several evaluations use the same object,
// convert it to a [Value] once.
//
// Many goroutines can use the same environment, program or value. Close frees its memory. The garbage collector frees environments,
// programs and values that were not closed, but it does not know how much memory they use.
//
// Package crd validates custom resources; package admission decides requests with admission policies.
package gavel
