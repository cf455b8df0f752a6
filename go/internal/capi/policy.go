package capi

/*
#include "library.h"
extern void gavelGoConvert(uintptr_t context, uint8_t *object, size_t object_len, uint8_t *version, size_t version_len,
	uint8_t *kind, size_t kind_len, GavelReply *reply);

static GavelError *set_convert(GavelIndex *index) {
	return gavel_index_set_convert(index, (GavelConvert)gavelGoConvert);
}
*/
import "C"

import (
	"runtime"
	"unsafe"
)

// Index is an index of policies, bindings, params and namespaces.
type Index struct{ *handle }

func (h Index) c() (*C.GavelIndex, error) {
	pointer, err := h.use()
	return (*C.GavelIndex)(pointer), err
}

// NewIndex returns an empty index.
func NewIndex(config []byte) (Index, error) {
	var out *C.GavelIndex
	bytes, n := data(config)
	if err := take(C.gavel_index_new(bytes, n, &out)); err != nil {
		return Index{}, err
	}
	index := Index{newHandle(unsafe.Pointer(out), func(p unsafe.Pointer) { C.gavel_index_free((*C.GavelIndex)(p)) })}
	return index, take(C.set_convert(out))
}

// Apply adds an object, or replaces its earlier version.
func (i Index) Apply(object Value) error {
	return i.change(object, func(index *C.GavelIndex, object *C.GavelValue) *C.GavelError {
		return C.gavel_index_apply(index, object)
	})
}

// Delete removes an object.
func (i Index) Delete(object Value) error {
	return i.change(object, func(index *C.GavelIndex, object *C.GavelValue) *C.GavelError {
		return C.gavel_index_delete(index, object)
	})
}

func (i Index) change(object Value, change func(*C.GavelIndex, *C.GavelValue) *C.GavelError) error {
	pointer, err := i.c()
	if err != nil {
		return err
	}
	defer i.done()
	objectPointer, err := object.c()
	if err != nil {
		return err
	}
	defer object.done()
	return take(change(pointer, objectPointer))
}

// Configure sets properties of resources and kinds that objects do not contain. The argument config is JSON.
func (i Index) Configure(config []byte) error {
	pointer, err := i.c()
	if err != nil {
		return err
	}
	defer i.done()
	bytes, n := data(config)
	return take(C.gavel_index_configure(pointer, bytes, n))
}

// Policy is a compiled policy or binding.
type Policy struct{ *handle }

func (h Policy) c() (*C.GavelPolicy, error) {
	pointer, err := h.use()
	return (*C.GavelPolicy)(pointer), err
}

// CompilePolicy compiles a policy or a binding.
func CompilePolicy(object Value, config []byte) (Policy, error) {
	pointer, err := object.c()
	if err != nil {
		return Policy{}, err
	}
	defer object.done()
	var out *C.GavelPolicy
	bytes, n := data(config)
	if err := take(C.gavel_policy_compile(pointer, bytes, n, &out)); err != nil {
		return Policy{}, err
	}
	return Policy{newHandle(unsafe.Pointer(out), func(p unsafe.Pointer) { C.gavel_policy_free((*C.GavelPolicy)(p)) })}, nil
}

// Errors returns the errors of expressions that do not compile, as JSON.
func (p Policy) Errors() ([]byte, error) {
	pointer, err := p.c()
	if err != nil {
		return nil, err
	}
	defer p.done()
	var out C.GavelBytes
	if err := take(C.gavel_policy_errors(pointer, &out)); err != nil {
		return nil, err
	}
	return takeBytes(out), nil
}

// Decision is the result of deciding a request or mutating its object.
type Decision struct {
	Allowed, Mutated bool
	// Details is the rest of the decision as a JSON object, or nil if there are no details.
	Details []byte
}

// Decide decides the request in the call's input. If policies is nil, Decide uses all policies of the index. Otherwise it uses only the
// given policies, each followed by its bindings.
func (i Index) Decide(call *Call, policies []Policy, explain, trace bool) (Decision, error) {
	how := C.GavelExplain{explain: C.bool(explain), trace: C.bool(trace)}
	return i.ask(call, policies, func(index *C.GavelIndex, policies **C.GavelPolicy, count C.size_t, request *C.uint8_t, n C.size_t) *C.GavelError {
		return C.gavel_index_decide(index, policies, count, request, n, how, &call.options, &call.decision)
	})
}

// Mutate mutates the object of the request in the call's input. The argument policies has the same meaning as in Decide.
func (i Index) Mutate(call *Call, policies []Policy) (Decision, error) {
	return i.ask(call, policies, func(index *C.GavelIndex, policies **C.GavelPolicy, count C.size_t, request *C.uint8_t, n C.size_t) *C.GavelError {
		return C.gavel_index_mutate(index, policies, count, request, n, &call.options, &call.decision)
	})
}

func (i Index) ask(call *Call, policies []Policy, ask func(*C.GavelIndex, **C.GavelPolicy, C.size_t, *C.uint8_t, C.size_t) *C.GavelError) (Decision, error) {
	pointer, err := i.c()
	if err != nil {
		return Decision{}, err
	}
	defer i.done()
	var pointers []*C.GavelPolicy
	for _, policy := range policies {
		pointer, err := policy.c()
		if err != nil {
			return Decision{}, err
		}
		defer policy.done()
		pointers = append(pointers, pointer)
	}
	var first **C.GavelPolicy
	if policies != nil {
		// An empty list must not become a null pointer, because a null pointer selects the policies of the index.
		pointers = append(pointers, nil)
		first = unsafe.SliceData(pointers)
	}
	bytes, n := data(call.Flat)
	if err := take(ask(pointer, first, C.size_t(len(policies)), bytes, n)); err != nil {
		return Decision{}, err
	}
	runtime.KeepAlive(pointers)
	out := &call.decision
	return Decision{Allowed: bool(out.allowed), Mutated: bool(out.mutated), Details: takeBytes(out.details)}, nil
}
