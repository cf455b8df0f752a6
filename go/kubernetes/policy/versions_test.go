package policy

import (
	"errors"
	"maps"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/user"

	gaveladmission "gavel.dev/go/admission"
)

// thing is a kind whose field has another name in each version. Like the kinds of API servers, it is only convertible from and to its
// internal version.
type thing[Version any] struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              map[string]int64 `json:"spec"`
}

type (
	internal struct{}
	v1       struct{}
	v2       struct{}
)

func (t *thing[Version]) DeepCopyObject() runtime.Object {
	made := *t
	made.ObjectMeta = *t.ObjectMeta.DeepCopy()
	made.Spec = maps.Clone(t.Spec)
	return &made
}

func convert[From, To any](from, to string) conversion.ConversionFunc {
	return func(in, out any, _ conversion.Scope) error {
		was, becomes := in.(*thing[From]), out.(*thing[To])
		if to == "replicas" && was.Spec[from] == 13 {
			return errors.New("unlucky")
		}
		becomes.ObjectMeta, becomes.Spec = was.ObjectMeta, map[string]int64{to: was.Spec[from]}
		return nil
	}
}

func things(t *testing.T) admission.ObjectInterfaces {
	scheme := runtime.NewScheme()
	versions := map[string]runtime.Object{runtime.APIVersionInternal: &thing[internal]{}, "v1": &thing[v1]{}, "v2": &thing[v2]{}}
	for version, object := range versions {
		scheme.AddKnownTypeWithName(schema.GroupVersionKind{Group: "example.com", Version: version, Kind: "Thing"}, object)
	}
	for _, err := range []error{
		scheme.AddConversionFunc((*thing[v1])(nil), (*thing[internal])(nil), convert[v1, internal]("replicas", "n")),
		scheme.AddConversionFunc((*thing[internal])(nil), (*thing[v1])(nil), convert[internal, v1]("n", "replicas")),
		scheme.AddConversionFunc((*thing[v2])(nil), (*thing[internal])(nil), convert[v2, internal]("count", "n")),
		scheme.AddConversionFunc((*thing[internal])(nil), (*thing[v2])(nil), convert[internal, v2]("n", "count")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	interfaces := admission.NewObjectInterfacesFromScheme(scheme)
	registry := interfaces.GetEquivalentResourceMapper().(runtime.EquivalentResourceRegistry)
	for _, version := range []string{"v1", "v2"} {
		served := schema.GroupVersion{Group: "example.com", Version: version}
		registry.RegisterKindFor(served.WithResource("things"), "", served.WithKind("Thing"))
	}
	return interfaces
}

func TestPoliciesMatchOtherVersionsOfTheSameObjects(t *testing.T) {
	index, err := gaveladmission.NewIndex()
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	free := map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}
	err = index.Learn(gaveladmission.Knowledge{Schemas: map[string]any{"example.com/v1/Thing": free}})
	if err != nil {
		t.Fatal(err)
	}
	constraints := map[string]any{"resourceRules": []any{map[string]any{
		"apiGroups": []string{"example.com"}, "apiVersions": []string{"v1"}, "operations": []string{"*"}, "resources": []string{"things"},
	}}}
	for kind, spec := range map[string]map[string]any{
		"ValidatingAdmissionPolicy": {"matchConstraints": constraints, "validations": []any{map[string]any{
			"expression": "object.spec.replicas <= 5 && (oldObject == null || oldObject.spec.replicas <= 5)", "message": "at most 5 replicas",
		}}},
		"ValidatingAdmissionPolicyBinding": {"policyName": "replicas", "validationActions": []string{"Deny"}},
		"MutatingAdmissionPolicy": {"matchConstraints": constraints, "reinvocationPolicy": "Never", "mutations": []any{map[string]any{
			"patchType": "JSONPatch", "jsonPatch": map[string]any{
				"expression": "[JSONPatch{op: 'replace', path: '/spec/replicas', value: object.spec.replicas + 1}]",
			},
		}}},
		"MutatingAdmissionPolicyBinding": {"policyName": "replicas"},
	} {
		object := map[string]any{
			"apiVersion": "admissionregistration.k8s.io/v1", "kind": kind, "metadata": map[string]any{"name": "replicas"}, "spec": spec,
		}
		if err := index.Apply(object); err != nil {
			t.Fatal(err)
		}
	}
	plugin, interfaces := New(index, Options{}), things(t)
	for _, test := range []struct {
		count    int64
		old      int64
		admitted string
		denied   string
	}{
		{count: 4, old: 1},
		{count: 5, old: 1, denied: "at most 5 replicas"},
		{count: 4, old: 6, denied: "at most 5 replicas"},
		{count: 13, admitted: "failed to configure policy: unlucky"},
	} {
		for _, version := range []string{"v1", "v2"} {
			object := &thing[internal]{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: map[string]int64{"n": test.count}}
			old := &thing[internal]{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: map[string]int64{"n": test.old}}
			served := schema.GroupVersion{Group: "example.com", Version: version}
			attributes := admission.NewAttributesRecord(object, old, served.WithKind("Thing"), "", "web", served.WithResource("things"), "",
				admission.Update, &metav1.UpdateOptions{}, false, &user.DefaultInfo{Name: "alice"})
			err := plugin.Admit(t.Context(), attributes, interfaces)
			if test.admitted != "" {
				if err == nil || !strings.Contains(err.Error(), "unlucky") {
					t.Errorf("%s of %s: %v", "Admit", version, err)
				}
				continue
			}
			if err != nil || object.Spec["n"] != test.count+1 {
				t.Errorf("Admit of %s: %v, %v", version, object.Spec, err)
			}
			err = plugin.Validate(t.Context(), attributes, interfaces)
			if (err == nil) != (test.denied == "") || err != nil && !strings.Contains(err.Error(), test.denied) {
				t.Errorf("Validate of %s with %d: %v", version, test.count, err)
			}
		}
	}
}
