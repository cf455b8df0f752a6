package capi

import (
	"errors"
	"testing"
	"unsafe"
)

func TestAClosedHandleServesOnlyTheCallsThatUseIt(t *testing.T) {
	var memory byte
	freed := 0
	h := newBriefHandle(unsafe.Pointer(&memory), func(unsafe.Pointer) { freed++ })
	if _, err := h.use(); err != nil {
		t.Fatal(err)
	}
	h.Close()
	h.Close()
	if _, err := h.use(); !errors.Is(err, ErrClosed) {
		t.Errorf("a call after Close: %v", err)
	}
	if freed != 0 {
		t.Error("freed while a call uses the handle")
	}
	h.done()
	if freed != 1 {
		t.Errorf("freed %d times", freed)
	}
}
