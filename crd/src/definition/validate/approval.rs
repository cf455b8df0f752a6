//! Groups of the Kubernetes community, whose definitions need an approval (apiextensions-apiserver `pkg/apihelpers/helpers.go`).

use gavel_apimachinery::field::{Error, Path};
use gavel_apimachinery::meta::MetadataView;
use gavel_golang::url::Url;

use crate::definition::Definition;

const ANNOTATION: &str = "api-approved.kubernetes.io";

/// The approval that the annotation declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Approval {
    Missing,
    /// The annotation has an invalid value.
    Invalid,
    /// The annotation declares the definition as unapproved, with a reason.
    Bypassed,
    Given,
}

/// Returns an error if a definition of a protected group has no valid approval annotation. An update is always accepted if the old
/// definition's annotation is in the same state, such as missing.
pub(super) fn check(definition: &Definition, old: Option<&Definition>) -> Option<Error> {
    if !is_protected(&definition.spec.group) {
        return None;
    }
    let text = annotation(definition);
    let approval = Approval::of(text);
    if old.is_some_and(|old| Approval::of(annotation(old)) == approval) {
        return None;
    }
    let metadata = Path::new("metadata");
    let annotations = metadata.child("annotations");
    let path = annotations.key(ANNOTATION);
    let pull_request = "see https://github.com/kubernetes/enhancements/pull/1111";
    match approval {
        Approval::Missing => {
            let detail = format!(
                "protected groups must have approval annotation \"{ANNOTATION}\", {pull_request}"
            );
            Some(Error::required(&path, detail))
        }
        Approval::Invalid => {
            let detail = format!(
                "protected groups must have approval annotation \"{ANNOTATION}\" with either a URL or a reason starting with \"unapproved\", {pull_request}"
            );
            Some(Error::invalid(&path, text, detail))
        }
        Approval::Bypassed | Approval::Given => None,
    }
}

fn is_protected(group: &str) -> bool {
    ["k8s.io", "kubernetes.io"].iter().any(|community| {
        group
            .strip_suffix(community)
            .is_some_and(|domain| domain.is_empty() || domain.ends_with('.'))
    })
}

fn annotation(definition: &Definition) -> &str {
    let metadata = MetadataView::new(&definition.metadata);
    let mut annotations = metadata.annotations();
    let found = annotations.find(|(name, _)| *name == ANNOTATION);
    found.map(|(_, value)| value).unwrap_or_default()
}

impl Approval {
    fn of(text: &str) -> Self {
        match text {
            "" => Approval::Missing,
            text if text.starts_with("unapproved") => Approval::Bypassed,
            text if is_absolute_url(text) => Approval::Given,
            _ => Approval::Invalid,
        }
    }
}

/// Whether the text is an absolute URL with a host.
fn is_absolute_url(text: &str) -> bool {
    let without_fragment = text.split('#').next().unwrap_or_default();
    Url::check_request_uri(text).is_ok()
        && Url::parse(without_fragment)
            .is_ok_and(|url| !url.scheme().is_empty() && !url.host().is_empty())
}
