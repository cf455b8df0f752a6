package bench

import (
	"context"
	"runtime"
	"syscall"
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

// cpu measures the processor time of a benchmark, including the garbage collector, until the returned function is called. Other processes
// on the machine affect processor time less than wall-clock time.
func cpu(b *testing.B) func() {
	b.ReportAllocs()
	spent := func() int64 {
		var usage syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
			b.Fatal(err)
		}
		return usage.Utime.Nano() + usage.Stime.Nano()
	}
	began := spent()
	return func() { b.ReportMetric(float64(spent()-began)/float64(b.N), "cpu-ns/op") }
}

// validator is implemented by Gavel's and Kubernetes' validators of rules.
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

// both runs a benchmark of rules with Gavel's validator and with Kubernetes' validator. The evaluations of both validators must have the
// same cost.
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
			defer cpu(b)()
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

// ourIndex returns Gavel's index of count policies.
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

// theirPolicy compiles policy n as Kubernetes' built-in plugin does.
func theirPolicy(b *testing.B, n int) plugincel.ConditionEvaluator {
	compiler, err := plugincel.NewCompositedCompiler(envSet)
	if err != nil {
		b.Fatal(err)
	}
	expressions := []plugincel.ExpressionAccessor{condition(podPolicies[n%len(podPolicies)])}
	return compiler.CompileCondition(expressions, plugincel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.StoredExpressions)
}

// podRequest returns a request to create a pod.
func podRequest(object map[string]any) map[string]any {
	return map[string]any{
		"operation": "CREATE", "name": "web", "namespace": "default",
		"kind":     map[string]any{"group": "", "version": "v1", "kind": "Pod"},
		"resource": map[string]any{"group": "", "version": "v1", "resource": "pods"},
		"userInfo": map[string]any{"username": "ada", "groups": []string{"developers"}}, "object": object,
	}
}

// Benchmark16PoliciesOnAPod decides a request. For Gavel, it measures the whole decision with an index, including matching and the answer.
// For Kubernetes' code, it measures only the evaluation of the validations.
func Benchmark16PoliciesOnAPod(b *testing.B) {
	object := pod()
	b.Run("gavel", func(b *testing.B) {
		index := ourIndex(b, len(podPolicies))
		defer index.Close()
		request := podRequest(object)
		defer cpu(b)()
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
		defer cpu(b)()
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

// held returns the memory in use in Go's heap and in C's heap, in bytes.
func held() int { return heap() + allocated() }

// heap returns the memory in use in Go's heap after garbage collection, in bytes.
func heap() int {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int(stats.HeapAlloc)
}

// kept measures the memory in use per compiled value. The first ten values are not counted, because they also allocate memory that all
// values share, such as tables.
func kept(b *testing.B, count int, compile func(n int) any) {
	var all []any
	for n := range 10 {
		all = append(all, compile(n))
	}
	before := held()
	for n := range count {
		all = append(all, compile(10+n))
	}
	b.ReportMetric(float64(held()-before)/float64(count), "B/kept")
	b.ReportMetric(0, "ns/op")
	runtime.KeepAlive(all)
}

func BenchmarkKeptByADefinition(b *testing.B) {
	schema, value := fortyRules()
	b.Run("gavel", func(b *testing.B) {
		kept(b, 300, func(int) any {
			validator := ours{rules.NewValidator(schema, false, celconfig.PerCallLimit), schema}
			validator.Validate(value)
			return validator
		})
	})
	b.Run("kubernetes", func(b *testing.B) {
		kept(b, 30, func(int) any {
			validator := theirs{builtin.NewValidator(schema, false, celconfig.PerCallLimit), schema}
			validator.Validate(value)
			return validator
		})
	})
}

// BenchmarkKeptByAPolicy measures the memory in use per policy. For Gavel, this is the policy, its binding and the index, after decisions.
// For Kubernetes' code, it is only the compiled validations.
func BenchmarkKeptByAPolicy(b *testing.B) {
	b.Run("gavel", func(b *testing.B) {
		const count = 1600
		index := ourIndex(b, 0)
		defer index.Close()
		kept(b, count, func(n int) any {
			for _, object := range policyAndBinding(n) {
				if err := index.Apply(object); err != nil {
					b.Fatal(err)
				}
			}
			if n >= count {
				if _, err := index.Decide(context.Background(), podRequest(pod()), gaveladmission.Options{}); err != nil {
					b.Fatal(err)
				}
			}
			return index
		})
	})
	b.Run("kubernetes", func(b *testing.B) {
		kept(b, 160, func(n int) any { return theirPolicy(b, n) })
	})
}
