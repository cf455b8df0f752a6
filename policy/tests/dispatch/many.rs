//! Tests decisions by many policies, some of which fail. Every policy must be evaluated.

use std::sync::atomic::{AtomicU32, Ordering};

use gavel_policy::Matched;

use super::*;

/// The cost budget, in cost units. `EXPENSIVE` exceeds it.
const BUDGET: i64 = 20;
const EXPENSIVE: &str = "[1, 2, 3, 4, 5, 6, 7, 8, 9].all(x, x > 0)";
const OUT_OF_BUDGET: &str =
    "validation failed due to running out of cost budget, no further validation rules will be run";
const WITHOUT_PARAMS: &str = "failed to configure binding: no params found for policy binding with `Deny` parameterNotFoundAction";

/// An expression that needs ten billion iterations.
fn bomb() -> String {
    (0..10).fold("true".to_owned(), |inner, n| {
        format!("[0, 1, 2, 3, 4, 5, 6, 7, 8, 9].all(x{n}, {inner})")
    })
}

/// A policy and its binding, with the message of the expected denial.
struct Sort {
    spec: Json,
    selection: Json,
    denial: Option<&'static str>,
    /// Whether the policy fails, so that its failure policy decides.
    fails: bool,
}

fn sorts() -> Vec<Sort> {
    let sort = |expression: &str, denial, fails| Sort {
        spec: validations(&[expression]),
        selection: json!({}),
        denial,
        fails,
    };
    let mut spec = validations(&["params.most > 0"]);
    spec["paramKind"] = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    let selection = json!({"paramRef": {"name": "none", "parameterNotFoundAction": "Deny"}});
    vec![
        sort("object.replicas < 5", None, false),
        sort("false", Some("failed expression: false"), false),
        sort(
            "object.replicas",
            Some("compilation error: must evaluate to bool but got dyn"),
            true,
        ),
        sort(EXPENSIVE, Some(OUT_OF_BUDGET), true),
        Sort {
            spec,
            selection,
            denial: Some(WITHOUT_PARAMS),
            fails: true,
        },
    ]
}

/// The policy and the message of each denial.
fn denials(decision: &Decision) -> Vec<(&str, &str)> {
    let denials = decision.denials.iter();
    denials
        .map(|denial| (denial.policy.as_str(), denial.message.as_str()))
        .collect()
}

#[test]
fn each_of_ten_thousand_policies_is_decided() {
    let sorts = sorts();
    let bomb = Sort {
        spec: validations(&[&bomb()]),
        selection: json!({}),
        denial: Some(OUT_OF_BUDGET),
        fails: true,
    };
    let mut objects = Vec::new();
    let mut expected = Vec::new();
    let failure_policies = ["Fail", "Ignore"];
    for n in 0..10_000 {
        let name = format!("p{n:04}");
        let failure_policy = failure_policies[n % 2];
        let sort = match n {
            5_000 => &bomb,
            n => &sorts[n / 2 % sorts.len()],
        };
        objects.push(policy(&name, failure_policy, sort.spec.clone()));
        objects.push(binding(&name, &name, &["Deny"], sort.selection.clone()));
        if let Some(denial) = sort.denial
            && (failure_policy == "Fail" || !sort.fails)
        {
            expected.push((name, denial));
        }
    }
    let options = Options {
        cost_budget: Some(BUDGET),
        ..Options::default()
    };
    let decision = decided(&filled(&objects), &options);
    let expected = expected
        .iter()
        .map(|(name, denial)| (name.as_str(), *denial));
    assert_eq!(denials(&decision), Vec::from_iter(expected));
}

/// Interrupts the decision a few interrupt checks after `policy` was matched with the request.
struct Fuse {
    policy: &'static str,
    is_lit: AtomicU32,
    checks: AtomicU32,
}

impl Fuse {
    fn is_over(&self) -> bool {
        let step = self.is_lit.load(Ordering::Relaxed);
        self.checks.fetch_add(step, Ordering::Relaxed) > 5
    }
}

impl Observer for Fuse {
    fn policy_matched(&self, policy: &str, _: &Result<Option<Matched<'_>>, String>) {
        if policy == self.policy {
            self.is_lit.store(1, Ordering::Relaxed);
        }
    }
}

#[test]
fn the_interrupt_ends_a_slow_policy_and_fails_the_policies_after_it() {
    let bomb = bomb();
    let two_params = json!({"paramRef": {"selector": {}}});
    let mut of_params = validations(&["true"]);
    of_params["paramKind"] = json!({"apiVersion": "v1", "kind": "ConfigMap"});
    let objects = [
        policy("a", "Fail", validations(&["false"])),
        binding("a", "a", &["Deny"], json!({})),
        policy("b", "Fail", validations(&[&bomb])),
        binding("b", "b", &["Deny"], json!({})),
        policy("c", "Fail", of_params),
        binding("c", "c", &["Deny"], two_params),
        policy("d", "Ignore", validations(&["false"])),
        binding("d", "d", &["Deny"], json!({})),
        config_map("one", 1),
        config_map("two", 2),
    ];
    let fuse = Fuse {
        policy: "b",
        is_lit: AtomicU32::new(0),
        checks: AtomicU32::new(0),
    };
    let options = Options {
        interrupt: Some(&|| fuse.is_over()),
        observer: &fuse,
        ..Options::default()
    };
    let decision = decided(&filled(&objects), &options);
    let interrupted = format!("expression '{bomb}' resulted in error: operation interrupted");
    let expected = [
        ("a", "failed expression: false"),
        ("b", interrupted.as_str()),
        // The binding fails once, although it selects two params.
        ("c", "operation interrupted"),
    ];
    assert_eq!(denials(&decision), expected);
}
