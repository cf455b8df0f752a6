package admission_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
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
	if !errors.As(err, &failure) || failure.Kind != gavel.KindArgument || !strings.Contains(failure.Message, "an object that a callback returned") {
		t.Errorf("a struct: %v, %v", decision, err)
	}
}

// The library gives deep calls more stack. Go ends the process if a callback runs on a stack that does not belong to the thread.
func TestCallbacksOfDeepCallsReturn(t *testing.T) {
	const depth = 5000
	variables := []map[string]string{{"name": "v0", "expression": "authorizer.path('/deep').check('get').allowed()"}}
	for n := 1; n <= depth; n++ {
		variables = append(variables, map[string]string{"name": fmt.Sprintf("v%d", n), "expression": fmt.Sprintf("variables.v%d", n-1)})
	}
	index, err := admission.NewIndex()
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	for _, object := range []any{
		map[string]any{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": map[string]any{"name": "replicas"},
			"spec": map[string]any{
				"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
					"apiGroups": []string{"*"}, "apiVersions": []string{"*"}, "operations": []string{"*"}, "resources": []string{"*"},
				}}},
				"variables":   variables,
				"validations": []any{map[string]any{"expression": fmt.Sprintf("variables.v%d", depth)}},
			},
		},
		json.RawMessage(`{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "replicas"},
			"spec": {"policyName": "replicas", "validationActions": ["Deny"]}
		}`),
	} {
		if err := index.Apply(object); err != nil {
			t.Fatal(err)
		}
	}
	for verdict, allowed := range map[gavel.Verdict]bool{gavel.Allow: true, gavel.NoOpinion: false} {
		asked := 0
		authorize := func(gavel.Attributes) (gavel.Verdict, string, error) {
			asked++
			runtime.GC()
			return verdict, "", nil
		}
		options := admission.Options{Authorizer: authorize, Lookup: lister{}}
		decision, err := index.Decide(context.Background(), request(3), options)
		if err != nil || decision.Allowed != allowed || asked != 1 {
			t.Errorf("%v: %v, %v, asked %d times", verdict, decision, err, asked)
		}
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

func TestPoliciesOfACallMustNotBeNil(t *testing.T) {
	index, err := admission.NewIndex()
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	compiled, err := admission.Compile(json.RawMessage(policy))
	if err != nil {
		t.Fatal(err)
	}
	defer compiled.Close()
	options := admission.Options{Policies: []*admission.Policy{compiled, nil}}
	_, decided := index.Decide(context.Background(), request(3), options)
	_, mutated := index.Mutate(context.Background(), request(3), options)
	for _, err := range []error{decided, mutated} {
		var failure *gavel.Error
		if !errors.As(err, &failure) || failure.Kind != gavel.KindArgument || failure.Message != "Policies[1] must not be nil" {
			t.Errorf("%v", err)
		}
	}
}

func TestValuesMayBePartsOfRequests(t *testing.T) {
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
	conditions, err := admission.NewConditions()
	if err != nil {
		t.Fatal(err)
	}
	defer conditions.Close()
	condition, err := conditions.Compile("object.spec.replicas == 7", admission.Declarations{})
	if err != nil {
		t.Fatal(err)
	}
	defer condition.Close()
	held := func(value any) *gavel.Value {
		held, err := gavel.NewValue(value)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(held.Close)
		return held
	}
	whole, part := request(7), request(7)
	part["object"] = held(part["object"])
	param := map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "limits", "namespace": "shop"}}
	param["data"] = held(map[string]any{"most": "5"})
	for name, request := range map[string]any{"whole": held(whole), "part": part} {
		decision, err := index.Decide(context.Background(), request, admission.Options{Lookup: found{param: param}})
		if err != nil || decision.Allowed || !strings.Contains(decision.Status.Message, "at most 5") {
			t.Errorf("%s: %v, %v", name, decision, err)
		}
		if mutation, err := index.Mutate(context.Background(), request, admission.Options{}); err != nil || !mutation.Allowed {
			t.Errorf("%s: %v, %v", name, mutation, err)
		}
	}
	results, _, err := conditions.Eval(context.Background(), []*admission.Condition{condition}, map[string]any{"object": part["object"]}, 1000)
	if err != nil || len(results) != 1 || results[0].Value != true {
		t.Errorf("%v, %v", results, err)
	}
}

func TestPoliciesMatchEquivalentResourcesOfARequest(t *testing.T) {
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
	other := func() map[string]any {
		request := request(7)
		request["kind"].(map[string]any)["version"] = "v2"
		request["resource"].(map[string]any)["version"] = "v2"
		request["object"] = map[string]any{"apiVersion": "apps/v2", "kind": "Deployment", "metadata": map[string]any{"name": "web"}, "count": 7}
		return request
	}
	request := other()
	equivalents := []any{request["resource"], map[string]any{"group": "apps", "version": "v1", "resource": "deployments"}}
	for i, resource := range equivalents {
		kind := map[string]any{"group": "apps", "version": resource.(map[string]any)["version"], "kind": "Deployment"}
		equivalents[i] = map[string]any{"resource": resource, "kind": kind}
	}
	request["equivalents"] = equivalents
	convert := func(object json.RawMessage, apiVersion, kind string) (any, error) {
		var was struct{ Count int64 }
		if err := json.Unmarshal(object, &was); err != nil {
			return nil, err
		}
		return map[string]any{"apiVersion": apiVersion, "kind": kind, "spec": map[string]any{"replicas": was.Count}}, nil
	}
	fail := func(json.RawMessage, string, string) (any, error) { return nil, errors.New("no way") }
	nothing := func(json.RawMessage, string, string) (any, error) { return nil, nil }
	for _, test := range []struct {
		request map[string]any
		convert func(json.RawMessage, string, string) (any, error)
		denied  string
	}{
		{other(), nil, ""},
		{request, convert, "at most 5"},
		{request, fail, "failed to configure binding: failed to convert object version: no way"},
		{request, nil, "no such key: spec"},
		{request, nothing, "no such key: spec"},
	} {
		decision, err := index.Decide(context.Background(), test.request, admission.Options{Lookup: lister{}, Convert: test.convert})
		if err != nil || decision.Allowed != (test.denied == "") || !decision.Allowed && !strings.Contains(decision.Status.Message, test.denied) {
			t.Errorf("%q: %v, %v", test.denied, decision, err)
		}
	}
	defer func() {
		if value := recover(); value != "lost" {
			t.Errorf("%v", value)
		}
	}()
	lost := func(json.RawMessage, string, string) (any, error) { panic("lost") }
	decision, err := index.Decide(context.Background(), request, admission.Options{Lookup: lister{}, Convert: lost})
	t.Errorf("%v, %v", decision, err)
}
