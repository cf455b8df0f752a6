package admission_test

import (
	"context"
	"encoding/json"
	"fmt"

	"gavel.dev/go/admission"
)

const policy = `{
	"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "replicas"},
	"spec": {
		"paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
		"matchConstraints": {"resourceRules": [
			{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["deployments"]}
		]},
		"variables": [{"name": "most", "expression": "int(params.data.most)"}],
		"validations": [{"expression": "object.spec.replicas <= variables.most", "messageExpression": "'at most ' + string(variables.most)"}]
	}
}`

const binding = `{
	"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicyBinding", "metadata": {"name": "replicas"},
	"spec": {"policyName": "replicas", "validationActions": ["Deny"], "paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"}}
}`

func request(replicas int) map[string]any {
	return map[string]any{
		"uid": "705ab4f5", "operation": "CREATE", "name": "web", "namespace": "shop",
		"kind":     map[string]any{"group": "apps", "version": "v1", "kind": "Deployment"},
		"resource": map[string]any{"group": "apps", "version": "v1", "resource": "deployments"},
		"userInfo": map[string]any{"username": "alice"},
		"object": map[string]any{
			"apiVersion": "apps/v1", "kind": "Deployment",
			"metadata": map[string]any{"name": "web", "namespace": "shop"}, "spec": map[string]any{"replicas": replicas},
		},
	}
}

// lister fetches namespaces and params that the index does not contain.
type lister struct{}

func (lister) Namespace(name string) (any, error) {
	return map[string]any{"metadata": map[string]any{"name": name}}, nil
}

func (lister) Param(apiVersion, kind, namespace, name string) (any, error) {
	fmt.Println("fetched", apiVersion, kind, namespace+"/"+name)
	return map[string]any{
		"apiVersion": apiVersion, "kind": kind, "metadata": map[string]any{"namespace": namespace, "name": name},
		"data": map[string]any{"most": "5"},
	}, nil
}

func Example() {
	index, err := admission.NewIndex(admission.Server("1.36"))
	if err != nil {
		panic(err)
	}
	defer index.Close()
	for _, object := range []string{policy, binding} {
		if err := index.Apply(json.RawMessage(object)); err != nil {
			panic(err)
		}
	}
	for _, replicas := range []int{3, 7} {
		decision, err := index.Decide(context.Background(), request(replicas), admission.Options{Lookup: lister{}})
		if err != nil {
			panic(err)
		}
		fmt.Println(decision.Allowed)
		if decision.Status != nil {
			fmt.Println(decision.Status.Code, decision.Status.Message)
		}
	}
	// Output:
	// fetched v1 ConfigMap shop/limits
	// true
	// fetched v1 ConfigMap shop/limits
	// false
	// 422 deployments.apps "web" is forbidden: ValidatingAdmissionPolicy 'replicas' with binding 'replicas' denied request: at most 5
}

func ExampleCompile() {
	compiled, err := admission.Compile(json.RawMessage(`{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingAdmissionPolicy", "metadata": {"name": "p"},
		"spec": {"validations": [{"expression": "object.a +"}]}
	}`))
	if err != nil {
		panic(err)
	}
	defer compiled.Close()
	for _, wrong := range compiled.New {
		fmt.Println(wrong.Path)
	}
	// Output: spec.validations[0].expression
}

func ExampleIndex_Mutate() {
	index, err := admission.NewIndex(admission.Server("1.36"))
	if err != nil {
		panic(err)
	}
	defer index.Close()
	for _, object := range []string{`{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicy", "metadata": {"name": "label"},
		"spec": {
			"reinvocationPolicy": "Never",
			"matchConstraints": {"resourceRules": [{"apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"]}]},
			"mutations": [{"patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{metadata: Object.metadata{labels: {'team': 'shop'}}}"}}]
		}
	}`, `{
		"apiVersion": "admissionregistration.k8s.io/v1", "kind": "MutatingAdmissionPolicyBinding", "metadata": {"name": "label"},
		"spec": {"policyName": "label"}
	}`} {
		if err := index.Apply(json.RawMessage(object)); err != nil {
			panic(err)
		}
	}
	mutation, err := index.Mutate(context.Background(), request(1), admission.Options{Lookup: lister{}})
	if err != nil {
		panic(err)
	}
	var object struct {
		Metadata struct{ Labels map[string]string }
	}
	if err := json.Unmarshal(mutation.Object, &object); err != nil {
		panic(err)
	}
	fmt.Println(object.Metadata.Labels)
	// Output: map[team:shop]
}
