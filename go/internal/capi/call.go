package capi

/*
#include "gavel.h"
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

// Verdict is what an authorizer answers.
type Verdict int

// The verdicts.
const (
	NoOpinion Verdict = C.GAVEL_VERDICT_NO_OPINION
	Allow     Verdict = C.GAVEL_VERDICT_ALLOW
	Deny      Verdict = C.GAVEL_VERDICT_DENY
)

// Callbacks are what the library may ask during one call. Each may be nil.
type Callbacks struct {
	// Authorize is asked with the number of the authorizer and the attributes as JSON.
	Authorize func(number uint64, attributes []byte) (Verdict, string, error)
	// FindNamespace answers with a flat value, or nothing. An error ends the call.
	FindNamespace func(name string) ([]byte, error)
	// FindParam answers with a flat value, or nothing. An error ends the call.
	FindParam func(apiVersion, kind, namespace, name string) ([]byte, error)

	// panicked is what a callback panicked with, failed the error of one that finds objects.
	panicked any
	failed   error
}

// caught keeps a panic, which must not unwind through the library, until the call is over.
func (c *Callbacks) caught() {
	if value := recover(); value != nil {
		c.panicked = value
	}
}

// Call is what one call needs: its input in the flat encoding, and what bounds it.
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

// maxKept is the size of the largest buffer that is kept for a later call.
const maxKept = 1 << 20

// NewCall takes a call from the pool.
func NewCall() *Call { return calls.Get().(*Call) }

// End gives the call back.
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

// Limit sets the limit of cost units.
func (c *Call) Limit(units int64) {
	c.options.has_cost_limit = true
	c.options.cost_limit = C.int64_t(units)
}

// Memory sets the limit of bytes that the call computes.
func (c *Call) Memory(bytes uint64) { c.options.memory_limit = C.size_t(bytes) }

// Ask sets whom the call may ask.
func (c *Call) Ask(callbacks *Callbacks) {
	if callbacks == nil {
		return
	}
	c.callbacks = callbacks
	c.handle = cgo.NewHandle(callbacks)
	C.set_callbacks(&c.options.callbacks, C.uintptr_t(c.handle), callbacks.Authorize != nil, callbacks.FindNamespace != nil, callbacks.FindParam != nil)
}

// unwatched is how long a call may run before something watches its context: most are over long before that, and what is begun
// anew with a watcher loses only this.
const unwatched = 2 * time.Millisecond

// Run makes a call that ends when the context does. What a callback panics with, Run panics with.
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
	// A call that asks its host must not ask twice.
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
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		// The library's clock was ahead of the context's.
		return context.DeadlineExceeded
	}
	return err
}

// made makes the call, and tells what its callbacks have failed with.
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
