// Package flat encodes Go values in the flat encoding of the C library (docs/embed-c.md).
package flat

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"time"

	"gavel.dev/go/internal/capi"
)

const (
	tagNull byte = iota
	tagFalse
	tagTrue
	tagInt
	tagUint
	tagDouble
	tagString
	tagBytes
	tagList
	tagObject
	tagMap
	tagTimestamp
	tagDuration
	tagNone
	tagSome
	tagTimestampWithOffset
)

const (
	tagJSON          byte = 32
	tagHandle        byte = 33
	tagAuthorizer    byte = 34
	tagResourceCheck byte = 35
)

// maxDepth is the limit of nesting levels, which is the same in the library.
const maxDepth = 127

// Unstructured is implemented by *unstructured.Unstructured of k8s.io/apimachinery.
type Unstructured interface{ UnstructuredContent() map[string]any }

// Appender is a value that encodes itself.
type Appender interface{ AppendFlat(*Writer) error }

// Asked is the authorizer of an authorizer value or a resource check.
type Asked interface {
	Authorize(attributes []byte) (capi.Verdict, string, error)
}

// located is the error of a part of a value.
type located struct {
	path string
	err  error
}

func (e *located) Error() string { return e.path + ": " + e.err.Error() }

func (e *located) Unwrap() error { return e.err }

// Within puts the name of a value, or a step of a path, before an error. It returns nil if there is no error.
func Within(step string, err error) error {
	if err == nil {
		return nil
	}
	if inner, ok := err.(*located); ok {
		return &located{step + inner.path, inner.err}
	}
	return &located{step, err}
}

// IsNil reports whether a Go value is nil: no value, or a nil pointer, map or slice.
func IsNil(value any) bool {
	switch value := reflect.ValueOf(value); value.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Map, reflect.Slice:
		return value.IsNil()
	default:
		return false
	}
}

// Writer encodes values. Handles in the values stay open until Release.
type Writer struct {
	Buf []byte
	// Copies says that the values of handles are written as JSON texts, so that the encoded value can be used after Release.
	Copies bool
	// depth is the number of lists, objects, maps, optionals and pointers around the next value.
	depth       int
	held        []func()
	authorizers []Asked
}

// Release ends the use of the handles in the encoded values.
func (w *Writer) Release() {
	for _, done := range w.held {
		done()
	}
	w.held = nil
}

// Callbacks returns callbacks for the encoded authorizers, or nil if no authorizer was encoded.
func (w *Writer) Callbacks() *capi.Callbacks {
	if len(w.authorizers) == 0 {
		return nil
	}
	authorizers := w.authorizers
	return &capi.Callbacks{Authorize: func(number uint64, attributes []byte) (capi.Verdict, string, error) {
		if number >= uint64(len(authorizers)) {
			return capi.NoOpinion, "", fmt.Errorf("no authorizer %d", number)
		}
		return authorizers[number].Authorize(attributes)
	}}
}

// Handle writes a reference to a value in the library's memory.
func (w *Writer) Handle(value capi.Value) error {
	if w.Copies {
		text, err := value.JSON()
		w.JSON(text)
		return err
	}
	address, done, err := value.Address()
	if err != nil {
		return err
	}
	w.held = append(w.held, done)
	w.Buf = binary.LittleEndian.AppendUint64(append(w.Buf, tagHandle), address)
	return nil
}

// Authorizer writes an authorizer for a user or, if resource is not nil, a resource check.
func (w *Writer) Authorizer(asked Asked, user, resource any) error {
	number := uint64(len(w.authorizers))
	w.authorizers = append(w.authorizers, asked)
	tag := tagAuthorizer
	if resource != nil {
		tag = tagResourceCheck
	}
	w.Buf = binary.LittleEndian.AppendUint64(append(w.Buf, tag), number)
	parts := []any{user}
	if resource != nil {
		parts = append(parts, resource)
	}
	for _, part := range parts {
		text, err := json.Marshal(part)
		if err != nil {
			return err
		}
		w.length(len(text))
		w.Buf = append(w.Buf, text...)
	}
	return nil
}

// Some writes an optional with a value.
func (w *Writer) Some(value any) error {
	w.Buf = append(w.Buf, tagSome)
	return w.Value(value)
}

// None writes an optional without a value.
func (w *Writer) None() { w.Buf = append(w.Buf, tagNone) }

// Map writes a map with this number of entries. The function returns the entry at a position.
func (w *Writer) Map(length int, entry func(i int) (key, value any)) error {
	w.begin(tagMap, length, false)
	for i := range length {
		key, value := entry(i)
		if err := w.Value(key); err != nil {
			return err
		}
		if err := w.Value(value); err != nil {
			return Within(fmt.Sprintf("[%v]", key), err)
		}
	}
	return nil
}

// JSON writes a JSON text. The library reads it according to the type of the variable.
func (w *Writer) JSON(text []byte) {
	w.Buf = append(w.Buf, tagJSON)
	w.length(len(text))
	w.Buf = append(w.Buf, text...)
}

// Variables writes an object that maps the names of variables to their values.
func (w *Writer) Variables(variables map[string]any) error {
	w.begin(tagObject, len(variables), false)
	w.depth++
	for name, value := range variables {
		w.text(name)
		if err := w.Value(value); err != nil {
			return Within(fmt.Sprintf("variable %q", name), err)
		}
	}
	w.depth--
	return nil
}

// Value writes a value.
func (w *Writer) Value(value any) error {
	if w.depth > maxDepth {
		return fmt.Errorf("nested deeper than %d", maxDepth)
	}
	w.depth++
	err := w.value(value)
	w.depth--
	return err
}

// begin writes the tag and the length of a list, an object or a map. If isNil, it writes null. The caller then writes the entries.
func (w *Writer) begin(tag byte, length int, isNil bool) {
	if isNil {
		w.Buf = append(w.Buf, tagNull)
		return
	}
	w.Buf = append(w.Buf, tag)
	w.length(length)
}

func (w *Writer) length(n int) { w.Buf = binary.LittleEndian.AppendUint32(w.Buf, uint32(n)) }

func (w *Writer) text(text string) {
	w.length(len(text))
	w.Buf = append(w.Buf, text...)
}

func (w *Writer) number(tag byte, bits uint64) {
	w.Buf = binary.LittleEndian.AppendUint64(append(w.Buf, tag), bits)
}

func (w *Writer) string(text string) {
	w.Buf = append(w.Buf, tagString)
	w.text(text)
}

func (w *Writer) bytes(bytes []byte) {
	w.Buf = append(w.Buf, tagBytes)
	w.length(len(bytes))
	w.Buf = append(w.Buf, bytes...)
}

func (w *Writer) time(value time.Time) {
	_, offset := value.Zone()
	w.number(tagTimestampWithOffset, uint64(value.Unix()))
	w.length(value.Nanosecond())
	w.length(offset)
}

func (w *Writer) value(value any) error {
	switch value := value.(type) {
	case nil:
		w.Buf = append(w.Buf, tagNull)
	case string:
		w.string(value)
	case bool:
		if value {
			w.Buf = append(w.Buf, tagTrue)
		} else {
			w.Buf = append(w.Buf, tagFalse)
		}
	case int64:
		w.number(tagInt, uint64(value))
	case float64:
		w.number(tagDouble, math.Float64bits(value))
	case map[string]any:
		return w.object(value)
	case []any:
		return w.list(value)
	case int:
		w.number(tagInt, uint64(value))
	case int32:
		w.number(tagInt, uint64(value))
	case uint64:
		w.number(tagUint, value)
	case json.RawMessage:
		if value == nil {
			w.Buf = append(w.Buf, tagNull)
			return nil
		}
		w.JSON(value)
	case json.Number:
		return w.jsonNumber(value)
	case []byte:
		w.bytes(value)
	case time.Time:
		w.time(value)
	case time.Duration:
		w.number(tagDuration, uint64(value))
	case map[string]string:
		w.begin(tagObject, len(value), value == nil)
		for name, text := range value {
			w.text(name)
			w.string(text)
		}
	case []string:
		w.begin(tagList, len(value), value == nil)
		for _, text := range value {
			w.string(text)
		}
	case Appender:
		if IsNil(value) {
			w.Buf = append(w.Buf, tagNull)
			return nil
		}
		return value.AppendFlat(w)
	case Unstructured:
		if IsNil(value) {
			w.Buf = append(w.Buf, tagNull)
			return nil
		}
		return w.object(value.UnstructuredContent())
	default:
		return w.reflected(reflect.ValueOf(value))
	}
	return nil
}

func (w *Writer) object(object map[string]any) error {
	w.begin(tagObject, len(object), object == nil)
	for name, value := range object {
		w.text(name)
		if err := w.Value(value); err != nil {
			return Within("."+name, err)
		}
	}
	return nil
}

func (w *Writer) list(list []any) error {
	w.begin(tagList, len(list), list == nil)
	for i, value := range list {
		if err := w.Value(value); err != nil {
			return Within(fmt.Sprintf("[%d]", i), err)
		}
	}
	return nil
}

// jsonNumber writes a number as Kubernetes reads it: as an int64 if the number is an int64, otherwise as a double.
func (w *Writer) jsonNumber(number json.Number) error {
	if int, err := number.Int64(); err == nil {
		w.number(tagInt, uint64(int))
		return nil
	}
	double, err := number.Float64()
	if err != nil {
		return err
	}
	w.number(tagDouble, math.Float64bits(double))
	return nil
}

// reflected writes a value according to its reflect.Kind. The method value calls it for types that have no case of their own.
func (w *Writer) reflected(value reflect.Value) error {
	switch value.Kind() {
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		w.number(tagInt, uint64(value.Int()))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		w.number(tagUint, value.Uint())
	case reflect.Float32, reflect.Float64:
		w.number(tagDouble, math.Float64bits(value.Float()))
	case reflect.Bool:
		return w.value(value.Bool())
	case reflect.String:
		w.string(value.String())
	case reflect.Slice, reflect.Array:
		if value.Type().Elem() == reflect.TypeFor[byte]() {
			w.bytes(bytesOf(value))
			return nil
		}
		w.begin(tagList, value.Len(), value.Kind() == reflect.Slice && value.IsNil())
		for i := range value.Len() {
			if err := w.Value(value.Index(i).Interface()); err != nil {
				return Within(fmt.Sprintf("[%d]", i), err)
			}
		}
	case reflect.Map:
		return w.reflectedMap(value)
	case reflect.Pointer, reflect.Interface:
		if value.IsNil() {
			w.Buf = append(w.Buf, tagNull)
			return nil
		}
		return w.Value(value.Elem().Interface())
	default:
		return fmt.Errorf("a value of the Go type %s has no place in CEL; convert it to a map[string]any (runtime.DefaultUnstructuredConverter does so)", value.Type())
	}
	return nil
}

// bytesOf returns the bytes of a slice or an array of bytes.
func bytesOf(value reflect.Value) []byte {
	if value.Kind() == reflect.Slice {
		return value.Bytes()
	}
	bytes := make([]byte, value.Len())
	reflect.Copy(reflect.ValueOf(bytes), value)
	return bytes
}

func (w *Writer) reflectedMap(value reflect.Value) error {
	names := value.Type().Key().Kind() == reflect.String
	w.begin(map[bool]byte{true: tagObject, false: tagMap}[names], value.Len(), value.IsNil())
	for entries := value.MapRange(); entries.Next(); {
		key := entries.Key()
		if names {
			w.text(key.String())
		} else if err := w.Value(key.Interface()); err != nil {
			return err
		}
		if err := w.Value(entries.Value().Interface()); err != nil {
			return Within(fmt.Sprintf("[%v]", key), err)
		}
	}
	return nil
}
