package crd

import (
	"context"
	"encoding/json"

	"gavel.dev/go/gavel"
	"gavel.dev/go/internal/capi"
)

// Rules are the compiled rules of a structural schema and of all schemas in it, for hosts that do the rest of validation themselves.
type Rules struct{ inner capi.Rules }

// ResourceRoot says that a schema is that of an object of its own, which has metadata.
func ResourceRoot() Option { return func(config map[string]any) { config["resource"] = true } }

// PerCallLimit bounds the cost units of one evaluation; the default is Kubernetes' 1,000,000.
func PerCallLimit(units uint64) Option {
	return func(config map[string]any) { config["perCallLimit"] = units }
}

// StoredRules says of each rule, and of its messageExpression, whether it was stored already.
func StoredRules(stored [][2]bool) Option {
	return func(config map[string]any) { config["stored"] = stored }
}

// CompileRules compiles the rules of a structural OpenAPI v3 schema, as stored ones. Those that do not compile become errors of Validate.
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

// Close frees the rules. Calls that use them go on.
func (r *Rules) Close() { r.inner.Close() }

// Subject is a value that rules look at.
type Subject struct {
	// Path is where the value lies, such as "spec"; empty is the root of an object.
	Path string
	// Value is the value, Old what it was before an update, or nil.
	Value, Old any
	// Ratcheting: rules that the value broke before become warnings.
	Ratcheting bool
	// Budget is what all rules may cost, in cost units.
	Budget int64
}

// Validate runs the rules. Schema errors are not looked for.
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

// CheckedRule is what became of a rule.
type CheckedRule struct {
	// Error says why the rule does not compile.
	Error       string `json:"error"`
	UsesOldSelf bool   `json:"usesOldSelf"`
	// MaxCost is the most that the rule costs once, MaxCardinality how often it may run at most.
	MaxCost        uint64 `json:"maxCost"`
	MaxCardinality uint64 `json:"maxCardinality"`
	// MessageError says why the messageExpression does not compile; MessageMaxCost is nil where there is none.
	MessageError   string  `json:"messageError"`
	MessageMaxCost *uint64 `json:"messageMaxCost"`
	FieldPath      string  `json:"fieldPath"`
}

// CheckRules compiles the rules of one schema, without those of schemas in it, and tells what became of each: nil for one that is blank.
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
