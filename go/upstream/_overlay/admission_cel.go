package cel

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	gaveladmission "gavel.dev/go/admission"
	"gavel.dev/go/gavel"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
)

// expression is an expression that Gavel has compiled, and the Conditions that evaluate it.
type expression struct {
	conditions *gaveladmission.Conditions
	compiled   *gaveladmission.Condition
}

// compiler compiles expressions with Gavel.
type compiler struct {
	language      string
	withVariables bool

	lock      sync.Mutex
	variables []variableToDeclare
	// conditions are the compilers of new expressions and of stored expressions.
	conditions map[environment.Type]*gaveladmission.Conditions
}

type variableToDeclare struct {
	name, text string
	declared   gaveladmission.Declarations
}

// NewCompiler returns a compiler of expressions without variables.
func NewCompiler(envSet *environment.EnvSet) Compiler { return newCompiler(envSet, false) }

func newCompiler(envSet *environment.EnvSet, withVariables bool) *compiler {
	language := envSet.CompatibilityVersion().String()
	return &compiler{language: language, withVariables: withVariables, conditions: map[environment.Type]*gaveladmission.Conditions{}}
}

// of returns the compiler of new or of stored expressions. All variables are declared in the compiler.
func (c *compiler) of(mode environment.Type) (*gaveladmission.Conditions, error) {
	if conditions, ok := c.conditions[mode]; ok {
		return conditions, nil
	}
	options := []gaveladmission.Option{gaveladmission.Server("1.36"), gaveladmission.Language(c.language)}
	if mode == environment.StoredExpressions {
		options = append(options, gaveladmission.StoredExpressions())
	}
	if c.withVariables {
		options = append(options, gaveladmission.WithVariables())
	}
	conditions, err := gaveladmission.NewConditions(options...)
	if err != nil {
		return nil, err
	}
	for _, variable := range c.variables {
		// The error is ignored here. If a variable does not compile, the expressions that read it fail.
		_, _ = conditions.Variable(variable.name, variable.text, variable.declared)
	}
	c.conditions[mode] = conditions
	return conditions, nil
}

func declarations(options OptionalVariableDeclarations) gaveladmission.Declarations {
	return gaveladmission.Declarations{Params: options.HasParams, Authorizer: options.HasAuthorizer, PatchTypes: options.HasPatchTypes}
}

// CompileCELExpression compiles an expression.
func (c *compiler) CompileCELExpression(accessor ExpressionAccessor, options OptionalVariableDeclarations, mode environment.Type) CompilationResult {
	c.lock.Lock()
	defer c.lock.Unlock()
	failed := func(kind apiservercel.ErrorType, detail string) CompilationResult {
		return CompilationResult{Error: &apiservercel.Error{Type: kind, Detail: detail}, ExpressionAccessor: accessor}
	}
	conditions, err := c.of(mode)
	if err != nil {
		return failed(apiservercel.ErrorTypeInternal, fmt.Sprintf("unexpected error loading CEL environment: %v", err))
	}
	compiled, err := conditions.Compile(accessor.GetExpression(), declarations(options))
	if err != nil {
		kind := apiservercel.ErrorTypeInvalid
		if strings.HasPrefix(err.Error(), "program instantiation failed") {
			kind = apiservercel.ErrorTypeInternal
		}
		return failed(kind, err.Error())
	}
	wanted := accessor.ReturnTypes()
	for _, typ := range wanted {
		if cel.AnyType.IsExactType(typ) || typ.String() == compiled.Type {
			return CompilationResult{
				gavel: &expression{conditions, compiled}, ExpressionAccessor: accessor, OutputType: outputType(compiled.Type),
			}
		}
	}
	if len(wanted) == 1 {
		return failed(apiservercel.ErrorTypeInvalid, fmt.Sprintf("must evaluate to %v but got %v", wanted[0].String(), compiled.Type))
	}
	return failed(apiservercel.ErrorTypeInvalid, fmt.Sprintf("must evaluate to one of %v but got %v", wanted, compiled.Type))
}

// declare declares a variable for expressions that are compiled later.
func (c *compiler) declare(variable NamedExpressionAccessor, options OptionalVariableDeclarations) {
	c.lock.Lock()
	defer c.lock.Unlock()
	declared := variableToDeclare{variable.GetName(), variable.GetExpression(), declarations(options)}
	c.variables = append(c.variables, declared)
	for _, conditions := range c.conditions {
		_, _ = conditions.Variable(declared.name, declared.text, declared.declared)
	}
}

// outputType returns the cel-go type for the name of a type that Gavel reports.
func outputType(name string) *cel.Type {
	for _, typ := range []*cel.Type{
		cel.BoolType, cel.BytesType, cel.DoubleType, cel.DurationType, cel.DynType, cel.IntType, cel.NullType, cel.StringType,
		cel.TimestampType, cel.UintType, cel.AnyType,
	} {
		if typ.String() == name {
			return typ
		}
	}
	if inner, ok := strings.CutPrefix(name, "list("); ok {
		return cel.ListType(outputType(strings.TrimSuffix(inner, ")")))
	}
	if strings.HasPrefix(name, "map(") {
		return cel.MapType(cel.DynType, cel.DynType)
	}
	return cel.ObjectType(name)
}

// NewCompositedCompiler returns a compiler of expressions that may read variables.
func NewCompositedCompiler(envSet *environment.EnvSet) (*CompositedCompiler, error) {
	composited, err := NewCompositedCompilerForTypeChecking(envSet)
	if err != nil {
		return nil, err
	}
	compiler := newCompiler(envSet, true)
	composited.Compiler = compiler
	composited.ConditionCompiler = &conditionCompiler{compiler}
	composited.MutatingCompiler = &mutatingCompiler{compiler}
	return composited, nil
}

// CompileAndStoreVariable compiles a variable, and declares it for expressions that are compiled later.
func (c *CompositedCompiler) CompileAndStoreVariable(variable NamedExpressionAccessor, options OptionalVariableDeclarations, mode environment.Type) CompilationResult {
	result := c.Compiler.CompileCELExpression(variable, options, mode)
	if compiler, ok := c.Compiler.(*compiler); ok {
		compiler.declare(variable, options)
	}
	c.state.AddField(variable.GetName(), result.OutputType)
	c.state.compiledVariables[variable.GetName()] = result
	return result
}

// ForInput evaluates the conditions.
func (c *condition) ForInput(ctx context.Context, attributes *admission.VersionedAttributes, request *admissionv1.AdmissionRequest, inputs OptionalVariableBindings, namespace *corev1.Namespace, budget int64) ([]EvaluationResult, int64, error) {
	return evaluate(ctx, c.compilationResults, attributes, request, inputs, namespace, budget)
}

// ForInput evaluates the mutation.
func (p *mutatingEvaluator) ForInput(ctx context.Context, attributes *admission.VersionedAttributes, request *admissionv1.AdmissionRequest, inputs OptionalVariableBindings, namespace *corev1.Namespace, budget int64) (EvaluationResult, int64, error) {
	results, remaining, err := evaluate(ctx, []CompilationResult{p.compilationResult}, attributes, request, inputs, namespace, budget)
	if err != nil {
		return EvaluationResult{}, -1, err
	}
	return results[0], remaining, nil
}

func evaluate(ctx context.Context, compiled []CompilationResult, attributes *admission.VersionedAttributes, request *admissionv1.AdmissionRequest, inputs OptionalVariableBindings, namespace *corev1.Namespace, budget int64) ([]EvaluationResult, int64, error) {
	variables, err := variablesOf(ctx, attributes, request, inputs, namespace)
	if err != nil {
		return nil, -1, err
	}
	results := make([]EvaluationResult, len(compiled))
	conditions := make([]*gaveladmission.Condition, len(compiled))
	var evaluator *gaveladmission.Conditions
	for i, one := range compiled {
		results[i].ExpressionAccessor = one.ExpressionAccessor
		switch {
		case one.ExpressionAccessor == nil:
		case one.Error != nil:
			results[i].Error = &apiservercel.Error{
				Type: apiservercel.ErrorTypeInvalid, Detail: fmt.Sprintf("compilation error: %v", one.Error), Cause: one.Error,
			}
		case one.gavel == nil:
			results[i].Error = &apiservercel.Error{Type: apiservercel.ErrorTypeInternal, Detail: "unexpected internal error compiling expression"}
		default:
			conditions[i], evaluator = one.gavel.compiled, one.gavel.conditions
		}
	}
	if evaluator == nil {
		return results, budget, nil
	}
	started := time.Now()
	evaluated, remaining, err := evaluator.Eval(ctx, conditions, variables, budget)
	elapsed := time.Since(started) / time.Duration(len(compiled))
	switch {
	case err != nil && ctx.Err() != nil:
		for i, condition := range conditions {
			if condition != nil {
				text := compiled[i].ExpressionAccessor.GetExpression()
				results[i].Error = invalid(fmt.Sprintf("expression '%v' resulted in error: operation interrupted", text))
			}
		}
		return results, budget, nil
	case err != nil:
		return nil, -1, err
	case remaining < 0:
		failure := invalid("validation failed due to running out of cost budget, no further validation rules will be run")
		failure.Cause = apiservercel.ErrOutOfBudget
		return nil, -1, failure
	}
	for i, one := range evaluated {
		if conditions[i] == nil {
			continue
		}
		results[i].Elapsed = elapsed
		if one.Err != nil {
			results[i].Error = invalid(one.Err.Error())
			continue
		}
		results[i].EvalResult = refVal(one.Value)
	}
	return results, remaining, nil
}

func invalid(detail string) *apiservercel.Error {
	return &apiservercel.Error{Type: apiservercel.ErrorTypeInvalid, Detail: detail}
}

func variablesOf(ctx context.Context, attributes *admission.VersionedAttributes, request *admissionv1.AdmissionRequest, inputs OptionalVariableBindings, namespace *corev1.Namespace) (map[string]any, error) {
	object, err := objectToResolveVal(attributes.VersionedObject)
	if err != nil {
		return nil, fmt.Errorf("failed to prepare object variable for evaluation: %w", err)
	}
	oldObject, err := objectToResolveVal(attributes.VersionedOldObject)
	if err != nil {
		return nil, fmt.Errorf("failed to prepare oldObject variable for evaluation: %w", err)
	}
	requested, err := convertObjectToUnstructured(request)
	if err != nil {
		return nil, fmt.Errorf("failed to prepare request variable for evaluation: %w", err)
	}
	namespaceObject, err := objectToResolveVal(namespace)
	if err != nil {
		return nil, fmt.Errorf("failed to prepare namespace variable for evaluation: %w", err)
	}
	variables := map[string]any{
		ObjectVarName: object, OldObjectVarName: oldObject, RequestVarName: requested.Object, NamespaceVarName: namespaceObject,
	}
	if inputs.VersionedParams != nil {
		if variables[ParamsVarName], err = objectToResolveVal(inputs.VersionedParams); err != nil {
			return nil, fmt.Errorf("failed to prepare params variable for evaluation: %w", err)
		}
	}
	if inputs.Authorizer != nil {
		asked := asker{ctx, inputs.Authorizer, attributes.GetUserInfo()}
		variables[AuthorizerVarName] = gavel.Authorizer{User: asked.info(), Authorize: asked.authorize}
		resource := attributes.GetResource()
		variables[RequestResourceAuthorizerVarName] = gavel.ResourceCheck{User: asked.info(), Authorize: asked.authorize, Resource: gavel.Resource{
			Group: resource.Group, Resource: resource.Resource, Subresource: attributes.GetSubresource(),
			Namespace: attributes.GetNamespace(), Name: attributes.GetName(),
		}}
	}
	return variables, nil
}

// asker authorizes actions with the API server's authorizer.
type asker struct {
	ctx        context.Context
	authorizer authorizer.Authorizer
	user       user.Info
}

func (a asker) info() gavel.UserInfo {
	if a.user == nil {
		return gavel.UserInfo{}
	}
	return gavel.UserInfo{Name: a.user.GetName(), UID: a.user.GetUID(), Groups: a.user.GetGroups(), Extra: a.user.GetExtra()}
}

func (a asker) authorize(asked gavel.Attributes) (gavel.Verdict, string, error) {
	record := authorizer.AttributesRecord{
		User: a.user, Verb: asked.Verb, Namespace: asked.Namespace, APIGroup: asked.APIGroup, APIVersion: asked.APIVersion,
		Resource: asked.Resource, Subresource: asked.Subresource, Name: asked.Name, ResourceRequest: asked.ResourceRequest, Path: asked.Path,
	}
	if asked.User != a.info().Name {
		namespace, name, err := serviceaccount.SplitUsername(asked.User)
		if err != nil {
			return gavel.NoOpinion, "", err
		}
		record.User = serviceaccount.UserInfo(namespace, name, "")
	}
	if asked.FieldSelector != "" {
		if selector, err := fields.ParseSelector(asked.FieldSelector); err != nil {
			record.FieldSelectorParsingErr = err
		} else {
			record.FieldSelectorRequirements = selector.Requirements()
		}
	}
	if asked.LabelSelector != "" {
		if selector, err := labels.Parse(asked.LabelSelector); err != nil {
			record.LabelSelectorParsingErr = err
		} else {
			record.LabelSelectorRequirements, _ = selector.Requirements()
		}
	}
	if asked.FieldSelectorError != "" {
		record.FieldSelectorParsingErr = fmt.Errorf("%s", asked.FieldSelectorError)
	}
	if asked.LabelSelectorError != "" {
		record.LabelSelectorParsingErr = fmt.Errorf("%s", asked.LabelSelectorError)
	}
	decision, reason, err := a.authorizer.Authorize(a.ctx, &record)
	switch decision {
	case authorizer.DecisionAllow:
		return gavel.Allow, reason, err
	case authorizer.DecisionDeny:
		return gavel.Deny, reason, err
	}
	return gavel.NoOpinion, reason, err
}

// refVal converts a value of Gavel to a cel-go value. The callers of this package expect cel-go values.
func refVal(value any) ref.Val {
	switch value := value.(type) {
	case []any:
		list := make([]ref.Val, len(value))
		for i, item := range value {
			list[i] = refVal(item)
		}
		return types.NewRefValList(types.DefaultTypeAdapter, list)
	case gavel.Map:
		entries := make(map[ref.Val]ref.Val, len(value))
		for _, entry := range value {
			entries[refVal(entry.Key)] = refVal(entry.Value)
		}
		return types.NewRefValMap(types.DefaultTypeAdapter, entries)
	case gavel.Object:
		return objectVal(value)
	case gavel.Optional:
		if !value.Set {
			return types.OptionalNone
		}
		return types.OptionalOf(refVal(value.Value))
	case gavel.Type:
		return types.NewObjectTypeValue(string(value))
	case gavel.HeldError:
		return types.NewErr("%s", string(value))
	case gavel.Opaque:
		return types.String(value.Text)
	}
	return types.DefaultTypeAdapter.NativeToValue(value)
}

func objectVal(object gavel.Object) ref.Val {
	values := make(map[string]ref.Val, len(object.Fields))
	for name, field := range object.Fields {
		values[name] = refVal(field)
	}
	if object.Type == mutation.JSONPatchTypeName {
		return (&mutation.JSONPatchType{}).Val(values)
	}
	return dynamic.NewObjectVal(types.NewObjectType(object.Type), values)
}
