// Package gavel evaluates CEL as Kubernetes does: the same values, costs, verdicts and messages, in process.
//
// An [Env] says what expressions may use, [Env.Compile] makes a [Program] of one, and [Program.Eval] evaluates it with variables from
// Go's own values: map[string]any, *unstructured.Unstructured (or anything else with UnstructuredContent), json.RawMessage, and values of
// the language such as int64, time.Duration or []string. An object that several evaluations look at crosses once as a [Value].
//
// Environments, programs and values are safe for use by many goroutines. Close frees what they hold; the garbage collector does so for
// those that were forgotten, but it does not know how much memory they hold.
//
// Package crd validates custom resources, package admission decides requests by admission policies.
package gavel
