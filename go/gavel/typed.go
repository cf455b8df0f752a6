package gavel

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"time"

	"gavel.dev/go/internal/flat"
)

// Type is a CEL type that is used as a value. The string is the name of the type. A variable cannot have such a value.
type Type string

// AppendFlat returns an error. It is for the other packages of this module.
func (t Type) AppendFlat(*flat.Writer) error {
	return errors.New("a type cannot be the value of a variable")
}

// Optional is an optional value.
type Optional struct {
	// Set says whether the optional has a value.
	Set   bool
	Value any
}

// AppendFlat encodes the optional. It is for the other packages of this module.
func (o Optional) AppendFlat(w *flat.Writer) error {
	if !o.Set {
		w.None()
		return nil
	}
	return w.Some(o.Value)
}

// Opaque is a value of a type that a library defines, such as a quantity or an IP address.
type Opaque struct {
	// Kind is "quantity", "url", "ip", "cidr", "semver" or "format", or the name of another type.
	Kind string
	// Text is the value as text.
	Text string
}

// Object is the value of a struct literal, such as Object.spec{replicas: 1} in a mutation.
type Object struct {
	Type   string
	Fields map[string]any
}

// HeldError is an error that replaces a value in a list or a map. A variable cannot have such a value.
type HeldError string

func (e HeldError) Error() string { return string(e) }

// AppendFlat returns an error. It is for the other packages of this module.
func (e HeldError) AppendFlat(*flat.Writer) error {
	return errors.New("an error cannot be the value of a variable")
}

// Entry is an entry of a [Map].
type Entry struct{ Key, Value any }

// Map is a CEL map. Its keys need not be strings. The entries are ordered by the text of their keys.
type Map []Entry

// AppendFlat encodes the map. It is for the other packages of this module.
func (m Map) AppendFlat(w *flat.Writer) error {
	return w.Map(len(m), func(i int) (key, value any) { return m[i].Key, m[i].Value })
}

// Get returns the value of a key. The key must have the Go type of the CEL key: the key 1 is int64(1), not the Go int 1.
func (m Map) Get(key any) (any, bool) {
	for _, entry := range m {
		if entry.Key == key {
			return entry.Value, true
		}
	}
	return nil, false
}

// readTyped decodes the typed JSON of the batch protocol.
func readTyped(text []byte) (any, error) {
	var object map[string]json.RawMessage
	if err := json.Unmarshal(text, &object); err != nil {
		return nil, err
	}
	if name, ok := object["opaque"]; ok {
		opaque := Opaque{}
		if err := json.Unmarshal(name, &opaque.Kind); err != nil {
			return nil, err
		}
		if text, ok := object["string"]; ok {
			if err := json.Unmarshal(text, &opaque.Text); err != nil {
				return nil, err
			}
		}
		return opaque, nil
	}
	for key, value := range object {
		return readKey(key, value)
	}
	return nil, fmt.Errorf("no typed value: %s", text)
}

func readKey(key string, raw json.RawMessage) (any, error) {
	switch key {
	case "null":
		return nil, nil
	case "bool":
		return read[bool](raw)
	case "list":
		return readList(raw)
	case "map":
		return readMap(raw)
	case "optional":
		if bytes.Equal(raw, []byte("null")) {
			return Optional{}, nil
		}
		value, err := readTyped(raw)
		return Optional{Set: true, Value: value}, err
	case "object":
		return readObject(raw)
	}
	text, err := read[string](raw)
	if err != nil {
		return nil, err
	}
	switch key {
	case "string":
		return text, nil
	case "int":
		return strconv.ParseInt(text, 10, 64)
	case "uint":
		return strconv.ParseUint(text, 10, 64)
	case "double":
		return strconv.ParseFloat(text, 64)
	case "bytes":
		return base64.StdEncoding.DecodeString(text)
	case "timestamp":
		return time.Parse(time.RFC3339Nano, text)
	case "duration":
		return time.ParseDuration(text)
	case "type":
		return Type(text), nil
	case "error":
		return HeldError(text), nil
	}
	return Opaque{Kind: key, Text: text}, nil
}

func read[T any](raw json.RawMessage) (T, error) {
	var value T
	err := json.Unmarshal(raw, &value)
	return value, err
}

func readList(raw json.RawMessage) (any, error) {
	items, err := read[[]json.RawMessage](raw)
	if err != nil {
		return nil, err
	}
	list := make([]any, len(items))
	for i, item := range items {
		if list[i], err = readTyped(item); err != nil {
			return nil, err
		}
	}
	return list, nil
}

func readMap(raw json.RawMessage) (any, error) {
	pairs, err := read[[][2]json.RawMessage](raw)
	if err != nil {
		return nil, err
	}
	entries := make(Map, len(pairs))
	for i, pair := range pairs {
		if entries[i].Key, err = readTyped(pair[0]); err != nil {
			return nil, err
		}
		if entries[i].Value, err = readTyped(pair[1]); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func readObject(raw json.RawMessage) (any, error) {
	object, err := read[struct {
		Type   string                     `json:"type"`
		Fields map[string]json.RawMessage `json:"fields"`
	}](raw)
	if err != nil {
		return nil, err
	}
	fields := make(map[string]any, len(object.Fields))
	for name, field := range object.Fields {
		if fields[name], err = readTyped(field); err != nil {
			return nil, err
		}
	}
	return Object{Type: object.Type, Fields: fields}, nil
}

// ReadTyped decodes typed JSON. It is for the other packages of this module.
func ReadTyped(text []byte) (any, error) { return readTyped(text) }
