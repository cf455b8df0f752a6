package capi

/*
#include "library.h"
extern void gavelGoAuthorize(uintptr_t context, uint64_t authorizer, uint8_t *attributes, size_t len, GavelReply *reply);
extern void gavelGoFindNamespace(uintptr_t context, uint8_t *name, size_t len, GavelReply *reply);
extern void gavelGoFindParam(uintptr_t context, uint8_t *version, size_t version_len, uint8_t *kind, size_t kind_len,
	uint8_t *namespace_, size_t namespace_len, uint8_t *name, size_t name_len, GavelReply *reply);

static void set_callbacks(GavelCallbacks *callbacks, uintptr_t context, bool authorize, bool namespaces, bool params) {
	callbacks->context = context;
	callbacks->authorize = authorize ? (GavelAuthorize)gavelGoAuthorize : NULL;
	callbacks->find_namespace = namespaces ? (GavelFindNamespace)gavelGoFindNamespace : NULL;
	callbacks->find_param = params ? (GavelFindParam)gavelGoFindParam : NULL;
}
*/
import "C"

import (
	"context"
	"errors"
	"runtime/cgo"
	"sync"
	"time"
)

// Verdict is the decision of an authorizer.
type Verdict int

// The verdicts of an authorizer.
const (
	NoOpinion Verdict = C.GAVEL_VERDICT_NO_OPINION
	Allow     Verdict = C.GAVEL_VERDICT_ALLOW
	Deny      Verdict = C.GAVEL_VERDICT_DENY
)

// Callbacks are the Go functions that the library may call during one call. Each function may be nil.
type Callbacks struct {
	// Authorize receives the number of the authorizer and the attributes as JSON.
	Authorize func(number uint64, attributes []byte) (Verdict, string, error)
	// FindNamespace returns a namespace in the flat encoding, or nil if the namespace does not exist. An error ends the call.
	FindNamespace func(name string) ([]byte, error)
	// FindParam returns a param in the flat encoding, or nil if the param does not exist. An error ends the call.
	FindParam func(apiVersion, kind, namespace, name string) ([]byte, error)
	// Convert converts an object, given as JSON text, to a kind, and returns it in the flat encoding. An error fails the policy.
	Convert func(object []byte, apiVersion, kind string) ([]byte, error)

	// panicked is the value of a panic in a callback. failed is the error of FindNamespace or FindParam.
	panicked any
	failed   error
}

// caught stores a panic of a callback until the call has returned. The panic must not unwind through the library.
func (c *Callbacks) caught() {
	if value := recover(); value != nil {
		c.panicked = value
	}
}

// Call contains the limits, the output and the input (Flat, in the flat encoding) of one call of the library.
type Call struct {
	Flat      []byte
	options   C.GavelOptions
	outcome   C.GavelOutcome
	decision  C.GavelDecision
	validated C.GavelValidation
	cancel    *C.GavelCancel
	callbacks *Callbacks
	handle    cgo.Handle
}

var calls = sync.Pool{New: func() any { return new(Call) }}

// maxKept is the capacity of the largest buffer that is reused for later calls, in bytes.
const maxKept = 1 << 20

// NewCall takes a call from the pool.
func NewCall() *Call { return calls.Get().(*Call) }

// End returns the call to the pool.
func (c *Call) End() {
	if cap(c.Flat) > maxKept {
		c.Flat = nil
	}
	c.Flat = c.Flat[:0]
	c.options = C.GavelOptions{}
	c.outcome = C.GavelOutcome{}
	c.decision = C.GavelDecision{}
	c.validated = C.GavelValidation{}
	if c.handle != 0 {
		c.handle.Delete()
		c.handle = 0
	}
	c.callbacks = nil
	calls.Put(c)
}

// Limit sets the cost limit, in cost units.
func (c *Call) Limit(units int64) {
	c.options.has_cost_limit = true
	c.options.cost_limit = C.int64_t(units)
}

// Memory sets the memory limit of the values that the call computes, in bytes.
func (c *Call) Memory(bytes uint64) { c.options.memory_limit = C.size_t(bytes) }

// Ask sets the callbacks of the call.
func (c *Call) Ask(callbacks *Callbacks) {
	if callbacks == nil {
		return
	}
	c.callbacks = callbacks
	c.handle = cgo.NewHandle(callbacks)
	C.set_callbacks(&c.options.callbacks, C.uintptr_t(c.handle), callbacks.Authorize != nil, callbacks.FindNamespace != nil, callbacks.FindParam != nil)
}

// unwatched is the time for which a call runs without observing its context. Most calls take less time. A longer call without callbacks is
// restarted with a watcher.
const unwatched = 2 * time.Millisecond

// Run makes a call, and interrupts the call when the context ends. If a callback panics, Run panics with the same value.
func (c *Call) Run(ctx context.Context, call func() error) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	if ctx.Done() == nil {
		return c.made(call)
	}
	left := time.Duration(0)
	if deadline, ok := ctx.Deadline(); ok {
		left = max(time.Until(deadline), 1)
	}
	// A call with callbacks is not restarted, because the callbacks must not be called twice.
	if c.handle == 0 {
		c.options.timeout_nanos = C.uint64_t(unwatched)
		if left > 0 && left < unwatched {
			c.options.timeout_nanos = C.uint64_t(left)
		}
		err := call()
		if !isInterrupted(err) {
			return err
		}
		if err := ctx.Err(); err != nil {
			return context.Cause(ctx)
		}
	}
	c.options.timeout_nanos = C.uint64_t(left)
	return c.watched(ctx, call)
}

func (c *Call) watched(ctx context.Context, call func() error) error {
	cancel := C.gavel_cancel_new()
	c.options.cancel = cancel
	set := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		C.gavel_cancel_set(cancel, true)
		close(set)
	})
	defer func() {
		if !stop() {
			<-set
		}
		c.options.cancel = nil
		C.gavel_cancel_free(cancel)
	}()
	err := c.made(call)
	if isInterrupted(err) {
		// The library can notice a deadline before the context does.
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(time.Second):
			return context.DeadlineExceeded
		}
	}
	return err
}

// made makes the call. It panics if a callback panicked, and returns the error of a failed callback.
func (c *Call) made(call func() error) error {
	err := call()
	if c.callbacks == nil {
		return err
	}
	if c.callbacks.panicked != nil {
		panic(c.callbacks.panicked)
	}
	if err != nil && c.callbacks.failed != nil {
		return c.callbacks.failed
	}
	return err
}

func isInterrupted(err error) bool {
	if err == nil {
		return false
	}
	var failure *Error
	return errors.As(err, &failure) && failure.Kind == KindInterrupted
}
