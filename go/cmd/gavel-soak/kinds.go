package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"gavel.dev/go/admission"
	"gavel.dev/go/crd"
	"gavel.dev/go/gavel"
)

// kind describes a kind of call.
type kind struct {
	name string
	// share is the number of calls of this kind per thousand calls.
	share int
	// call makes call number n, and returns an error if the answer is wrong.
	call func(n int64) error
}

const definition = `{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
	"spec": {
		"group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
		"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
			"type": "object",
			"properties": {"spec": {
				"type": "object",
				"properties": {"replicas": {"type": "integer"}},
				"x-kubernetes-validations": [{"rule": "self.replicas <= 5", "messageExpression": "'at most 5, not ' + string(self.replicas)"}]
			}}
		}}}]
	}
}`

const policy = `{
	"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "replicas"},
	"spec": {
		"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
		"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments"]}]},
		"validations": [
			{"expression": "object.spec.replicas <= int(params.data.most)"},
			{"expression": "authorizer.requestResource.check('scale').allowed()", "message": "may not scale"}
		]
	}
}`

const binding = `{
	"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "replicas"},
	"spec": {"policyName": "replicas", "validationActions": ["Deny"], "paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}}
}`

var errAway = errors.New("the host is away")

// host is a Lookup whose method Namespace may fail, and an authorizer that may panic.
type host struct{ fails, panics bool }

func (h host) Namespace(name string) (any, error) {
	if h.fails {
		return nil, errAway
	}
	return map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": name}}, nil
}

func (h host) Param(apiVersion, kind, namespace, name string) (any, error) {
	return map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name}, "data": map[string]any{"most": "5"},
	}, nil
}

func (h host) authorize(gavel.Attributes) (gavel.Verdict, string, error) {
	if h.panics {
		panic(errAway)
	}
	return gavel.Allow, "", nil
}

func wrong(answer any, err error) error { return fmt.Errorf("the answer is %v, %v", answer, err) }

func newKinds() ([]kind, error) {
	env, err := gavel.NewEnv(gavel.Variable("object", "dyn"), gavel.Variable("xs", "list(int)"))
	if err != nil {
		return nil, err
	}
	short, err := env.Compile("object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))")
	if err != nil {
		return nil, err
	}
	endless, err := env.Compile("xs.all(a, xs.all(b, xs.all(c, a + b + c == 0)))")
	if err != nil {
		return nil, err
	}
	things, err := crd.Compile(json.RawMessage(definition))
	if err != nil {
		return nil, err
	}
	index, err := admission.NewIndex()
	if err != nil {
		return nil, err
	}
	for _, object := range []string{policy, binding} {
		if err := index.Apply(json.RawMessage(object)); err != nil {
			return nil, err
		}
	}
	return []kind{
		{"evaluations", 700, func(n int64) error { return evaluate(short, n) }},
		{"evaluations with a context that is over", 20, func(n int64) error { return evaluateOver(short) }},
		{"evaluations that are cancelled while they run", 1, func(n int64) error { return evaluateEndless(endless) }},
		{"expressions compiled", 9, func(n int64) error { return compile(env, n) }},
		{"custom resources", 150, func(n int64) error { return validate(things, n) }},
		{"requests decided", 100, func(n int64) error { return decide(index, n, host{}) }},
		{"requests whose host fails", 10, func(n int64) error { return decideFailing(index, n) }},
		{"requests whose authorizer panics", 8, func(n int64) error { return decidePanicking(index, n) }},
		{"policies that change", 2, func(n int64) error { return index.Apply(json.RawMessage(policy)) }},
	}, nil
}

func evaluate(program *gavel.Program, n int64) error {
	image := "registry.example.com/web:1"
	if n%2 == 1 {
		image = "elsewhere/web:1"
	}
	object := map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "web", "image": image}}}}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	result, err := program.Eval(ctx, map[string]any{"object": object})
	if err != nil || result.Value != (n%2 == 0) {
		return wrong(result, err)
	}
	return nil
}

func evaluateOver(program *gavel.Program) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	cancel(errAway)
	if result, err := program.Eval(ctx, map[string]any{"object": nil}); !errors.Is(err, errAway) {
		return wrong(result, err)
	}
	return nil
}

func evaluateEndless(program *gavel.Program) error {
	ctx, cancel := context.WithCancelCause(context.Background())
	defer time.AfterFunc(4*time.Millisecond, func() { cancel(errAway) }).Stop()
	result, err := program.Eval(ctx, map[string]any{"xs": make([]int64, 2000)}, gavel.CostLimit(1<<62))
	if !errors.Is(err, errAway) {
		return wrong(result, err)
	}
	return nil
}

func compile(env *gavel.Env, n int64) error {
	program, err := env.Compile(fmt.Sprintf("object.spec.replicas <= %d", n))
	if err != nil {
		return err
	}
	// The garbage collector frees every other program.
	if n%2 == 0 {
		defer program.Close()
	}
	result, err := program.Eval(context.Background(), map[string]any{"object": map[string]any{"spec": map[string]any{"replicas": n}}})
	if err != nil || result.Value != true {
		return wrong(result, err)
	}
	return nil
}

func validate(things *crd.Definition, n int64) error {
	object := map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "a", "namespace": "shop"},
		"spec": map[string]any{"replicas": n % 8},
	}
	value, err := gavel.NewValue(object)
	if err != nil {
		return err
	}
	if n%2 == 0 {
		defer value.Close()
	}
	outcome, err := things.Validate(context.Background(), value, crd.ValidateOptions{SkipMetadata: true})
	if err != nil || outcome.Valid() != (n%8 <= 5) {
		return wrong(outcome, err)
	}
	return nil
}

func request(n int64) map[string]any {
	return map[string]any{
		"operation": "CREATE", "name": "web", "namespace": "shop",
		"kind":     map[string]any{"group": "apps", "version": "v1", "kind": "Deployment"},
		"resource": map[string]any{"group": "apps", "version": "v1", "resource": "deployments"},
		"userInfo": map[string]any{"username": "alice"},
		"object": map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": "web", "namespace": "shop"}, "spec": map[string]any{"replicas": n % 8},
		},
	}
}

func decide(index *admission.Index, n int64, asked host) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	decision, err := index.Decide(ctx, request(n), admission.Options{Lookup: asked, Authorizer: asked.authorize})
	if err != nil {
		return err
	}
	if decision.Allowed != (n%8 <= 5) {
		return wrong(decision, nil)
	}
	return nil
}

func decideFailing(index *admission.Index, n int64) error {
	if err := decide(index, n, host{fails: true}); !errors.Is(err, errAway) {
		return wrong(nil, err)
	}
	return nil
}

func decidePanicking(index *admission.Index, n int64) (failure error) {
	defer func() {
		if value := recover(); value != errAway {
			failure = wrong(value, failure)
		}
	}()
	return decide(index, n, host{panics: true})
}
