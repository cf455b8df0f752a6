//! The lint rules about CustomResourceDefinitions and their validation rules.

use gavel_manifest::Severity;

use super::{Example, Frame, Rule};

/// Reports a validation rule that uses more than three quarters of its cost budget.
pub static COST_NEAR_LIMIT: Rule = Rule {
    id: "cost-near-limit",
    severity: Severity::Warning,
    is_default: true,
    title: "A rule uses more than three quarters of the cost budget",
    why: "If you add a rule or raise a bound such as `maxItems`, the definition may exceed the budget of 10,000,000 units for one rule or `messageExpression`, or of 100,000,000 units for a schema. The API server then rejects the changed definition. The help says which \
          bound brings the cost down. `gavel cost` shows the figures of all rules.",
    example: Example {
        frame: Frame::Schema,
        before: "type: object\nproperties:\n  hosts:\n    type: array\n    maxItems: 80000\n    items: {type: string, maxLength: 253}\n    x-kubernetes-validations:\n    - rule: self.all(host, !host.contains('..'))\n      message: must not contain two dots in a row\n",
        after: "type: object\nproperties:\n  hosts:\n    type: array\n    maxItems: 64\n    items: {type: string, maxLength: 253}\n    x-kubernetes-validations:\n    - rule: self.all(host, !host.contains('..'))\n      message: must not contain two dots in a row\n",
    },
};

/// Reports parts of a schema that contradict each other.
pub static CONTRADICTORY_SCHEMA: Rule = Rule {
    id: "contradictory-schema",
    severity: Severity::Warning,
    is_default: true,
    title: "Two parts of the schema contradict each other",
    why: "The API server accepts the definition, but rejects every object, or every object with a value that the schema seems to allow. Fields that are \
          not in `properties` are dropped before an object is validated, so they must not be in `required`.",
    example: Example {
        frame: Frame::Schema,
        before: "type: object\nrequired: [spec, status]\nproperties:\n  spec:\n    type: object\n    properties:\n      size: {type: integer, minimum: 10, maximum: 1}\n",
        after: "type: object\nrequired: [spec]\nproperties:\n  spec:\n    type: object\n    properties:\n      size: {type: integer, minimum: 1, maximum: 10}\n",
    },
};

/// Reports a validation rule whose constraint the schema could express.
pub static SCHEMA_CAN_SAY: Rule = Rule {
    id: "schema-can-say",
    severity: Severity::Note,
    is_default: true,
    title: "The schema can express the same constraint without a rule",
    why: "Validation by `maximum`, `maxLength`, `pattern`, `enum` and `required` adds nothing to the CEL cost. `maxLength`, `enum` and \
          `required` also lower the cost estimates of other rules. `kubectl explain` shows `enum` and `required`. Write a rule where \
          users should read a message of your own.",
    example: Example {
        frame: Frame::Schema,
        before: "type: object\nproperties:\n  size:\n    type: integer\n    x-kubernetes-validations:\n    - rule: self >= 1 && self <= 10\n      message: must be between 1 and 10\n",
        after: "type: object\nproperties:\n  size: {type: integer, minimum: 1, maximum: 10}\n",
    },
};

/// Reports a message that breaks Kubernetes' conventions.
pub static MESSAGE_CONVENTION: Rule = Rule {
    id: "message-convention",
    severity: Severity::Note,
    is_default: true,
    title: "The message breaks the conventions of the Kubernetes API",
    why: "The API conventions ask for \"must\", not \"should\": the object is rejected, so the user has no choice.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.spec.replicas <= 5\n  message: replicas should be at most 5\n",
        after: "validations:\n- expression: object.spec.replicas <= 5\n  message: replicas must be at most 5\n",
    },
};

/// Reports a `messageExpression` without a `message`.
pub static LONE_MESSAGE_EXPRESSION: Rule = Rule {
    id: "lone-message-expression",
    severity: Severity::Note,
    is_default: true,
    title: "A messageExpression has no message to fall back to",
    why: "If the messageExpression fails, or returns a text that is empty, contains a line break or exceeds 5 KiB, the `message` is used. Without \
          one the user reads `failed rule: …` or `failed expression: …`, with the whole expression.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.spec.replicas <= 5\n  messageExpression: \"'must have at most 5 replicas, not ' + string(object.spec.replicas)\"\n",
        after: "validations:\n- expression: object.spec.replicas <= 5\n  message: must have at most 5 replicas\n  messageExpression: \"'must have at most 5 replicas, not ' + string(object.spec.replicas)\"\n",
    },
};

/// Reports a new constraint of a definition that stored objects may violate.
pub static BREAKS_STORED_OBJECTS: Rule = Rule {
    id: "breaks-stored-objects",
    severity: Severity::Warning,
    is_default: true,
    title: "Stored objects may become invalid",
    why: "The definition is stricter than the one that `--old` names. Some stored objects may violate the stricter definition. Since Kubernetes 1.30 an update that leaves the invalid value unchanged still passes in most cases (validation ratcheting); the help of the finding names the exception.",
    example: Example {
        frame: Frame::Schema,
        before: "type: object\nproperties:\n  size: {type: integer, maximum: 5}\n",
        after: "type: object\nproperties:\n  size: {type: integer, maximum: 10}\n",
    },
};

/// Reports the API server's own warnings about an object.
pub static SERVER_WARNING: Rule = Rule {
    id: "server-warning",
    severity: Severity::Warning,
    is_default: true,
    title: "The API server warns about the object",
    why: "kubectl prints the warning. An unknown `format` is not checked, so every value passes. Server-side apply and CEL rules do not support \
          sets of objects: declare a list of type `map`. Names that end with `.static.k8s.io` are reserved for policies that the API server \
          reads from manifest files; since Kubernetes 1.37 the API refuses them.",
    example: Example {
        frame: Frame::Schema,
        before: "type: object\nproperties:\n  contact: {type: string, format: emial}\n",
        after: "type: object\nproperties:\n  contact: {type: string, format: email}\n",
    },
};
