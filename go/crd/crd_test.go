package crd_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"gavel.dev/go/crd"
	"gavel.dev/go/gavel"
)

func TestWhatIsNoDefinitionIsRejected(t *testing.T) {
	const message = "the definition must be a JSON object, not a string; pass JSON text as json.RawMessage (in C: tag 32, the length, the text)"
	_, compiled := crd.Compile(things)
	_, checked := crd.Check(things, nil)
	for _, err := range []error{compiled, checked} {
		var failure *gavel.Error
		if !errors.As(err, &failure) || failure.Kind != gavel.KindDecode || failure.Message != message {
			t.Errorf("%v; want %s", err, message)
		}
	}
}

func TestNullAsOldObjectMeansThatTheObjectIsCreated(t *testing.T) {
	definition, err := crd.Compile(json.RawMessage(things))
	if err != nil {
		t.Fatal(err)
	}
	defer definition.Close()
	object := thing(map[string]any{"color": "blue", "replicas": 1})
	object["metadata"] = map[string]any{"name": "a", "namespace": "default"}
	null, err := gavel.NewValue(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	rules, err := crd.CompileRules(map[string]any{
		"type": "integer", "x-kubernetes-validations": []any{map[string]any{"rule": "self > oldSelf"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer rules.Close()
	for _, old := range []any{nil, (*gavel.Value)(nil), map[string]any(nil), json.RawMessage(nil), json.RawMessage("null"), null} {
		if report, err := crd.Check(json.RawMessage(things), old); err != nil || len(report.Errors) > 0 {
			t.Errorf("%T: %v, %v", old, report, err)
		}
		if outcome, err := rules.Validate(context.Background(), crd.Subject{Value: 1, Old: old, Budget: 1000}); err != nil || !outcome.Valid() {
			t.Errorf("%T: %v, %v", old, outcome, err)
		}
		if _, err := definition.Prepare("", object, old, false); err != nil {
			t.Errorf("%T: %v", old, err)
		}
		outcome, err := definition.Validate(context.Background(), object, crd.ValidateOptions{Old: old})
		if err != nil || !outcome.Valid() {
			t.Errorf("%T: %v, %v", old, outcome, err)
		}
	}
}

func TestAnEstablishedDefinitionKeepsItsScope(t *testing.T) {
	definition := func(scope, established string) json.RawMessage {
		replacer := strings.NewReplacer(
			`"metadata": {`, `"status": {"conditions": [{"type": "Established", "status": "`+established+`"}], "storedVersions": ["v1"]},
			"metadata": {"resourceVersion": "1", `,
			`"scope": "Namespaced"`, `"scope": "`+scope+`"`,
		)
		return json.RawMessage(replacer.Replace(things))
	}
	for established, expected := range map[string]string{
		"False": "",
		"True":  `spec.scope: Invalid value: "Cluster": field is immutable`,
	} {
		report, err := crd.Check(definition("Cluster", established), definition("Namespaced", established))
		if err != nil {
			t.Fatal(err)
		}
		var errors string
		for _, err := range report.Errors {
			errors += err.Message
		}
		if errors != expected {
			t.Errorf("Established is %s: %q; want %q", established, errors, expected)
		}
	}
}
