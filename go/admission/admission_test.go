package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"gavel.dev/go/admission"
	"gavel.dev/go/gavel"
)

// found is a Lookup that returns the same object or error for all params.
type found struct {
	lister
	param any
	err   error
}

func (f found) Param(string, string, string, string) (any, error) { return f.param, f.err }

func decideWith(t *testing.T, lookup admission.Lookup) (*admission.Decision, error) {
	t.Helper()
	index, err := admission.NewIndex()
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	for _, object := range []string{policy, binding} {
		if err := index.Apply(json.RawMessage(object)); err != nil {
			t.Fatal(err)
		}
	}
	return index.Decide(context.Background(), request(3), admission.Options{Lookup: lookup})
}

func TestWhatALookupFindsCounts(t *testing.T) {
	limits := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"namespace": "shop", "name": "limits"}, "data": map[string]any{"most": "5"},
	}
	value, err := gavel.NewValue(limits)
	if err != nil {
		t.Fatal(err)
	}
	defer value.Close()
	for _, param := range []any{limits, value} {
		decision, err := decideWith(t, found{param: param})
		if err != nil || !decision.Allowed {
			t.Errorf("%T: %v, %v", param, decision, err)
		}
	}
	for _, nothing := range []any{nil, map[string]any(nil), (*gavel.Value)(nil), json.RawMessage(nil)} {
		decision, err := decideWith(t, found{param: nothing})
		if err != nil || decision.Allowed || !strings.Contains(decision.Status.Message, "no params found") {
			t.Errorf("%T: %v, %v", nothing, decision, err)
		}
	}
}

func TestALookupThatFailsEndsTheCall(t *testing.T) {
	down := errors.New("the API server is away")
	if decision, err := decideWith(t, found{err: down}); !errors.Is(err, down) {
		t.Errorf("%v, %v", decision, err)
	}
	decision, err := decideWith(t, found{param: struct{ A int }{1}})
	var failure *gavel.Error
	if !errors.As(err, &failure) || failure.Kind != gavel.KindArgument || !strings.Contains(failure.Message, "an object that Lookup found") {
		t.Errorf("a struct: %v, %v", decision, err)
	}
}

func TestWhatIsNoObjectIsRejected(t *testing.T) {
	index, err := admission.NewIndex()
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	const needed = "the object must be a JSON object with apiVersion, kind and metadata.name"
	for _, test := range []struct {
		object  any
		message string
	}{
		{policy, needed + ", not a string; pass JSON text as json.RawMessage (in C: tag 32, the length, the text)"},
		{5, needed + ", not a number"},
		{nil, needed + ", not null"},
		{map[string]any{}, needed + "; apiVersion must be a string that is not empty"},
		{json.RawMessage(strings.Replace(policy, `"apiVersion"`, `"apiversion"`, 1)), needed + "; apiVersion must be a string that is not empty"},
	} {
		for name, change := range map[string]func(any) error{"Apply": index.Apply, "Delete": index.Delete} {
			var failure *gavel.Error
			if err := change(test.object); !errors.As(err, &failure) || failure.Kind != gavel.KindDecode || failure.Message != test.message {
				t.Errorf("%s: %v; want %s", name, err, test.message)
			}
		}
	}
}

func TestOptionsOfOtherCallsAreRejected(t *testing.T) {
	_, err := admission.NewIndex(admission.WithoutDefaults())
	if err == nil || err.Error() != `unknown key "noDefaults"; known: server, k8sVersion` {
		t.Errorf("%v", err)
	}
}
