// Package capi is the only package that calls the C library.
//
// Run ../../build.sh before building this package. The script builds the static library and its header.
package capi

/*
#cgo CFLAGS: -I${SRCDIR}
#cgo LDFLAGS: -L${SRCDIR}/lib -lgavel_capi -lm -ldl -lpthread
#include "library.h"
*/
import "C"

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"sync/atomic"
	"unsafe"
)

// ABI is the major version of the C ABI that this package requires.
const ABI = 1

// build is the SHA-256 of the library. The compiled package contains it, so that Go links programs again if the library changes.
var build = C.GAVEL_BUILD

func init() {
	if major := uint32(C.gavel_abi_version()) >> 16; major != ABI {
		panic(fmt.Sprintf("gavel: the library %.12s has ABI %d, this module needs %d: run go/build.sh", build, major, ABI))
	}
}

// ErrClosed is returned if a handle is used after Close.
var ErrClosed = errors.New("gavel: used after Close")

// Error is an error of the library.
type Error struct {
	Kind         int
	Message      string
	Line, Column int
}

func (e *Error) Error() string { return e.Message }

// The kinds of errors.
const (
	KindArgument    = int(C.GAVEL_ERROR_KIND_ARGUMENT)
	KindParse       = int(C.GAVEL_ERROR_KIND_PARSE)
	KindCheck       = int(C.GAVEL_ERROR_KIND_CHECK)
	KindPlan        = int(C.GAVEL_ERROR_KIND_PLAN)
	KindEvaluation  = int(C.GAVEL_ERROR_KIND_EVALUATION)
	KindCostLimit   = int(C.GAVEL_ERROR_KIND_COST_LIMIT)
	KindMemoryLimit = int(C.GAVEL_ERROR_KIND_MEMORY_LIMIT)
	KindInterrupted = int(C.GAVEL_ERROR_KIND_INTERRUPTED)
	KindDecode      = int(C.GAVEL_ERROR_KIND_DECODE)
	KindCompile     = int(C.GAVEL_ERROR_KIND_COMPILE)
	KindPanic       = int(C.GAVEL_ERROR_KIND_PANIC)
)

// take converts an error of the library to a Go error, and frees the library's error.
func take(err *C.GavelError) error {
	if err == nil {
		return nil
	}
	defer C.gavel_error_free(err)
	var view C.GavelErrorView
	C.gavel_error_read(err, &view)
	message := textOf(view.message.data, view.message.len)
	return &Error{Kind: int(view.kind), Message: message, Line: int(view.line), Column: int(view.column)}
}

// takeBytes copies bytes that the library returned, and frees the library's bytes.
func takeBytes(taken C.GavelBytes) []byte {
	if taken.data == nil {
		return nil
	}
	defer C.gavel_bytes_free(taken)
	return bytesOf(taken.data, taken.len)
}

// bytesOf copies bytes of any length. The length of C.GoBytes has only 32 bits.
func bytesOf(data *C.uint8_t, length C.size_t) []byte {
	return bytes.Clone(unsafe.Slice((*byte)(data), int(length)))
}

func textOf(data *C.uint8_t, length C.size_t) string {
	return string(unsafe.Slice((*byte)(data), int(length)))
}

func data(bytes []byte) (*C.uint8_t, C.size_t) {
	return (*C.uint8_t)(unsafe.Pointer(unsafe.SliceData(bytes))), C.size_t(len(bytes))
}

func text(text string) (*C.uint8_t, C.size_t) {
	return (*C.uint8_t)(unsafe.Pointer(unsafe.StringData(text))), C.size_t(len(text))
}

// handle is a reference to a C handle. Close frees the C handle as soon as no call uses it. The garbage collector frees C handles that were
// not closed.
type handle struct {
	pointer unsafe.Pointer
	free    func(unsafe.Pointer)
	// users is the number of calls that use the handle, plus one while the handle is open.
	users   atomic.Int64
	closed  atomic.Bool
	cleanup runtime.Cleanup
}

func newHandle(pointer unsafe.Pointer, free func(unsafe.Pointer)) *handle {
	h := newBriefHandle(pointer, free)
	h.cleanup = runtime.AddCleanup(h, free, pointer)
	return h
}

// newBriefHandle returns a handle that the garbage collector does not free. The caller must close the handle.
func newBriefHandle(pointer unsafe.Pointer, free func(unsafe.Pointer)) *handle {
	h := &handle{pointer: pointer, free: free}
	h.users.Store(1)
	return h
}

// use returns the C handle for a call. The caller must call done after the call.
func (h *handle) use() (unsafe.Pointer, error) {
	if h == nil {
		return nil, ErrClosed
	}
	for {
		users := h.users.Load()
		if users == 0 || h.closed.Load() {
			return nil, ErrClosed
		}
		if h.users.CompareAndSwap(users, users+1) {
			return h.pointer, nil
		}
	}
}

func (h *handle) done() {
	if h.users.Add(-1) == 0 {
		h.cleanup.Stop()
		h.free(h.pointer)
	}
	runtime.KeepAlive(h)
}

// Close frees the C handle as soon as no call uses it. Close may be called more than once.
func (h *handle) Close() {
	if h != nil && h.closed.CompareAndSwap(false, true) {
		h.done()
	}
}

// Value is a JSON value in the library's memory.
type Value struct{ *handle }

func (h Value) c() (*C.GavelValue, error) {
	pointer, err := h.use()
	return (*C.GavelValue)(pointer), err
}

// NewValue decodes a value in the flat encoding.
func NewValue(flat []byte) (Value, error) {
	pointer, err := readValue(flat)
	if err != nil {
		return Value{}, err
	}
	return value(pointer), nil
}

// NewBriefValue decodes a value in the flat encoding. The garbage collector does not free the value. The caller must close the value.
func NewBriefValue(flat []byte) (Value, error) {
	pointer, err := readValue(flat)
	if err != nil {
		return Value{}, err
	}
	return Value{newBriefHandle(unsafe.Pointer(pointer), freeValue)}, nil
}

func readValue(flat []byte) (*C.GavelValue, error) {
	var out *C.GavelValue
	bytes, n := data(flat)
	err := take(C.gavel_value_new(bytes, n, &out))
	return out, err
}

func value(pointer *C.GavelValue) Value {
	return Value{newHandle(unsafe.Pointer(pointer), freeValue)}
}

// Share returns another handle for the value. The value is freed after both handles are closed.
func (v Value) Share() (Value, error) {
	pointer, err := v.use()
	if err != nil {
		return Value{}, err
	}
	return Value{newHandle(pointer, func(unsafe.Pointer) { v.done() })}, nil
}

func freeValue(pointer unsafe.Pointer) { C.gavel_value_free((*C.GavelValue)(pointer)) }

// Address returns the address of the value for the flat encoding. The caller must call the returned function when the address is no longer
// used.
func (v Value) Address() (uint64, func(), error) {
	pointer, err := v.c()
	if err != nil {
		return 0, nil, err
	}
	return uint64(uintptr(unsafe.Pointer(pointer))), v.done, nil
}

// JSON returns the value as JSON text.
func (v Value) JSON() ([]byte, error) {
	pointer, err := v.c()
	if err != nil {
		return nil, err
	}
	defer v.done()
	var out C.GavelBytes
	if err := take(C.gavel_value_json(pointer, &out)); err != nil {
		return nil, err
	}
	return takeBytes(out), nil
}
