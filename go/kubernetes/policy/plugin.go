// Package policy is an admission plugin for API servers built on k8s.io/apiserver. With Gavel, it decides requests with
// ValidatingAdmissionPolicies and mutates objects with MutatingAdmissionPolicies. It replaces the built-in plugins.
//
//	index, err := admission.NewIndex(admission.Server("1.36"))
//	plugin := policy.New(index, policy.Options{Authorizer: authorizer})
//	err = plugin.Watch(informers)
//	options.Admission.Plugins.Register(policy.Name, func(io.Reader) (admission.Interface, error) { return plugin, nil })
//
// The host starts the informers after Watch. As the built-in plugins do, the plugin makes requests wait until the index contains every object
// that the informers list first, and forbids requests that have waited for 10 seconds. A host that fills the index itself must do so before it
// serves requests, or call SetReadyFunc. docs/embed-go.md lists everything that the host must do.
package policy

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/warning"

	gaveladmission "gavel.dev/go/admission"
)

// Name is the name under which the plugin is registered.
const Name = "GavelAdmissionPolicy"

// Options configure a plugin.
type Options struct {
	// Authorizer answers the authorization checks of expressions. If it is nil, the answer to every check is "no opinion".
	Authorizer authorizer.Authorizer
	// Lookup fetches namespaces and params that the index does not contain. If it is nil, no objects are fetched.
	Lookup gaveladmission.Lookup
}

// Plugin decides requests and mutates objects with the policies of an index.
type Plugin struct {
	*admission.Handler
	index   *gaveladmission.Index
	options Options
}

var (
	_ admission.ValidationInterface = (*Plugin)(nil)
	_ admission.MutationInterface   = (*Plugin)(nil)
)

// exempt are the resources to which API servers apply no policies.
var exempt = sets.New(
	schema.GroupResource{Group: group, Resource: "validatingadmissionpolicies"},
	schema.GroupResource{Group: group, Resource: "validatingadmissionpolicybindings"},
	schema.GroupResource{Group: group, Resource: "mutatingadmissionpolicies"},
	schema.GroupResource{Group: group, Resource: "mutatingadmissionpolicybindings"},
	schema.GroupResource{Group: "authentication.k8s.io", Resource: "selfsubjectreviews"},
	schema.GroupResource{Group: "authentication.k8s.io", Resource: "tokenreviews"},
	schema.GroupResource{Group: "authorization.k8s.io", Resource: "localsubjectaccessreviews"},
	schema.GroupResource{Group: "authorization.k8s.io", Resource: "selfsubjectaccessreviews"},
	schema.GroupResource{Group: "authorization.k8s.io", Resource: "selfsubjectrulesreviews"},
	schema.GroupResource{Group: "authorization.k8s.io", Resource: "subjectaccessreviews"},
)

// New returns a plugin that uses an index and handles all operations, because the policies select the operations that they match. The host
// fills the index with [Plugin.Watch], or applies objects itself.
func New(index *gaveladmission.Index, options Options) *Plugin {
	handler := admission.NewHandler(admission.Create, admission.Update, admission.Delete, admission.Connect)
	return &Plugin{Handler: handler, index: index, options: options}
}

// Validate decides a request with the validating policies of the index.
func (p *Plugin) Validate(ctx context.Context, attributes admission.Attributes, objects admission.ObjectInterfaces) error {
	if exempt.Has(attributes.GetResource().GroupResource()) {
		return nil
	}
	if !p.WaitForReady() {
		return notReady(attributes)
	}
	request, _, err := requestOf(attributes, objects)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	decision, err := p.index.Decide(ctx, request, p.asked(ctx, request, attributes, objects))
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	for _, text := range decision.Warnings {
		warning.AddWarning(ctx, "", text)
	}
	for key, value := range decision.Annotations {
		// As in the built-in plugin, a failure to add an annotation does not deny the request.
		_ = attributes.AddAnnotation(key, value)
	}
	return statusError(decision.Status)
}

// Admit mutates the object of a request with the mutating policies of the index.
func (p *Plugin) Admit(ctx context.Context, attributes admission.Attributes, objects admission.ObjectInterfaces) error {
	if attributes.GetObject() == nil || exempt.Has(attributes.GetResource().GroupResource()) {
		return nil
	}
	if !p.WaitForReady() {
		return notReady(attributes)
	}
	request, versioned, err := requestOf(attributes, objects)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	mutation, err := p.index.Mutate(ctx, request, p.asked(ctx, request, attributes, objects))
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if mutation.Status != nil || mutation.Object == nil {
		return statusError(mutation.Status)
	}
	kind := versioned.VersionedObject.GetObjectKind().GroupVersionKind()
	if err := replace(attributes.GetObject(), kind, mutation.Object, objects); err != nil {
		return apierrors.NewInternalError(err)
	}
	return nil
}

func notReady(attributes admission.Attributes) error {
	return admission.NewForbidden(attributes, errors.New("not yet ready to handle request"))
}

func (p *Plugin) asked(
	ctx context.Context, request map[string]any, attributes admission.Attributes, objects admission.ObjectInterfaces,
) gaveladmission.Options {
	options := gaveladmission.Options{Lookup: p.options.Lookup}
	if request[equivalents] != nil {
		options.Convert = converter(attributes, objects)
	}
	if p.options.Authorizer != nil {
		options.Authorizer = Authorize(ctx, p.options.Authorizer, attributes.GetUserInfo())
	}
	return options
}

// requestOf returns the request of an AdmissionReview, and the objects of the request in the version that the client sent.
func requestOf(attributes admission.Attributes, objects admission.ObjectInterfaces) (map[string]any, *admission.VersionedAttributes, error) {
	versioned, err := admission.NewVersionedAttributes(attributes, attributes.GetKind(), objects)
	if err != nil {
		return nil, nil, err
	}
	request := map[string]any{
		"operation":   string(attributes.GetOperation()),
		"kind":        kindOf(attributes.GetKind()),
		"resource":    resourceOf(attributes.GetResource()),
		"subResource": attributes.GetSubresource(),
		"name":        attributes.GetName(),
		"namespace":   attributes.GetNamespace(),
		"dryRun":      attributes.IsDryRun(),
	}
	if found := equivalentsOf(attributes, objects.GetEquivalentResourceMapper()); found != nil {
		request[equivalents] = found
	}
	if user := attributes.GetUserInfo(); user != nil {
		request["userInfo"] = map[string]any{
			"username": user.GetName(), "uid": user.GetUID(), "groups": user.GetGroups(), "extra": user.GetExtra(),
		}
	}
	for key, object := range map[string]runtime.Object{
		"object": versioned.VersionedObject, "oldObject": versioned.VersionedOldObject, "options": attributes.GetOperationOptions(),
	} {
		if object == nil {
			continue
		}
		if request[key], err = content(object); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", key, err)
		}
	}
	return request, versioned, nil
}

func content(object runtime.Object) (map[string]any, error) {
	if object, ok := object.(runtime.Unstructured); ok {
		return object.UnstructuredContent(), nil
	}
	return runtime.DefaultUnstructuredConverter.ToUnstructured(object)
}

func statusError(status *gaveladmission.Status) error {
	if status == nil {
		return nil
	}
	made := metav1.Status{
		Status: metav1.StatusFailure, Message: status.Message, Reason: metav1.StatusReason(status.Reason), Code: status.Code,
	}
	if status.Details != nil {
		made.Details = &metav1.StatusDetails{Name: status.Details.Name, Group: status.Details.Group, Kind: status.Details.Kind}
		for _, cause := range status.Details.Causes {
			made.Details.Causes = append(made.Details.Causes, metav1.StatusCause{Message: cause.Message})
		}
	}
	return &apierrors.StatusError{ErrStatus: made}
}
