package gavel

import (
	"encoding/json"
	"runtime"

	"gavel.dev/go/internal/capi"
	"gavel.dev/go/internal/flat"
)

// Env defines the functions and variables that expressions can use.
type Env struct{ inner capi.Env }

// Estimate bounds the cost of an evaluation, in cost units. It is computed without evaluation.
type Estimate struct{ Min, Max uint64 }

// Option configures an environment.
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

// Server sets the version of the API server whose values, costs and messages Gavel reproduces. The default is "1.36".
func Server(version string) Option { return set("server", version) }

// Language sets the version of Kubernetes whose functions expressions can use. The default is the server's version.
func Language(version string) Option { return set("k8sVersion", version) }

// Stored lets expressions use the functions of all versions of Kubernetes, as stored expressions can in an API server.
func Stored() Option { return set("mode", "stored") }

// Variable declares a variable. Its type is, for example, "dyn", "int", "list(string)", "authorizer", "resourceCheck", "admissionRequest"
// or "namespaceObject".
func Variable(name, typeName string) Option { return entry("vars", name, typeName) }

// Typed declares a variable whose type is written as in the batch protocol, such as {"list": {"schema": …}}.
func Typed(name string, typ any) Option { return entry("vars", name, typ) }

// Schema declares a variable whose type is a structural OpenAPI v3 schema. A resource root also has apiVersion, kind and metadata.
func Schema(name string, schema any, resourceRoot bool) Option {
	return entry("vars", name, map[string]any{"schema": schema, "resource": resourceRoot})
}

// Size bounds the size of the values at a path for the cost estimate. A path is, for example, "xs" or "xs.@items".
func Size(path string, least, most uint64) Option {
	return entry("sizes", path, map[string]uint64{"min": least, "max": most})
}

// CheckOnly compiles expressions only for their types and cost estimates: [Program.Eval] does not evaluate the programs.
func CheckOnly() Option { return set("checkOnly", true) }

// Specification selects the language of cel-spec with its extension libraries, without Kubernetes' libraries. The container is the
// namespace in which names are resolved.
func Specification(container string) Option {
	return func(spec map[string]any) {
		spec["env"] = "cel"
		if container != "" {
			spec["container"] = container
		}
	}
}

// Function declares overloads of a function that has no implementation, for type checking. It requires [Specification].
func Function(name string, overloads any) Option { return entry("functions", name, overloads) }

// WithoutMacros leaves macros unexpanded. It requires [Specification].
func WithoutMacros() Option { return set("disableMacros", true) }

// WithoutCheck evaluates expressions without type checking. It requires [Specification].
func WithoutCheck() Option { return set("disableCheck", true) }

// NewEnv returns an environment. By default, the environment has the functions that an API server of version 1.36 offers to new
// expressions, and no variables.
func NewEnv(options ...Option) (*Env, error) {
	spec := map[string]any{}
	for _, option := range options {
		option(spec)
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, Argument(flat.Within("options", err))
	}
	inner, err := capi.NewEnv(text)
	if err != nil {
		return nil, Wrap(err)
	}
	return &Env{inner}, nil
}

// Close frees the environment. Its programs remain usable.
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
