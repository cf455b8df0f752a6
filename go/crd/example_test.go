package crd_test

import (
	"context"
	"encoding/json"
	"fmt"

	"gavel.dev/go/crd"
)

const things = `{
	"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": "things.example.com"},
	"spec": {
		"group": "example.com", "scope": "Namespaced", "names": {"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
		"versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": {
			"type": "object",
			"properties": {"spec": {
				"type": "object",
				"properties": {"replicas": {"type": "integer", "default": 1}, "color": {"type": "string", "maxLength": 10}},
				"x-kubernetes-validations": [
					{"rule": "self.replicas <= 5", "fieldPath": ".replicas", "message": "too many"},
					{"rule": "self.color == oldSelf.color", "message": "color is immutable"}
				]
			}}
		}}}]
	}
}`

func thing(spec map[string]any) map[string]any {
	return map[string]any{
		"apiVersion": "example.com/v1", "kind": "Thing",
		"metadata": map[string]any{"name": "a", "namespace": "default", "resourceVersion": "1", "generation": 1}, "spec": spec,
	}
}

func Example() {
	definition, err := crd.Compile(json.RawMessage(things), crd.Server("1.36"))
	if err != nil {
		panic(err)
	}
	defer definition.Close()
	old, unknown, err := definition.Decode(thing(map[string]any{"color": "red", "size": 3}), crd.DecodeOptions{FromStorage: true})
	if err != nil {
		panic(err)
	}
	defer old.Close()
	fmt.Println(unknown)
	object, _, err := definition.Decode(thing(map[string]any{"color": "blue", "replicas": 7}), crd.DecodeOptions{})
	if err != nil {
		panic(err)
	}
	defer object.Close()
	outcome, err := definition.Validate(context.Background(), object, crd.ValidateOptions{Old: old})
	if err != nil {
		panic(err)
	}
	for _, found := range outcome.Errors() {
		fmt.Println(found)
	}
	// Output:
	// [spec.size]
	// spec.replicas: Invalid value: too many
	// spec: Invalid value: color is immutable
}

func ExampleCheck() {
	report, err := crd.Check(json.RawMessage(things), nil, crd.Server("1.36"))
	if err != nil {
		panic(err)
	}
	for _, rule := range report.Rules {
		fmt.Println(rule.Rule, *rule.ExpressionCost)
	}
	// Output:
	// self.replicas <= 5 3
	// self.color == oldSelf.color 8
}

func ExampleCompileRules() {
	schema := map[string]any{
		"type":                     "object",
		"properties":               map[string]any{"replicas": map[string]any{"type": "integer"}},
		"x-kubernetes-validations": []any{map[string]any{"rule": "self.replicas <= 5"}},
	}
	rules, err := crd.CompileRules(schema, crd.Server("1.36"))
	if err != nil {
		panic(err)
	}
	defer rules.Close()
	outcome, err := rules.Validate(context.Background(), crd.Subject{Path: "spec", Value: map[string]any{"replicas": 7}, Budget: 1000})
	if err != nil {
		panic(err)
	}
	fmt.Println(outcome.RuleErrors[0], outcome.RemainingBudget)
	// Output: spec: Invalid value: failed rule: self.replicas <= 5 997
}
