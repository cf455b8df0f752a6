package cel

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"gavel.dev/go/crd"
	"gavel.dev/go/gavel"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/metrics"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/klog/v2"
)

// Expression is an expression that Gavel has compiled.
type Expression struct{ Text string }

// Compile compiles the rules of a schema with Gavel.
func Compile(s *schema.Structural, declType *apiservercel.DeclType, perCallLimit uint64, baseEnvSet *environment.EnvSet, envLoader EnvLoader) ([]CompilationResult, error) {
	started := time.Now()
	defer func() { metrics.Metrics.ObserveCompilation(time.Since(started)) }()
	if len(s.XValidations) == 0 {
		return nil, nil
	}
	if declType == nil {
		return nil, errors.New("failed to convert to declType for CEL validation rules")
	}
	stored := make([][2]bool, len(s.XValidations))
	for i, rule := range s.XValidations {
		stored[i] = [2]bool{
			envLoader.RuleEnv(baseEnvSet, rule.Rule) == baseEnvSet.StoredExpressionsEnv(),
			envLoader.MessageExpressionEnv(baseEnvSet, rule.MessageExpression) == baseEnvSet.StoredExpressionsEnv(),
		}
	}
	_, isRoot := declType.Fields["apiVersion"]
	options := append(gavelOptions(baseEnvSet, isRoot && s.Type == "object"), crd.StoredRules(stored))
	text, err := json.Marshal(s.ToKubeOpenAPI())
	if err != nil {
		return nil, err
	}
	checked, err := crd.CheckRules(json.RawMessage(text), options...)
	if err != nil {
		return nil, err
	}
	results := make([]CompilationResult, len(checked))
	for i, rule := range checked {
		if rule != nil {
			results[i] = gavelResult(rule, s.XValidations[i].Rule, s.XValidations[i].MessageExpression)
		}
	}
	return results, nil
}

func gavelResult(rule *crd.CheckedRule, text, messageText string) CompilationResult {
	failure := func(detail string) *apiservercel.Error {
		return &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: detail}
	}
	result := CompilationResult{UsesOldSelf: rule.UsesOldSelf}
	if rule.Error != "" {
		result.Error = failure(rule.Error)
		return result
	}
	result.Program = &Expression{text}
	result.MaxCost, result.MaxCardinality, result.NormalizedRuleFieldPath = rule.MaxCost, rule.MaxCardinality, rule.FieldPath
	if rule.MessageError != "" {
		result.MessageExpressionError = failure(rule.MessageError)
	}
	if rule.MessageMaxCost != nil {
		result.MessageExpression, result.MessageExpressionMaxCost = &Expression{messageText}, *rule.MessageMaxCost
	}
	return result
}

// gavelOptions returns options with the version of the API server, and the version of Kubernetes whose functions definitions may use.
func gavelOptions(envSet *environment.EnvSet, isResourceRoot bool) []crd.Option {
	options := []crd.Option{crd.Server("1.36"), crd.Language(envSet.CompatibilityVersion().String())}
	if isResourceRoot {
		options = append(options, crd.ResourceRoot())
	}
	return options
}

// Validator runs the rules of a structural schema with Gavel.
type Validator struct {
	// rules are the rules of the schema, followed by the rules of each allOf in the schema.
	rules []*crd.Rules
	// err says why there are no compiled rules.
	err error
}

// NewValidator compiles the rules of a schema. It returns nil if the schema has no rules.
func NewValidator(s *schema.Structural, isResourceRoot bool, perCallLimit uint64) *Validator {
	return validator(s, s, isResourceRoot, nil, perCallLimit)
}

func validator(s, _ *schema.Structural, isResourceRoot bool, _ *apiservercel.DeclType, perCallLimit uint64) *Validator {
	if s == nil {
		return nil
	}
	found := new(Validator)
	envSet := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	for _, schema := range withRulesOfAllOf(s, s) {
		if !hasXValidations(schema) {
			continue
		}
		text, err := json.Marshal(schema.ToKubeOpenAPI())
		if err != nil {
			return &Validator{err: err}
		}
		rules, err := crd.CompileRules(json.RawMessage(text), append(gavelOptions(envSet, isResourceRoot), crd.PerCallLimit(perCallLimit))...)
		if err != nil {
			return &Validator{err: err}
		}
		found.rules = append(found.rules, rules)
	}
	if len(found.rules) == 0 {
		return nil
	}
	return found
}

// withRulesOfAllOf returns copies of the schema node. The first copy has the rules of the schema that is passed as rules. Each further copy
// has the rules of one allOf in that schema.
func withRulesOfAllOf(rules, node *schema.Structural) []*schema.Structural {
	own, bare := *node, *node
	own.XValidations, bare.XValidations = rules.XValidations, nil
	bare.Items, bare.Properties, bare.AdditionalProperties = withoutRules(node.Items), nil, nil
	if node.AdditionalProperties != nil {
		values := *node.AdditionalProperties
		values.Structural = withoutRules(values.Structural)
		bare.AdditionalProperties = &values
	}
	if node.Properties != nil {
		bare.Properties = make(map[string]schema.Structural, len(node.Properties))
		for name, property := range node.Properties {
			bare.Properties[name] = *withoutRules(&property)
		}
	}
	own.Items, own.AdditionalProperties, own.Properties = bare.Items, bare.AdditionalProperties, maps.Clone(bare.Properties)
	result := []*schema.Structural{&own}
	if rules.Items != nil && node.Items != nil {
		below := withRulesOfAllOf(rules.Items, node.Items)
		own.Items = below[0]
		for _, items := range below[1:] {
			variant := bare
			variant.Items = items
			result = append(result, &variant)
		}
	}
	if rules.AdditionalProperties != nil && rules.AdditionalProperties.Structural != nil && node.AdditionalProperties != nil && node.AdditionalProperties.Structural != nil {
		below := withRulesOfAllOf(rules.AdditionalProperties.Structural, node.AdditionalProperties.Structural)
		own.AdditionalProperties = &schema.StructuralOrBool{Bool: node.AdditionalProperties.Bool, Structural: below[0]}
		for _, values := range below[1:] {
			variant := bare
			variant.AdditionalProperties = &schema.StructuralOrBool{Bool: node.AdditionalProperties.Bool, Structural: values}
			result = append(result, &variant)
		}
	}
	for name, ruled := range rules.Properties {
		property, ok := node.Properties[name]
		if !ok {
			continue
		}
		below := withRulesOfAllOf(&ruled, &property)
		own.Properties[name] = *below[0]
		for _, value := range below[1:] {
			variant := bare
			variant.Properties = maps.Clone(bare.Properties)
			variant.Properties[name] = *value
			result = append(result, &variant)
		}
	}
	if rules.ValueValidation != nil {
		for i := range rules.ValueValidation.AllOf {
			result = append(result, withRulesOfAllOf(nestedToStructural(&rules.ValueValidation.AllOf[i]), node)...)
		}
	}
	return result
}

func withoutRules(s *schema.Structural) *schema.Structural {
	if s == nil {
		return nil
	}
	return withRulesOfAllOf(&schema.Structural{}, s)[0]
}

// Validate runs the rules on an object.
func (v *Validator) Validate(ctx context.Context, fldPath *field.Path, sts *schema.Structural, obj, oldObj interface{}, costBudget int64, opts ...Option) (errs field.ErrorList, remainingBudget int64) {
	started := time.Now()
	defer func() { metrics.Metrics.ObserveEvaluation(time.Since(started)) }()
	if v == nil || obj == nil || costBudget < 0 {
		return nil, costBudget
	}
	if v.err != nil {
		return field.ErrorList{field.Invalid(fldPath, sts.Type, fmt.Sprintf("rule compiler initialization error: %v", v.err))}, costBudget
	}
	var options options
	for _, option := range opts {
		option(&options)
	}
	path := ""
	if fldPath != nil {
		path = fldPath.String()
	}
	value, err := gavel.NewValue(obj)
	if err != nil {
		return field.ErrorList{field.Invalid(fldPath, sts.Type, err.Error())}, costBudget
	}
	defer value.Close()
	remainingBudget = costBudget
	for i, rules := range v.rules {
		outcome, err := rules.Validate(ctx, crd.Subject{
			// Ratcheting does not apply to the rules of an allOf.
			Path: path, Value: value, Old: oldObj, Ratcheting: options.currentCorrelation != nil && i == 0, Budget: remainingBudget,
		})
		if err != nil {
			if ctx.Err() != nil {
				err = errors.New("operation interrupted")
			}
			return append(errs, field.Invalid(fldPath, sts.Type, err.Error())), -1
		}
		for _, note := range outcome.Notes {
			klog.V(2).ErrorS(errors.New(note), "messageExpression evaluation failed")
		}
		for _, message := range outcome.Warnings {
			warning.AddWarning(ctx, "", message)
		}
		for _, found := range outcome.RuleErrors {
			errs = append(errs, fieldError(found))
		}
		if remainingBudget = outcome.RemainingBudget; remainingBudget < 0 {
			break
		}
	}
	return errs, remainingBudget
}

func fieldError(found crd.FieldError) *field.Error {
	var value interface{} = field.OmitValueType{}
	if len(found.BadValue) > 0 {
		decoder := json.NewDecoder(bytes.NewReader(found.BadValue))
		decoder.UseNumber()
		if decoder.Decode(&value) != nil {
			value = string(found.BadValue)
		}
		if number, ok := value.(json.Number); ok {
			value = goNumber(number)
		}
	}
	kind := field.ErrorType(found.Type)
	if kind == field.ErrorTypeForbidden || kind == field.ErrorTypeRequired {
		value = ""
	}
	return &field.Error{Type: kind, Field: found.Field, BadValue: value, Detail: found.Detail}
}

func goNumber(number json.Number) interface{} {
	if !strings.ContainsAny(number.String(), ".eE") {
		if int, err := number.Int64(); err == nil {
			return int
		}
	}
	double, _ := number.Float64()
	return double
}
