package rules

import (
	"context"
	"fmt"
	"testing"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// TestAnswersAreThoseOfTheBuiltInValidator validates the same values with Gavel's validator and with the built-in validator.
func TestAnswersAreThoseOfTheBuiltInValidator(t *testing.T) {
	integer := schema.Structural{Generic: schema.Generic{Type: "integer"}}
	object := &schema.Structural{
		Generic:    schema.Generic{Type: "object"},
		Properties: map[string]schema.Structural{"replicas": integer, "max": integer},
		ValidationExtensions: schema.ValidationExtensions{XValidations: apiextensions.ValidationRules{
			{Rule: "self.replicas <= self.max", Message: "too many"},
			{Rule: "self.max == oldSelf.max", MessageExpression: "'max was ' + string(oldSelf.max)", FieldPath: ".max"},
		}},
	}
	ours, theirs := NewValidator(object, false, celconfig.PerCallLimit), cel.NewValidator(object, false, celconfig.PerCallLimit)
	defer ours.Close()
	value := func(replicas, most int64) any { return map[string]any{"replicas": replicas, "max": most} }
	for _, pair := range [][2]any{
		{value(3, 5), nil}, {value(7, 5), nil}, {value(7, 5), value(1, 5)}, {value(7, 6), value(1, 5)}, {map[string]any{"max": int64(1)}, nil},
	} {
		for _, budget := range []int64{celconfig.RuntimeCELCostBudget, 4, 0} {
			found, left := ours.Validate(context.Background(), field.NewPath("spec"), object, pair[0], pair[1], budget)
			want, wantLeft := theirs.Validate(context.Background(), field.NewPath("spec"), object, pair[0], pair[1], budget)
			if fmt.Sprint(found) != fmt.Sprint(want) || left != wantLeft {
				t.Errorf("%v with %d: %v, %d; want %v, %d", pair, budget, found, left, want, wantLeft)
			}
		}
	}
}
