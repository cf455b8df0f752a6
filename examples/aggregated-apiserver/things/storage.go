package things

import (
	"context"
	"encoding/json"
	"sync"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metainternal "k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"gavel.dev/go/kubernetes/rules"
)

// Storage stores Things in memory. Gavel validates each created or updated Thing against the rules of the schema.
type Storage struct {
	rest.TableConvertor
	schema *structural.Structural
	rules  *rules.Validator

	lock sync.Mutex
	held map[string]*Thing
}

var (
	_ rest.Creater              = (*Storage)(nil)
	_ rest.Updater              = (*Storage)(nil)
	_ rest.Getter               = (*Storage)(nil)
	_ rest.Lister               = (*Storage)(nil)
	_ rest.Scoper               = (*Storage)(nil)
	_ rest.SingularNameProvider = (*Storage)(nil)
)

var resource = schema.GroupResource{Group: GroupVersion.Group, Resource: "things"}

// NewStorage returns an empty storage.
func NewStorage() (*Storage, error) {
	var external apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal([]byte(specSchema), &external); err != nil {
		return nil, err
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&external, &internal, nil); err != nil {
		return nil, err
	}
	made, err := structural.NewStructural(&internal)
	if err != nil {
		return nil, err
	}
	return &Storage{
		TableConvertor: rest.NewDefaultTableConvertor(resource), schema: made,
		rules: rules.NewValidator(made, false, celconfig.PerCallLimit), held: map[string]*Thing{},
	}, nil
}

// New returns an empty Thing.
func (s *Storage) New() runtime.Object { return &Thing{} }

// NewList returns an empty list.
func (s *Storage) NewList() runtime.Object { return &ThingList{} }

// Destroy frees the rules.
func (s *Storage) Destroy() { s.rules.Close() }

// NamespaceScoped returns true: Things have a namespace.
func (s *Storage) NamespaceScoped() bool { return true }

// GetSingularName returns the singular name of the resource.
func (s *Storage) GetSingularName() string { return "thing" }

// invalid validates a Thing, and returns an error if the Thing violates a rule.
func (s *Storage) invalid(ctx context.Context, thing, old *Thing) error {
	value, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&thing.Spec)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	var oldValue any
	if old != nil {
		if oldValue, err = runtime.DefaultUnstructuredConverter.ToUnstructured(&old.Spec); err != nil {
			return apierrors.NewInternalError(err)
		}
	}
	errors, _ := s.rules.Validate(ctx, field.NewPath("spec"), s.schema, value, oldValue, celconfig.RuntimeCELCostBudget)
	if len(errors) > 0 {
		return apierrors.NewInvalid(schema.GroupKind{Group: GroupVersion.Group, Kind: "Thing"}, thing.Name, errors)
	}
	return nil
}

func key(ctx context.Context, name string) string { return request.NamespaceValue(ctx) + "/" + name }

// Create stores a new Thing.
func (s *Storage) Create(ctx context.Context, object runtime.Object, admit rest.ValidateObjectFunc, _ *metav1.CreateOptions) (runtime.Object, error) {
	thing := object.(*Thing)
	rest.FillObjectMetaSystemFields(thing)
	if err := s.invalid(ctx, thing, nil); err != nil {
		return nil, err
	}
	if err := admit(ctx, thing.DeepCopyObject()); err != nil {
		return nil, err
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	if _, ok := s.held[key(ctx, thing.Name)]; ok {
		return nil, apierrors.NewAlreadyExists(resource, thing.Name)
	}
	s.held[key(ctx, thing.Name)] = thing
	return thing.DeepCopyObject(), nil
}

// Update replaces a Thing.
func (s *Storage) Update(ctx context.Context, name string, info rest.UpdatedObjectInfo, _ rest.ValidateObjectFunc, admit rest.ValidateObjectUpdateFunc, _ bool, _ *metav1.UpdateOptions) (runtime.Object, bool, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	old, ok := s.held[key(ctx, name)]
	if !ok {
		return nil, false, apierrors.NewNotFound(resource, name)
	}
	object, err := info.UpdatedObject(ctx, old.DeepCopyObject())
	if err != nil {
		return nil, false, err
	}
	thing := object.(*Thing)
	if err := s.invalid(ctx, thing, old); err != nil {
		return nil, false, err
	}
	if err := admit(ctx, thing.DeepCopyObject(), old.DeepCopyObject()); err != nil {
		return nil, false, err
	}
	s.held[key(ctx, name)] = thing
	return thing.DeepCopyObject(), false, nil
}

// Get returns a Thing.
func (s *Storage) Get(ctx context.Context, name string, _ *metav1.GetOptions) (runtime.Object, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if thing, ok := s.held[key(ctx, name)]; ok {
		return thing.DeepCopyObject(), nil
	}
	return nil, apierrors.NewNotFound(resource, name)
}

// List returns the Things of the request's namespace, or of all namespaces.
func (s *Storage) List(ctx context.Context, _ *metainternal.ListOptions) (runtime.Object, error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	list := new(ThingList)
	for _, thing := range s.held {
		if namespace := request.NamespaceValue(ctx); namespace == "" || namespace == thing.Namespace {
			list.Items = append(list.Items, *thing.DeepCopyObject().(*Thing))
		}
	}
	return list, nil
}
