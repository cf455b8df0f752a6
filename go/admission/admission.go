// Package admission decides requests with ValidatingAdmissionPolicies and mutates objects with MutatingAdmissionPolicies, as an API server
// does.
//
// An [Index] contains policies, bindings, params and namespaces. The host updates the index when they change. [Index.Decide] and
// [Index.Mutate] use the content at the time of the call. A [Lookup] fetches namespaces and params that the index does not contain.
package admission

import (
	"context"
	"encoding/json"
	"fmt"

	"gavel.dev/go/gavel"
	"gavel.dev/go/internal/capi"
	"gavel.dev/go/internal/flat"
)

// Option changes how policies are read and compiled.
type Option func(config map[string]any)

// Server sets the version of the API server whose behavior Gavel reproduces. The default is "1.36".
func Server(version string) Option { return func(config map[string]any) { config["server"] = version } }

// Language sets the version of Kubernetes whose functions new expressions can use. The default is the version before the server's.
func Language(version string) Option {
	return func(config map[string]any) { config["k8sVersion"] = version }
}

// WithoutDefaults leaves absent fields of a policy or a binding absent, instead of setting their defaults. Only [Compile] accepts it.
func WithoutDefaults() Option { return func(config map[string]any) { config["noDefaults"] = true } }

func configOf(options []Option) ([]byte, error) {
	config := map[string]any{}
	for _, option := range options {
		option(config)
	}
	text, err := json.Marshal(config)
	return text, gavel.Argument(flat.Within("options", err))
}

// Index contains policies, bindings, params and namespaces. Any number of goroutines may update and use it at the same time.
type Index struct{ inner capi.Index }

// NewIndex returns an empty index.
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

// Close frees the index. Calls in flight finish first.
func (i *Index) Close() { i.inner.Close() }

// Apply adds an object, or replaces its earlier version. The object must have apiVersion, kind and metadata.name. Policies, bindings and
// namespaces are recognized by their kind; any other object may be a param of policies. A policy whose expressions do not compile is added
// too, as in an API server.
func (i *Index) Apply(object any) error { return i.change(object, i.inner.Apply) }

// Delete removes an object. The object must have apiVersion, kind and metadata.name; apart from these, only the namespace is read.
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

// Equivalent is one of several resources that serve the same objects.
type Equivalent struct {
	Resource    GroupVersionResource `json:"resource"`
	Subresource string               `json:"subResource,omitempty"`
	Kind        GroupVersionKind     `json:"kind"`
}

// ParamKind says whether a kind of params is namespaced.
type ParamKind struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Namespaced bool   `json:"namespaced"`
}

// Knowledge contains properties of resources and kinds that objects do not contain.
type Knowledge struct {
	Namespaced []ParamKind `json:"namespaced,omitempty"`
	// Equivalents are groups of resources. All resources of a group serve the same objects.
	Equivalents [][]Equivalent `json:"equivalents,omitempty"`
	// Schemas are the OpenAPI v3 schemas of custom resources, by "group/version/Kind". Mutations of custom resources need them.
	Schemas map[string]any `json:"schemas,omitempty"`
}

// Learn adds knowledge to an index. Equivalents replace the equivalents of earlier calls.
func (i *Index) Learn(knowledge Knowledge) error {
	config, err := json.Marshal(knowledge)
	if err != nil {
		return gavel.Argument(flat.Within("knowledge", err))
	}
	return gavel.Wrap(i.inner.Configure(config))
}

// ExpressionError describes an expression of a policy that does not compile.
type ExpressionError struct {
	Path    string `json:"path"`
	Type    string `json:"type"`
	Message string `json:"message"`
}

// Policy is a compiled policy or binding, validating or mutating.
type Policy struct {
	inner capi.Policy
	// Stored lists the errors that make a stored policy fail. New lists the errors for which an API server rejects a new policy.
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

// Close frees the policy. Calls in flight finish first.
func (p *Policy) Close() { p.inner.Close() }

// Lookup fetches objects that the index does not contain. Its methods return nil if an object does not exist; a nil pointer, map or
// json.RawMessage is nil too. If a method returns an error, Decide or Mutate returns that error.
type Lookup interface {
	Namespace(name string) (any, error)
	// Param fetches params that bindings of the index refer to by name. Params that bindings select by labels, and the params of
	// [Options.Policies], must be in the index. The namespace is empty for requests without a namespace.
	Param(apiVersion, kind, namespace, name string) (any, error)
}

// Options configure one call of [Index.Decide] or [Index.Mutate].
type Options struct {
	// Authorizer answers the authorization checks of expressions. If it is nil, the answer to every check is "no opinion". If Authorizer
	// panics, the call panics with the same value.
	Authorizer gavel.AuthorizeFunc
	// Lookup fetches objects that the index does not contain. If it is nil, no objects are fetched.
	Lookup Lookup
	// Convert converts an object of the request to the kind of an equivalent resource that a policy matches, and a mutated object back. If it
	// is nil or returns nil, the objects of equivalent resources are assumed to differ only in apiVersion and kind. An error is the reason why
	// the policy fails.
	Convert func(object json.RawMessage, apiVersion, kind string) (any, error)
	// Budget limits the cost of the expressions of each policy, in cost units. Nil means Kubernetes' limit of 10,000,000.
	Budget *int64
	// Explain adds the policies and bindings that matched, with their results, to the decision. Trace also adds each evaluated expression.
	Explain, Trace bool
	// Policies, if not nil, replace the policies of the index. Each policy is followed by its bindings.
	Policies []*Policy
}

// Cause is one reason for a denial.
type Cause struct {
	Message string `json:"message"`
}

// Details name the denied object, and list the causes.
type Details struct {
	Name   string  `json:"name,omitempty"`
	Group  string  `json:"group,omitempty"`
	Kind   string  `json:"kind,omitempty"`
	Causes []Cause `json:"causes,omitempty"`
}

// Status is the response for the client of a denied request, like metav1.Status.
type Status struct {
	Status  string   `json:"status"`
	Message string   `json:"message"`
	Reason  string   `json:"reason"`
	Code    int32    `json:"code"`
	Details *Details `json:"details,omitempty"`
}

// Denial is the denial of a request by one policy with one binding.
type Denial struct {
	Policy  string `json:"policy"`
	Binding string `json:"binding"`
	Message string `json:"message"`
	Reason  string `json:"reason"`
}

// Explanation reports how one policy was evaluated. The raw JSON has the format of the batch protocol.
type Explanation struct {
	Policy         string          `json:"policy"`
	PolicyMatch    json.RawMessage `json:"policyMatch"`
	BindingMatches json.RawMessage `json:"bindingMatches"`
	Results        json.RawMessage `json:"results"`
}

// Decision is the decision about a request.
type Decision struct {
	Allowed bool
	// Status is nil if the request is allowed.
	Status  *Status
	Denials []Denial
	// Warnings are for the client.
	Warnings []string
	// Annotations are for the audit event. AnnotationErrors are pairs of a key and the reason why the annotation with this key is missing.
	Annotations      map[string]string
	AnnotationErrors [][2]string
	// Policies are the explanations that Explain or Trace in [Options] requested.
	Policies []Explanation
}

// Mutation is the result of the mutating policies for an object.
type Mutation struct {
	Allowed bool
	// Status is nil if the request is allowed.
	Status *Status
	// Object is the JSON of the object after all mutations, or nil if no mutation changed the object.
	Object json.RawMessage
}

// Decide decides a request. The argument request is the request of an AdmissionReview. It may have an additional field equivalents: the
// resources that serve the same objects as the resource of the request, including this resource. It is a list that has the JSON of
// []Equivalent, and replaces the Equivalents of [Index.Learn] for this call. If the context ends, Decide returns early with the context's
// cause.
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

// Mutate mutates the object of a request, which is as in [Index.Decide]. Objects of Kubernetes' own kinds are
// decoded as the index's API server decodes them: they get defaults, and a mutation fails if it sets an unknown field. If the context ends,
// Mutate returns early with the context's cause.
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
		return capi.Decision{}, gavel.Argument(flat.Within("request", err))
	}
	if options.Budget != nil {
		call.Limit(*options.Budget)
	}
	call.Ask(options.callbacks())
	var policies []capi.Policy
	if options.Policies != nil {
		policies = make([]capi.Policy, len(options.Policies))
		for n, policy := range options.Policies {
			if policy == nil {
				return capi.Decision{}, gavel.Argument(fmt.Errorf("Policies[%d] must not be nil", n))
			}
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
	if o.Authorizer == nil && o.Lookup == nil && o.Convert == nil {
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
	if convert := o.Convert; convert != nil {
		callbacks.Convert = func(object []byte, apiVersion, kind string) ([]byte, error) {
			return written(convert(object, apiVersion, kind))
		}
	}
	return callbacks
}

// written encodes an object of a [Lookup] or a conversion. It returns nil if there is no object.
func written(object any, err error) ([]byte, error) {
	if err != nil || flat.IsNil(object) {
		return nil, err
	}
	// The values of the object may be closed before the library reads the bytes.
	writer := flat.Writer{Copies: true}
	if err := writer.Value(object); err != nil {
		return nil, gavel.Argument(flat.Within("an object that a callback returned", err))
	}
	return writer.Buf, nil
}
