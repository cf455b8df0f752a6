//! The rules for expressions that compile.

use gavel_manifest::Severity;

use super::{Example, Frame, Rule};

/// Reports a field that the schema does not have.
pub static UNDEFINED_FIELD: Rule = Rule {
    id: "undefined-field",
    severity: Severity::Warning,
    is_default: true,
    title: "The schema of the kind does not have the field",
    why: "The API server accepts the policy and only notes the problem in the policy's status. Whenever the expression reads the field, it \
          fails, and `failurePolicy` decides. Gavel knows the schemas of Kubernetes' own kinds; it reads the schemas of custom \
          resources from the definitions that are linted along with the policy.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.spec.replica <= 5\n",
        after: "validations:\n- expression: object.spec.replicas <= 5\n",
    },
};

/// Reports an expression whose types contradict the schema.
pub static TYPE_MISMATCH: Rule = Rule {
    id: "type-mismatch",
    severity: Severity::Warning,
    is_default: true,
    title: "The types of the expression do not fit the schema of the kind",
    why: "The API server accepts the policy, because `object` has the type `dyn` when the policy is created. The expression fails when it is \
          evaluated.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.spec.replicas < '5'\n",
        after: "validations:\n- expression: object.spec.replicas < 5\n",
    },
};

/// Reports a read of a field that may be absent.
pub static OPTIONAL_FIELD: Rule = Rule {
    id: "optional-field",
    severity: Severity::Warning,
    is_default: true,
    title: "The expression reads an optional field without `has()`",
    why: "Reading a field that is absent fails with `no such key`: the rule of a definition rejects the object with that message, and \
          for a policy `failurePolicy` decides. Test with `has()` first, or read with `.?field` and `orValue()`.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.spec.paused == false\n",
        after: "validations:\n- expression: \"!has(object.spec.paused) || object.spec.paused == false\"\n",
    },
};

/// Reports a read of `object` where it may be null.
pub static OBJECT_ON_DELETE: Rule = Rule {
    id: "object-on-delete",
    severity: Severity::Warning,
    is_default: true,
    title: "The policy matches DELETE, and the expression reads `object`, which is null then",
    why: "When an object is deleted, `object` is null and only `oldObject` has a value. Reading a field of null fails, and \
          `failurePolicy` decides. Compare `object` with null, test `request.operation`, or remove DELETE from `operations`.",
    example: Example {
        frame: Frame::Manifest,
        before: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: example}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [apps], apiVersions: [v1], operations: [\"*\"], resources: [deployments]}\n  validations:\n  - expression: object.spec.replicas <= 5\n",
        after: "apiVersion: admissionregistration.k8s.io/v1\nkind: ValidatingAdmissionPolicy\nmetadata: {name: example}\nspec:\n  matchConstraints:\n    resourceRules:\n    - {apiGroups: [apps], apiVersions: [v1], operations: [\"*\"], resources: [deployments]}\n  validations:\n  - expression: object == null || object.spec.replicas <= 5\n",
    },
};

/// Reports a read of `oldObject` where it may be null.
pub static OLD_OBJECT_ON_CREATE: Rule = Rule {
    id: "old-object-on-create",
    severity: Severity::Warning,
    is_default: true,
    title: "The policy matches CREATE, and the expression reads `oldObject`, which is null then",
    why: "When an object is created, `oldObject` is null. Reading a field of null fails, and `failurePolicy` decides. Compare \
          `oldObject` with null, test `request.operation`, or remove CREATE from `operations`.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.spec.replicas >= oldObject.spec.replicas\n",
        after: "validations:\n- expression: oldObject == null || object.spec.replicas >= oldObject.spec.replicas\n",
    },
};

/// Reports a condition that is always true or always false.
pub static CONSTANT_CONDITION: Rule = Rule {
    id: "constant-condition",
    severity: Severity::Warning,
    is_default: true,
    title: "A condition is always true or always false",
    why: "The condition contains only constants, compares a value with itself, or tests whether a size is less than zero. Part of the \
          expression has no effect. A validation whose expression is `false` is not reported, because it is a deliberate way to deny every request that satisfies the match conditions.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.metadata.name.size() >= 0 && object.spec.replicas <= 5\n",
        after: "validations:\n- expression: object.metadata.name.size() >= 1 && object.spec.replicas <= 5\n",
    },
};

/// Reports a call with constant arguments that always fails.
pub static FAILING_CALL: Rule = Rule {
    id: "failing-call",
    severity: Severity::Warning,
    is_default: true,
    title: "A call always fails, because of its constant arguments",
    why: "The API server accepts the expression, because it evaluates the call only for a request. Whenever the call is evaluated, it fails: the rule of a definition rejects the object, and for a policy `failurePolicy` decides.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.spec.template.spec.containers.all(c, quantity(c.?resources.limits.memory.orValue('0')).isLessThan(quantity('1GiB')))\n",
        after: "validations:\n- expression: object.spec.template.spec.containers.all(c, quantity(c.?resources.limits.memory.orValue('0')).isLessThan(quantity('1Gi')))\n",
    },
};

/// Reports two validations with the same expression.
pub static DUPLICATE_VALIDATION: Rule = Rule {
    id: "duplicate-validation",
    severity: Severity::Warning,
    is_default: true,
    title: "Two validations have the same expression",
    why: "The second one costs as much again and adds nothing. Often one of the two was meant to be different.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.spec.replicas <= 5\n- expression: object.spec.replicas<=5\n",
        after: "validations:\n- expression: object.spec.replicas <= 5\n- expression: object.spec.replicas >= 2\n",
    },
};

/// Reports a loop over a list within another loop over the same list.
pub static QUADRATIC_LOOP: Rule = Rule {
    id: "quadratic-loop",
    severity: Severity::Note,
    is_default: true,
    title: "A loop over a list contains another loop over the same list",
    why: "The cost grows with the square of the list's length. If the rule checks that elements are unique, set `x-kubernetes-list-type: set`, \
          or `map` with `x-kubernetes-list-map-keys`, instead: the schema then requires unique elements at no cost.",
    example: Example {
        frame: Frame::Schema,
        before: "type: object\nproperties:\n  hosts:\n    type: array\n    maxItems: 16\n    items: {type: string, maxLength: 253}\n    x-kubernetes-validations:\n    - rule: self.all(a, self.exists_one(b, a == b))\n      message: must be unique\n",
        after: "type: object\nproperties:\n  hosts:\n    type: array\n    maxItems: 16\n    items: {type: string, maxLength: 253}\n    x-kubernetes-list-type: set\n",
    },
};

/// Reports a regular expression that may match anywhere in the text.
pub static UNANCHORED_REGEX: Rule = Rule {
    id: "unanchored-regex",
    severity: Severity::Note,
    is_default: true,
    title: "The regular expression matches anywhere in the text",
    why: "`matches` looks for the regular expression anywhere in the text: `'a-b!'.matches('[a-z]+')` is true. To match the whole text, \
          begin with `^` and end with `$`. To look for a fixed text, use `contains`, `startsWith` or `endsWith`: they are clearer and cost less.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.metadata.name.matches('[a-z-]+')\n",
        after: "validations:\n- expression: object.metadata.name.matches('^[a-z-]+$')\n",
    },
};

/// Reports a regular expression that only lists texts.
pub static REGEX_ALTERNATIVES: Rule = Rule {
    id: "regex-alternatives",
    severity: Severity::Note,
    is_default: true,
    title: "The regular expression is a list of texts",
    why: "`x in ['a', 'b']` means the same as `x.matches('^(a|b)$')`, costs less, and cannot be misread.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.metadata.namespace.matches('^(prod|stage)$')\n",
        after: "validations:\n- expression: object.metadata.namespace in ['prod', 'stage']\n",
    },
};
