package main

import (
	"context"
	"encoding/json"
	"slices"

	"gavel.dev/go/admission"
)

// vapRequest is a request of op=vap.
type vapRequest struct {
	Policy     json.RawMessage        `json:"policy"`
	Bindings   []json.RawMessage      `json:"bindings"`
	Params     []json.RawMessage      `json:"params"`
	Namespace  json.RawMessage        `json:"namespace"`
	Request    json.RawMessage        `json:"request"`
	Authorizer table                  `json:"authorizer"`
	Trace      bool                   `json:"trace"`
	CostBudget *int64                 `json:"costBudget"`
	ParamScope string                 `json:"paramScope"`
	Equivalent []admission.Equivalent `json:"equivalents"`
	NoDefaults bool                   `json:"noDefaults"`
}

// attributes are the fields of a request that [decide] reads.
type attributes struct {
	Kind            admission.GroupVersionKind      `json:"kind"`
	Resource        admission.GroupVersionResource  `json:"resource"`
	RequestKind     *admission.GroupVersionKind     `json:"requestKind"`
	RequestResource *admission.GroupVersionResource `json:"requestResource"`
	Subresource     string                          `json:"subResource"`
	Namespace       string                          `json:"namespace"`
}

// namespaces is an [admission.Lookup] that returns the namespace in the batch request. If the namespace in the batch request is null, no
// namespace exists. If it is absent, every namespace exists.
type namespaces struct{ found json.RawMessage }

func (n namespaces) Namespace(name string) (any, error) {
	switch {
	case string(n.found) == "null":
		return nil, nil
	case len(n.found) > 0:
		return n.found, nil
	}
	return object{
		"apiVersion": "v1", "kind": "Namespace",
		"metadata": object{"name": name, "labels": object{"kubernetes.io/metadata.name": name}},
		"spec":     object{"finalizers": []string{"kubernetes"}},
		"status":   object{"phase": "Active"},
	}, nil
}

func (n namespaces) Param(string, string, string, string) (any, error) { return nil, nil }

func decide(common *request, line []byte) (object, error) {
	var r vapRequest
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, err
	}
	options := []admission.Option{admission.Server(common.server())}
	if common.Language != "" {
		options = append(options, admission.Language(common.Language))
	}
	index, err := admission.NewIndex(options...)
	if err != nil {
		return nil, err
	}
	defer index.Close()
	if r.NoDefaults {
		options = append(options, admission.WithoutDefaults())
	}
	policies := make([]*admission.Policy, 0, 1+len(r.Bindings))
	for _, object := range append([]json.RawMessage{r.Policy}, r.Bindings...) {
		compiled, err := admission.Compile(withKind(object, len(policies) == 0), options...)
		if err != nil {
			return nil, err
		}
		defer compiled.Close()
		policies = append(policies, compiled)
	}
	answer := object{"compileErrors": policies[0].Stored, "newExpressionErrors": policies[0].New}
	if len(r.Request) == 0 || string(r.Request) == "null" {
		answer["ok"] = len(policies[0].Stored) == 0
		return answer, nil
	}
	var asked attributes
	if err := json.Unmarshal(r.Request, &asked); err != nil {
		return nil, err
	}
	if asked.RequestKind != nil && *asked.RequestKind != (admission.GroupVersionKind{}) {
		asked.Kind = *asked.RequestKind
	}
	if asked.RequestResource != nil && *asked.RequestResource != (admission.GroupVersionResource{}) {
		asked.Resource = *asked.RequestResource
	}
	if err := r.teach(index, &asked); err != nil {
		return nil, err
	}
	decision, err := index.Decide(context.Background(), r.Request, admission.Options{
		Authorizer: r.Authorizer.authorize, Lookup: namespaces{r.Namespace}, Budget: r.CostBudget, Explain: true, Trace: r.Trace, Policies: policies,
	})
	if err != nil {
		return nil, err
	}
	r.tell(answer, decision)
	if asked.isExcluded() {
		answer["excludedResource"] = true
	}
	return answer, nil
}

// withKind sets the kind of a policy or a binding, which batch requests may omit.
func withKind(text json.RawMessage, isPolicy bool) any {
	var fields map[string]json.RawMessage
	if json.Unmarshal(text, &fields) != nil {
		return text
	}
	kind := `"ValidatingAdmissionPolicyBinding"`
	if isPolicy {
		kind = `"ValidatingAdmissionPolicy"`
	}
	if string(fields["kind"]) == kind {
		return text
	}
	named := map[string]any{}
	for key, value := range fields {
		named[key] = value
	}
	named["kind"] = json.RawMessage(kind)
	text, err := json.Marshal(named)
	if err != nil {
		return nil
	}
	return json.RawMessage(text)
}

// teach adds the params of the batch request, and properties of kinds that objects do not contain, to the index.
func (r *vapRequest) teach(index *admission.Index, asked *attributes) error {
	// Of several params with the same kind, namespace and name, the first param is used.
	seen := map[string]bool{}
	for _, param := range r.Params {
		var identity struct {
			APIVersion, Kind string
			Metadata         struct{ Namespace, Name string }
		}
		_ = json.Unmarshal(param, &identity)
		key, err := json.Marshal(identity)
		if err != nil {
			return err
		}
		if seen[string(key)] {
			continue
		}
		seen[string(key)] = true
		if err := index.Apply(param); err != nil {
			return err
		}
	}
	var known admission.Knowledge
	var policy struct {
		Spec struct {
			ParamKind *struct{ APIVersion, Kind string }
		}
	}
	if json.Unmarshal(r.Policy, &policy) == nil && policy.Spec.ParamKind != nil && r.ParamScope != "" {
		kind := policy.Spec.ParamKind
		known.Namespaced = []admission.ParamKind{{APIVersion: kind.APIVersion, Kind: kind.Kind, Namespaced: r.ParamScope == "Namespaced"}}
	}
	if len(r.Equivalent) > 0 {
		own := admission.Equivalent{Resource: asked.Resource, Subresource: asked.Subresource, Kind: asked.Kind}
		known.Equivalents = [][]admission.Equivalent{append([]admission.Equivalent{own}, r.Equivalent...)}
	}
	return index.Learn(known)
}

func (r *vapRequest) tell(answer object, decision *admission.Decision) {
	answer["ok"], answer["allowed"] = true, decision.Allowed
	if decision.Status != nil {
		answer["status"] = decision.Status
	} else {
		answer["status"] = nil
	}
	answer["policyMatch"], answer["bindingMatches"], answer["results"] = nil, nil, nil
	if len(decision.Policies) > 0 {
		told := decision.Policies[0]
		answer["policyMatch"], answer["bindingMatches"], answer["results"] = told.PolicyMatch, told.BindingMatches, told.Results
	}
	annotations := decision.Annotations
	if annotations == nil {
		annotations = map[string]string{}
	}
	answer["annotations"], answer["warnings"] = annotations, append([]string{}, decision.Warnings...)
	var failed []string
	for _, pair := range decision.AnnotationErrors {
		failed = append(failed, pair[0]+": "+pair[1])
	}
	if failed != nil {
		slices.Sort(failed)
		answer["annotationErrors"] = failed
	}
	if r.Authorizer.calls != nil {
		answer["authorizerCalls"] = r.Authorizer.calls
	}
}

// isExcluded reports whether the resource is a policy or a binding, which the API server exempts from policies.
func (a *attributes) isExcluded() bool {
	switch a.Resource.Resource {
	case "validatingadmissionpolicies", "validatingadmissionpolicybindings", "mutatingadmissionpolicies", "mutatingadmissionpolicybindings":
		return a.Resource.Group == "admissionregistration.k8s.io"
	}
	return false
}
