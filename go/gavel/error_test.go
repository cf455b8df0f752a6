package gavel_test

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"gavel.dev/go/gavel"
)

// check fails the test if an error is not a [gavel.Error] of this kind with this message.
func check(t *testing.T, err error, kind gavel.Kind, message string) {
	t.Helper()
	var failure *gavel.Error
	if !errors.As(err, &failure) || failure.Kind != kind || failure.Message != message {
		t.Errorf("got %#v; want kind %v: %s", err, kind, message)
	}
}

func TestOptionsThatCannotBeReadAreArguments(t *testing.T) {
	const versions = "the version must be from 1.34 to 1.37"
	for message, option := range map[string]gavel.Option{
		"options: json: unsupported type: chan int":                                                       gavel.Schema("s", make(chan int), false),
		"options: json: error calling MarshalJSON for type json.RawMessage: unexpected end of JSON input": gavel.Schema("s", json.RawMessage("{"), false),
		"vars: the name of a variable must not be empty":                                                  gavel.Variable("", "int"),
		"server: Kubernetes 1.33 is unknown; " + versions:                                                 gavel.Server("1.33"),
		"server: Kubernetes 1.38 is unknown; " + versions:                                                 gavel.Server("1.38"),
	} {
		_, err := gavel.NewEnv(option)
		check(t, err, gavel.KindArgument, message)
	}
}

func TestErrorsOfVariablesNameThePlace(t *testing.T) {
	program := compile(t, "n == 1 || object.a == 1", gavel.Variable("n", "int"), gavel.Variable("object", "dyn"))
	type pod struct{ Name string }
	const noPlace = "a value of the Go type gavel_test.pod has no place in CEL; convert it to a map[string]any (runtime.DefaultUnstructuredConverter does so)"
	for _, test := range []struct {
		variables map[string]any
		message   string
	}{
		{map[string]any{"n": "one"}, `variable "n": must be of type int, not string`},
		{map[string]any{"object": pod{}}, `variable "object": ` + noPlace},
		{map[string]any{"object": map[string]any{"a": []any{pod{}}}}, `variable "object".a[0]: ` + noPlace},
	} {
		_, err := program.Eval(context.Background(), test.variables)
		check(t, err, gavel.KindArgument, test.message)
	}
	_, err := program.Eval(context.Background(), map[string]any{"n": json.RawMessage("{")})
	check(t, err, gavel.KindDecode, `variable "n": EOF while parsing an object at line 1 column 1`)
	lists := compile(t, "[at]", gavel.Variable("at", "timestamp"))
	_, err = lists.Eval(context.Background(), map[string]any{"at": time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)})
	var failure *gavel.Error
	if !errors.As(err, &failure) || failure.Kind != gavel.KindArgument {
		t.Errorf("a time after the year 9999: %v", err)
	}
	value, err := gavel.NewValue(1)
	if err != nil {
		t.Fatal(err)
	}
	value.Close()
	if _, err := program.Eval(context.Background(), map[string]any{"object": value}); !errors.Is(err, gavel.ErrClosed) {
		t.Errorf("a closed value: %v", err)
	}
}

func TestErrorsOfValuesSayWhatToPassInstead(t *testing.T) {
	nested := any(nil)
	for range 200 {
		nested = []any{nested}
	}
	for _, test := range []struct {
		value   any
		message string
	}{
		{[]byte("{}"), "bytes are not JSON; pass JSON text as json.RawMessage (in C: tag 32, the length, the text)"},
		{map[int]int{1: 2}, "a map is not JSON; a JSON object must have string keys (in C: tag 9)"},
		{struct{}{}, "value: a value of the Go type struct {} has no place in CEL; convert it to a map[string]any (runtime.DefaultUnstructuredConverter does so)"},
	} {
		_, err := gavel.NewValue(test.value)
		check(t, err, gavel.KindArgument, test.message)
	}
	if _, err := gavel.NewValue(nested); err == nil {
		t.Error("a deep value is accepted")
	}
}

func TestKindsHaveNames(t *testing.T) {
	for kind, name := range map[gavel.Kind]string{gavel.KindParse: "Parse", gavel.KindPanic: "Panic", 99: "Kind(99)"} {
		if kind.String() != name {
			t.Errorf("%s; want %s", kind, name)
		}
	}
}
