package policy

import (
	"errors"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
)

const group = "admissionregistration.k8s.io"

// Watch updates the index from informers of namespaces, and of validating and mutating policies and bindings. It does not watch params: the
// Lookup of the options fetches them, or the host applies them to the index. The host must call Watch before the plugin receives requests,
// and then start the factory.
func (p *Plugin) Watch(factory informers.SharedInformerFactory) error {
	registration := factory.Admissionregistration().V1()
	watched := []struct {
		kind     schema.GroupVersionKind
		informer cache.SharedIndexInformer
	}{
		{schema.GroupVersionKind{Group: group, Version: "v1", Kind: "ValidatingAdmissionPolicy"}, registration.ValidatingAdmissionPolicies().Informer()},
		{schema.GroupVersionKind{Group: group, Version: "v1", Kind: "ValidatingAdmissionPolicyBinding"}, registration.ValidatingAdmissionPolicyBindings().Informer()},
		{schema.GroupVersionKind{Group: group, Version: "v1", Kind: "MutatingAdmissionPolicy"}, registration.MutatingAdmissionPolicies().Informer()},
		{schema.GroupVersionKind{Group: group, Version: "v1", Kind: "MutatingAdmissionPolicyBinding"}, registration.MutatingAdmissionPolicyBindings().Informer()},
		{schema.GroupVersionKind{Version: "v1", Kind: "Namespace"}, factory.Core().V1().Namespaces().Informer()},
	}
	var failed error
	var handlers []cache.ResourceEventHandlerRegistration
	for _, one := range watched {
		handler, err := one.informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    func(object any) { p.change(object, one.kind, p.index.Apply) },
			UpdateFunc: func(_, object any) { p.change(object, one.kind, p.index.Apply) },
			DeleteFunc: func(object any) { p.change(object, one.kind, p.index.Delete) },
		})
		failed = errors.Join(failed, err)
		handlers = append(handlers, handler)
	}
	p.SetReadyFunc(func() bool {
		if failed != nil {
			return false
		}
		for _, handler := range handlers {
			// True after the index has received every object that the informer listed first.
			if !handler.HasSynced() {
				return false
			}
		}
		return true
	})
	return failed
}

// change updates the index with an object from an informer. It sets the object's kind, which informers leave empty.
func (p *Plugin) change(object any, kind schema.GroupVersionKind, change func(any) error) {
	if gone, ok := object.(cache.DeletedFinalStateUnknown); ok {
		object = gone.Obj
	}
	found, ok := object.(runtime.Object)
	if !ok {
		return
	}
	fields, err := content(found)
	if err != nil {
		utilruntime.HandleError(err)
		return
	}
	fields["apiVersion"], fields["kind"] = kind.GroupVersion().String(), kind.Kind
	if err := change(fields); err != nil {
		utilruntime.HandleError(err)
	}
}
