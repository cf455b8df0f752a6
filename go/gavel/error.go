package gavel

import (
	"errors"

	"gavel.dev/go/internal/capi"
)

// Kind says what went wrong.
type Kind int

// The kinds of errors.
const (
	// KindArgument: an argument is not what the function takes.
	KindArgument = Kind(capi.KindArgument)
	// KindParse: an expression has a syntax error.
	KindParse = Kind(capi.KindParse)
	// KindCheck: an expression does not type-check.
	KindCheck = Kind(capi.KindCheck)
	// KindPlan: a constant part of an expression fails.
	KindPlan = Kind(capi.KindPlan)
	// KindEvaluation: an evaluation failed.
	KindEvaluation = Kind(capi.KindEvaluation)
	// KindCostLimit: an evaluation passed its cost limit.
	KindCostLimit = Kind(capi.KindCostLimit)
	// KindMemoryLimit: an evaluation passed its memory limit.
	KindMemoryLimit = Kind(capi.KindMemoryLimit)
	// KindDecode: an object is refused before it is validated.
	KindDecode = Kind(capi.KindDecode)
	// KindCompile: a definition or a policy cannot be compiled.
	KindCompile = Kind(capi.KindCompile)
	// KindPanic: the library itself failed. The message is for a bug report.
	KindPanic = Kind(capi.KindPanic)
)

// ErrClosed is returned where something is used after its Close.
var ErrClosed = capi.ErrClosed

// Error is a failure in Kubernetes' words. Where a context ends a call, its cause is returned instead.
type Error struct {
	Kind    Kind
	Message string
	// Line and Column are the place in the expression, both from 1 and in code points, or 0 where there is none.
	Line, Column int
	// Type is the static type of an expression whose constant part fails; else it is empty. TypeInMessages is how messages print it.
	Type, TypeInMessages string
	// Estimate is the static cost of the same.
	Estimate *Estimate
}

func (e *Error) Error() string { return e.Message }

// Wrap makes an [*Error] of an error of the library; other errors stay as they are. It is for the other packages of this module.
func Wrap(err error) error {
	var failure *capi.Error
	if !errors.As(err, &failure) {
		return err
	}
	return &Error{Kind: Kind(failure.Kind), Message: failure.Message, Line: failure.Line, Column: failure.Column}
}
