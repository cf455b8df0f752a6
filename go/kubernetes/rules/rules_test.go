package rules

import (
	"context"
	"fmt"
	"reflect"
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

// TestInvalidValuesHaveTheirGoTypes compares the invalid values in the errors, and the texts of the errors.
func TestInvalidValuesHaveTheirGoTypes(t *testing.T) {
	rules := schema.ValidationExtensions{XValidations: apiextensions.ValidationRules{{Rule: "false"}}}
	number := &schema.Structural{Generic: schema.Generic{Type: "number"}, ValidationExtensions: rules}
	ours, theirs := NewValidator(number, false, celconfig.PerCallLimit), cel.NewValidator(number, false, celconfig.PerCallLimit)
	defer ours.Close()
	for _, value := range []any{int64(1000000), 1e6, 1.5, 1e20, map[string]any{"a": []any{int64(1), 1.5}}} {
		found, _ := ours.Validate(context.Background(), nil, number, value, nil, celconfig.RuntimeCELCostBudget)
		want, _ := theirs.Validate(context.Background(), nil, number, value, nil, celconfig.RuntimeCELCostBudget)
		if !reflect.DeepEqual(found, want) || found.ToAggregate().Error() != want.ToAggregate().Error() {
			t.Errorf("%v: %#v; want %#v", value, found[0], want[0])
		}
	}
}
