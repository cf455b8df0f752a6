package bench

import (
	"encoding/json"
	"fmt"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// podPolicies are the expressions of 16 policies. They equal POD_SECURITY in benches/src/policies.rs.
var podPolicies = []string{
	"!has(object.spec.hostNetwork) || !object.spec.hostNetwork",
	"!has(object.spec.hostPID) || !object.spec.hostPID",
	"!has(object.spec.hostIPC) || !object.spec.hostIPC",
	"object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.privileged) || !c.securityContext.privileged)",
	"object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.runAsNonRoot) || c.securityContext.runAsNonRoot)",
	"object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.procMount) || c.securityContext.procMount == 'Default')",
	"object.spec.containers.all(c, !has(c.ports) || c.ports.all(p, !has(p.hostPort) || p.hostPort == 0))",
	"object.spec.containers.all(c, !has(c.securityContext) || !has(c.securityContext.capabilities) || !has(c.securityContext.capabilities.add) || c.securityContext.capabilities.add.all(a, a in ['NET_BIND_SERVICE', 'CHOWN']))",
	"object.spec.containers.all(c, c.image.startsWith('registry.example.com/'))",
	"object.spec.containers.all(c, !c.image.endsWith(':latest'))",
	"!has(object.spec.volumes) || object.spec.volumes.all(v, !has(v.hostPath))",
	"!has(object.spec.securityContext) || !has(object.spec.securityContext.sysctls) || object.spec.securityContext.sysctls.all(s, s.name in ['net.ipv4.ping_group_range'])",
	"!has(object.spec.securityContext) || !has(object.spec.securityContext.seccompProfile) || object.spec.securityContext.seccompProfile.type in ['RuntimeDefault', 'Localhost']",
	"object.spec.containers.all(c, has(c.resources) && has(c.resources.limits))",
	"has(object.metadata.labels) && 'team' in object.metadata.labels",
	"object.spec.containers.all(c, quantity(c.resources.limits.memory).isLessThan(quantity('2Gi')))",
}

// pod returns a pod that satisfies all of podPolicies.
func pod() map[string]any {
	containers := make([]any, 3)
	for n := range containers {
		containers[n] = map[string]any{
			"name": fmt.Sprintf("c%d", n), "image": "registry.example.com/web:1.2.3",
			"ports":           []any{map[string]any{"containerPort": int64(8080)}},
			"resources":       map[string]any{"limits": map[string]any{"cpu": "500m", "memory": "256Mi"}},
			"securityContext": map[string]any{"privileged": false, "runAsNonRoot": true, "capabilities": map[string]any{"drop": []any{"ALL"}}},
		}
	}
	return map[string]any{
		"apiVersion": "v1", "kind": "Pod",
		"metadata": map[string]any{"name": "web", "namespace": "default", "labels": map[string]any{"team": "web"}},
		"spec":     map[string]any{"containers": containers, "volumes": []any{map[string]any{"name": "tmp", "emptyDir": map[string]any{}}}},
	}
}

// policyAndBinding returns policy n, which has one expression of podPolicies, and a binding of the policy.
func policyAndBinding(n int) []json.RawMessage {
	const group = "admissionregistration.k8s.io/v1"
	name := fmt.Sprintf("p%d", n)
	objects := []map[string]any{
		{"apiVersion": group, "kind": "ValidatingAdmissionPolicy", "metadata": map[string]any{"name": name}, "spec": map[string]any{
			"matchConstraints": map[string]any{"resourceRules": []any{map[string]any{
				"apiGroups": []string{""}, "apiVersions": []string{"v1"}, "operations": []string{"CREATE", "UPDATE"}, "resources": []string{"pods"},
			}}},
			"validations": []any{map[string]any{"expression": podPolicies[n%len(podPolicies)]}},
		}},
		{"apiVersion": group, "kind": "ValidatingAdmissionPolicyBinding", "metadata": map[string]any{"name": name}, "spec": map[string]any{
			"policyName": name, "validationActions": []string{"Deny"},
		}},
	}
	var texts []json.RawMessage
	for _, object := range objects {
		text, err := json.Marshal(object)
		if err != nil {
			panic(err)
		}
		texts = append(texts, text)
	}
	return texts
}

func typed(name string) schema.Structural {
	return schema.Structural{Generic: schema.Generic{Type: name}}
}

func objectOf(properties map[string]schema.Structural, rules ...string) schema.Structural {
	object := typed("object")
	object.Properties = properties
	for _, rule := range rules {
		object.XValidations = append(object.XValidations, apiextensions.ValidationRule{Rule: rule})
	}
	return object
}

// oneRule returns a schema with one simple rule, and a value of the schema.
func oneRule() (*schema.Structural, any) {
	object := objectOf(map[string]schema.Structural{"replicas": typed("integer")}, "self.replicas <= 5")
	return &object, map[string]any{"replicas": int64(3)}
}

const ports = 3

// fortyRules returns a schema with eight sections of five rules each, and a value of the schema. The rules have the style of frequent
// rules.
func fortyRules() (*schema.Structural, any) {
	list, texts := typed("array"), typed("object")
	port := objectOf(map[string]schema.Structural{"name": typed("string"), "port": typed("integer")})
	list.Items = &port
	text := typed("string")
	texts.AdditionalProperties = &schema.StructuralOrBool{Structural: &text}
	properties, value := map[string]schema.Structural{}, map[string]any{}
	for n := range 8 {
		name := fmt.Sprintf("section%d", n)
		properties[name] = objectOf(
			map[string]schema.Structural{
				"minReplicas": typed("integer"), "replicas": typed("integer"), "tier": typed("string"), "schedule": typed("string"), "ports": list, "labels": texts,
			},
			"self.minReplicas <= self.replicas",
			fmt.Sprintf("self.replicas <= %d || self.tier == 'large'", 100+n),
			"!has(self.schedule) || self.schedule.size() <= 64",
			"self.ports.all(p, p.port > 0 && p.port < 65536)",
			"self.labels.all(k, k.startsWith('app-') && self.labels[k] != '')",
		)
		items := make([]any, ports)
		for port := range items {
			items[port] = map[string]any{"name": fmt.Sprintf("p%d", port), "port": int64(8000 + port)}
		}
		value[name] = map[string]any{
			"minReplicas": int64(1), "replicas": int64(3), "tier": "small", "schedule": "0 3 * * *", "ports": items,
			"labels": map[string]any{"app-name": "web", "app-team": "shop"},
		}
	}
	object := objectOf(properties)
	return &object, value
}

// manyElements returns a schema with a rule for the elements of a list and a rule for the whole list. The returned value has a list of
// 1,000 elements.
func manyElements() (*schema.Structural, any) {
	item := objectOf(map[string]schema.Structural{"min": typed("integer"), "max": typed("integer")}, "self.min <= self.max")
	list := typed("array")
	list.Items = &item
	object := objectOf(map[string]schema.Structural{"items": list}, "self.items.all(i, i.max <= 100)")
	items := make([]any, 1000)
	for n := range items {
		items[n] = map[string]any{"min": int64(n % 10), "max": int64(n%10 + 5)}
	}
	return &object, map[string]any{"items": items}
}
