package policy

import (
	"context"
	"encoding/json"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	gaveladmission "gavel.dev/go/admission"
)

const objects = `[
	{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "replicas"}, "spec": {
		"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments"]}]},
		"validations": [
			{"expression": "object.spec.replicas <= 5", "message": "at most 5 replicas"},
			{"expression": "authorizer.requestResource.check('scale').allowed()", "message": "you may not scale"}
		]}},
	{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "replicas"},
		"spec": {"policyName": "replicas", "validationActions": ["Deny"]}},
	{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": "label"}, "spec": {
		"reinvocationPolicy": "Never",
		"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["*"], "resources": ["deployments"]}]},
		"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{metadata: Object.metadata{labels: {'team': 'shop'}}}"}}]}},
	{"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "label"}, "spec": {"policyName": "label"}},
	{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
]`

func scheme(t *testing.T) *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{appsv1.AddToScheme, corev1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	return scheme
}

func TestAnAPIServerIsAnsweredByItsPolicies(t *testing.T) {
	index, err := gaveladmission.NewIndex(gaveladmission.Server("1.36"))
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	var all []json.RawMessage
	if err := json.Unmarshal([]byte(objects), &all); err != nil {
		t.Fatal(err)
	}
	for _, object := range all {
		if err := index.Apply(object); err != nil {
			t.Fatal(err)
		}
	}
	onlyAlice := authorizer.AuthorizerFunc(func(_ context.Context, asked authorizer.Attributes) (authorizer.Decision, string, error) {
		if asked.GetUser().GetName() == "alice" && asked.GetVerb() == "scale" && asked.GetResource() == "deployments" {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", nil
	})
	plugin := New(index, Options{Authorizer: onlyAlice})
	interfaces := admission.NewObjectInterfacesFromScheme(scheme(t))
	for _, test := range []struct {
		user     string
		replicas int32
		denied   string
	}{
		{"alice", 3, ""},
		{"alice", 7, "at most 5 replicas"},
		{"bob", 3, "you may not scale"},
	} {
		deployment := &appsv1.Deployment{
			TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "Deployment"},
			ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "shop"},
			Spec:       appsv1.DeploymentSpec{Replicas: &test.replicas},
		}
		attributes := admission.NewAttributesRecord(deployment, nil, appsv1.SchemeGroupVersion.WithKind("Deployment"), "shop", "web",
			appsv1.SchemeGroupVersion.WithResource("deployments"), "", admission.Create, &metav1.CreateOptions{}, false, &user.DefaultInfo{Name: test.user})
		if err := plugin.Admit(context.Background(), attributes, interfaces); err != nil {
			t.Fatal(err)
		}
		if deployment.Labels["team"] != "shop" {
			t.Errorf("labels: %v", deployment.Labels)
		}
		err := plugin.Validate(context.Background(), attributes, interfaces)
		if test.denied == "" {
			if err != nil {
				t.Errorf("%s with %d: %v", test.user, test.replicas, err)
			}
			continue
		}
		want := `deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'replicas' with binding 'replicas' denied request: ` + test.denied
		if !apierrors.IsInvalid(err) || err.Error() != want {
			t.Errorf("%s with %d: %v", test.user, test.replicas, err)
		}
	}
}
