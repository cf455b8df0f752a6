package gavel

import (
	"encoding/json"

	"gavel.dev/go/internal/capi"
	"gavel.dev/go/internal/flat"
)

// Verdict is the decision of an authorizer. Its numbers differ from those of Decision in k8s.io/apiserver: convert a decision by name. An
// unknown number counts as [NoOpinion] with an error.
type Verdict = capi.Verdict

// The verdicts of an authorizer.
const (
	NoOpinion = capi.NoOpinion
	Allow     = capi.Allow
	Deny      = capi.Deny
)

// UserInfo is a user whom the API server has authenticated.
type UserInfo struct {
	Name   string              `json:"name,omitempty"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// Attributes describe an action that a user requests.
type Attributes struct {
	// User is the name of the user.
	User string `json:"user"`
	Verb string `json:"verb"`
	// ResourceRequest says whether the action is on a resource. Otherwise it is on a path.
	ResourceRequest bool   `json:"resourceRequest"`
	Path            string `json:"path"`
	APIGroup        string `json:"apiGroup"`
	APIVersion      string `json:"apiVersion"`
	Resource        string `json:"resource"`
	Subresource     string `json:"subresource"`
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	// FieldSelector and LabelSelector are texts such as "a=b,c!=d". The error fields say why a selector could not be parsed.
	FieldSelector      string `json:"fieldSelector"`
	FieldSelectorError string `json:"fieldSelectorError"`
	LabelSelector      string `json:"labelSelector"`
	LabelSelectorError string `json:"labelSelectorError"`
}

// AuthorizeFunc authorizes an action of a user. Several goroutines can call it at the same time. A nil function answers every check with
// [NoOpinion].
type AuthorizeFunc func(Attributes) (verdict Verdict, reason string, err error)

// Authorize decodes attributes from JSON and calls f. It is for the other packages of this module.
func (f AuthorizeFunc) Authorize(attributes []byte) (Verdict, string, error) {
	if f == nil {
		return NoOpinion, "", nil
	}
	var asked Attributes
	if err := json.Unmarshal(attributes, &asked); err != nil {
		return NoOpinion, "", err
	}
	return f(asked)
}

// Authorizer is the value of a variable of type "authorizer".
type Authorizer struct {
	User      UserInfo
	Authorize AuthorizeFunc
}

// AppendFlat encodes the authorizer. It is for the other packages of this module.
func (a Authorizer) AppendFlat(w *flat.Writer) error { return w.Authorizer(a.Authorize, a.User, nil) }

// ResourceCheck is the value of a variable of type "resourceCheck": an authorizer for one resource, such as `authorizer.requestResource`.
type ResourceCheck struct {
	User      UserInfo
	Authorize AuthorizeFunc
	Resource  Resource
}

// Resource is the resource of a [ResourceCheck].
type Resource struct {
	Group       string `json:"group,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name,omitempty"`
}

// AppendFlat encodes the resource check. It is for the other packages of this module.
func (c ResourceCheck) AppendFlat(w *flat.Writer) error {
	return w.Authorizer(c.Authorize, c.User, c.Resource)
}
