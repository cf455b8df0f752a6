package gavel

import (
	"encoding/json"
	"fmt"

	"gavel.dev/go/internal/capi"
	"gavel.dev/go/internal/flat"
)

// Value is a JSON value that the library holds, so that it crosses once however many calls look at it. It does not change.
type Value struct{ held capi.Value }

// NewValue hands a value over: a map[string]any, an unstructured object, a json.RawMessage, or what JSON has beside objects.
func NewValue(value any) (*Value, error) {
	if value, ok := value.(*Value); ok {
		return value, nil
	}
	held, err := crossed(value, capi.NewValue)
	if err != nil {
		return nil, err
	}
	return &Value{held}, nil
}

// crossed hands a value over.
func crossed(value any, take func(flat []byte) (capi.Value, error)) (capi.Value, error) {
	call := capi.NewCall()
	defer call.End()
	writer := flat.Writer{Buf: call.Flat}
	err := writer.Value(value)
	call.Flat = writer.Buf
	defer writer.Release()
	if err != nil {
		return capi.Value{}, &Error{Kind: KindArgument, Message: fmt.Sprintf("value%v", err)}
	}
	held, err := take(call.Flat)
	return held, Wrap(err)
}

// Close frees the value. Calls that use it go on.
func (v *Value) Close() { v.held.Close() }

// MarshalJSON writes the value as Kubernetes does.
func (v *Value) MarshalJSON() ([]byte, error) {
	text, err := v.held.JSON()
	return text, Wrap(err)
}

// Decode reads the value into Go's own types, as encoding/json does.
func (v *Value) Decode(into any) error {
	text, err := v.MarshalJSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// AppendFlat is for this module.
func (v *Value) AppendFlat(w *flat.Writer) error { return w.Handle(v.held) }

// HeldValue is what the library holds of a value made of v, for the other packages of this module: done ends its use, and must be called.
func HeldValue(v any) (held capi.Value, done func(), err error) {
	if value, ok := v.(*Value); ok {
		return value.held, func() {}, nil
	}
	held, err = crossed(v, capi.NewBriefValue)
	if err != nil {
		return capi.Value{}, nil, err
	}
	return held, held.Close, nil
}

// ValueOf is for the other packages of this module.
func ValueOf(held capi.Value) *Value { return &Value{held} }
