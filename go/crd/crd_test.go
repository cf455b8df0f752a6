package crd_test

import (
	"errors"
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
