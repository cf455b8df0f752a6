package gavel_test

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"reflect"
	"testing"
	"time"

	"gavel.dev/go/gavel"
)

func TestAValueOfAValueIsClosedOnItsOwn(t *testing.T) {
	first, err := gavel.NewValue(map[string]any{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	second, err := gavel.NewValue(first)
	if err != nil {
		t.Fatal(err)
	}
	first.Close()
	first.Close()
	if text, err := second.MarshalJSON(); err != nil || string(text) != `{"a":1}` {
		t.Errorf("%s, %v", text, err)
	}
	second.Close()
	for name, value := range map[string]*gavel.Value{"first": first, "second": second} {
		if found, err := gavel.NewValue(value); !errors.Is(err, gavel.ErrClosed) {
			t.Errorf("%s: %v, %v", name, found, err)
		}
	}
}

func TestValuesMayBePartsOfOtherValues(t *testing.T) {
	part, err := gavel.NewValue(map[string]any{"a": 1})
	if err != nil {
		t.Fatal(err)
	}
	object := map[string]any{"list": []any{part}, "part": part}
	whole, err := gavel.NewValue(object)
	if err != nil {
		t.Fatal(err)
	}
	defer whole.Close()
	for kind, expression := range map[string]string{
		"dyn":              "x.list == [x.part] && x.part.a == 1",
		"map(string, dyn)": "x['part'].a == 1",
	} {
		program := compile(t, expression, gavel.Variable("x", kind))
		if result, err := program.Eval(context.Background(), map[string]any{"x": object}); err != nil || result.Value != true {
			t.Errorf("%s: %v, %v", kind, result, err)
		}
	}
	part.Close()
	if text, err := whole.MarshalJSON(); err != nil || string(text) != `{"list":[{"a":1}],"part":{"a":1}}` {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := gavel.NewValue(object); !errors.Is(err, gavel.ErrClosed) {
		t.Errorf("a closed part: %v", err)
	}
}

func TestGoValuesHaveTheTypesThatCelGoGivesThem(t *testing.T) {
	type named []byte
	east := time.FixedZone("east", 2*3600)
	for expression, value := range map[string]any{
		"x == b'ab'":                   named("ab"),
		"x == b'ac'":                   [2]byte{'a', 'c'},
		"x == b'\\x7f\\x00\\x00\\x01'": net.IP{127, 0, 0, 1},
		"x == b''":                     named(nil),
		"x == [1, 2]":                  [2]int{1, 2},
		"string(x) == '2026-01-31T01:30:00.000000005+02:00' && x.getHours() == 23": time.Date(2026, 1, 31, 1, 30, 0, 5, east),
		"string(x) == '2026-01-31T01:30:00Z'":                                      time.Date(2026, 1, 31, 1, 30, 0, 0, time.UTC),
		"x == '\ufffd' && size('\ufffd') == 1":                                     json.RawMessage(`"\ud800"`),
		"size(x) == 3":                                                             "a\xe2\x82",
	} {
		program := compile(t, expression, gavel.Variable("x", "dyn"))
		result, err := program.Eval(context.Background(), map[string]any{"x": value})
		if err != nil || !reflect.DeepEqual(result.Value, true) {
			t.Errorf("%s with %T: %v, %v", expression, value, result, err)
		}
	}
	far := time.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("far", 24*3600))
	_, err := compile(t, "x", gavel.Variable("x", "timestamp")).Eval(context.Background(), map[string]any{"x": far})
	check(t, err, gavel.KindArgument, "the offset of a time must be less than a day")
}
