//go:build ignore

// Prints two lists for every struct of the Kubernetes API. "plain" lists the fields that are not pointers but that Go omits when they are
// zero. "written" lists the fields that Go always writes, with their zero values. Run it in the vendored modules of k8s.io/kubernetes:
// go run fields.go > fields.json
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	"k8s.io/kubernetes/pkg/api/legacyscheme"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	_ "k8s.io/kubernetes/pkg/apis/authentication/install"
	_ "k8s.io/kubernetes/pkg/apis/authorization/install"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	_ "k8s.io/kubernetes/pkg/apis/batch/install"
	_ "k8s.io/kubernetes/pkg/apis/certificates/install"
	_ "k8s.io/kubernetes/pkg/apis/coordination/install"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	_ "k8s.io/kubernetes/pkg/apis/discovery/install"
	_ "k8s.io/kubernetes/pkg/apis/events/install"
	_ "k8s.io/kubernetes/pkg/apis/flowcontrol/install"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	_ "k8s.io/kubernetes/pkg/apis/node/install"
	_ "k8s.io/kubernetes/pkg/apis/policy/install"
	_ "k8s.io/kubernetes/pkg/apis/rbac/install"
	_ "k8s.io/kubernetes/pkg/apis/resource/install"
	_ "k8s.io/kubernetes/pkg/apis/scheduling/install"
	_ "k8s.io/kubernetes/pkg/apis/storage/install"
)

type fields struct {
	Plain   []string                   `json:"plain,omitempty"`
	Written map[string]json.RawMessage `json:"written,omitempty"`
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
			found[name] = &fields{Written: map[string]json.RawMessage{}}
			found[name].collect(t)
		}
	}
}

func (of *fields) collect(t reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" {
			continue
		}
		if name == "" && field.Anonymous {
			of.collect(field.Type)
			continue
		}
		visit(field.Type)
		kind := field.Type.Kind()
		isStruct := kind == reflect.Struct
		isPlain := kind == reflect.String || kind == reflect.Bool || kind == reflect.Int32 || kind == reflect.Int64
		switch {
		case strings.Contains(options, "omitzero"):
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
	for kind, t := range legacyscheme.Scheme.AllKnownTypes() {
		if kind.Version != "__internal" {
			visit(t)
		}
	}
	if err := json.NewEncoder(os.Stdout).Encode(found); err != nil {
		panic(err)
	}
}
