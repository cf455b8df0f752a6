package gavel

import (
	"encoding/json"

	"gavel.dev/go/internal/capi"
	"gavel.dev/go/internal/flat"
)

// Value is an immutable JSON value in the library's memory. Several calls can use it without converting it again. It can stand for the
// whole argument of a call or for a part of it, such as the object of an admission request.
type Value struct{ held capi.Value }

// NewValue converts a Go value to a Value. The Go value is a map[string]any, an unstructured object, a json.RawMessage, or any other JSON
// value. If it is a *Value, the new Value shares its memory and must be closed, too.
func NewValue(value any) (*Value, error) {
	if value, ok := value.(*Value); ok && value != nil {
		held, err := value.held.Share()
		if err != nil {
			return nil, err
		}
		return &Value{held}, nil
	}
	held, err := crossed(value, capi.NewValue)
	if err != nil {
		return nil, err
	}
	return &Value{held}, nil
}

// crossed encodes a Go value, and passes the encoded value to take, which decodes it in the library.
func crossed(value any, take func(flat []byte) (capi.Value, error)) (capi.Value, error) {
	call := capi.NewCall()
	defer call.End()
	writer := flat.Writer{Buf: call.Flat}
	err := writer.Value(value)
	call.Flat = writer.Buf
	defer writer.Release()
	if err != nil {
		return capi.Value{}, Argument(flat.Within("value", err))
	}
	held, err := take(call.Flat)
	return held, Wrap(err)
}

// Close frees the value. Calls in flight finish first.
func (v *Value) Close() { v.held.Close() }

// MarshalJSON returns the value as JSON text, as Kubernetes writes it.
func (v *Value) MarshalJSON() ([]byte, error) {
	text, err := v.held.JSON()
	return text, Wrap(err)
}

// Decode stores the value in the variable that into points to, like [json.Unmarshal].
func (v *Value) Decode(into any) error {
	text, err := v.MarshalJSON()
	if err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// AppendFlat encodes a reference to the value. It is for the other packages of this module.
func (v *Value) AppendFlat(w *flat.Writer) error { return w.Handle(v.held) }

// HeldValue converts v to a handle for one call. The caller must call done after the call. HeldValue is for the other packages of this
// module.
func HeldValue(v any) (held capi.Value, done func(), err error) {
	if value, ok := v.(*Value); ok && value != nil {
		return value.held, func() {}, nil
	}
	held, err = crossed(v, capi.NewBriefValue)
	if err != nil {
		return capi.Value{}, nil, err
	}
	return held, held.Close, nil
}

// ValueOf converts a handle to a [Value]. It is for the other packages of this module.
func ValueOf(held capi.Value) *Value { return &Value{held} }
