package gavel

import (
	"errors"
	"fmt"

	"gavel.dev/go/internal/capi"
)

// Kind classifies an [Error].
type Kind int

// The kinds of errors.
const (
	// KindArgument: an argument is invalid.
	KindArgument = Kind(capi.KindArgument)
	// KindParse: an expression has a syntax error.
	KindParse = Kind(capi.KindParse)
	// KindCheck: an expression fails type checking.
	KindCheck = Kind(capi.KindCheck)
	// KindPlan: evaluating a constant part of an expression fails.
	KindPlan = Kind(capi.KindPlan)
	// KindEvaluation: an evaluation failed.
	KindEvaluation = Kind(capi.KindEvaluation)
	// KindCostLimit: an evaluation exceeded its cost limit.
	KindCostLimit = Kind(capi.KindCostLimit)
	// KindMemoryLimit: an evaluation exceeded its memory limit.
	KindMemoryLimit = Kind(capi.KindMemoryLimit)
	// KindDecode: an object cannot be decoded. It was not validated.
	KindDecode = Kind(capi.KindDecode)
	// KindCompile: a definition or a policy cannot be compiled.
	KindCompile = Kind(capi.KindCompile)
	// KindPanic: the library has a bug. Please report the message.
	KindPanic = Kind(capi.KindPanic)
)

var kinds = map[Kind]string{
	KindArgument: "Argument", KindParse: "Parse", KindCheck: "Check", KindPlan: "Plan", KindEvaluation: "Evaluation", KindCostLimit: "CostLimit",
	KindMemoryLimit: "MemoryLimit", KindDecode: "Decode", KindCompile: "Compile", KindPanic: "Panic",
}

// String returns the name of the kind, such as "Parse".
func (k Kind) String() string {
	if name, ok := kinds[k]; ok {
		return name
	}
	return fmt.Sprintf("Kind(%d)", int(k))
}

// ErrClosed is returned if an environment, a program or another object of this module is used after its Close.
var ErrClosed = capi.ErrClosed

// Error is a failure. Its message is Kubernetes' message. If a context ends a call, the call returns the context's cause instead of an
// Error.
type Error struct {
	Kind    Kind
	Message string
	// Line and Column are the position in the expression. Lines and columns count from 1, columns in code points. Line and Column are 0 if
	// there is no position.
	Line, Column int
	// Type is the static type of the expression if a constant part of it fails; otherwise it is empty. TypeInMessages is the type as
	// messages print it.
	Type, TypeInMessages string
	// Estimate is the cost estimate of the same expression, or nil.
	Estimate *Estimate
}

func (e *Error) Error() string { return e.Message }

// Argument converts the error of an argument to an [*Error], and returns nil and [ErrClosed] unchanged. It is for the other packages of this
// module.
func Argument(err error) error {
	if err == nil || errors.Is(err, ErrClosed) {
		return err
	}
	return &Error{Kind: KindArgument, Message: err.Error()}
}

// Wrap converts an error of the library to an [*Error], and returns other errors unchanged. It is for the other packages of this module.
func Wrap(err error) error {
	var failure *capi.Error
	if !errors.As(err, &failure) {
		return err
	}
	return &Error{Kind: Kind(failure.Kind), Message: failure.Message, Line: failure.Line, Column: failure.Column}
}
