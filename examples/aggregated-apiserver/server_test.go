package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"k8s.io/apiserver/pkg/authorization/authorizerfactory"

	"gavel.dev/examples/aggregated-apiserver/things"
	"gavel.dev/go/kubernetes/policy"
)

func TestRulesAndPoliciesAreGavels(t *testing.T) {
	index, err := newIndex("policies.json")
	if err != nil {
		t.Fatal(err)
	}
	defer index.Close()
	access := authorizerfactory.NewAlwaysAllowAuthorizer()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	made, err := newServer(listener, access, policy.New(index, policy.Options{Authorizer: access}))
	if err != nil {
		t.Fatal(err)
	}
	made.PrepareRun()
	const all = "/apis/example.com/v1/namespaces/shop/things"
	for _, step := range []struct {
		method, path, name string
		replicas, most     int
		code               int
		message            string
	}{
		{"POST", all, "a", 3, 5, http.StatusCreated, ""},
		{"GET", all + "/a", "", 0, 0, http.StatusOK, ""},
		{"POST", all, "a", 3, 5, http.StatusConflict, `things.example.com "a" already exists`},
		{"POST", all, "b", 7, 5, http.StatusUnprocessableEntity, `Thing.example.com "b" is invalid: spec.replicas: Invalid value: at most 5`},
		{"POST", all, "b", 7, 9, http.StatusUnprocessableEntity,
			`things.example.com "b" is forbidden: ValidatingAdmissionPolicy 'replicas' with binding 'replicas' denied request: at most 5 replicas in this cluster`},
		{"PUT", all + "/a", "a", 4, 5, http.StatusOK, ""},
		{"PUT", all + "/a", "a", 4, 6, http.StatusUnprocessableEntity, `Thing.example.com "a" is invalid: spec.most: Invalid value: most is immutable`},
		{"PUT", all + "/c", "c", 4, 6, http.StatusNotFound, `things.example.com "c" not found`},
	} {
		body := fmt.Sprintf(`{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": %q}, "spec": {"replicas": %d, "most": %d}}`, step.name, step.replicas, step.most)
		request := httptest.NewRequest(step.method, step.path, strings.NewReader(body))
		request.Header.Set("Content-Type", "application/json")
		answer := httptest.NewRecorder()
		made.Handler.ServeHTTP(answer, request)
		var got struct {
			things.Thing
			Message string
		}
		if err := json.Unmarshal(answer.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s %s: %v: %s", step.method, step.path, err, answer.Body)
		}
		if answer.Code != step.code || got.Message != step.message {
			t.Errorf("%s %s: %d %s; want %d %s", step.method, step.path, answer.Code, got.Message, step.code, step.message)
		}
		if step.method == "GET" && (got.Labels["team"] != "shop" || got.Spec.Replicas != 3) {
			t.Errorf("%s", answer.Body)
		}
	}
}
