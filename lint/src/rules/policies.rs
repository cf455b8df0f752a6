//! The rules for policies and their bindings.

use gavel_manifest::Severity;

use super::{Example, Frame, Rule};

/// Reports a variable that no expression reads.
pub static UNUSED_VARIABLE: Rule = Rule {
    id: "unused-variable",
    severity: Severity::Warning,
    is_default: true,
    title: "No expression reads the variable",
    why: "A variable is evaluated when an expression reads it for the first time, so an unused one costs nothing at run time. An unused variable is usually a leftover, or a sign that an expression reads another variable by mistake.",
    example: Example {
        frame: Frame::Policy,
        before: "variables:\n- name: replicas\n  expression: object.spec.replicas\nvalidations:\n- expression: object.spec.replicas <= 5\n",
        after: "variables:\n- name: replicas\n  expression: object.spec.replicas\nvalidations:\n- expression: variables.replicas <= 5\n",
    },
};

/// Reports an expression of a policy that may exceed its cost limit.
pub static POLICY_COST: Rule = Rule {
    id: "policy-cost",
    severity: Severity::Warning,
    is_default: false,
    title: "An expression of a policy may exceed its cost limit",
    why: "The API server stops an expression after 1,000,000 cost units, and the validations of a policy together after 10,000,000; \
          then `failurePolicy` decides. The message gives the highest cost of the expression for any object that the schema and `--max-object` allow. Most of \
          Kubernetes' own kinds have no size limits, so almost every loop exceeds the cost limit for an object of 3 MiB. Therefore, \
          the rule is off unless it is selected. `gavel cost` shows the figures of all expressions.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.spec.template.spec.containers.all(c, c.image.contains('@'))\n",
        after: "validations:\n- expression: object.spec.template.spec.?serviceAccountName.orValue('default') != 'default'\n",
    },
};

/// Reports a kind that a policy names, if the policy's expressions were not checked with the schema of the kind.
pub static UNCHECKED_KIND: Rule = Rule {
    id: "unchecked-kind",
    severity: Severity::Note,
    is_default: false,
    title: "The types of the expressions were not checked against a kind that the policy names",
    why: "A resource rule with a wildcard or a subresource does not name a kind. The schema of a custom resource is known only if its definition \
          is linted together with the policy, or if `--openapi` names the document of its group.",
    example: Example {
        frame: Frame::Manifest,
        before: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: example}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [\"*\"], apiVersions: [\"*\"], operations: [CREATE], resources: [\"*\"]}\n  validations:\n  - expression: object.metadata.name != ''\n",
        after: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: example}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}\n  validations:\n  - expression: object.metadata.name != ''\n",
    },
};

/// Reports a resource that its API group, or the group's version, does not have.
pub static UNKNOWN_RESOURCE: Rule = Rule {
    id: "unknown-resource",
    severity: Severity::Warning,
    is_default: true,
    title: "There is no such resource, API group or kind of params",
    why: "`resources` are plural names in lower case: `deployments`, not `deployment` or `Deployment`. A policy that matches nothing \
          allows everything. A resource rule whose `apiVersions` do not exist, such as `v2` of `apps`, matches nothing either; alpha and beta versions are not reported. A group without a dot that Kubernetes does not have, such as `core`, matches nothing either; the name of the core group is empty. A policy whose `paramKind` does not exist fails. In a group that is known only from CustomResourceDefinitions among the linted files, a name is reported only if it is similar to a name that one of \
          them defines, because other definitions may belong to the group.",
    example: Example {
        frame: Frame::Manifest,
        before: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: example}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployment]}\n  validations:\n  - expression: object.metadata.name != ''\n",
        after: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: example}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}\n  validations:\n  - expression: object.metadata.name != ''\n",
    },
};

/// Reports a resource for which no policies are evaluated, or no webhooks called.
pub static EXEMPT_RESOURCE: Rule = Rule {
    id: "exempt-resource",
    severity: Severity::Warning,
    is_default: true,
    title: "API servers evaluate no policies, or call no webhooks, for requests about the resource",
    why: "API servers evaluate no policies for requests about admission policies, their bindings, and reviews of users and permissions. They call no webhooks for requests about admission policies, bindings and webhook configurations and, since Kubernetes 1.37, about reviews of users and permissions. \
          Otherwise, a policy or webhook could prevent its own correction. Policies of Gavel's own kinds are evaluated by a webhook, so both apply to them; also, `gavel serve` evaluates no policies for requests about Gavel's own kinds. \
          Use RBAC to restrict who can change such objects.",
    example: Example {
        frame: Frame::Manifest,
        before: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: example}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [admissionregistration.k8s.io], apiVersions: [v1], operations: [CREATE], resources: [validatingadmissionpolicies]}\n  validations:\n  - expression: object.metadata.name != ''\n",
        after: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: example}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [admissionregistration.k8s.io], apiVersions: [v1], operations: [CREATE], resources: [validatingwebhookconfigurations]}\n  validations:\n  - expression: object.metadata.name != ''\n",
    },
};

/// Reports an API that has been removed.
pub static REMOVED_API: Rule = Rule {
    id: "removed-api",
    severity: Severity::Warning,
    is_default: true,
    title: "The policy names an API that the Kubernetes version no longer serves",
    why: "With `matchPolicy: Equivalent`, the default, a resource rule also matches requests of other versions of the same resource, but only if the API server serves the version that the resource rule names. Otherwise, this version matches nothing.",
    example: Example {
        frame: Frame::Manifest,
        before: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: example}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [batch], apiVersions: [v1beta1], operations: [CREATE], resources: [cronjobs]}\n  validations:\n  - expression: object.metadata.name != ''\n",
        after: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: example}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [batch], apiVersions: [v1], operations: [CREATE], resources: [cronjobs]}\n  validations:\n  - expression: object.metadata.name != ''\n",
    },
};

/// Reports an API that is deprecated.
pub static DEPRECATED_API: Rule = Rule {
    id: "deprecated-api",
    severity: Severity::Note,
    is_default: true,
    title: "The policy names an API that is deprecated",
    why: "A later Kubernetes version may no longer serve it. The message names the replacement.",
    example: Example {
        frame: Frame::Manifest,
        before: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: example}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [\"\"], apiVersions: [v1], operations: [CREATE], resources: [endpoints]}\n  validations:\n  - expression: object.metadata.name != ''\n",
        after: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: example}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [discovery.k8s.io], apiVersions: [v1], operations: [CREATE], resources: [endpointslices]}\n  validations:\n  - expression: object.metadata.name != ''\n",
    },
};

/// Reports a policy that has no effect because no binding names it.
pub static UNBOUND_POLICY: Rule = Rule {
    id: "unbound-policy",
    severity: Severity::Note,
    is_default: true,
    title: "No binding names the policy, so it does nothing",
    why: "A policy has no effect until a binding names it. The rule is only applied if a binding is linted along with the policies: a single policy may be bound elsewhere.",
    example: Example {
        frame: Frame::Manifest,
        before: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: one}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}\n  validations:\n  - expression: object.metadata.name != ''\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: two}\nspec: {policyName: two, validationActions: [Deny]}\n",
        after: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: one}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}\n  validations:\n  - expression: object.metadata.name != ''\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: two}\nspec: {policyName: one, validationActions: [Deny]}\n",
    },
};

/// Reports a binding to a policy that does not exist.
pub static MISSING_POLICY: Rule = Rule {
    id: "missing-policy",
    severity: Severity::Warning,
    is_default: true,
    title: "The binding names a policy that does not exist",
    why: "The API server accepts the binding, but the binding has no effect while the policy does not exist. The rule is only applied if a policy is linted along with the bindings.",
    example: Example {
        frame: Frame::Manifest,
        before: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: replicas}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}\n  validations:\n  - expression: object.metadata.name != ''\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: replicas}\nspec: {policyName: replica, validationActions: [Deny]}\n",
        after: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: replicas}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}\n  validations:\n  - expression: object.metadata.name != ''\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: replicas}\nspec: {policyName: replicas, validationActions: [Deny]}\n",
    },
};

/// Reports a policy and a binding that do not agree on params.
pub static PARAM_MISMATCH: Rule = Rule {
    id: "param-mismatch",
    severity: Severity::Warning,
    is_default: true,
    title: "The binding and the policy do not agree on params",
    why: "If a policy has a `paramKind` and its binding has no `paramRef`, `params` is null in the policy's expressions. If the policy has no `paramKind`, \
          the `paramRef` of a binding is never read. `paramRef.namespace` must not be set if the kind of the params has no namespaces.",
    example: Example {
        frame: Frame::Manifest,
        before: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: replicas}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}\n  validations:\n  - expression: object.metadata.name != ''\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: replicas}\nspec:\n  policyName: replicas\n  validationActions: [Deny]\n  paramRef: {name: limits, parameterNotFoundAction: Deny}\n",
        after: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: replicas}\nspec:\n  paramKind: {apiVersion: v1, kind: ConfigMap}\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [apps], apiVersions: [v1], operations: [CREATE], resources: [deployments]}\n  validations:\n  - expression: object.metadata.name != params.metadata.name\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: replicas}\nspec:\n  policyName: replicas\n  validationActions: [Deny]\n  paramRef: {name: limits, parameterNotFoundAction: Deny}\n",
    },
};

/// Reports two documents that contain the same object.
pub static DUPLICATE_OBJECT: Rule = Rule {
    id: "duplicate-object",
    severity: Severity::Warning,
    is_default: true,
    title: "Two documents are the same object",
    why: "Whichever is applied last replaces the other.",
    example: Example {
        frame: Frame::Manifest,
        before: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: replicas}\nspec: {policyName: one, validationActions: [Deny]}\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: replicas}\nspec: {policyName: two, validationActions: [Deny]}\n",
        after: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: replicas}\nspec: {policyName: one, validationActions: [Deny]}\n---\napiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicyBinding\nmetadata: {name: replicas-two}\nspec: {policyName: two, validationActions: [Deny]}\n",
    },
};

/// Reports a comment that suppresses a rule that does not exist.
pub static UNKNOWN_SUPPRESSION: Rule = Rule {
    id: "unknown-suppression",
    severity: Severity::Warning,
    is_default: true,
    title: "A comment suppresses a rule that does not exist",
    why: "A comment such as `# gavel: ignore optional-field -- reason` suppresses only the rules that it names. Everything up to `--` is read as names of rules.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n# gavel: ignore message-conventions -- clients look for this text\n- expression: object.spec.replicas <= 5\n  message: replicas should be at most 5\n",
        after: "validations:\n# gavel: ignore message-convention -- clients look for this text\n- expression: object.spec.replicas <= 5\n  message: replicas should be at most 5\n",
    },
};
