package gavel

import (
	"context"

	"gavel.dev/go/internal/capi"
	"gavel.dev/go/internal/flat"
)

// Program is a compiled expression.
type Program struct {
	inner   capi.Program
	statics capi.Statics
}

// Result is the result of an evaluation.
type Result struct {
	// Value is nil, bool, int64, uint64, float64, string, []byte, time.Time, time.Duration, []any, [Map], [Type], [Optional], [Opaque]
	// or [Object].
	Value any
	// Cost is the cost of the evaluation in cost units. It is valid even if the evaluation failed.
	Cost uint64
	// Evaluated is false if the program was only checked, or if the call failed before the evaluation.
	Evaluated bool
}

// EvalOption limits an evaluation.
type EvalOption func(*capi.Call)

// CostLimit limits the cost of an evaluation, in cost units. The default is 1,000,000, Kubernetes' limit for one expression.
func CostLimit(units uint64) EvalOption {
	return func(call *capi.Call) { call.Limit(int64(units)) }
}

// MemoryLimit limits the memory of the values that an evaluation computes, in bytes. The default is 64 MiB.
func MemoryLimit(bytes uint64) EvalOption {
	return func(call *capi.Call) { call.Memory(bytes) }
}

// Type returns the static type, such as "list(string)".
func (p *Program) Type() string { return p.statics.Type }

// TypeInMessages returns the static type as Kubernetes' messages print it.
func (p *Program) TypeInMessages() string { return p.statics.TypeInMessages }

// Estimate returns the cost estimate, or nil if it is unknown.
func (p *Program) Estimate() *Estimate { return estimate(p.statics) }

// Close frees the program. Evaluations in flight finish first.
func (p *Program) Close() { p.inner.Close() }

// Eval evaluates the program. Variables maps names to values. If the context ends, Eval returns early with the context's cause. Any other
// failure is an [*Error], and the result still has the cost.
func (p *Program) Eval(ctx context.Context, variables map[string]any, options ...EvalOption) (Result, error) {
	call := capi.NewCall()
	defer call.End()
	for _, option := range options {
		option(call)
	}
	writer := flat.Writer{Buf: call.Flat}
	err := writer.Variables(variables)
	call.Flat = writer.Buf
	defer writer.Release()
	if err != nil {
		return Result{}, Argument(err)
	}
	call.Ask(writer.Callbacks())
	var outcome capi.Outcome
	err = call.Run(ctx, func() error {
		var err error
		outcome, err = p.inner.Eval(call)
		return err
	})
	result := Result{Value: outcome.Value, Cost: outcome.Cost, Evaluated: outcome.Evaluated}
	if err != nil {
		return result, Wrap(err)
	}
	if outcome.Typed != nil {
		// Fails for a time that time.Parse cannot read: one that the variables contained, and that CEL could not have computed.
		result.Value, err = readTyped(outcome.Typed)
	}
	return result, Argument(err)
}
