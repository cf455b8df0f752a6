//! The rules for errors that make an API server reject an object.

use gavel_manifest::Severity;
use gavel_manifest::problem::rule;

use super::{Example, Frame, Rule};

/// Reports text that is neither YAML nor JSON.
pub static SYNTAX: Rule = Rule {
    id: rule::SYNTAX,
    severity: Severity::Error,
    is_default: true,
    title: "The text is not YAML or JSON that Kubernetes can read",
    why: "Kubernetes cannot read the document: a quote or bracket is not closed, the indentation is wrong, or a value has no \
          counterpart in JSON. The other documents of the file are still checked.",
    example: Example {
        frame: Frame::Manifest,
        before: "apiVersion: v1\nkind: \"Namespace\nmetadata: {name: one}\n",
        after: "apiVersion: v1\nkind: \"Namespace\"\nmetadata: {name: one}\n",
    },
};

/// Reports a key that occurs twice in an object.
pub static DUPLICATE_KEY: Rule = Rule {
    id: rule::DUPLICATE_KEY,
    severity: Severity::Error,
    is_default: true,
    title: "An object has the same key twice",
    why: "Only the last value counts; the earlier value is lost. kubectl and the API server reject such objects when \
          they validate strictly, which is the default of kubectl.",
    example: Example {
        frame: Frame::Policy,
        before: "failurePolicy: Fail\nfailurePolicy: Ignore\nvalidations:\n- expression: object.spec.replicas <= 5\n",
        after: "failurePolicy: Fail\nvalidations:\n- expression: object.spec.replicas <= 5\n",
    },
};

/// Reports a field that the object's type does not have.
pub static UNKNOWN_FIELD: Rule = Rule {
    id: rule::UNKNOWN_FIELD,
    severity: Severity::Error,
    is_default: true,
    title: "The type does not have this field",
    why: "The API server drops fields that it does not know, or rejects the object when it validates strictly, which is the \
          default of kubectl. Without strict validation, all rules under a misspelled `x-kubernetes-validations` are \
          dropped without an error.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.spec.replicas <= 5\n  mesage: must have at most 5 replicas\n",
        after: "validations:\n- expression: object.spec.replicas <= 5\n  message: must have at most 5 replicas\n",
    },
};

/// Reports an object that cannot be decoded.
pub static INVALID_OBJECT: Rule = Rule {
    id: "invalid-object",
    severity: Severity::Error,
    is_default: true,
    title: "The API server cannot decode the object",
    why: "A value does not have the type of its field, or the API server does not know the object's kind or version. The object is rejected before any of its values are validated.",
    example: Example {
        frame: Frame::Policy,
        before: "validations: none\n",
        after: "validations:\n- expression: object.spec.replicas <= 5\n",
    },
};

/// Reports a field whose value an API server rejects.
pub static INVALID_VALUE: Rule = Rule {
    id: "invalid-value",
    severity: Severity::Error,
    is_default: true,
    title: "The API server rejects the value of a field",
    why: "The message is that of the API server.",
    example: Example {
        frame: Frame::Policy,
        before: "failurePolicy: Maybe\nvalidations:\n- expression: object.spec.replicas <= 5\n",
        after: "failurePolicy: Ignore\nvalidations:\n- expression: object.spec.replicas <= 5\n",
    },
};

/// Reports an expression that does not compile.
pub static INVALID_EXPRESSION: Rule = Rule {
    id: "invalid-expression",
    severity: Severity::Error,
    is_default: true,
    title: "The expression does not compile",
    why: "The API server rejects the object. New expressions can only use what the Kubernetes version before \
          `--kubernetes-version` knows, so that the cluster can be rolled back.",
    example: Example {
        frame: Frame::Policy,
        before: "validations:\n- expression: object.metadata.name.startWith('prod-')\n",
        after: "validations:\n- expression: object.metadata.name.startsWith('prod-')\n",
    },
};

/// Reports a validation rule of a definition that exceeds its cost budget.
pub static OVER_BUDGET: Rule = Rule {
    id: "over-budget",
    severity: Severity::Error,
    is_default: true,
    title: "The estimated cost of a rule, or of all rules of a schema, exceeds the API server's budget",
    why: "The API server estimates what a rule costs in the worst case that the schema allows, and rejects definitions with rules that exceed the budget: 10,000,000 units for all evaluations of one rule, and 100,000,000 for all rules of a schema. It \
          assumes that lists, maps and texts without `maxItems`, `maxProperties` and `maxLength` are as large as a request can be.",
    example: Example {
        frame: Frame::Schema,
        before: "type: object\nproperties:\n  hosts:\n    type: array\n    items: {type: string}\n    x-kubernetes-validations:\n    - rule: self.all(host, !host.contains('..'))\n      message: must not contain two dots in a row\n",
        after: "type: object\nproperties:\n  hosts:\n    type: array\n    maxItems: 16\n    items: {type: string, maxLength: 253}\n    x-kubernetes-validations:\n    - rule: self.all(host, !host.contains('..'))\n      message: must not contain two dots in a row\n",
    },
};
