package gavel

import (
	"encoding/json"

	"gavel.dev/go/internal/capi"
	"gavel.dev/go/internal/flat"
)

// Verdict is what an authorizer answers.
type Verdict = capi.Verdict

// The verdicts.
const (
	NoOpinion = capi.NoOpinion
	Allow     = capi.Allow
	Deny      = capi.Deny
)

// UserInfo is a user as the API server has authenticated it.
type UserInfo struct {
	Name   string              `json:"name,omitempty"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// Attributes are what an authorizer is asked.
type Attributes struct {
	// User is the name of the user.
	User string `json:"user"`
	Verb string `json:"verb"`
	// ResourceRequest says whether resources are asked for, not a path.
	ResourceRequest bool   `json:"resourceRequest"`
	Path            string `json:"path"`
	APIGroup        string `json:"apiGroup"`
	APIVersion      string `json:"apiVersion"`
	Resource        string `json:"resource"`
	Subresource     string `json:"subresource"`
	Namespace       string `json:"namespace"`
	Name            string `json:"name"`
	// FieldSelector and LabelSelector are texts such as "a=b,c!=d". The errors say why one could not be read.
	FieldSelector      string `json:"fieldSelector"`
	FieldSelectorError string `json:"fieldSelectorError"`
	LabelSelector      string `json:"labelSelector"`
	LabelSelectorError string `json:"labelSelectorError"`
}

// AuthorizeFunc decides whether a user may do something. It may be called by many goroutines at once.
type AuthorizeFunc func(Attributes) (verdict Verdict, reason string, err error)

// Authorize is for this module.
func (f AuthorizeFunc) Authorize(attributes []byte) (Verdict, string, error) {
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

// AppendFlat is for this module.
func (a Authorizer) AppendFlat(w *flat.Writer) error { return w.Authorizer(a.Authorize, a.User, nil) }

// ResourceCheck is the value of a variable of type "resourceCheck": an authorizer that is asked about one resource.
type ResourceCheck struct {
	User      UserInfo
	Authorize AuthorizeFunc
	Resource  Resource
}

// Resource is what a [ResourceCheck] is about.
type Resource struct {
	Group       string `json:"group,omitempty"`
	Resource    string `json:"resource,omitempty"`
	Subresource string `json:"subresource,omitempty"`
	Namespace   string `json:"namespace,omitempty"`
	Name        string `json:"name,omitempty"`
}

// AppendFlat is for this module.
func (c ResourceCheck) AppendFlat(w *flat.Writer) error {
	return w.Authorizer(c.Authorize, c.User, c.Resource)
}
