// Package crd validates CustomResourceDefinitions and custom resources as an API server does: schema, metadata and
// x-kubernetes-validations, with transition rules and ratcheting on updates.
package crd

import (
	"context"
	"encoding/json"

	"gavel.dev/go/gavel"
	"gavel.dev/go/internal/capi"
	"gavel.dev/go/internal/flat"
)

// FieldError is an error about one field.
type FieldError struct {
	// Type is the type of the error, such as "FieldValueInvalid".
	Type string `json:"type"`
	// Field is the path of the field.
	Field string `json:"field"`
	// BadValue is the invalid value as JSON. It is empty if the error does not show the value.
	BadValue json.RawMessage `json:"badValue,omitempty"`
	Detail   string          `json:"detail"`
	// Message is the whole error in one line, as field.Error prints it.
	Message string `json:"string"`
}

func (e FieldError) Error() string { return e.Message }

// Rule is a rule of a definition, and the result of compiling it.
type Rule struct {
	Version           string `json:"version"`
	Path              string `json:"path"`
	Rule              string `json:"rule"`
	MessageExpression string `json:"messageExpression,omitempty"`
	// NotCompiled says why compilation was not attempted.
	NotCompiled string `json:"notCompiled,omitempty"`
	// CompileError says why the rule does not compile.
	CompileError string `json:"compileError,omitempty"`
	// Estimate bounds the cost of one evaluation of the rule, in cost units.
	Estimate *struct {
		Max uint64 `json:"max"`
	} `json:"estimate,omitempty"`
	// ExpressionCost bounds the cost of all evaluations of the rule in one request, in cost units. An API server compares this bound with
	// the limit for one rule.
	ExpressionCost *uint64 `json:"expressionCost,omitempty"`
	// UsesOldSelf says whether the rule reads oldSelf: the rule then runs only on updates, unless its optionalOldSelf is true.
	UsesOldSelf *bool `json:"usesOldSelf,omitempty"`
	// MaxCardinality bounds how often the rule runs in one object; nil if the schema does not bound it. CompiledMaxCardinality is the bound
	// for an object of the maximum size of a request.
	CompiledMaxCardinality *uint64 `json:"compiledMaxCardinality,omitempty"`
	MaxCardinality         *uint64 `json:"maxCardinality,omitempty"`
	// MessageExpressionMaxCost bounds the cost of the messageExpression, in cost units. MessageExpressionError says why the
	// messageExpression does not compile.
	MessageExpressionMaxCost *uint64 `json:"messageExpressionMaxCost,omitempty"`
	MessageExpressionError   string  `json:"messageExpressionError,omitempty"`
	// NormalizedFieldPath is the fieldPath of the rule, as errors print it.
	NormalizedFieldPath string `json:"normalizedFieldPath,omitempty"`
}

// Total is the estimated cost of all rules of a schema, in cost units, and its limit.
type Total struct {
	Version   string `json:"version"`
	Path      string `json:"path"`
	TotalCost uint64 `json:"totalCost"`
	Limit     uint64 `json:"limit"`
}

// Report is the result of validating a definition.
type Report struct {
	Errors   []FieldError `json:"errors"`
	Warnings []string     `json:"warnings"`
	Rules    []Rule       `json:"rules"`
	Totals   []Total      `json:"totals"`
	// CompatibilityVersion is the version of Kubernetes whose functions new rules may use.
	CompatibilityVersion string `json:"compatibilityVersion"`
}

// Option changes how definitions are read and compiled.
type Option func(config map[string]any)

// Server sets the version of the API server whose behavior Gavel reproduces. The default is "1.36".
func Server(version string) Option { return func(config map[string]any) { config["server"] = version } }

// Language sets the version of Kubernetes whose functions new rules may use. The default is the version before the server's.
func Language(version string) Option {
	return func(config map[string]any) { config["k8sVersion"] = version }
}

// Stored compiles rules as stored rules, which may use the functions of all versions of Kubernetes. Only [Check] accepts it.
func Stored() Option { return func(config map[string]any) { config["mode"] = "stored" } }

func configOf(options []Option) ([]byte, error) {
	if len(options) == 0 {
		return nil, nil
	}
	config := map[string]any{}
	for _, option := range options {
		option(config)
	}
	text, err := json.Marshal(config)
	return text, gavel.Argument(flat.Within("options", err))
}

// Check validates a created definition, or an updated definition if old is neither nil nor JSON null.
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
	if flat.IsNil(value) {
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

// Compile compiles a definition for the validation of its objects. The definition must be one that an API server accepts: call [Check]
// first if it may be invalid.
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

// Close frees the definition. Calls in flight finish first.
func (d *Definition) Close() { d.inner.Close() }

// StorageVersion returns the name of the version in which objects are stored.
func (d *Definition) StorageVersion() string { return d.storageVersion }

// DecodeOptions configure how an object is decoded. With the zero value, an object is decoded as an API server decodes the body of a
// request.
type DecodeOptions struct {
	// FromStorage says that the object comes from storage, not from a request.
	FromStorage bool
	// KeepUnknown keeps fields that the schema does not specify.
	KeepUnknown bool
	// NoDefaults leaves absent fields absent, instead of setting their defaults.
	NoDefaults bool
}

// Decode decodes an object as an API server decodes it: unknown fields are dropped, and defaults are set. Decode also returns the paths of
// the unknown fields.
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

// Prepare prepares an object for validation, as an API server does after admission: it resets the fields that the request cannot set. An
// empty version is the storage version. Old is the object before an update, or nil or JSON null for a created object. Status says that the
// request is an update of the status subresource.
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

// ValidateOptions configure how an object is validated. With the zero value, an object is validated as an API server validates a created
// object.
type ValidateOptions struct {
	// Version is the name of the version whose schema is used. Empty is the storage version.
	Version string
	// Old is the object before an update, or nil for a created object. A nil pointer, map or json.RawMessage and
	// JSON null are nil too.
	Old any
	// Budget limits the cost of all rules together, in cost units. Nil means Kubernetes' limit of 10,000,000.
	Budget *int64
	// SkipMetadata skips the validation of metadata.
	SkipMetadata bool
	// Status says that the request is an update of the status subresource.
	Status bool
	// ForceRules runs the rules even if an API server would skip them because of schema errors.
	ForceRules bool
}

// Outcome is the result of validating an object.
type Outcome struct {
	SchemaErrors []FieldError `json:"schemaErrors"`
	RuleErrors   []FieldError `json:"ruleErrors"`
	// Warnings are rule errors that the old object has too.
	Warnings []string `json:"warnings"`
	// Notes say why a messageExpression could not be used and the rule's message replaced it. An API server only logs them.
	Notes []string `json:"notes"`
	// NoRules says that the definition has no rules. RulesSkipped says that the rules did not run because of schema errors.
	NoRules, RulesSkipped bool
	// RemainingBudget is the rest of the budget, in cost units. It is negative if a rule exceeded a limit and ended the validation.
	RemainingBudget int64
}

// Valid reports whether the object has no errors.
func (o *Outcome) Valid() bool { return len(o.SchemaErrors) == 0 && len(o.RuleErrors) == 0 }

// Errors returns all errors, in the order in which an API server reports them.
func (o *Outcome) Errors() []FieldError {
	return append(append([]FieldError(nil), o.SchemaErrors...), o.RuleErrors...)
}

// Validate validates an object that [Definition.Decode] returned. If the context ends, Validate returns early with the context's cause.
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
