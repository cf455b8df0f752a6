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

func TestANilOldObjectOfAnyTypeMeansThatTheObjectIsCreated(t *testing.T) {
	definition, err := crd.Compile(json.RawMessage(things))
	if err != nil {
		t.Fatal(err)
	}
	defer definition.Close()
	object := thing(map[string]any{"color": "blue", "replicas": 1})
	object["metadata"] = map[string]any{"name": "a", "namespace": "default"}
	for _, old := range []any{nil, (*gavel.Value)(nil), map[string]any(nil), json.RawMessage(nil)} {
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
