package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"gavel.dev/go/crd"
	"gavel.dev/go/gavel"
)

// costBudget is the default cost budget of all rules of an object, in cost units.
const costBudget = 10_000_000

func (s *session) definition(common *request, line []byte) (object, error) {
	var r struct {
		CRD    json.RawMessage `json:"crd"`
		OldCRD json.RawMessage `json:"oldCrd"`
	}
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, err
	}
	var id string
	if json.Unmarshal(common.ID, &id) == nil {
		s.definitions[id] = r.CRD
	}
	options := []crd.Option{crd.Server(common.server())}
	if common.Language != "" {
		options = append(options, crd.Language(common.Language))
	}
	if common.Mode == "stored" {
		options = append(options, crd.Stored())
	}
	var definition, old any = r.CRD, nil
	if len(r.OldCRD) > 0 && string(r.OldCRD) != "null" {
		var err error
		if definition, old, err = withResourceVersions(r.CRD, r.OldCRD); err != nil {
			return nil, err
		}
	}
	report, err := crd.Check(definition, old, options...)
	if err != nil {
		return nil, fmt.Errorf("crd: %w", err)
	}
	rules := make([]object, len(report.Rules))
	for i, rule := range report.Rules {
		rules[i] = written(rule)
	}
	answer := object{
		"ok": len(report.Errors) == 0, "errors": sorted(report.Errors), "rules": rules, "totals": report.Totals,
		"compatibilityVersion": report.CompatibilityVersion,
	}
	if len(report.Warnings) > 0 {
		answer["warnings"] = report.Warnings
	}
	return answer, nil
}

// withResourceVersions sets a resourceVersion on the old definition, as storage does, and the same resourceVersion on the new definition. A
// definition that already has a resourceVersion is not changed.
func withResourceVersions(definition, old json.RawMessage) (any, any, error) {
	var objects [2]object
	for i, text := range []json.RawMessage{definition, old} {
		decoder := json.NewDecoder(bytes.NewReader(text))
		decoder.UseNumber()
		if err := decoder.Decode(&objects[i]); err != nil {
			return nil, nil, err
		}
	}
	version := setResourceVersion(objects[1], "1")
	setResourceVersion(objects[0], version)
	return objects[0], objects[1], nil
}

func setResourceVersion(definition object, version string) string {
	metadata, _ := definition["metadata"].(object)
	known, _ := metadata["resourceVersion"].(string)
	if known == "" && metadata != nil {
		metadata["resourceVersion"], known = version, version
	}
	return known
}

// written returns a rule in the format of the protocol. If compilation was attempted, maxCardinality is present, and may be null.
func written(rule crd.Rule) object {
	text, _ := json.Marshal(rule)
	var fields object
	decoder := json.NewDecoder(bytes.NewReader(text))
	decoder.UseNumber()
	_ = decoder.Decode(&fields)
	if _, ok := fields["maxCardinality"]; !ok && rule.NotCompiled == "" {
		fields["maxCardinality"] = nil
	}
	return fields
}

// sorted orders errors by their fields, because Kubernetes' own order is random.
func sorted(errors []crd.FieldError) []crd.FieldError {
	errors = append([]crd.FieldError{}, errors...)
	slices.SortStableFunc(errors, func(a, b crd.FieldError) int { return strings.Compare(a.Field, b.Field) })
	return errors
}

// validateRequest is a request of op=validate.
type validateRequest struct {
	CRD          json.RawMessage `json:"crd"`
	Version      string          `json:"version"`
	Object       json.RawMessage `json:"object"`
	OldObject    json.RawMessage `json:"oldObject"`
	CostBudget   *int64          `json:"costBudget"`
	Prune        *bool           `json:"prune"`
	Default      *bool           `json:"default"`
	Prepare      bool            `json:"prepare"`
	Subresource  string          `json:"subresource"`
	ValidateMeta bool            `json:"validateMeta"`
	ForceCEL     bool            `json:"forceCEL"`
	ReturnObject bool            `json:"returnObject"`
}

// compile returns the compiled definition of a request. It uses the session's cache.
func (s *session) compile(common *request, definition json.RawMessage) (*crd.Definition, error) {
	var id string
	if json.Unmarshal(definition, &id) == nil {
		earlier, ok := s.definitions[id]
		if !ok {
			return nil, fmt.Errorf("crd: no earlier crd request has the id %q", id)
		}
		definition = earlier
	}
	key := common.server() + " " + common.Language + " " + string(definition)
	if compiled, ok := s.compiled[key]; ok {
		return compiled, nil
	}
	options := []crd.Option{crd.Server(common.server())}
	if common.Language != "" {
		options = append(options, crd.Language(common.Language))
	}
	compiled, err := crd.Compile(definition, options...)
	if err != nil {
		return nil, fmt.Errorf("crd: %w", err)
	}
	if len(s.compiled) >= maxKept {
		for _, compiled := range s.compiled {
			compiled.Close()
		}
		clear(s.compiled)
	}
	s.compiled[key] = compiled
	return compiled, nil
}

func (s *session) validate(common *request, line []byte) (object, error) {
	var r validateRequest
	if err := json.Unmarshal(line, &r); err != nil {
		return nil, err
	}
	definition, err := s.compile(common, r.CRD)
	if err != nil {
		return nil, err
	}
	how := crd.DecodeOptions{KeepUnknown: r.Prune != nil && !*r.Prune, NoDefaults: r.Default != nil && !*r.Default}
	value, unknown, err := definition.Decode(r.Object, how)
	if err != nil {
		return refused("object", err)
	}
	defer func() { value.Close() }()
	var old any
	if len(r.OldObject) > 0 && string(r.OldObject) != "null" {
		how.FromStorage = true
		decoded, _, err := definition.Decode(r.OldObject, how)
		if err != nil {
			return refused("oldObject", err)
		}
		defer decoded.Close()
		old = decoded
	}
	if r.Prepare {
		prepared, err := definition.Prepare(r.Version, value, old, r.Subresource == "status")
		if err != nil {
			return nil, err
		}
		value.Close()
		value = prepared
	}
	budget := int64(costBudget)
	if r.CostBudget != nil {
		budget = *r.CostBudget
	}
	outcome, err := definition.Validate(context.Background(), value, crd.ValidateOptions{
		Version: r.Version, Old: old, Budget: &budget, SkipMetadata: !r.ValidateMeta, Status: r.Subresource == "status", ForceRules: r.ForceCEL,
	})
	if err != nil {
		return nil, err
	}
	answer := verdict(outcome, budget)
	if len(unknown) > 0 {
		slices.Sort(unknown)
		answer["unknownFields"] = unknown
	}
	if r.ReturnObject {
		answer["object"] = value
	}
	// Marshal the answer before the deferred calls close its values.
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	var final map[string]json.RawMessage
	if err := json.Unmarshal(text, &final); err != nil {
		return nil, err
	}
	answer = object{}
	for key, part := range final {
		answer[key] = part
	}
	return answer, nil
}

func refused(what string, err error) (object, error) {
	var failure *gavel.Error
	if !errors.As(err, &failure) || failure.Kind != gavel.KindDecode {
		return nil, err
	}
	return object{"ok": false, "error": problem("decode", fmt.Errorf("%s: %w", what, err))}, nil
}

func verdict(outcome *crd.Outcome, budget int64) object {
	answer := object{
		"ok": outcome.Valid(), "schemaErrors": sorted(outcome.SchemaErrors), "celErrors": sorted(outcome.RuleErrors),
		"remainingBudget": outcome.RemainingBudget,
	}
	if outcome.RemainingBudget >= 0 {
		answer["celCost"] = budget - outcome.RemainingBudget
	}
	if outcome.RulesSkipped {
		answer["celSkipped"] = true
	}
	if outcome.NoRules {
		answer["noRules"] = true
	}
	if len(outcome.Warnings) > 0 {
		slices.Sort(outcome.Warnings)
		answer["warnings"] = outcome.Warnings
	}
	return answer
}
