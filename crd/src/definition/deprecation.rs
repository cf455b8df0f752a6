//! The warnings about deprecated versions (apiextensions-apiserver `pkg/apiserver/customresource_handler.go`, apimachinery
//! `pkg/version/helpers.go`).

use std::cmp::Reverse;

use super::Definition;

impl Definition {
    /// The warning that clients get if they read or write objects in a version; `None` if the version is not deprecated.
    ///
    /// ```
    /// use gavel_crd::definition::Definition;
    ///
    /// let version = |name, deprecated| serde_json::json!({"name": name, "served": true, "deprecated": deprecated});
    /// let definition = serde_json::json!({
    ///     "spec": {
    ///         "group": "example.com", "names": {"kind": "Route"},
    ///         "versions": [version("v1beta1", true), version("v1", false)],
    ///     },
    /// });
    /// let definition = Definition::read(&definition)?;
    /// let warning = definition.deprecation_warning("v1beta1");
    /// assert_eq!(warning.as_deref(), Some("example.com/v1beta1 Route is deprecated; use example.com/v1 Route"));
    /// assert_eq!(definition.deprecation_warning("v1"), None);
    /// # Ok::<(), gavel_crd::resource::DecodeError>(())
    /// ```
    pub fn deprecation_warning(&self, version: &str) -> Option<String> {
        let versions = &self.spec.versions;
        let found = versions.iter().find(|known| known.name == version)?;
        if !found.deprecated {
            return None;
        }
        if found.deprecation_warning.is_some() {
            return found.deprecation_warning.clone();
        }
        let (group, kind) = (&self.spec.group, &self.spec.names.kind);
        let warning = format!("{group}/{version} {kind} is deprecated");
        let replacements = versions
            .iter()
            .filter(|known| known.served && !known.deprecated)
            .filter(|known| Priority::of(&known.name) > Priority::of(version));
        Some(
            match replacements.max_by_key(|known| Priority::of(&known.name)) {
                Some(best) => format!("{warning}; use {group}/{} {kind}", best.name),
                None => warning,
            },
        )
    }
}

/// The priority of a version among the versions of a kind. Versions that are named like those of Kubernetes come before all others.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Priority<'n> {
    Other(Reverse<&'n str>),
    Kubernetes(Stability, i64, i64),
}

#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Stability {
    Alpha,
    Beta,
    Stable,
}

impl<'n> Priority<'n> {
    fn of(name: &'n str) -> Self {
        kubernetes(name).unwrap_or(Priority::Other(Reverse(name)))
    }
}

/// The priority of a version that is named like those of Kubernetes, such as `v1` or `v2beta1`.
fn kubernetes(name: &str) -> Option<Priority<'_>> {
    let rest = name.strip_prefix('v')?;
    let digits = rest.find(|c: char| !c.is_ascii_digit());
    let (major, rest) = rest.split_at(digits.unwrap_or(rest.len()));
    let major = major.parse().ok()?;
    if rest.is_empty() {
        return Some(Priority::Kubernetes(Stability::Stable, major, 0));
    }
    let (stability, minor) = match rest.strip_prefix("alpha") {
        Some(minor) => (Stability::Alpha, minor),
        None => (Stability::Beta, rest.strip_prefix("beta")?),
    };
    let is_number = minor.bytes().all(|byte| byte.is_ascii_digit());
    let minor = is_number.then(|| minor.parse().ok())??;
    Some(Priority::Kubernetes(stability, major, minor))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn warnings_name_the_best_version() {
        for (deprecated, others, expected) in [
            ("v1", &["v1beta2", "v2alpha1"] as &[&str], ""),
            ("v1", &["v2", "v10", "v3"], "; use x.io/v10 Thing"),
            (
                "v1alpha1",
                &["v3alpha1", "v1beta1", "v2beta1"],
                "; use x.io/v2beta1 Thing",
            ),
            (
                "v1beta1",
                &["v1beta2", "v1beta11"],
                "; use x.io/v1beta11 Thing",
            ),
            ("foo", &["v1alpha1"], "; use x.io/v1alpha1 Thing"),
            ("foo", &["zoo", "bar", "far"], "; use x.io/bar Thing"),
            (
                "v1",
                &["v2beta", "vbeta1", "v2gamma1", "v", "v99999999999999999999"],
                "",
            ),
        ] {
            let others = others
                .iter()
                .map(|name| json!({"name": name, "served": true}));
            let mut versions: Vec<_> = others.collect();
            versions.push(json!({"name": deprecated, "deprecated": true}));
            versions.push(json!({"name": "v100", "deprecated": true, "served": true}));
            versions.push(json!({"name": "v101", "served": false}));
            let names = json!({"kind": "Thing"});
            let spec = json!({"group": "x.io", "names": names, "versions": versions});
            let definition = Definition::read(&json!({"spec": spec})).unwrap();
            let expected = format!("x.io/{deprecated} Thing is deprecated{expected}");
            assert_eq!(definition.deprecation_warning(deprecated), Some(expected));
        }
    }

    #[test]
    fn definitions_can_word_their_warnings() {
        let versions = json!([{"name": "v1", "deprecated": true, "deprecationWarning": "old"}]);
        let definition = Definition::read(&json!({"spec": {"versions": versions}})).unwrap();
        assert_eq!(definition.deprecation_warning("v1").as_deref(), Some("old"));
        assert_eq!(definition.deprecation_warning("v2"), None);
    }
}
