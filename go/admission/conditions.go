package admission

import (
	"context"

	"gavel.dev/go/gavel"
	"gavel.dev/go/internal/capi"
	"gavel.dev/go/internal/flat"
)

// Conditions compiles and evaluates single expressions of policies and webhooks, for hosts with their own admission code.
type Conditions struct{ inner capi.Conditions }

// Condition is a compiled expression.
type Condition struct {
	inner capi.Condition
	// Type is the static type of the expression, such as "bool".
	Type string
}

// StoredExpressions compiles expressions as stored expressions, which may use the functions of all versions of Kubernetes. Only
// [NewConditions] accepts it.
func StoredExpressions() Option { return func(config map[string]any) { config["mode"] = "stored" } }

// WithVariables lets expressions read `variables`, as in policies. Only [NewConditions] accepts it.
func WithVariables() Option { return func(config map[string]any) { config["variables"] = true } }

// Declarations says which variables an expression can read in addition to object, oldObject, request and namespaceObject.
type Declarations struct {
	Params, Authorizer bool
	// PatchTypes adds the types and functions of mutations: Object and JSONPatch.
	PatchTypes bool
}

// NewConditions returns a compiler of expressions.
func NewConditions(options ...Option) (*Conditions, error) {
	config, err := configOf(options)
	if err != nil {
		return nil, err
	}
	inner, err := capi.NewConditions(config)
	if err != nil {
		return nil, gavel.Wrap(err)
	}
	return &Conditions{inner}, nil
}

// Close frees the compiler. Evaluations in flight finish first.
func (c *Conditions) Close() { c.inner.Close() }

// Variable compiles a variable, declares it for later expressions, and returns its type. A variable that does not compile is declared too,
// but expressions that read it fail. Variable waits until the running evaluations of this compiler have ended, so an authorizer must not use
// the compiler that evaluates the expression.
func (c *Conditions) Variable(name, expression string, declared Declarations) (string, error) {
	typ, err := c.inner.Variable(name, expression, declared.Params, declared.Authorizer, declared.PatchTypes)
	return typ, gavel.Wrap(err)
}

// Compile compiles an expression of any type.
func (c *Conditions) Compile(expression string, declared Declarations) (*Condition, error) {
	inner, typ, err := c.inner.Compile(expression, declared.Params, declared.Authorizer, declared.PatchTypes)
	if err != nil {
		return nil, gavel.Wrap(err)
	}
	return &Condition{inner: inner, Type: typ}, nil
}

// Close frees the expression. Evaluations in flight finish first.
func (c *Condition) Close() { c.inner.Close() }

// Evaluated is the result of one expression.
type Evaluated struct {
	Value any
	// Err is the error of a failed evaluation, or nil.
	Err error
}

// Eval evaluates expressions of this compiler in order. The result of a nil expression is empty. The variables are object, oldObject,
// request, params, namespaceObject, authorizer and authorizer.requestResource; each may be absent, but the last two only together. Eval also
// returns the remaining budget, in cost units. If the budget was exceeded, the remaining budget is negative, and there are no results.
func (c *Conditions) Eval(ctx context.Context, conditions []*Condition, variables map[string]any, budget int64) ([]Evaluated, int64, error) {
	call := capi.NewCall()
	defer call.End()
	writer := flat.Writer{Buf: call.Flat}
	err := writer.Variables(variables)
	call.Flat = writer.Buf
	defer writer.Release()
	if err != nil {
		return nil, 0, gavel.Argument(err)
	}
	call.Ask(writer.Callbacks())
	call.Limit(budget)
	inner := make([]*capi.Condition, len(conditions))
	for i, condition := range conditions {
		if condition != nil {
			inner[i] = &condition.inner
		}
	}
	var found []capi.Evaluated
	var remaining int64
	err = call.Run(ctx, func() error {
		var err error
		found, remaining, err = c.inner.Eval(call, inner)
		return err
	})
	if err != nil {
		return nil, 0, gavel.Wrap(err)
	}
	results := make([]Evaluated, len(found))
	for i, one := range found {
		switch {
		case one.Failure != "":
			results[i].Err = &gavel.Error{Kind: gavel.KindEvaluation, Message: one.Failure}
		case one.Typed != nil:
			results[i].Value, results[i].Err = gavel.ReadTyped(one.Typed)
		default:
			results[i].Value = one.Value
		}
	}
	return results, remaining, nil
}
