package crd

import (
	"context"
	"encoding/json"

	"gavel.dev/go/gavel"
	"gavel.dev/go/internal/capi"
)

// Rules are the compiled rules of a structural schema and of all schemas in it, for hosts with their own schema validation.
type Rules struct{ inner capi.Rules }

// ResourceRoot says that the schema describes a whole object, with apiVersion, kind and metadata. Only [CompileRules] and [CheckRules]
// accept it.
func ResourceRoot() Option { return func(config map[string]any) { config["resource"] = true } }

// PerCallLimit limits the cost of one evaluation, in cost units. The default is Kubernetes' limit of 1,000,000. Only
// [CompileRules] accepts it.
func PerCallLimit(units uint64) Option {
	return func(config map[string]any) { config["perCallLimit"] = units }
}

// StoredRules contains two values for each rule: whether the rule is already stored, and whether its messageExpression is already stored.
// Only [CheckRules] accepts this option.
func StoredRules(stored [][2]bool) Option {
	return func(config map[string]any) { config["stored"] = stored }
}

// CompileRules compiles the rules of a structural OpenAPI v3 schema. The rules are compiled as stored rules. [Rules.Validate] reports rules
// that do not compile.
func CompileRules(schema any, options ...Option) (*Rules, error) {
	config, err := configOf(options)
	if err != nil {
		return nil, err
	}
	held, done, err := gavel.HeldValue(schema)
	if err != nil {
		return nil, err
	}
	defer done()
	inner, err := capi.CompileRules(held, config)
	if err != nil {
		return nil, gavel.Wrap(err)
	}
	return &Rules{inner}, nil
}

// Close frees the rules. Calls in flight finish first.
func (r *Rules) Close() { r.inner.Close() }

// Subject is a value to validate.
type Subject struct {
	// Path is the path of the value, such as "spec". Empty is the root of an object.
	Path string
	// Value is the value to validate. Old is the value before an update, or nil or JSON null if there was no value.
	Value, Old any
	// Ratcheting turns rule errors that the old value has too into warnings.
	Ratcheting bool
	// Budget limits the cost of all rules together, in cost units.
	Budget int64
}

// Validate evaluates the rules. It does not validate the value against the schema.
func (r *Rules) Validate(ctx context.Context, subject Subject) (*Outcome, error) {
	held, done, err := gavel.HeldValue(subject.Value)
	if err != nil {
		return nil, err
	}
	defer done()
	old, done, err := optional(subject.Old)
	if err != nil {
		return nil, err
	}
	defer done()
	call := capi.NewCall()
	defer call.End()
	call.Limit(subject.Budget)
	var found capi.Validation
	err = call.Run(ctx, func() error {
		var err error
		found, err = r.inner.Validate(call, subject.Path, held, old, subject.Ratcheting)
		return err
	})
	if err != nil {
		return nil, gavel.Wrap(err)
	}
	outcome := &Outcome{RemainingBudget: found.RemainingBudget}
	if found.Findings != nil {
		err = json.Unmarshal(found.Findings, outcome)
	}
	return outcome, err
}

// CheckedRule is the result of compiling a rule.
type CheckedRule struct {
	// Error says why the rule does not compile.
	Error       string `json:"error"`
	UsesOldSelf bool   `json:"usesOldSelf"`
	// MaxCost bounds the cost of one evaluation, in cost units. MaxCardinality bounds the number of evaluations.
	MaxCost        uint64 `json:"maxCost"`
	MaxCardinality uint64 `json:"maxCardinality"`
	// MessageError says why the messageExpression does not compile. MessageMaxCost bounds the cost of the messageExpression, in cost units.
	// It is nil if there is no messageExpression, or if the messageExpression does not compile.
	MessageError   string  `json:"messageError"`
	MessageMaxCost *uint64 `json:"messageMaxCost"`
	FieldPath      string  `json:"fieldPath"`
}

// CheckRules compiles the rules of one schema, but not the rules of schemas in it. It returns a result for each rule. The result for a
// blank rule is nil.
func CheckRules(schema any, options ...Option) ([]*CheckedRule, error) {
	config, err := configOf(options)
	if err != nil {
		return nil, err
	}
	held, done, err := gavel.HeldValue(schema)
	if err != nil {
		return nil, err
	}
	defer done()
	text, err := capi.CheckRules(held, config)
	if err != nil {
		return nil, gavel.Wrap(err)
	}
	var rules []*CheckedRule
	err = json.Unmarshal(text, &rules)
	return rules, err
}
