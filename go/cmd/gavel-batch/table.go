package main

import (
	"errors"

	"gavel.dev/go/gavel"
)

// table is an authorizer that answers with the first matching row of Decisions, and records its calls.
type table struct {
	User      gavel.UserInfo `json:"user"`
	Resource  gavel.Resource `json:"resource"`
	Decisions []row          `json:"decisions"`
	calls     []object
}

type row struct {
	Match    map[string]any `json:"match"`
	Decision string         `json:"decision"`
	Reason   string         `json:"reason"`
	Error    string         `json:"error"`
}

func (t *table) authorize(attributes gavel.Attributes) (gavel.Verdict, string, error) {
	asked := named(attributes)
	t.calls = append(t.calls, asked)
	for _, row := range t.Decisions {
		if row.matches(asked) {
			return row.answer()
		}
	}
	return gavel.NoOpinion, "", nil
}

func (r row) matches(asked object) bool {
	for key, wanted := range r.Match {
		value, ok := asked[key]
		if ok && value != wanted || !ok && wanted != "" {
			return false
		}
	}
	return true
}

func (r row) answer() (gavel.Verdict, string, error) {
	var err error
	if r.Error != "" {
		err = errors.New(r.Error)
	}
	verdicts := map[string]gavel.Verdict{"allow": gavel.Allow, "deny": gavel.Deny}
	return verdicts[r.Decision], r.Reason, err
}

// named converts attributes to a JSON object.
func named(asked gavel.Attributes) object {
	named := object{"verb": asked.Verb, "user": asked.User, "resourceRequest": asked.ResourceRequest}
	if !asked.ResourceRequest {
		named["path"] = asked.Path
		return named
	}
	named["apiGroup"], named["apiVersion"], named["resource"] = asked.APIGroup, asked.APIVersion, asked.Resource
	named["subresource"], named["namespace"], named["name"] = asked.Subresource, asked.Namespace, asked.Name
	for key, text := range map[string]string{
		"fieldSelector": asked.FieldSelector, "fieldSelectorError": asked.FieldSelectorError,
		"labelSelector": asked.LabelSelector, "labelSelectorError": asked.LabelSelectorError,
	} {
		if text != "" {
			named[key] = text
		}
	}
	return named
}
