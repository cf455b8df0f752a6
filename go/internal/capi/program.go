package capi

/*
#include "library.h"
*/
import "C"

import (
	"math"
	"time"
	"unsafe"
)

// Env is an environment.
type Env struct{ *handle }

func (h Env) c() (*C.GavelEnv, error) {
	pointer, err := h.use()
	return (*C.GavelEnv)(pointer), err
}

// NewEnv creates an environment from its JSON specification.
func NewEnv(spec []byte) (Env, error) {
	var out *C.GavelEnv
	bytes, n := data(spec)
	if err := take(C.gavel_env_new(bytes, n, &out)); err != nil {
		return Env{}, err
	}
	return Env{newHandle(unsafe.Pointer(out), func(p unsafe.Pointer) { C.gavel_env_free((*C.GavelEnv)(p)) })}, nil
}

// Program is a compiled expression.
type Program struct{ *handle }

func (h Program) c() (*C.GavelProgram, error) {
	pointer, err := h.use()
	return (*C.GavelProgram)(pointer), err
}

// Statics are the results of compiling an expression: its type and its cost estimate.
type Statics struct {
	Type, TypeInMessages     string
	HasEstimate              bool
	EstimateMin, EstimateMax uint64
}

// Compile compiles an expression. If a constant part of the expression fails, Compile returns the statics with the error.
func (e Env) Compile(expression string) (Program, Statics, error) {
	pointer, err := e.c()
	if err != nil {
		return Program{}, Statics{}, err
	}
	defer e.done()
	var out *C.GavelProgram
	bytes, n := text(expression)
	failure := take(C.gavel_env_compile(pointer, bytes, n, &out))
	if out == nil {
		return Program{}, Statics{}, failure
	}
	program := Program{newHandle(unsafe.Pointer(out), func(p unsafe.Pointer) { C.gavel_program_free((*C.GavelProgram)(p)) })}
	var statics C.GavelStatics
	if err := take(C.gavel_program_statics(out, &statics)); err != nil {
		program.Close()
		return Program{}, Statics{}, err
	}
	known := Statics{
		Type:           goText(statics.type_name),
		TypeInMessages: goText(statics.type_in_messages),
		HasEstimate:    bool(statics.has_estimate),
		EstimateMin:    uint64(statics.estimate_min),
		EstimateMax:    uint64(statics.estimate_max),
	}
	if failure != nil {
		program.Close()
		return Program{}, known, failure
	}
	return program, known, nil
}

func goText(slice C.GavelSlice) string {
	return textOf(slice.data, slice.len)
}

// Outcome is the result of an evaluation.
type Outcome struct {
	Cost      uint64
	Evaluated bool
	Value     any
	// Typed is the value as typed JSON if the value has no GavelValueKind of its own, such as a list or a map. Value is nil in this case.
	Typed []byte
}

// Eval evaluates a program.
func (p Program) Eval(call *Call) (Outcome, error) {
	pointer, err := p.c()
	if err != nil {
		return Outcome{}, err
	}
	defer p.done()
	bytes, n := data(call.Flat)
	failure := C.gavel_program_eval(pointer, bytes, n, &call.options, &call.outcome)
	if failure != nil {
		return Outcome{Cost: uint64(call.outcome.cost), Evaluated: bool(call.outcome.evaluated)}, take(failure)
	}
	return outcomeOf(&call.outcome), nil
}

// outcomeOf converts an outcome of the library, and frees the outcome's bytes.
func outcomeOf(out *C.GavelOutcome) Outcome {
	outcome := Outcome{Cost: uint64(out.cost), Evaluated: bool(out.evaluated)}
	switch out.kind {
	case C.GAVEL_VALUE_KIND_BOOL:
		outcome.Value = out.number != 0
	case C.GAVEL_VALUE_KIND_INT:
		outcome.Value = int64(out.number)
	case C.GAVEL_VALUE_KIND_UINT:
		outcome.Value = uint64(out.number)
	case C.GAVEL_VALUE_KIND_DOUBLE:
		outcome.Value = math.Float64frombits(uint64(out.number))
	case C.GAVEL_VALUE_KIND_STRING:
		outcome.Value = string(takeBytes(out.bytes))
	case C.GAVEL_VALUE_KIND_BYTES:
		bytes := takeBytes(out.bytes)
		if bytes == nil {
			bytes = []byte{}
		}
		outcome.Value = bytes
	case C.GAVEL_VALUE_KIND_TIMESTAMP:
		outcome.Value = time.Unix(int64(out.number), int64(out.nanos)).UTC()
	case C.GAVEL_VALUE_KIND_DURATION:
		outcome.Value = time.Duration(out.number)
	case C.GAVEL_VALUE_KIND_TYPED:
		outcome.Typed = takeBytes(out.bytes)
	}
	return outcome
}
