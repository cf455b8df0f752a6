package policy

import (
	"encoding/json"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
)

// equivalents is the field of a request that lists the resources that serve the same objects.
const equivalents = "equivalents"

// equivalentsOf returns the resources that serve the same objects as the resource of a request. It returns nil if there is only the resource
// of the request.
func equivalentsOf(attributes admission.Attributes, mapper runtime.EquivalentResourceMapper) []any {
	if mapper == nil {
		return nil
	}
	resources := mapper.EquivalentResourcesFor(attributes.GetResource(), attributes.GetSubresource())
	if len(resources) < 2 {
		return nil
	}
	found := make([]any, len(resources))
	for i, resource := range resources {
		found[i] = map[string]any{
			"resource":    resourceOf(resource),
			"subResource": attributes.GetSubresource(),
			"kind":        kindOf(mapper.KindFor(resource, attributes.GetSubresource())),
		}
	}
	return found
}

func kindOf(kind schema.GroupVersionKind) map[string]string {
	return map[string]string{"group": kind.Group, "version": kind.Version, "kind": kind.Kind}
}

func resourceOf(resource schema.GroupVersionResource) map[string]string {
	return map[string]string{"group": resource.Group, "version": resource.Version, "resource": resource.Resource}
}

// converter returns a function that converts the objects of a request with the conversions of the API server.
func converter(attributes admission.Attributes, objects admission.ObjectInterfaces) func(json.RawMessage, string, string) (any, error) {
	held := attributes.GetObject()
	if held == nil {
		held = attributes.GetOldObject()
	}
	return func(text json.RawMessage, apiVersion, kind string) (any, error) {
		var from metav1.TypeMeta
		if err := json.Unmarshal(text, &from); err != nil {
			return nil, err
		}
		// An object may be convertible only from and to its internal version, which is the version of the request's object.
		internal := reflect.New(reflect.TypeOf(held).Elem()).Interface().(runtime.Object)
		if err := replace(internal, from.GroupVersionKind(), text, objects); err != nil {
			return nil, err
		}
		converted, err := admission.ConvertToGVK(internal, schema.FromAPIVersionAndKind(apiVersion, kind), objects)
		if err != nil {
			return nil, err
		}
		return content(converted)
	}
}

// replace overwrites the object of a request, which may have an internal version, with an object of this kind.
func replace(held runtime.Object, kind schema.GroupVersionKind, text json.RawMessage, objects admission.ObjectInterfaces) error {
	if held, ok := held.(*unstructured.Unstructured); ok {
		return held.UnmarshalJSON(text)
	}
	fresh, err := objects.GetObjectCreater().New(kind)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, fresh); err != nil {
		return err
	}
	objects.GetObjectDefaulter().Default(fresh)
	// If both objects have the same Go type, no conversion is needed.
	if made, there := reflect.ValueOf(fresh), reflect.ValueOf(held); made.Type() == there.Type() {
		there.Elem().Set(made.Elem())
		return nil
	}
	return objects.GetObjectConvertor().Convert(fresh, held, nil)
}
