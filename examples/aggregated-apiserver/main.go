// Aggregated-apiserver is an API server for one kind, built on k8s.io/apiserver. Gavel evaluates the rules of the kind's schema
// (gavel.dev/go/kubernetes/rules) and admission policies (gavel.dev/go/kubernetes/policy, which replaces the built-in plugins).
//
//	go/build.sh && cd examples/aggregated-apiserver
//	go run . -port 8443 -policies policies.json
//	curl -k https://localhost:8443/apis/example.com/v1/namespaces/shop/things -H 'Content-Type: application/json' \
//	  -d '{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "a"}, "spec": {"replicas": 7, "most": 9}}'
//
// An API server in a cluster would read its policies from informers (Plugin.Watch), and delegate authentication and authorization.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"log"
	"net"
	"os"

	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	"k8s.io/apiserver/pkg/server"

	"gavel.dev/examples/aggregated-apiserver/things"
	"gavel.dev/go/admission"
	"gavel.dev/go/kubernetes/policy"
)

func main() {
	port := flag.Int("port", 8443, "the port that is served")
	policies := flag.String("policies", "policies.json", "a file with a JSON list of policies, bindings and namespaces")
	flag.Parse()
	if err := run(*port, *policies); err != nil {
		log.Fatal(err)
	}
}

func run(port int, file string) error {
	index, err := newIndex(file)
	if err != nil {
		return err
	}
	defer index.Close()
	listener, err := net.Listen("tcp", fmt.Sprintf(":%d", port))
	if err != nil {
		return err
	}
	access := authorizerfactory.NewAlwaysAllowAuthorizer()
	made, err := newServer(listener, access, policy.New(index, policy.Options{Authorizer: access}))
	if err != nil {
		return err
	}
	return made.PrepareRun().RunWithContext(server.SetupSignalContext())
}

// newIndex returns an index that contains the objects in a file.
func newIndex(file string) (*admission.Index, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	var objects []json.RawMessage
	if err := json.Unmarshal(text, &objects); err != nil {
		return nil, err
	}
	index, err := admission.NewIndex(admission.Server("1.36"))
	if err != nil {
		return nil, err
	}
	if err := index.Learn(admission.Knowledge{Schemas: things.Schemas()}); err != nil {
		index.Close()
		return nil, err
	}
	for _, object := range objects {
		if err := index.Apply(object); err != nil {
			index.Close()
			return nil, err
		}
	}
	return index, nil
}
