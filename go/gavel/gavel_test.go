package gavel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"gavel.dev/go/gavel"
)

func compile(t testing.TB, expression string, options ...gavel.Option) *gavel.Program {
	t.Helper()
	env, err := gavel.NewEnv(options...)
	if err != nil {
		t.Fatal(err)
	}
	defer env.Close()
	program, err := env.Compile(expression)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(program.Close)
	return program
}

func TestValuesComeBackAsGoValues(t *testing.T) {
	for expression, want := range map[string]any{
		"null": nil, "true": true, "-1": int64(-1), "1u": uint64(1), "1.5": 1.5, "'a'": "a", "b'a'": []byte("a"), "b''": []byte{},
		"duration('1m')":                    time.Minute,
		"timestamp('2026-01-31T12:00:00Z')": time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC),
		"[dyn(1), dyn('a')]":                []any{int64(1), "a"},
		"{'a': dyn(1), 'b': dyn([true])}":   gavel.Map{{Key: "a", Value: int64(1)}, {Key: "b", Value: []any{true}}},
		"int":                               gavel.Type("int"),
		"optional.of(1)":                    gavel.Optional{Set: true, Value: int64(1)},
		"optional.none()":                   gavel.Optional{},
		"quantity('1Ki')":                   gavel.Opaque{Kind: "quantity", Text: "1Ki"},
	} {
		result, err := compile(t, expression).Eval(context.Background(), nil)
		if err != nil || !reflect.DeepEqual(result.Value, want) {
			t.Errorf("%s: %#v, %v; want %#v", expression, result.Value, err, want)
		}
	}
}

func TestMapsThatCameBackGoInAgain(t *testing.T) {
	for expression, kind := range map[string]string{"{'a': 1, 'b': 2}": "map(string, int)", "{dyn(1): dyn('x'), dyn(true): dyn([{}])}": "dyn", "{}": "dyn"} {
		result, err := compile(t, expression).Eval(context.Background(), nil)
		if err != nil {
			t.Fatal(err)
		}
		again := compile(t, "x == "+expression, gavel.Variable("x", kind))
		if result, err := again.Eval(context.Background(), map[string]any{"x": result.Value}); err != nil || result.Value != true {
			t.Errorf("%s: %v, %v", expression, result.Value, err)
		}
	}
	program := compile(t, "x", gavel.Variable("x", "dyn"))
	for _, value := range []any{gavel.Type("int"), gavel.HeldError("not found")} {
		if result, err := program.Eval(context.Background(), map[string]any{"x": value}); err == nil {
			t.Errorf("%T: %v", value, result.Value)
		}
	}
}

type wrapped struct{ object map[string]any }

func (w wrapped) UnstructuredContent() map[string]any { return w.object }

func TestObjectsGoInAsTheyAre(t *testing.T) {
	program := compile(t, "object.a.b[1] == 'x' && object.n == 3 && object.f == 1.5 && !has(object.none)", gavel.Variable("object", "dyn"))
	object := map[string]any{"a": map[string]any{"b": []any{nil, "x"}}, "n": int64(3), "f": 1.5}
	text, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	value, err := gavel.NewValue(object)
	if err != nil {
		t.Fatal(err)
	}
	defer value.Close()
	for _, given := range []any{object, wrapped{object}, &wrapped{object}, json.RawMessage(text), value} {
		result, err := program.Eval(context.Background(), map[string]any{"object": given})
		if err != nil || result.Value != true {
			t.Errorf("%T: %v, %v", given, result.Value, err)
		}
	}
	_, err = program.Eval(context.Background(), map[string]any{"object": struct{ A int }{1}})
	var failure *gavel.Error
	if !errors.As(err, &failure) || failure.Kind != gavel.KindArgument {
		t.Errorf("a struct: %v", err)
	}
}

func TestNilOfAnyTypeIsNull(t *testing.T) {
	program := compile(t, "object == null", gavel.Variable("object", "dyn"))
	for _, given := range []any{nil, (*gavel.Value)(nil), (*wrapped)(nil), json.RawMessage(nil), map[string]any(nil), []any(nil), (*int)(nil)} {
		result, err := program.Eval(context.Background(), map[string]any{"object": given})
		if err != nil || result.Value != true {
			t.Errorf("%T: %v, %v", given, result.Value, err)
		}
	}
	value, err := gavel.NewValue((*gavel.Value)(nil))
	if err != nil {
		t.Fatal(err)
	}
	defer value.Close()
	if text, err := value.MarshalJSON(); err != nil || string(text) != "null" {
		t.Errorf("%s, %v", text, err)
	}
}

func TestAnUnknownVerdictIsAnError(t *testing.T) {
	program := compile(t, "authorizer.path('/metrics').check('get').error()", gavel.Variable("authorizer", "authorizer"))
	for _, verdict := range []gavel.Verdict{-1, 3} {
		authorize := func(gavel.Attributes) (gavel.Verdict, string, error) { return verdict, "", nil }
		result, err := program.Eval(context.Background(), map[string]any{"authorizer": gavel.Authorizer{Authorize: authorize}})
		if want := fmt.Sprintf("the authorizer returned the unknown verdict %d", verdict); err != nil || result.Value != want {
			t.Errorf("%v, %v; want %s", result.Value, err, want)
		}
	}
}

func TestAnAuthorizerWithoutAFunctionHasNoOpinion(t *testing.T) {
	program := compile(t, "authorizer.path('/metrics').check('get').allowed()", gavel.Variable("authorizer", "authorizer"))
	result, err := program.Eval(context.Background(), map[string]any{"authorizer": gavel.Authorizer{}})
	if err != nil || result.Value != false {
		t.Errorf("%v, %v", result, err)
	}
}

func TestFailuresAreErrors(t *testing.T) {
	check := func(err error, kind gavel.Kind) {
		t.Helper()
		var failure *gavel.Error
		if !errors.As(err, &failure) || failure.Kind != kind || failure.Message == "" {
			t.Errorf("%v is not of kind %v", err, kind)
		}
	}
	env, err := gavel.NewEnv(gavel.Variable("x", "int"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = env.Compile("x +")
	check(err, gavel.KindParse)
	_, err = env.Compile("y")
	check(err, gavel.KindCheck)
	_, err = env.Compile("int('x') == x")
	check(err, gavel.KindPlan)
	program, err := env.Compile("1 / x == 1")
	if err != nil {
		t.Fatal(err)
	}
	result, err := program.Eval(context.Background(), map[string]any{"x": 0})
	check(err, gavel.KindEvaluation)
	if result.Cost == 0 {
		t.Error("a failure has a cost")
	}
	_, err = program.Eval(context.Background(), map[string]any{"x": 1}, gavel.CostLimit(1))
	check(err, gavel.KindCostLimit)
	_, err = program.Eval(context.Background(), map[string]any{"x": "one"})
	check(err, gavel.KindArgument)
	_, err = program.Eval(context.Background(), map[string]any{"y": 1})
	check(err, gavel.KindArgument)
	program.Close()
	program.Close()
	if _, err := program.Eval(context.Background(), nil); !errors.Is(err, gavel.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	env.Close()
	if _, err := env.Compile("x"); !errors.Is(err, gavel.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestContextsEndEvaluations(t *testing.T) {
	program := compile(t, "xs.all(a, xs.all(b, xs.all(c, a + b + c == 0)))", gavel.Variable("xs", "list(int)"))
	variables := map[string]any{"xs": make([]int64, 2000)}
	ctx, cancel := context.WithCancelCause(context.Background())
	cause := errors.New("the client went away")
	time.AfterFunc(20*time.Millisecond, func() { cancel(cause) })
	started := time.Now()
	_, err := program.Eval(ctx, variables, gavel.CostLimit(1<<62))
	if !errors.Is(err, cause) || time.Since(started) > 5*time.Second {
		t.Errorf("%v after %v", err, time.Since(started))
	}
	if _, err := program.Eval(ctx, variables); !errors.Is(err, cause) {
		t.Errorf("a context that is over: %v", err)
	}
}

// early is a context whose end comes after its deadline, as it does if a timer is late.
type early struct{ context.Context }

func (e early) Deadline() (time.Time, bool) {
	deadline, ok := e.Context.Deadline()
	return deadline.Add(-20 * time.Millisecond), ok
}

func TestACallThatEndsBeforeItsContextReturnsTheCauseOfTheContext(t *testing.T) {
	program := compile(t, "xs.all(a, xs.all(b, xs.all(c, a + b + c == 0)))", gavel.Variable("xs", "list(int)"))
	cause := errors.New("too slow")
	ctx, cancel := context.WithTimeoutCause(context.Background(), 40*time.Millisecond, cause)
	defer cancel()
	_, err := program.Eval(early{ctx}, map[string]any{"xs": make([]int64, 2000)}, gavel.CostLimit(1<<62))
	if !errors.Is(err, cause) {
		t.Errorf("%v, not the cause", err)
	}
}

func TestValuesThatAreNestedTooDeepAreArguments(t *testing.T) {
	program := compile(t, "x == null", gavel.Variable("x", "dyn"))
	nested := func(depth int) (value any) {
		for range depth {
			value = []any{value}
		}
		return value
	}
	endless := map[string]any{}
	endless["again"] = gavel.Optional{Set: true, Value: endless}
	for name, value := range map[string]any{"127 lists in the object of the variables": nested(127), "a map within itself": endless} {
		_, err := program.Eval(context.Background(), map[string]any{"x": value})
		if err == nil || !strings.HasPrefix(err.Error(), `variable "x"`) || !strings.HasSuffix(err.Error(), "nested deeper than 127") {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := program.Eval(context.Background(), map[string]any{"x": nested(126)}); err != nil {
		t.Error(err)
	}
}

func TestManyGoroutinesUseOneProgram(t *testing.T) {
	program := compile(t, "object.items.filter(i, i.n % 2 == 0).size()", gavel.Variable("object", "dyn"))
	items := make([]any, 100)
	for i := range items {
		items[i] = map[string]any{"n": int64(i)}
	}
	object := map[string]any{"items": items}
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			for range 50 {
				result, err := program.Eval(ctx, map[string]any{"object": object})
				if err != nil || result.Value != int64(50) {
					t.Errorf("%v, %v", result.Value, err)
				}
			}
		})
	}
	group.Wait()
}

func TestWhatAnAuthorizerPanicsWithReachesTheCaller(t *testing.T) {
	program := compile(t, "authorizer.path('/metrics').check('get').allowed()", gavel.Variable("authorizer", "authorizer"))
	asked := 0
	variables := map[string]any{"authorizer": gavel.Authorizer{Authorize: func(gavel.Attributes) (gavel.Verdict, string, error) {
		asked++
		panic("the authorizer is broken")
	}}}
	watched, cancel := context.WithCancel(context.Background())
	defer cancel()
	for _, ctx := range []context.Context{context.Background(), watched} {
		func() {
			defer func() {
				if value := recover(); value != "the authorizer is broken" {
					t.Errorf("recovered %v", value)
				}
			}()
			result, err := program.Eval(ctx, variables)
			t.Errorf("no panic: %v, %v", result, err)
		}()
	}
	if asked != 2 {
		t.Errorf("asked %d times", asked)
	}
	// Check that the library still works after the panic.
	variables["authorizer"] = gavel.Authorizer{Authorize: func(gavel.Attributes) (gavel.Verdict, string, error) { return gavel.Allow, "", nil }}
	if result, err := program.Eval(watched, variables); err != nil || result.Value != true {
		t.Errorf("%v, %v", result, err)
	}
}

// FuzzEval compiles and evaluates random texts over random JSON. Each evaluation must return a value or an error.
func FuzzEval(f *testing.F) {
	f.Add("object.a == 1", `{"a": 1}`)
	f.Add("object.map(k, k)", `{"a": {"b": [1, 2.5, null]}}`)
	f.Add("[1, 2].exists(x, x > object)", "1")
	f.Add("object.matches('(a')", `"\u0000"`)
	env, err := gavel.NewEnv(gavel.Variable("object", "dyn"))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, expression, text string) {
		program, err := env.Compile(expression)
		if err != nil {
			return
		}
		defer program.Close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		first, err := program.Eval(ctx, map[string]any{"object": json.RawMessage(text)})
		var failure *gavel.Error
		if err != nil && !errors.As(err, &failure) && ctx.Err() == nil {
			t.Fatalf("%q on %q: %v", expression, text, err)
		}
		if failure != nil && failure.Kind == gavel.KindPanic {
			t.Fatalf("%q on %q: %v", expression, text, err)
		}
		var object any
		if err != nil || json.Unmarshal([]byte(text), &object) != nil {
			return
		}
		if _, err := program.Eval(ctx, map[string]any{"object": first.Value}); err != nil && !errors.As(err, &failure) && ctx.Err() == nil {
			t.Fatalf("%q on its own value: %v", expression, err)
		}
	})
}
