//go:build ignore

// Prints, for every struct of the Kubernetes API, what its OpenAPI schema does not contain. "plain" lists the fields that are not pointers
// but that Go omits when they are zero. "written" lists the fields that Go always writes, with their zero values. "types" names the Go types
// of fields that have named types other than structs, and "embedded" names the embedded struct that has the field. "kind" and "schema" belong
// to the kinds with options of CONNECT requests, which OpenAPI documents do not describe. Run it in a module that requires
// k8s.io/apiextensions-apiserver, k8s.io/client-go and k8s.io/kube-aggregator of the same version: go run fields.go > fields.json
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	apiregistration "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

type fields struct {
	Plain    []string                   `json:"plain,omitempty"`
	Written  map[string]json.RawMessage `json:"written,omitempty"`
	Types    map[string]string          `json:"types,omitempty"`
	Embedded map[string]string          `json:"embedded,omitempty"`
	Kind     string                     `json:"kind,omitempty"`
	Schema   *property                  `json:"schema,omitempty"`
}

type property struct {
	Type       string               `json:"type"`
	Format     string               `json:"format,omitempty"`
	Items      *property            `json:"items,omitempty"`
	Properties map[string]*property `json:"properties,omitempty"`
}

var (
	found     = map[string]*fields{}
	marshaler = reflect.TypeFor[json.Marshaler]()
)

// schema returns the name of a type's schema in OpenAPI documents.
func schema(t reflect.Type) string {
	host, path, _ := strings.Cut(t.PkgPath(), "/")
	labels := strings.Split(host, ".")
	reversed := make([]string, 0, len(labels))
	for _, label := range labels {
		reversed = append([]string{label}, reversed...)
	}
	return strings.Join(reversed, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}

func visit(t reflect.Type) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map, reflect.Array:
		visit(t.Elem())
	case reflect.Struct:
		name := schema(t)
		if found[name] == nil && !reflect.PointerTo(t).Implements(marshaler) {
			found[name] = &fields{Written: map[string]json.RawMessage{}, Types: map[string]string{}, Embedded: map[string]string{}}
			found[name].collect(t, "")
		}
	}
}

// isNamed returns whether a type contains a named type other than a struct, or a list or map of times.
func isNamed(t reflect.Type) bool {
	switch t.Kind() {
	case reflect.Pointer:
		return isNamed(t.Elem())
	case reflect.Slice, reflect.Map:
		isKeyed := t.Kind() == reflect.Map && isNamed(t.Key())
		return t.Name() != "" || isKeyed || isNamed(t.Elem()) || strings.HasSuffix(t.Elem().String(), "Time")
	case reflect.Struct:
		return false
	}
	return t.PkgPath() != ""
}

// options returns the schema of a struct with fields of simple types.
func options(t reflect.Type) *property {
	switch t.Kind() {
	case reflect.String:
		return &property{Type: "string"}
	case reflect.Bool:
		return &property{Type: "boolean"}
	case reflect.Int32:
		return &property{Type: "integer", Format: "int32"}
	case reflect.Slice:
		return &property{Type: "array", Items: options(t.Elem())}
	}
	object := &property{Type: "object", Properties: map[string]*property{}}
	for i := range t.NumField() {
		field := t.Field(i)
		if name, _, _ := strings.Cut(field.Tag.Get("json"), ","); name != "" {
			object.Properties[name] = options(field.Type)
		} else {
			for name, inner := range options(field.Type).Properties {
				object.Properties[name] = inner
			}
		}
	}
	return object
}

func (of *fields) collect(t reflect.Type, embedded string) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" && field.Anonymous {
			of.collect(field.Type, strings.TrimPrefix(embedded+"."+field.Name, "."))
			continue
		}
		if isNamed(field.Type) {
			of.Types[name] = strings.TrimLeft(field.Type.String(), "*")
		}
		if embedded != "" && embedded != "TypeMeta" {
			of.Embedded[name] = embedded
		}
		visit(field.Type)
		kind := field.Type.Kind()
		isStruct := kind == reflect.Struct
		isPlain := kind == reflect.String || kind == reflect.Bool || kind == reflect.Int32 || kind == reflect.Int64
		switch {
		case strings.Contains(options, "omitzero"):
			if strings.HasSuffix(field.Type.String(), "Time") {
				of.Plain = append(of.Plain, name)
			}
		case !isStruct && strings.Contains(options, "omitempty"):
			if isPlain {
				of.Plain = append(of.Plain, name)
			}
		default:
			zero, err := json.Marshal(reflect.Zero(field.Type).Interface())
			if err != nil {
				panic(err)
			}
			// The struct's own entry lists its fields.
			if isStruct && zero[0] == '{' {
				zero = []byte("{}")
			}
			of.Written[name] = zero
		}
	}
}

func main() {
	types := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{scheme.AddToScheme, apiextensions.AddToScheme, apiregistration.AddToScheme} {
		utilruntime.Must(add(types))
	}
	for kind, t := range types.AllKnownTypes() {
		if kind.Version != runtime.APIVersionInternal {
			visit(t)
			isOptions := strings.HasPrefix(kind.Kind, "Pod") || strings.HasSuffix(kind.Kind, "ProxyOptions")
			if kind.Group == "" && isOptions && strings.HasSuffix(kind.Kind, "Options") && kind.Kind != "PodLogOptions" {
				found[schema(t)].Kind, found[schema(t)].Schema = kind.Kind, options(t)
			}
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}
