// Package things is the API of the example: one kind, whose objects are stored in memory.
package things

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/common"
	"k8s.io/kube-openapi/pkg/validation/spec"

	generated "k8s.io/apiextensions-apiserver/pkg/generated/openapi"
)

// GroupVersion is the group and version of the API.
var GroupVersion = schema.GroupVersion{Group: "example.com", Version: "v1"}

// Thing is the kind that the example serves.
type Thing struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              Spec `json:"spec,omitempty"`
}

// Spec is the desired state of a Thing.
type Spec struct {
	Replicas int64 `json:"replicas"`
	Most     int64 `json:"most"`
}

// ThingList is a list of Things.
type ThingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Thing `json:"items"`
}

// OpenAPIModelName returns the name of the kind's schema in OpenAPI documents.
func (Thing) OpenAPIModelName() string { return "com.example.v1.Thing" }

// OpenAPIModelName returns the name of the list's schema in OpenAPI documents.
func (ThingList) OpenAPIModelName() string { return "com.example.v1.ThingList" }

// DeepCopyObject copies a Thing.
func (t *Thing) DeepCopyObject() runtime.Object {
	copied := *t
	t.ObjectMeta.DeepCopyInto(&copied.ObjectMeta)
	return &copied
}

// DeepCopyObject copies a list.
func (l *ThingList) DeepCopyObject() runtime.Object {
	copied := *l
	l.ListMeta.DeepCopyInto(&copied.ListMeta)
	copied.Items = make([]Thing, 0, len(l.Items))
	for _, item := range l.Items {
		copied.Items = append(copied.Items, *item.DeepCopyObject().(*Thing))
	}
	return &copied
}

// NewScheme returns a scheme with the only version of the kind.
func NewScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, version := range []string{GroupVersion.Version, runtime.APIVersionInternal} {
		scheme.AddKnownTypes(schema.GroupVersion{Group: GroupVersion.Group, Version: version}, &Thing{}, &ThingList{})
	}
	metav1.AddToGroupVersion(scheme, GroupVersion)
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return scheme
}

// specSchema is the schema of a Spec, with its rules.
const specSchema = `{
	"type": "object", "required": ["replicas", "most"],
	"properties": {"replicas": {"type": "integer"}, "most": {"type": "integer"}},
	"x-kubernetes-validations": [
		{"rule": "self.replicas <= self.most", "messageExpression": "'at most ' + string(self.most)", "fieldPath": ".replicas"},
		{"rule": "self.most == oldSelf.most", "message": "most is immutable", "fieldPath": ".most"}
	]
}`

// Definitions returns the OpenAPI definitions of the kind and of all types that it uses.
func Definitions(ref common.ReferenceCallback) map[string]common.OpenAPIDefinition {
	definitions := generated.GetOpenAPIDefinitions(ref)
	of := func(model string) spec.Schema {
		return spec.Schema{SchemaProps: spec.SchemaProps{Ref: ref(model), Default: map[string]any{}}}
	}
	var fields spec.Schema
	if err := json.Unmarshal([]byte(specSchema), &fields); err != nil {
		panic(err)
	}
	add := func(model string, meta string, name string, content spec.Schema, more ...string) {
		properties := map[string]spec.Schema{
			"apiVersion": *spec.StringProperty(), "kind": *spec.StringProperty(), "metadata": of(meta), name: content,
		}
		definitions[model] = common.OpenAPIDefinition{
			Schema:       spec.Schema{SchemaProps: spec.SchemaProps{Type: []string{"object"}, Properties: properties}},
			Dependencies: append(more, meta),
		}
	}
	thing := of(Thing{}.OpenAPIModelName())
	add(Thing{}.OpenAPIModelName(), metav1.ObjectMeta{}.OpenAPIModelName(), "spec", fields)
	add(ThingList{}.OpenAPIModelName(), metav1.ListMeta{}.OpenAPIModelName(), "items", *spec.ArrayProperty(&thing), Thing{}.OpenAPIModelName())
	return definitions
}

// Schemas returns the schemas that mutating policies need, by group, version and kind.
func Schemas() map[string]any {
	return map[string]any{GroupVersion.String() + "/Thing": map[string]any{
		"type":       "object",
		"properties": map[string]any{"metadata": map[string]any{"type": "object"}, "spec": json.RawMessage(specSchema)},
	}}
}
