package capi

/*
#include "library.h"
*/
import "C"

import (
	"unsafe"
)

// Rules are the compiled rules of a schema.
type Rules struct{ *handle }

func (h Rules) c() (*C.GavelRules, error) {
	pointer, err := h.use()
	return (*C.GavelRules)(pointer), err
}

// CompileRules compiles the rules of a schema.
func CompileRules(schema Value, config []byte) (Rules, error) {
	pointer, err := schema.c()
	if err != nil {
		return Rules{}, err
	}
	defer schema.done()
	var out *C.GavelRules
	bytes, n := data(config)
	if err := take(C.gavel_rules_compile(pointer, bytes, n, &out)); err != nil {
		return Rules{}, err
	}
	return Rules{newHandle(unsafe.Pointer(out), func(p unsafe.Pointer) { C.gavel_rules_free((*C.GavelRules)(p)) })}, nil
}

// CheckRules compiles the rules of one schema. It returns a JSON list with a result for each rule.
func CheckRules(schema Value, config []byte) ([]byte, error) {
	pointer, err := schema.c()
	if err != nil {
		return nil, err
	}
	defer schema.done()
	var out C.GavelBytes
	bytes, n := data(config)
	if err := take(C.gavel_rules_check(pointer, bytes, n, &out)); err != nil {
		return nil, err
	}
	return takeBytes(out), nil
}

// Validate evaluates the rules on the value at a path.
func (r Rules) Validate(call *Call, path string, object Value, old *Value, ratcheting bool) (Validation, error) {
	pointer, err := r.c()
	if err != nil {
		return Validation{}, err
	}
	defer r.done()
	objectPointer, err := object.c()
	if err != nil {
		return Validation{}, err
	}
	defer object.done()
	oldPointer, done, err := optional(old)
	if err != nil {
		return Validation{}, err
	}
	defer done()
	bytes, n := text(path)
	if err := take(C.gavel_rules_validate(pointer, bytes, n, objectPointer, oldPointer, C.bool(ratcheting), &call.options, &call.validated)); err != nil {
		return Validation{}, err
	}
	return call.validation(), nil
}
