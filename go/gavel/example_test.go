package gavel_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gavel.dev/go/gavel"
)

func Example() {
	env, err := gavel.NewEnv(gavel.Server("1.36"), gavel.Variable("object", "dyn"))
	if err != nil {
		panic(err)
	}
	defer env.Close()
	program, err := env.Compile("object.spec.replicas <= 5")
	if err != nil {
		panic(err)
	}
	defer program.Close()
	object := map[string]any{"spec": map[string]any{"replicas": 7}}
	result, err := program.Eval(context.Background(), map[string]any{"object": object})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Value, result.Cost)
	// Output: false 4
}

func ExampleSchema() {
	schema := map[string]any{
		"type":       "object",
		"properties": map[string]any{"replicas": map[string]any{"type": "integer"}},
	}
	env, err := gavel.NewEnv(gavel.Schema("self", schema, false))
	if err != nil {
		panic(err)
	}
	defer env.Close()
	_, err = env.Compile("self.replica <= 5")
	var failure *gavel.Error
	if errors.As(err, &failure) {
		fmt.Println(failure.Kind == gavel.KindCheck, failure.Line, failure.Column)
	}
	// Output: true 1 5
}

func ExampleProgram_Eval_context() {
	env, err := gavel.NewEnv(gavel.Variable("xs", "list(int)"))
	if err != nil {
		panic(err)
	}
	defer env.Close()
	program, err := env.Compile("xs.all(a, xs.all(b, xs.all(c, a + b + c == 0)))")
	if err != nil {
		panic(err)
	}
	defer program.Close()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
	defer cancel()
	_, err = program.Eval(ctx, map[string]any{"xs": make([]int, 2000)}, gavel.CostLimit(1<<62))
	fmt.Println(err)
	// Output: context deadline exceeded
}

func ExampleAuthorizer() {
	env, err := gavel.NewEnv(gavel.Variable("authorizer", "authorizer"))
	if err != nil {
		panic(err)
	}
	defer env.Close()
	program, err := env.Compile("authorizer.group('apps').resource('deployments').namespace('shop').check('create').allowed()")
	if err != nil {
		panic(err)
	}
	defer program.Close()
	alice := gavel.Authorizer{
		User: gavel.UserInfo{Name: "alice"},
		Authorize: func(asked gavel.Attributes) (gavel.Verdict, string, error) {
			fmt.Println(asked.User, asked.Verb, asked.APIGroup, asked.Resource, asked.Namespace)
			return gavel.Allow, "", nil
		},
	}
	result, err := program.Eval(context.Background(), map[string]any{"authorizer": alice})
	if err != nil {
		panic(err)
	}
	fmt.Println(result.Value)
	// Output:
	// alice create apps deployments shop
	// true
}
