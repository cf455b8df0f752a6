package bench

import (
	"context"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	builtin "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/cel/environment"

	gaveladmission "gavel.dev/go/admission"
	"gavel.dev/go/kubernetes/rules"
)

// validator is what both validators of rules are.
type validator interface {
	Validate(value any) (field.ErrorList, int64)
}

type ours struct {
	inner  *rules.Validator
	schema *schema.Structural
}

func (v ours) Validate(value any) (field.ErrorList, int64) {
	return v.inner.Validate(context.Background(), field.NewPath("spec"), v.schema, value, nil, celconfig.RuntimeCELCostBudget)
}

type theirs struct {
	inner  *builtin.Validator
	schema *schema.Structural
}

func (v theirs) Validate(value any) (field.ErrorList, int64) {
	return v.inner.Validate(context.Background(), field.NewPath("spec"), v.schema, value, nil, celconfig.RuntimeCELCostBudget)
}

// both runs a benchmark of rules with both validators, which must cost the same.
func both(b *testing.B, schema *schema.Structural, value any) {
	one := ours{rules.NewValidator(schema, false, celconfig.PerCallLimit), schema}
	defer one.inner.Close()
	other := theirs{builtin.NewValidator(schema, false, celconfig.PerCallLimit), schema}
	_, left := one.Validate(value)
	if errors, want := other.Validate(value); len(errors) > 0 || left != want {
		b.Fatalf("%v; %d is left, and %d", errors, left, want)
	}
	for name, validator := range map[string]validator{"gavel": one, "kubernetes": other} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if errors, _ := validator.Validate(value); len(errors) > 0 {
					b.Fatal(errors)
				}
			}
		})
	}
}

func BenchmarkOneRule(b *testing.B) {
	schema, value := oneRule()
	both(b, schema, value)
}

func BenchmarkDefinitionOf40Rules(b *testing.B) {
	schema, value := fortyRules()
	both(b, schema, value)
}

func BenchmarkListOf1000Elements(b *testing.B) {
	schema, value := manyElements()
	both(b, schema, value)
}

// ourIndex is an index of so many policies.
func ourIndex(b *testing.B, count int) *gaveladmission.Index {
	index, err := gaveladmission.NewIndex()
	if err != nil {
		b.Fatal(err)
	}
	namespace := map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "default"}}
	if err := index.Apply(namespace); err != nil {
		b.Fatal(err)
	}
	for n := range count {
		for _, object := range policyAndBinding(n) {
			if err := index.Apply(object); err != nil {
				b.Fatal(err)
			}
		}
	}
	return index
}

var envSet = environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())

// condition is the expression of a validation.
type condition string

func (c condition) GetExpression() string    { return string(c) }
func (c condition) ReturnTypes() []*cel.Type { return []*cel.Type{cel.BoolType} }

// theirPolicy is a policy as the built-in plugin compiles it.
func theirPolicy(b *testing.B, n int) plugincel.ConditionEvaluator {
	compiler, err := plugincel.NewCompositedCompiler(envSet)
	if err != nil {
		b.Fatal(err)
	}
	expressions := []plugincel.ExpressionAccessor{condition(podPolicies[n%len(podPolicies)])}
	return compiler.CompileCondition(expressions, plugincel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.StoredExpressions)
}

// Benchmark16PoliciesOnAPod: Gavel decides a request by an index, which includes what matches and the answer; of the built-in code it is
// only the evaluation of the validations.
func Benchmark16PoliciesOnAPod(b *testing.B) {
	object := pod()
	b.Run("gavel", func(b *testing.B) {
		index := ourIndex(b, len(podPolicies))
		defer index.Close()
		request := map[string]any{
			"operation": "CREATE", "name": "web", "namespace": "default",
			"kind":     map[string]any{"group": "", "version": "v1", "kind": "Pod"},
			"resource": map[string]any{"group": "", "version": "v1", "resource": "pods"},
			"userInfo": map[string]any{"username": "ada", "groups": []string{"developers"}}, "object": object,
		}
		b.ReportAllocs()
		for b.Loop() {
			decision, err := index.Decide(context.Background(), request, gaveladmission.Options{})
			if err != nil || !decision.Allowed {
				b.Fatal(decision, err)
			}
		}
	})
	b.Run("kubernetes", func(b *testing.B) {
		policies := make([]plugincel.ConditionEvaluator, len(podPolicies))
		for n := range policies {
			policies[n] = theirPolicy(b, n)
		}
		pods := runtimeschema.GroupVersionResource{Version: "v1", Resource: "pods"}
		kind := runtimeschema.GroupVersionKind{Version: "v1", Kind: "Pod"}
		ada := &user.DefaultInfo{Name: "ada", Groups: []string{"developers"}}
		b.ReportAllocs()
		for b.Loop() {
			found := &unstructured.Unstructured{Object: object}
			record := admission.NewAttributesRecord(found, nil, kind, "default", "web", pods, "", admission.Create, nil, false, ada)
			attributes := &admission.VersionedAttributes{Attributes: record, VersionedKind: kind, VersionedObject: found}
			for _, policy := range policies {
				request := plugincel.CreateAdmissionRequest(record, metav1.GroupVersionResource(pods), metav1.GroupVersionKind(kind))
				results, _, err := policy.ForInput(context.Background(), attributes, request, plugincel.OptionalVariableBindings{}, nil, celconfig.RuntimeCELCostBudget)
				if err != nil || results[0].EvalResult != types.True {
					b.Fatal(results, err)
				}
			}
		}
	})
}

// resident is the memory that the process holds, in bytes: that of Go and of the library.
func resident(b *testing.B) int {
	runtime.GC()
	runtime.GC()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		b.Skip("memory is measured on Linux alone")
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		b.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// heap is what Go's collector keeps, in bytes.
func heap(*testing.B) int {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// kept measures what one of many compiled things holds. What the first few bring along, such as tables that all share, is left out.
func kept(b *testing.B, memory func(*testing.B) int, count int, compile func(n int) any) {
	var all []any
	for n := range 10 {
		all = append(all, compile(n))
	}
	before := memory(b)
	for n := range count {
		all = append(all, compile(10+n))
	}
	b.ReportMetric(float64(memory(b)-before)/float64(count), "B/kept")
	b.ReportMetric(0, "ns/op")
	runtime.KeepAlive(all)
}

// BenchmarkKeptByADefinition: for Gavel all that the process holds more, with what its allocator has not given back; for the built-in code
// only what the collector keeps.
func BenchmarkKeptByADefinition(b *testing.B) {
	schema, _ := fortyRules()
	b.Run("gavel", func(b *testing.B) {
		kept(b, resident, 300, func(int) any { return rules.NewValidator(schema, false, celconfig.PerCallLimit) })
	})
	b.Run("kubernetes", func(b *testing.B) {
		kept(b, heap, 30, func(int) any { return builtin.NewValidator(schema, false, celconfig.PerCallLimit) })
	})
}

// BenchmarkKeptByAPolicy is the same for a policy with its binding.
func BenchmarkKeptByAPolicy(b *testing.B) {
	b.Run("gavel", func(b *testing.B) {
		index := ourIndex(b, 0)
		kept(b, resident, 1600, func(n int) any {
			for _, object := range policyAndBinding(n) {
				if err := index.Apply(object); err != nil {
					b.Fatal(err)
				}
			}
			return index
		})
	})
	b.Run("kubernetes", func(b *testing.B) {
		kept(b, heap, 160, func(n int) any { return theirPolicy(b, n) })
	})
}
