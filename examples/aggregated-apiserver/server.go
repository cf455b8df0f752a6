package main

import (
	"net"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/openapi"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/util/compatibility"

	"gavel.dev/examples/aggregated-apiserver/things"
)

// newServer returns an API server for Things. The plugin mutates and validates requests.
func newServer(listener net.Listener, access authorizer.Authorizer, plugin admission.Interface) (*server.GenericAPIServer, error) {
	scheme := things.NewScheme()
	codecs := serializer.NewCodecFactory(scheme)
	config := server.NewConfig(codecs)
	config.EffectiveVersion = compatibility.DefaultBuildEffectiveVersion()
	config.OpenAPIV3Config = server.DefaultOpenAPIV3Config(things.Definitions, openapi.NewDefinitionNamer(scheme))
	config.OpenAPIV3Config.Info.Title = "Things"
	config.Authorization.Authorizer = access
	config.AdmissionControl = plugin
	serving := options.NewSecureServingOptions().WithLoopback()
	serving.Listener = listener
	// Without a directory, each start generates a new certificate in memory.
	serving.ServerCert.CertDirectory = ""
	if err := serving.MaybeDefaultWithSelfSignedCerts("localhost", nil, nil); err != nil {
		return nil, err
	}
	if err := serving.ApplyTo(&config.SecureServing, &config.LoopbackClientConfig); err != nil {
		return nil, err
	}
	made, err := config.Complete(nil).New("things", server.NewEmptyDelegate())
	if err != nil {
		return nil, err
	}
	storage, err := things.NewStorage()
	if err != nil {
		return nil, err
	}
	group := server.NewDefaultAPIGroupInfo(things.GroupVersion.Group, scheme, runtime.NewParameterCodec(scheme), codecs)
	group.VersionedResourcesStorageMap[things.GroupVersion.Version] = map[string]rest.Storage{"things": storage}
	return made, made.InstallAPIGroup(&group)
}
