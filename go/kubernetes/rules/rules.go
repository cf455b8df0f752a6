// Package rules evaluates the x-kubernetes-validations of structural schemas with Gavel. For validation, an API server can import this
// package instead of apiextensions' pkg/apiserver/schema/cel: NewValidator, Validate and WithRatcheting are called in the same way. To
// compile the rules of definitions, use package crd.
package rules

import (
	"context"
	"encoding/json"
	"errors"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/klog/v2"

	"gavel.dev/go/crd"
)

// Validator evaluates the rules of a structural schema.
type Validator struct {
	rules *crd.Rules
	// err says why there are no compiled rules.
	err error
}

type options struct{ ratcheting bool }

// Option changes how a value is validated.
type Option func(*options)

// WithRatcheting turns rule errors that the old value has too into warnings. If the correlation is nil, it does nothing. The old value is
// the argument of Validate; the content of the correlation is not used.
func WithRatcheting(correlation *common.CorrelatedObject) Option {
	return func(o *options) { o.ratcheting = correlation != nil }
}

// NewValidator compiles the rules of a schema as an API server of version 1.36 does. It returns nil if the schema has no rules. Validate
// reports rules that do not compile. perCallLimit limits the cost of one evaluation, in cost units.
func NewValidator(s *schema.Structural, isResourceRoot bool, perCallLimit uint64) *Validator {
	if !hasRules(s) {
		return nil
	}
	text, err := json.Marshal(s.ToKubeOpenAPI())
	if err != nil {
		return &Validator{err: err}
	}
	how := []crd.Option{crd.Server("1.36"), crd.PerCallLimit(perCallLimit)}
	if isResourceRoot {
		how = append(how, crd.ResourceRoot())
	}
	rules, err := crd.CompileRules(json.RawMessage(text), how...)
	return &Validator{rules: rules, err: err}
}

func hasRules(s *schema.Structural) bool {
	if s == nil {
		return false
	}
	if len(s.XValidations) > 0 || hasRules(s.Items) || s.AdditionalProperties != nil && hasRules(s.AdditionalProperties.Structural) {
		return true
	}
	for _, property := range s.Properties {
		if hasRules(&property) {
			return true
		}
	}
	return false
}

// Close frees the rules.
func (v *Validator) Close() {
	if v != nil && v.rules != nil {
		v.rules.Close()
	}
}

// Validate evaluates the rules on a created value, or on an updated value if old is not nil. It returns the errors and the remaining budget
// in cost units. The remaining budget is negative if a rule ended the validation. Warnings are added to the context.
func (v *Validator) Validate(ctx context.Context, path *field.Path, _ *schema.Structural, value, old any, budget int64, opts ...Option) (field.ErrorList, int64) {
	if v == nil || value == nil || budget < 0 {
		return nil, budget
	}
	if v.err != nil {
		return field.ErrorList{field.InternalError(path, v.err)}, budget
	}
	var how options
	for _, option := range opts {
		option(&how)
	}
	subject := crd.Subject{Value: value, Old: old, Ratcheting: how.ratcheting, Budget: budget}
	if path != nil {
		subject.Path = path.String()
	}
	outcome, err := v.rules.Validate(ctx, subject)
	if err != nil {
		if ctx.Err() != nil {
			err = errors.New("operation interrupted")
		}
		return field.ErrorList{field.InternalError(path, err)}, -1
	}
	for _, note := range outcome.Notes {
		klog.V(2).ErrorS(errors.New(note), "messageExpression evaluation failed")
	}
	for _, message := range outcome.Warnings {
		warning.AddWarning(ctx, "", message)
	}
	var found field.ErrorList
	for _, one := range outcome.RuleErrors {
		found = append(found, fieldError(one))
	}
	return found, outcome.RemainingBudget
}

func fieldError(found crd.FieldError) *field.Error {
	made := &field.Error{Type: field.ErrorType(found.Type), Field: found.Field, BadValue: field.OmitValueType{}, Detail: found.Detail}
	var value any
	if utiljson.Unmarshal(found.BadValue, &value) != nil {
		return made
	}
	made.BadValue = value
	// As JSON, a float64 can look like an int64. The message shows which of them the value is.
	if whole, ok := value.(int64); ok && made.Error() != found.Message {
		made.BadValue = float64(whole)
	}
	return made
}
