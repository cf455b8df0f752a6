package capi

/*
#include "library.h"
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Conditions compiles expressions of policies and webhooks.
type Conditions struct{ *handle }

func (h Conditions) c() (*C.GavelConditions, error) {
	pointer, err := h.use()
	return (*C.GavelConditions)(pointer), err
}

// Condition is a compiled expression.
type Condition struct{ *handle }

func (h Condition) c() (*C.GavelCondition, error) {
	pointer, err := h.use()
	return (*C.GavelCondition)(pointer), err
}

// NewConditions returns a compiler of expressions.
func NewConditions(config []byte) (Conditions, error) {
	var out *C.GavelConditions
	bytes, n := data(config)
	if err := take(C.gavel_conditions_new(bytes, n, &out)); err != nil {
		return Conditions{}, err
	}
	return Conditions{newHandle(unsafe.Pointer(out), func(p unsafe.Pointer) { C.gavel_conditions_free((*C.GavelConditions)(p)) })}, nil
}

func declared(params, authorizer, patchTypes bool) C.GavelDeclarations {
	return C.GavelDeclarations{params: C.bool(params), authorizer: C.bool(authorizer), patch_types: C.bool(patchTypes)}
}

// Variable compiles and declares a variable, and returns its type.
func (c Conditions) Variable(name, expression string, params, authorizer, patchTypes bool) (string, error) {
	pointer, err := c.c()
	if err != nil {
		return "", err
	}
	defer c.done()
	var typ C.GavelBytes
	nameBytes, nameLen := text(name)
	bytes, n := text(expression)
	if err := take(C.gavel_conditions_variable(pointer, nameBytes, nameLen, bytes, n, declared(params, authorizer, patchTypes), &typ)); err != nil {
		return "", err
	}
	return string(takeBytes(typ)), nil
}

// Compile compiles an expression, and returns the compiled expression and its type.
func (c Conditions) Compile(expression string, params, authorizer, patchTypes bool) (Condition, string, error) {
	pointer, err := c.c()
	if err != nil {
		return Condition{}, "", err
	}
	defer c.done()
	var out *C.GavelCondition
	var typ C.GavelBytes
	bytes, n := text(expression)
	if err := take(C.gavel_conditions_compile(pointer, bytes, n, declared(params, authorizer, patchTypes), &out, &typ)); err != nil {
		return Condition{}, "", err
	}
	condition := Condition{newHandle(unsafe.Pointer(out), func(p unsafe.Pointer) { C.gavel_condition_free((*C.GavelCondition)(p)) })}
	return condition, string(takeBytes(typ)), nil
}

// Evaluated is the result of one expression.
type Evaluated struct {
	Outcome
	// Failure is the message of a failed evaluation. Otherwise it is empty.
	Failure string
}

// Eval evaluates expressions, each of which may be nil. It also returns the remaining budget, in cost units. The remaining budget is
// negative if the budget was exceeded.
func (c Conditions) Eval(call *Call, conditions []*Condition) ([]Evaluated, int64, error) {
	pointer, err := c.c()
	if err != nil {
		return nil, 0, err
	}
	defer c.done()
	pointers := make([]*C.GavelCondition, len(conditions))
	outcomes := make([]C.GavelOutcome, len(conditions))
	for i, condition := range conditions {
		if condition == nil {
			continue
		}
		if pointers[i], err = condition.c(); err != nil {
			return nil, 0, err
		}
		defer condition.done()
	}
	var remaining C.int64_t
	bytes, n := data(call.Flat)
	failure := C.gavel_conditions_eval(pointer, unsafe.SliceData(pointers), C.size_t(len(pointers)), bytes, n, &call.options, unsafe.SliceData(outcomes), &remaining)
	runtime.KeepAlive(pointers)
	if failure != nil {
		return nil, 0, take(failure)
	}
	if remaining < 0 {
		return nil, -1, nil
	}
	evaluated := make([]Evaluated, len(outcomes))
	for i := range outcomes {
		if outcomes[i].kind == C.GAVEL_VALUE_KIND_ERROR {
			evaluated[i].Failure = string(takeBytes(outcomes[i].bytes))
			continue
		}
		evaluated[i].Outcome = outcomeOf(&outcomes[i])
	}
	return evaluated, int64(remaining), nil
}
