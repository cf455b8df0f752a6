package policy

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	gaveladmission "gavel.dev/go/admission"
)

// refusal is a policy with a binding that denies the creation of every namespace.
var refusal = []runtime.Object{
	&admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{
				ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
				}}},
			},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "no new objects"}},
		},
	},
	&admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "none"},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName: "none", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
		},
	},
}

func creation(object runtime.Object, kind schema.GroupVersionKind, resource string) admission.Attributes {
	object.GetObjectKind().SetGroupVersionKind(kind)
	return admission.NewAttributesRecord(object, nil, kind, "", "new", kind.GroupVersion().WithResource(resource), "", admission.Create,
		&metav1.CreateOptions{}, false, &user.DefaultInfo{Name: "alice"})
}

func newNamespace() admission.Attributes {
	return creation(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, corev1.SchemeGroupVersion.WithKind("Namespace"), "namespaces")
}

func watching(t *testing.T) (*Plugin, informers.SharedInformerFactory) {
	index, err := gaveladmission.NewIndex()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(index.Close)
	plugin, factory := New(index, Options{}), informers.NewSharedInformerFactory(fake.NewClientset(refusal...), 0)
	if err := plugin.Watch(factory); err != nil {
		t.Fatal(err)
	}
	return plugin, factory
}

func TestRequestsAreForbiddenIfTheInformersDoNotSync(t *testing.T) {
	interfaces := admission.NewObjectInterfacesFromScheme(scheme(t))
	synctest.Test(t, func(t *testing.T) {
		plugin, _ := watching(t)
		for name, ask := range map[string]func(context.Context, admission.Attributes, admission.ObjectInterfaces) error{
			"Validate": plugin.Validate, "Admit": plugin.Admit,
		} {
			err := ask(t.Context(), newNamespace(), interfaces)
			if !apierrors.IsForbidden(err) || !strings.Contains(err.Error(), "not yet ready to handle request") {
				t.Errorf("%s: %v", name, err)
			}
			// Policies must be writable at any time.
			policy := creation(&admissionregistrationv1.ValidatingAdmissionPolicy{},
				admissionregistrationv1.SchemeGroupVersion.WithKind("ValidatingAdmissionPolicy"), "validatingadmissionpolicies")
			if err := ask(t.Context(), policy, interfaces); err != nil {
				t.Errorf("%s of a policy: %v", name, err)
			}
		}
	})
}

func TestRequestsWaitForTheInformers(t *testing.T) {
	plugin, factory := watching(t)
	factory.Start(t.Context().Done())
	err := plugin.Validate(t.Context(), newNamespace(), admission.NewObjectInterfacesFromScheme(scheme(t)))
	if err == nil || !strings.Contains(err.Error(), "no new objects") {
		t.Error(err)
	}
}

func TestTheLibraryExemptsTheSameResources(t *testing.T) {
	plugin, factory := watching(t)
	factory.Start(t.Context().Done())
	if !plugin.WaitForReady() {
		t.Fatal("the informers did not sync")
	}
	namespaces := schema.GroupResource{Resource: "namespaces"}
	for resource := range exempt.Union(sets.New(namespaces)) {
		kind := map[string]string{"group": resource.Group, "version": "v1", "kind": "Any"}
		request := map[string]any{
			"uid": "1", "operation": "CREATE", "kind": kind, "name": "new", "userInfo": map[string]string{"username": "alice"},
			"resource": map[string]string{"group": resource.Group, "version": "v1", "resource": resource.Resource},
			"object":   map[string]any{"apiVersion": resource.WithVersion("v1").GroupVersion().String(), "kind": "Any"},
		}
		decision, err := plugin.index.Decide(t.Context(), request, gaveladmission.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if isExempt := resource != namespaces; (decision.Status == nil) != isExempt {
			t.Errorf("%v: %+v", resource, decision.Status)
		}
	}
}
