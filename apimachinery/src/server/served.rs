//! The Kubernetes versions that serve the kinds of objects with expressions.

use crate::version::KubeVersion;

/// The Kubernetes versions that accept objects with expressions, by kind and API version: the first minor version that accepts such
/// objects, and the first later version that rejects them. For policies and devices, these are the versions that serve the API version
/// (k8s.io/api `*/zz_generated.prerelease-lifecycle.go`).
const KINDS: [(&[&str], &str, u32, Option<u32>); 14] = [
    (VALIDATING, "v1alpha1", 26, Some(32)),
    (VALIDATING, "v1beta1", 28, Some(34)),
    (VALIDATING, "v1", 30, None),
    (MUTATING, "v1alpha1", 32, Some(38)),
    (MUTATING, "v1beta1", 34, Some(40)),
    (MUTATING, "v1", 36, None),
    (DEVICES, "v1alpha3", 31, Some(34)),
    (DEVICES, "v1beta1", 32, Some(38)),
    (DEVICES, "v1beta2", 33, Some(39)),
    (DEVICES, "v1", 34, None),
    (CONFIGURATIONS, "v1alpha1", 29, None),
    (CONFIGURATIONS, "v1beta1", 30, None),
    (&["AuthorizationConfiguration"], "v1", 32, None),
    (&["AuthenticationConfiguration"], "v1", 34, None),
];
const VALIDATING: &[&str] = &[
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionPolicyBinding",
];
const MUTATING: &[&str] = &["MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding"];
const DEVICES: &[&str] = &["DeviceClass", "ResourceClaim", "ResourceClaimTemplate"];
const CONFIGURATIONS: &[&str] = &["AuthenticationConfiguration", "AuthorizationConfiguration"];

/// The reason why a Kubernetes version does not accept objects of a kind and version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Unserved {
    /// Help that names the Kubernetes version that first accepts or no longer accepts the objects; `None` if the kind does not have this
    /// API version.
    pub help: Option<String>,
    /// The newer `apiVersion` of the kind; `None` unless the API version was removed and the Kubernetes version accepts the newer one.
    pub newest: Option<String>,
}

/// Why a Kubernetes version does not accept objects of a kind and API version. `None` if it accepts them, or if the kind is not in
/// the table.
pub fn unserved(api_version: &str, kind: &str, server: KubeVersion) -> Option<Unserved> {
    let (group, version) = api_version.split_once('/')?;
    let mut of_kind = KINDS.iter().filter(|row| row.0.contains(&kind)).peekable();
    of_kind.peek()?;
    let Some((_, _, since, until)) = of_kind.find(|row| row.1 == version) else {
        return Some(Unserved::default());
    };
    let (since, until) = (KubeVersion::v1(*since), until.map(KubeVersion::v1));
    match until {
        _ if server < since => Some(Unserved {
            help: Some(format!("Kubernetes {since} is the first that serves it")),
            newest: None,
        }),
        Some(until) if server >= until => {
            let newest = format!("{group}/v1");
            let help = format!("Kubernetes {until} removed it: use {newest}");
            let is_served = unserved(&newest, kind, server).is_none();
            Some(Unserved {
                help: Some(help),
                newest: is_served.then_some(newest),
            })
        }
        _ => None,
    }
}

/// The message of an API server that does not serve objects of a kind and API version, with help. `None` if the server serves them, or if
/// the kind is not in the table.
pub fn no_matches(api_version: &str, kind: &str, server: KubeVersion) -> Option<String> {
    let help = unserved(api_version, kind, server)?.help;
    let help = help.map(|help| format!(" ({help})")).unwrap_or_default();
    Some(format!(
        "no matches for kind {kind:?} in version {api_version:?}{help}"
    ))
}

/// Like [`no_matches`], for a policy or a binding and an API server that was started without flags: such a server serves no alpha and beta
/// versions.
pub fn no_matches_by_default(api_version: &str, kind: &str, server: KubeVersion) -> Option<String> {
    let (group, version) = api_version.split_once('/')?;
    let is_policy = VALIDATING.contains(&kind) || MUTATING.contains(&kind);
    if !is_policy || group != "admissionregistration.k8s.io" {
        return None;
    }
    if let Some(message) = no_matches(api_version, kind, server) {
        return Some(message);
    }
    if version == "v1" {
        return None;
    }
    let stable = format!("{group}/v1");
    let mut help = format!("start the API server with --runtime-config={api_version}=true");
    match unserved(&stable, kind, server) {
        None => help = format!("use {stable}, or {help}"),
        // Before version v1, the feature is disabled too.
        Some(_) => help.push_str(" and --feature-gates=MutatingAdmissionPolicy=true"),
    }
    Some(format!(
        "Kubernetes {server} does not serve kind {kind:?} in version {api_version:?} by default: {help}"
    ))
}

/// Whether the first Kubernetes version that accepts objects of a kind and API version is later than `server`. A server decodes objects of
/// older API versions even if it does not serve them.
pub fn is_of_later_version(api_version: &str, kind: &str, server: KubeVersion) -> bool {
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let mut rows = KINDS.iter();
    rows.any(|row| row.0.contains(&kind) && row.1 == version && server < KubeVersion::v1(row.2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_that_was_removed_is_no_later_version() {
        let is_later = |version: &str, kind: &str, minor: u32| {
            let api_version = format!("admissionregistration.k8s.io/{version}");
            is_of_later_version(&api_version, kind, KubeVersion::v1(minor))
        };
        assert!(is_later("v1", "MutatingAdmissionPolicy", 35));
        assert!(!is_later("v1", "MutatingAdmissionPolicy", 36));
        assert!(!is_later("v1beta1", "ValidatingAdmissionPolicy", 37));
        assert!(!is_later("v1", "ValidatingWebhookConfiguration", 34));
    }

    #[test]
    fn a_kind_is_served_from_its_first_version_until_it_is_removed() {
        const GROUP: &str = "admissionregistration.k8s.io";
        let help = |version: &str, kind: &str, minor: u32| {
            let found = unserved(&format!("{GROUP}/{version}"), kind, KubeVersion::v1(minor));
            found.map(|found| found.help.unwrap_or_default())
        };
        let (validating, mutating) = (
            "ValidatingAdmissionPolicy",
            "MutatingAdmissionPolicyBinding",
        );
        for (version, kind, minor, expected) in [
            ("v1", validating, 34, None),
            ("v1", "ValidatingWebhookConfiguration", 34, None),
            ("v1beta1", validating, 33, None),
            (
                "v1beta1",
                validating,
                34,
                Some("Kubernetes 1.34 removed it: use admissionregistration.k8s.io/v1"),
            ),
            ("v1beta1", mutating, 34, None),
            ("v1", mutating, 36, None),
            (
                "v1",
                mutating,
                35,
                Some("Kubernetes 1.36 is the first that serves it"),
            ),
            ("v2", mutating, 36, Some("")),
        ] {
            assert_eq!(
                help(version, kind, minor).as_deref(),
                expected,
                "{version} {kind} 1.{minor}"
            );
        }
    }

    #[test]
    fn alpha_and_beta_versions_are_not_served_by_default() {
        const GROUP: &str = "admissionregistration.k8s.io";
        let check = |version: &str, kind: &str, minor: u32, expected: &str| {
            let api_version = format!("{GROUP}/{version}");
            let found = no_matches_by_default(&api_version, kind, KubeVersion::v1(minor));
            let found = found.unwrap_or_default();
            assert!(
                found.ends_with(expected),
                "{version} {kind} {minor}: {found}"
            );
            assert_eq!(
                found.is_empty(),
                expected.is_empty(),
                "{version} {kind} {minor}: {found}"
            );
        };
        for minor in 34..=37 {
            let (validating, mutating) = ("ValidatingAdmissionPolicy", "MutatingAdmissionPolicy");
            check("v1", validating, minor, "");
            check(
                "v1beta1",
                validating,
                minor,
                "(Kubernetes 1.34 removed it: use admissionregistration.k8s.io/v1)",
            );
            check(
                "v1alpha1",
                validating,
                minor,
                "(Kubernetes 1.32 removed it: use admissionregistration.k8s.io/v1)",
            );
            check("v1", "ValidatingWebhookConfiguration", minor, "");
            for version in ["v1alpha1", "v1beta1"] {
                let flag =
                    format!("start the API server with --runtime-config={GROUP}/{version}=true");
                let expected = match minor {
                    ..36 => format!(
                        "by default: {flag} and --feature-gates=MutatingAdmissionPolicy=true"
                    ),
                    _ => format!("by default: use {GROUP}/v1, or {flag}"),
                };
                check(version, mutating, minor, &expected);
            }
        }
        check(
            "v1",
            "MutatingAdmissionPolicy",
            35,
            "(Kubernetes 1.36 is the first that serves it)",
        );
        check("v1", "MutatingAdmissionPolicy", 36, "");
        let own = "policies.gavel.example.com/v1";
        let found = no_matches_by_default(own, "MutatingAdmissionPolicy", KubeVersion::v1(35));
        assert_eq!(found, None);
    }
}
