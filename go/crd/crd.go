// Package crd validates CustomResourceDefinitions, and custom resources by them, as an API server does: schema, metadata and
// x-kubernetes-validations, with transition rules and ratcheting on updates.
package crd

import (
	"context"
	"encoding/json"

	"gavel.dev/go/gavel"
	"gavel.dev/go/internal/capi"
)

// FieldError is what is wrong with one field.
type FieldError struct {
	// Type is the sort of fault, such as "FieldValueInvalid".
	Type string `json:"type"`
	// Field is the path of the field.
	Field string `json:"field"`
	// BadValue is the value at fault as JSON, where it is told.
	BadValue json.RawMessage `json:"badValue,omitempty"`
	Detail   string          `json:"detail"`
	// Message is all of it in one line, as field.Error prints it.
	Message string `json:"string"`
}

func (e FieldError) Error() string { return e.Message }

// Rule is a rule of a definition, and what became of it.
type Rule struct {
	Version           string `json:"version"`
	Path              string `json:"path"`
	Rule              string `json:"rule"`
	MessageExpression string `json:"messageExpression,omitempty"`
	// NotCompiled says why the rule was not compiled at all.
	NotCompiled string `json:"notCompiled,omitempty"`
	// CompileError says why it does not compile.
	CompileError string `json:"compileError,omitempty"`
	// Estimate is the most that it costs to evaluate the rule once.
	Estimate *struct {
		Max uint64 `json:"max"`
	} `json:"estimate,omitempty"`
	// ExpressionCost is the most that the rule costs wherever it may run: what is compared with the limit of a rule.
	ExpressionCost           *uint64 `json:"expressionCost,omitempty"`
	UsesOldSelf              *bool   `json:"usesOldSelf,omitempty"`
	CompiledMaxCardinality   *uint64 `json:"compiledMaxCardinality,omitempty"`
	MaxCardinality           *uint64 `json:"maxCardinality,omitempty"`
	MessageExpressionMaxCost *uint64 `json:"messageExpressionMaxCost,omitempty"`
	MessageExpressionError   string  `json:"messageExpressionError,omitempty"`
	NormalizedFieldPath      string  `json:"normalizedFieldPath,omitempty"`
}

// Total is what the rules of a schema cost together.
type Total struct {
	Version   string `json:"version"`
	Path      string `json:"path"`
	TotalCost uint64 `json:"totalCost"`
	Limit     uint64 `json:"limit"`
}

// Report is what an API server says of a definition.
type Report struct {
	Errors               []FieldError `json:"errors"`
	Warnings             []string     `json:"warnings"`
	Rules                []Rule       `json:"rules"`
	Totals               []Total      `json:"totals"`
	CompatibilityVersion string       `json:"compatibilityVersion"`
}

// Option changes how definitions are read.
type Option func(config map[string]any)

// Server names the version of the API server that answers, such as "1.36", which it is by default.
func Server(version string) Option { return func(config map[string]any) { config["server"] = version } }

// Language names the version of Kubernetes whose functions new rules may use. By default it is the one before the server's.
func Language(version string) Option {
	return func(config map[string]any) { config["k8sVersion"] = version }
}

// Stored lists rules as if they were stored already, which may use all that any version offers.
func Stored() Option { return func(config map[string]any) { config["mode"] = "stored" } }

func configOf(options []Option) ([]byte, error) {
	if len(options) == 0 {
		return nil, nil
	}
	config := map[string]any{}
	for _, option := range options {
		option(config)
	}
	return json.Marshal(config)
}

// Check says what an API server says of a definition that is created or, where old is not nil, updated.
func Check(definition, old any, options ...Option) (*Report, error) {
	config, err := configOf(options)
	if err != nil {
		return nil, err
	}
	held, done, err := gavel.HeldValue(definition)
	if err != nil {
		return nil, err
	}
	defer done()
	oldHeld, done, err := optional(old)
	if err != nil {
		return nil, err
	}
	defer done()
	text, err := capi.ValidateDefinition(held, oldHeld, config)
	if err != nil {
		return nil, gavel.Wrap(err)
	}
	report := new(Report)
	return report, json.Unmarshal(text, report)
}

func optional(value any) (*capi.Value, func(), error) {
	if value == nil {
		return nil, func() {}, nil
	}
	held, done, err := gavel.HeldValue(value)
	return &held, done, err
}

// Definition is a compiled definition. Any number of goroutines may use it.
type Definition struct {
	inner          capi.CRD
	storageVersion string
}

// Compile compiles a definition, so that its objects can be validated. It is taken as valid: [Check] says whether it is.
func Compile(definition any, options ...Option) (*Definition, error) {
	config, err := configOf(options)
	if err != nil {
		return nil, err
	}
	held, done, err := gavel.HeldValue(definition)
	if err != nil {
		return nil, err
	}
	defer done()
	inner, err := capi.CompileCRD(held, config)
	if err != nil {
		return nil, gavel.Wrap(err)
	}
	version, err := inner.StorageVersion()
	return &Definition{inner: inner, storageVersion: version}, gavel.Wrap(err)
}

// Close frees the definition. Calls that use it go on.
func (d *Definition) Close() { d.inner.Close() }

// StorageVersion is the version in which objects are stored.
func (d *Definition) StorageVersion() string { return d.storageVersion }

// DecodeOptions say how an object is decoded; the zero value is what an API server does with the body of a request.
type DecodeOptions struct {
	// FromStorage: the object comes from storage.
	FromStorage bool
	// KeepUnknown: fields that the schema does not know stay.
	KeepUnknown bool
	// NoDefaults: no defaults are set.
	NoDefaults bool
}

// Decode brings an object to the form in which an API server holds it: unknown fields are dropped and listed, defaults are set.
func (d *Definition) Decode(object any, options DecodeOptions) (*gavel.Value, []string, error) {
	held, done, err := gavel.HeldValue(object)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	decoded, text, err := d.inner.Decode(held, options.FromStorage, options.KeepUnknown, options.NoDefaults)
	if err != nil {
		return nil, nil, gavel.Wrap(err)
	}
	var unknown []string
	if text != nil {
		err = json.Unmarshal(text, &unknown)
	}
	return gavel.ValueOf(decoded), unknown, err
}

// Prepare makes an object ready to be validated, as an API server does after admission: status and generation are put right. An empty
// version is the storage version; old is nil where the object is created; status says that only the status is updated.
func (d *Definition) Prepare(version string, object, old any, status bool) (*gavel.Value, error) {
	held, done, err := gavel.HeldValue(object)
	if err != nil {
		return nil, err
	}
	defer done()
	oldHeld, done, err := optional(old)
	if err != nil {
		return nil, err
	}
	defer done()
	prepared, err := d.inner.Prepare(d.version(version), held, oldHeld, status)
	if err != nil {
		return nil, gavel.Wrap(err)
	}
	return gavel.ValueOf(prepared), nil
}

func (d *Definition) version(name string) string {
	if name == "" {
		return d.storageVersion
	}
	return name
}

// ValidateOptions say how an object is validated; the zero value is what an API server does where an object is created.
type ValidateOptions struct {
	// Version is that of the definition; empty is the storage version.
	Version string
	// Old is the object before an update.
	Old any
	// Budget is what all rules may cost together, in cost units; nil is Kubernetes' 10,000,000.
	Budget *int64
	// SkipMetadata: metadata is not validated.
	SkipMetadata bool
	// Status: only the status is updated, through its own endpoint.
	Status bool
	// ForceRules: rules run even where schema errors would keep an API server from it.
	ForceRules bool
}

// Outcome is what an API server says of an object.
type Outcome struct {
	SchemaErrors []FieldError `json:"schemaErrors"`
	RuleErrors   []FieldError `json:"ruleErrors"`
	// Warnings are errors of rules that were there before the update.
	Warnings []string `json:"warnings"`
	// Notes say why messageExpressions could not be used, so that a rule's message stands in: what an API server logs.
	Notes []string `json:"notes"`
	// NoRules: the definition has none. RulesSkipped: they did not run because of schema errors.
	NoRules, RulesSkipped bool
	// RemainingBudget is what is left of the budget, in cost units; negative where a rule ended the validation.
	RemainingBudget int64
}

// Valid says whether nothing is wrong.
func (o *Outcome) Valid() bool { return len(o.SchemaErrors) == 0 && len(o.RuleErrors) == 0 }

// Errors is all that is wrong, in the API server's order.
func (o *Outcome) Errors() []FieldError {
	return append(append([]FieldError(nil), o.SchemaErrors...), o.RuleErrors...)
}

// Validate says what an API server says of an object, which must have been decoded. It ends early when the context does.
func (d *Definition) Validate(ctx context.Context, object any, options ValidateOptions) (*Outcome, error) {
	held, done, err := gavel.HeldValue(object)
	if err != nil {
		return nil, err
	}
	defer done()
	old, done, err := optional(options.Old)
	if err != nil {
		return nil, err
	}
	defer done()
	call := capi.NewCall()
	defer call.End()
	if options.Budget != nil {
		call.Limit(*options.Budget)
	}
	version := d.version(options.Version)
	var found capi.Validation
	err = call.Run(ctx, func() error {
		var err error
		found, err = d.inner.Validate(call, version, held, old, options.SkipMetadata, options.Status, options.ForceRules)
		return err
	})
	if err != nil {
		return nil, gavel.Wrap(err)
	}
	outcome := &Outcome{NoRules: found.NoRules, RulesSkipped: found.RulesSkipped, RemainingBudget: found.RemainingBudget}
	if found.Findings != nil {
		err = json.Unmarshal(found.Findings, outcome)
	}
	return outcome, err
}
