package main

import (
	"context"
	"encoding/json"
	"errors"
	"slices"

	"gavel.dev/go/crd"
	"gavel.dev/go/gavel"
)

// session caches environments and definitions for later requests.
type session struct {
	environments map[string]*gavel.Env
	// definitions contains the definitions of crd requests, by the ids of the requests.
	definitions map[string]json.RawMessage
	compiled    map[string]*crd.Definition
}

// maxKept limits the number of cached environments, and the number of cached definitions.
const maxKept = 200

func newSession() *session {
	return &session{map[string]*gavel.Env{}, map[string]json.RawMessage{}, map[string]*crd.Definition{}}
}

// evalRequest is a request of op=eval.
type evalRequest struct {
	request
	Expr          string                     `json:"expr"`
	Vars          map[string]json.RawMessage `json:"vars"`
	Bindings      map[string]json.RawMessage `json:"bindings"`
	Sizes         map[string]bounds          `json:"sizes"`
	CostLimit     *uint64                    `json:"costLimit"`
	CheckOnly     bool                       `json:"checkOnly"`
	Env           string                     `json:"env"`
	Container     string                     `json:"container"`
	Functions     map[string]json.RawMessage `json:"functions"`
	DisableMacros bool                       `json:"disableMacros"`
	DisableCheck  bool                       `json:"disableCheck"`
}

type bounds struct{ Min, Max *uint64 }

// options returns the options of the environment that the request describes.
func (r *evalRequest) options() []gavel.Option {
	var options []gavel.Option
	add := func(wanted bool, option gavel.Option) {
		if wanted {
			options = append(options, option)
		}
	}
	for name, typ := range r.Vars {
		add(true, gavel.Typed(name, typ))
	}
	for path, size := range r.Sizes {
		least, most := uint64(0), ^uint64(0)
		if size.Min != nil {
			least = *size.Min
		}
		if size.Max != nil {
			most = *size.Max
		}
		add(true, gavel.Size(path, least, most))
	}
	add(true, gavel.Server(r.server()))
	add(r.Language != "", gavel.Language(r.Language))
	add(r.Mode == "stored", gavel.Stored())
	add(r.CheckOnly, gavel.CheckOnly())
	add(r.Env == "cel", gavel.Specification(r.Container))
	for name, overloads := range r.Functions {
		add(true, gavel.Function(name, overloads))
	}
	add(r.DisableMacros, gavel.WithoutMacros())
	add(r.DisableCheck, gavel.WithoutCheck())
	return options
}

// environment returns the environment of a request. It uses the session's cache.
func (s *session) environment(r *evalRequest) (*gavel.Env, error) {
	described := *r
	described.Expr, described.Bindings, described.CostLimit, described.ID = "", nil, nil, nil
	key, err := json.Marshal(described)
	if err != nil {
		return nil, err
	}
	if env, ok := s.environments[string(key)]; ok {
		return env, nil
	}
	env, err := gavel.NewEnv(r.options()...)
	if err != nil {
		return nil, err
	}
	if len(s.environments) >= maxKept {
		for _, env := range s.environments {
			env.Close()
		}
		clear(s.environments)
	}
	s.environments[string(key)] = env
	return env, nil
}

func (s *session) eval(line []byte) (object, error) {
	r := new(evalRequest)
	if err := json.Unmarshal(line, r); err != nil {
		return nil, err
	}
	env, err := s.environment(r)
	if err != nil {
		return nil, err
	}
	answer := object{"ok": false}
	program, err := env.Compile(r.Expr)
	var failure *gavel.Error
	if errors.As(err, &failure) {
		known(answer, failure.Type, failure.TypeInMessages, failure.Estimate)
		answer["error"] = problem(phase(failure), failure)
		return answer, nil
	} else if err != nil {
		return nil, err
	}
	defer program.Close()
	known(answer, program.Type(), program.TypeInMessages(), program.Estimate())
	variables, tables, err := r.variables()
	if err != nil {
		return nil, err
	}
	var options []gavel.EvalOption
	if r.CostLimit != nil {
		options = append(options, gavel.CostLimit(*r.CostLimit))
	}
	result, err := program.Eval(context.Background(), variables, options...)
	if result.Evaluated {
		answer["cost"] = result.Cost
	}
	var calls []object
	for _, table := range tables {
		calls = append(calls, table.calls...)
	}
	if calls != nil {
		answer["authorizerCalls"] = calls
	}
	switch {
	case errors.As(err, &failure) && failure.Kind == gavel.KindArgument:
		return nil, err
	case failure != nil:
		answer["error"] = problem(phase(failure), failure)
		return answer, nil
	case err != nil:
		return nil, err
	}
	answer["ok"] = true
	if result.Evaluated {
		answer["value"] = typed(result.Value)
	}
	return answer, nil
}

// known adds the static type and the cost estimate to an answer.
func known(answer object, typ, inMessages string, estimate *gavel.Estimate) {
	if typ != "" {
		answer["type"] = typ
		if typ != inMessages {
			answer["typeFormatted"] = inMessages
		}
	}
	if estimate != nil {
		answer["estimate"] = object{"min": estimate.Min, "max": estimate.Max}
	}
}

// variables converts the bindings to Go values. It also returns the authorizers in the bindings, ordered by variable name.
func (r *evalRequest) variables() (map[string]any, []*table, error) {
	names := make([]string, 0, len(r.Bindings))
	for name := range r.Bindings {
		names = append(names, name)
	}
	slices.Sort(names)
	variables := make(map[string]any, len(names))
	var tables []*table
	for _, name := range names {
		var typ string
		if json.Unmarshal(r.Vars[name], &typ) != nil || typ != "authorizer" && typ != "resourceCheck" {
			variables[name] = r.Bindings[name]
			continue
		}
		table := new(table)
		if err := json.Unmarshal(r.Bindings[name], table); err != nil {
			return nil, nil, err
		}
		tables = append(tables, table)
		if typ == "authorizer" {
			variables[name] = gavel.Authorizer{User: table.User, Authorize: table.authorize}
		} else {
			variables[name] = gavel.ResourceCheck{User: table.User, Authorize: table.authorize, Resource: table.Resource}
		}
	}
	return variables, tables, nil
}

func phase(failure *gavel.Error) string {
	switch failure.Kind {
	case gavel.KindParse:
		return "parse"
	case gavel.KindCheck:
		return "check"
	case gavel.KindPlan:
		return "program"
	case gavel.KindCostLimit:
		return "cost"
	case gavel.KindArgument:
		return "request"
	}
	return "eval"
}
