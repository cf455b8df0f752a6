package policy

import (
	"context"
	"errors"

	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"gavel.dev/go/gavel"
)

// Authorize returns a function that answers the authorization checks of expressions for a user. The function calls the authorizer of an API
// server. If a check names a service account, the function authorizes the service account instead of the user.
func Authorize(ctx context.Context, asked authorizer.Authorizer, user user.Info) gavel.AuthorizeFunc {
	return func(attributes gavel.Attributes) (gavel.Verdict, string, error) {
		record, err := recordOf(attributes, user)
		if err != nil {
			return gavel.NoOpinion, "", err
		}
		decision, reason, err := asked.Authorize(ctx, record)
		switch decision {
		case authorizer.DecisionAllow:
			return gavel.Allow, reason, err
		case authorizer.DecisionDeny:
			return gavel.Deny, reason, err
		}
		return gavel.NoOpinion, reason, err
	}
}

func recordOf(asked gavel.Attributes, user user.Info) (authorizer.AttributesRecord, error) {
	record := authorizer.AttributesRecord{
		User: user, Verb: asked.Verb, Namespace: asked.Namespace, APIGroup: asked.APIGroup, APIVersion: asked.APIVersion,
		Resource: asked.Resource, Subresource: asked.Subresource, Name: asked.Name, ResourceRequest: asked.ResourceRequest, Path: asked.Path,
	}
	self := ""
	if user != nil {
		self = user.GetName()
	}
	if asked.User != self {
		namespace, name, err := serviceaccount.SplitUsername(asked.User)
		if err != nil {
			return record, err
		}
		record.User = serviceaccount.UserInfo(namespace, name, "")
	}
	if asked.FieldSelector != "" {
		selector, err := fields.ParseSelector(asked.FieldSelector)
		if err != nil {
			return record, err
		}
		record.FieldSelectorRequirements = selector.Requirements()
	}
	if asked.LabelSelector != "" {
		selector, err := labels.Parse(asked.LabelSelector)
		if err != nil {
			return record, err
		}
		record.LabelSelectorRequirements, _ = selector.Requirements()
	}
	if asked.FieldSelectorError != "" {
		record.FieldSelectorParsingErr = errors.New(asked.FieldSelectorError)
	}
	if asked.LabelSelectorError != "" {
		record.LabelSelectorParsingErr = errors.New(asked.LabelSelectorError)
	}
	return record, nil
}
