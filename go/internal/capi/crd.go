package capi

/*
#include "library.h"
*/
import "C"

import "unsafe"

// CRD is a compiled definition.
type CRD struct{ *handle }

func (h CRD) c() (*C.GavelCrd, error) {
	pointer, err := h.use()
	return (*C.GavelCrd)(pointer), err
}

// ValidateDefinition validates a definition and returns a report as JSON.
func ValidateDefinition(definition Value, old *Value, config []byte) ([]byte, error) {
	pointer, err := definition.c()
	if err != nil {
		return nil, err
	}
	defer definition.done()
	oldPointer, done, err := optional(old)
	if err != nil {
		return nil, err
	}
	defer done()
	var out C.GavelBytes
	bytes, n := data(config)
	if err := take(C.gavel_definition_validate(pointer, oldPointer, bytes, n, &out)); err != nil {
		return nil, err
	}
	return takeBytes(out), nil
}

func optional(v *Value) (*C.GavelValue, func(), error) {
	if v == nil {
		return nil, func() {}, nil
	}
	pointer, err := v.c()
	return pointer, v.done, err
}

// CompileCRD compiles a definition.
func CompileCRD(definition Value, config []byte) (CRD, error) {
	pointer, err := definition.c()
	if err != nil {
		return CRD{}, err
	}
	defer definition.done()
	var out *C.GavelCrd
	bytes, n := data(config)
	if err := take(C.gavel_crd_compile(pointer, bytes, n, &out)); err != nil {
		return CRD{}, err
	}
	return CRD{newHandle(unsafe.Pointer(out), func(p unsafe.Pointer) { C.gavel_crd_free((*C.GavelCrd)(p)) })}, nil
}

// StorageVersion returns the name of the version in which objects are stored.
func (c CRD) StorageVersion() (string, error) {
	pointer, err := c.c()
	if err != nil {
		return "", err
	}
	defer c.done()
	var out C.GavelSlice
	if err := take(C.gavel_crd_storage_version(pointer, &out)); err != nil {
		return "", err
	}
	return goText(out), nil
}

// Decode decodes an object as an API server decodes it. It also returns the paths of unknown fields as a JSON list, or nil if all fields
// are known.
func (c CRD) Decode(object Value, fromStorage, keepUnknown, noDefaults bool) (Value, []byte, error) {
	pointer, err := c.c()
	if err != nil {
		return Value{}, nil, err
	}
	defer c.done()
	objectPointer, err := object.c()
	if err != nil {
		return Value{}, nil, err
	}
	defer object.done()
	how := C.GavelDecode{from_storage: C.bool(fromStorage), keep_unknown: C.bool(keepUnknown), no_defaults: C.bool(noDefaults)}
	var out *C.GavelValue
	var unknown C.GavelBytes
	if err := take(C.gavel_crd_decode(pointer, objectPointer, how, &out, &unknown)); err != nil {
		return Value{}, nil, err
	}
	return value(out), takeBytes(unknown), nil
}

// Prepare prepares an object for validation.
func (c CRD) Prepare(version string, object Value, old *Value, status bool) (Value, error) {
	pointer, err := c.c()
	if err != nil {
		return Value{}, err
	}
	defer c.done()
	objectPointer, err := object.c()
	if err != nil {
		return Value{}, err
	}
	defer object.done()
	oldPointer, done, err := optional(old)
	if err != nil {
		return Value{}, err
	}
	defer done()
	var out *C.GavelValue
	bytes, n := text(version)
	if err := take(C.gavel_crd_prepare(pointer, bytes, n, objectPointer, oldPointer, C.bool(status), &out)); err != nil {
		return Value{}, err
	}
	return value(out), nil
}

// Validation is the result of validating an object.
type Validation struct {
	Valid, NoRules, RulesSkipped bool
	RemainingBudget              int64
	// Findings are the errors, warnings and notes as JSON, or nil if there are none.
	Findings []byte
}

// Validate validates an object.
func (c CRD) Validate(call *Call, version string, object Value, old *Value, skipMetadata, status, forceRules bool) (Validation, error) {
	pointer, err := c.c()
	if err != nil {
		return Validation{}, err
	}
	defer c.done()
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
	how := C.GavelValidate{skip_metadata: C.bool(skipMetadata), status: C.bool(status), force_rules: C.bool(forceRules)}
	bytes, n := text(version)
	if err := take(C.gavel_crd_validate(pointer, bytes, n, objectPointer, oldPointer, how, &call.options, &call.validated)); err != nil {
		return Validation{}, err
	}
	return call.validation(), nil
}

func (call *Call) validation() Validation {
	out := &call.validated
	return Validation{
		Valid:           bool(out.valid),
		NoRules:         bool(out.no_rules),
		RulesSkipped:    bool(out.rules_skipped),
		RemainingBudget: int64(out.remaining_budget),
		Findings:        takeBytes(out.findings),
	}
}
