package gavel

import (
	"encoding/json"
	"runtime"

	"gavel.dev/go/internal/capi"
)

// Env says what expressions may use: the functions of a version of Kubernetes, and variables.
type Env struct{ inner capi.Env }

// Estimate is a static cost, in cost units.
type Estimate struct{ Min, Max uint64 }

// Option changes an environment.
type Option func(spec map[string]any)

func set(key string, value any) Option { return func(spec map[string]any) { spec[key] = value } }

func entry(key, name string, value any) Option {
	return func(spec map[string]any) {
		entries, _ := spec[key].(map[string]any)
		if entries == nil {
			entries = map[string]any{}
			spec[key] = entries
		}
		entries[name] = value
	}
}

// Server names the version of the API server that answers, such as "1.36", which it is by default: its values, costs and messages.
func Server(version string) Option { return set("server", version) }

// Language names the version of Kubernetes whose functions there are, where that is not the server's.
func Language(version string) Option { return set("k8sVersion", version) }

// Stored offers what stored expressions may use, which is all that any version has.
func Stored() Option { return set("mode", "stored") }

// Variable declares a variable of a type such as "dyn", "int", "list(string)", "authorizer", "resourceCheck", "admissionRequest" or
// "namespaceObject".
func Variable(name, typeName string) Option { return entry("vars", name, typeName) }

// Typed declares a variable of a type as the batch protocol writes it, such as {"list": {"schema": …}}.
func Typed(name string, typ any) Option { return entry("vars", name, typ) }

// Schema declares a variable that holds what a structural OpenAPI v3 schema describes. A resource root has metadata, too.
func Schema(name string, schema any, resourceRoot bool) Option {
	return entry("vars", name, map[string]any{"schema": schema, "resource": resourceRoot})
}

// Size bounds the size of what lies at a path, such as "xs" or "xs.@items", for the estimate.
func Size(path string, least, most uint64) Option {
	return entry("sizes", path, map[string]uint64{"min": least, "max": most})
}

// CheckOnly makes programs that tell type and estimate and are not evaluated.
func CheckOnly() Option { return set("checkOnly", true) }

// Specification offers the language of cel-spec with its extension libraries, and nothing of Kubernetes. Names are resolved in a container.
func Specification(container string) Option {
	return func(spec map[string]any) {
		spec["env"] = "cel"
		if container != "" {
			spec["container"] = container
		}
	}
}

// Function declares overloads of a function without an implementation, for checking, in an environment of [Specification].
func Function(name string, overloads any) Option { return entry("functions", name, overloads) }

// WithoutMacros leaves macros unexpanded, in an environment of [Specification].
func WithoutMacros() Option { return set("disableMacros", true) }

// WithoutCheck evaluates what was parsed without checking it, in an environment of [Specification].
func WithoutCheck() Option { return set("disableCheck", true) }

// NewEnv makes an environment: by default what an API server 1.36 offers to new expressions, without variables.
func NewEnv(options ...Option) (*Env, error) {
	spec := map[string]any{}
	for _, option := range options {
		option(spec)
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	inner, err := capi.NewEnv(text)
	if err != nil {
		return nil, Wrap(err)
	}
	return &Env{inner}, nil
}

// Close frees the environment. Its programs live on.
func (e *Env) Close() { e.inner.Close() }

// Compile parses, checks and plans an expression. The error is an [*Error].
func (e *Env) Compile(expression string) (*Program, error) {
	inner, statics, err := e.inner.Compile(expression)
	runtime.KeepAlive(e)
	if err != nil {
		err = Wrap(err)
		if failure, ok := err.(*Error); ok {
			failure.Type, failure.TypeInMessages = statics.Type, statics.TypeInMessages
			failure.Estimate = estimate(statics)
		}
		return nil, err
	}
	return &Program{inner: inner, statics: statics}, nil
}

func estimate(statics capi.Statics) *Estimate {
	if !statics.HasEstimate {
		return nil
	}
	return &Estimate{Min: statics.EstimateMin, Max: statics.EstimateMax}
}
