// Package admission decides requests by ValidatingAdmissionPolicies and mutates objects by MutatingAdmissionPolicies, as an API server
// does.
//
// An [Index] is updated with policies, bindings, params and namespaces as they change; [Index.Decide] and [Index.Mutate] use its content
// at the time of the call. A [Lookup] fetches namespaces and params that the index lacks.
package admission

import (
	"context"
	"encoding/json"
	"fmt"

	"gavel.dev/go/gavel"
	"gavel.dev/go/internal/capi"
	"gavel.dev/go/internal/flat"
)

// Option changes how policies are read.
type Option func(config map[string]any)

// Server names the version of the API server that answers, such as "1.36", which it is by default.
func Server(version string) Option { return func(config map[string]any) { config["server"] = version } }

// Language names the version of Kubernetes whose functions new expressions may use. By default it is the one before the server's.
func Language(version string) Option {
	return func(config map[string]any) { config["k8sVersion"] = version }
}

// WithoutDefaults takes a policy or a binding as it is: nothing that is absent is filled in.
func WithoutDefaults() Option { return func(config map[string]any) { config["noDefaults"] = true } }

func configOf(options []Option) ([]byte, error) {
	config := map[string]any{}
	for _, option := range options {
		option(config)
	}
	return json.Marshal(config)
}

// Index holds policies, bindings, params and namespaces. Any number of goroutines may change it and ask it.
type Index struct{ inner capi.Index }

// NewIndex makes an index that knows nothing.
func NewIndex(options ...Option) (*Index, error) {
	config, err := configOf(options)
	if err != nil {
		return nil, err
	}
	inner, err := capi.NewIndex(config)
	if err != nil {
		return nil, gavel.Wrap(err)
	}
	return &Index{inner}, nil
}

// Close frees the index. Calls that use it go on.
func (i *Index) Close() { i.inner.Close() }

// Apply takes in an object as it now is: a policy, a binding or a namespace by its kind; any other may be a param of policies. A policy
// whose expressions do not compile is taken in, as an API server does.
func (i *Index) Apply(object any) error { return i.change(object, i.inner.Apply) }

// Delete forgets an object, of which kind, name and namespace count.
func (i *Index) Delete(object any) error { return i.change(object, i.inner.Delete) }

func (i *Index) change(object any, change func(capi.Value) error) error {
	held, done, err := gavel.HeldValue(object)
	if err != nil {
		return err
	}
	defer done()
	return gavel.Wrap(change(held))
}

// GroupVersionResource names a resource.
type GroupVersionResource struct {
	Group    string `json:"group"`
	Version  string `json:"version"`
	Resource string `json:"resource"`
}

// GroupVersionKind names a kind.
type GroupVersionKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// Equivalent is one of the resources that lead to the same objects.
type Equivalent struct {
	Resource    GroupVersionResource `json:"resource"`
	Subresource string               `json:"subResource,omitempty"`
	Kind        GroupVersionKind     `json:"kind"`
}

// ParamKind says whether a kind of params has a namespace.
type ParamKind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespaced bool   `json:"namespaced"`
}

// Knowledge is what an index cannot see in objects.
type Knowledge struct {
	Namespaced []ParamKind `json:"namespaced,omitempty"`
	// Equivalents are groups of resources of which each leads to the same objects.
	Equivalents [][]Equivalent `json:"equivalents,omitempty"`
	// Schemas are OpenAPI v3 schemas of custom resources by "group/version/Kind", by which they are mutated.
	Schemas map[string]any `json:"schemas,omitempty"`
}

// Learn tells an index what it cannot see in objects. Equivalents take the place of those that it knew.
func (i *Index) Learn(knowledge Knowledge) error {
	config, err := json.Marshal(knowledge)
	if err != nil {
		return err
	}
	return gavel.Wrap(i.inner.Configure(config))
}

// ExpressionError is an expression of a policy that does not compile.
type ExpressionError struct {
	Path    string `json:"path"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Policy is a compiled policy or binding, of either sort.
type Policy struct {
	inner capi.Policy
	// Stored lists the errors that make a stored policy fail, New those for which an API server refuses to create it.
	Stored, New []ExpressionError
}

// Compile compiles a policy or a binding without an index. Expressions that do not compile are listed in the result.
func Compile(object any, options ...Option) (*Policy, error) {
	config, err := configOf(options)
	if err != nil {
		return nil, err
	}
	held, done, err := gavel.HeldValue(object)
	if err != nil {
		return nil, err
	}
	defer done()
	inner, err := capi.CompilePolicy(held, config)
	if err != nil {
		return nil, gavel.Wrap(err)
	}
	text, err := inner.Errors()
	if err != nil {
		return nil, gavel.Wrap(err)
	}
	var errors struct{ Stored, New []ExpressionError }
	if err := json.Unmarshal(text, &errors); err != nil {
		return nil, err
	}
	return &Policy{inner: inner, Stored: errors.Stored, New: errors.New}, nil
}

// Close frees the policy. Calls that use it go on.
func (p *Policy) Close() { p.inner.Close() }

// Lookup fetches objects that the index does not know. It returns nil where there is none; an error ends the call, which returns it.
type Lookup interface {
	Namespace(name string) (any, error)
	// Param is asked for params that bindings of the index name; those that they select by labels, and those of [Options.Policies], must
	// be in the index. The namespace is empty where the request has none.
	Param(apiVersion, kind, namespace, name string) (any, error)
}

// Options say how a request is decided.
type Options struct {
	// Authorizer answers what expressions ask; nil has no opinion about anything. If it panics, so does the call.
	Authorizer gavel.AuthorizeFunc
	// Lookup fetches what the index does not know; nil fetches nothing.
	Lookup Lookup
	// Budget is what the expressions of a policy may cost, in cost units; nil is Kubernetes' 10,000,000.
	Budget *int64
	// Explain tells which policies and bindings matched and what they came to, Trace each program that ran as well.
	Explain, Trace bool
	// Policies are asked in the place of those of the index, where this is not nil: each policy is followed by its bindings.
	Policies []*Policy
}

// Cause is one reason of a status.
type Cause struct {
	Message string `json:"message"`
}

// Details are the object that was denied, and why.
type Details struct {
	Name   string  `json:"name,omitempty"`
	Group  string  `json:"group,omitempty"`
	Kind   string  `json:"kind,omitempty"`
	Causes []Cause `json:"causes,omitempty"`
}

// Status is what a client is told whose request is denied, as metav1.Status.
type Status struct {
	Status  string   `json:"status"`
	Message string   `json:"message"`
	Reason  string   `json:"reason"`
	Code    int32    `json:"code"`
	Details *Details `json:"details,omitempty"`
}

// Denial is one thing that denies a request.
type Denial struct {
	Policy  string `json:"policy"`
	Binding string `json:"binding"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
}

// Explanation is what became of one policy, as the batch protocol writes it.
type Explanation struct {
	Policy         string          `json:"policy"`
	PolicyMatch    json.RawMessage `json:"policyMatch"`
	BindingMatches json.RawMessage `json:"bindingMatches"`
	Results        json.RawMessage `json:"results"`
}

// Decision is what policies decide.
type Decision struct {
	Allowed bool
	// Status is nil where the request is allowed.
	Status  *Status
	Denials []Denial
	// Warnings are for the client.
	Warnings []string
	// Annotations are for the audit event. AnnotationErrors are pairs of a key and why it was left out.
	Annotations      map[string]string
	AnnotationErrors [][2]string
	// Policies is the explanation, where it was asked for.
	Policies []Explanation
}

// Mutation is what mutating policies make of an object.
type Mutation struct {
	Allowed bool
	// Status is nil where the request is allowed.
	Status *Status
	// Object is the object after all mutations as JSON, or nil where nothing changed it.
	Object json.RawMessage
}

// Decide decides a request, which is the request of an AdmissionReview. It ends early when the context does, with the context's cause.
func (i *Index) Decide(ctx context.Context, request any, options Options) (*Decision, error) {
	decided, err := i.ask(ctx, request, options, func(call *capi.Call, policies []capi.Policy) (capi.Decision, error) {
		return i.inner.Decide(call, policies, options.Explain, options.Trace)
	})
	if err != nil {
		return nil, err
	}
	decision := &Decision{Allowed: decided.Allowed}
	if decided.Details != nil {
		err = json.Unmarshal(decided.Details, decision)
	}
	return decision, err
}

// Mutate mutates the object of a request, which is the request of an AdmissionReview. It ends early when the context does, with the
// context's cause.
func (i *Index) Mutate(ctx context.Context, request any, options Options) (*Mutation, error) {
	mutated, err := i.ask(ctx, request, options, i.inner.Mutate)
	if err != nil {
		return nil, err
	}
	mutation := &Mutation{Allowed: mutated.Allowed}
	if mutated.Details != nil {
		err = json.Unmarshal(mutated.Details, mutation)
	}
	if !mutated.Mutated {
		mutation.Object = nil
	}
	return mutation, err
}

func (i *Index) ask(ctx context.Context, request any, options Options, ask func(*capi.Call, []capi.Policy) (capi.Decision, error)) (capi.Decision, error) {
	call := capi.NewCall()
	defer call.End()
	writer := flat.Writer{Buf: call.Flat}
	err := writer.Value(request)
	call.Flat = writer.Buf
	defer writer.Release()
	if err != nil {
		return capi.Decision{}, &gavel.Error{Kind: gavel.KindArgument, Message: "request" + err.Error()}
	}
	if options.Budget != nil {
		call.Limit(*options.Budget)
	}
	call.Ask(options.callbacks())
	var policies []capi.Policy
	if options.Policies != nil {
		policies = make([]capi.Policy, len(options.Policies))
		for n, policy := range options.Policies {
			policies[n] = policy.inner
		}
	}
	var decided capi.Decision
	err = call.Run(ctx, func() error {
		var err error
		decided, err = ask(call, policies)
		return err
	})
	return decided, gavel.Wrap(err)
}

func (o *Options) callbacks() *capi.Callbacks {
	if o.Authorizer == nil && o.Lookup == nil {
		return nil
	}
	callbacks := new(capi.Callbacks)
	if authorize := o.Authorizer; authorize != nil {
		callbacks.Authorize = func(_ uint64, attributes []byte) (gavel.Verdict, string, error) {
			return authorize.Authorize(attributes)
		}
	}
	if lookup := o.Lookup; lookup != nil {
		callbacks.FindNamespace = func(name string) ([]byte, error) { return written(lookup.Namespace(name)) }
		callbacks.FindParam = func(apiVersion, kind, namespace, name string) ([]byte, error) {
			return written(lookup.Param(apiVersion, kind, namespace, name))
		}
	}
	return callbacks
}

// written writes an object that was found.
func written(object any, err error) ([]byte, error) {
	if object == nil || err != nil {
		return nil, err
	}
	var writer flat.Writer
	if value, ok := object.(*gavel.Value); ok {
		text, err := value.MarshalJSON()
		writer.JSON(text)
		return writer.Buf, err
	}
	defer writer.Release()
	if err := writer.Value(object); err != nil {
		return nil, &gavel.Error{Kind: gavel.KindArgument, Message: fmt.Sprintf("an object that Lookup found%v", err)}
	}
	return writer.Buf, nil
}
