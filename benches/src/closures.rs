//! The rules by hand: what a Rust programmer would write instead of an expression.

use gavel_engine::value::Json;

/// A rule as Rust code. What is missing or of another type makes it `None`, as it makes an expression fail.
pub type Closure = fn(&Json) -> Option<bool>;

/// The rule of this name, if it was written.
pub fn closure(id: &str) -> Option<Closure> {
    Some(match id {
        "dyn-compare" => dyn_compare,
        "no-privileged" => no_privileged,
        "registries" => registries,
        "label-regex" => label_regex,
        "drop-all-caps" => drop_all_caps,
        "optional" => optional,
        "ternary-format" => ternary_format,
        _ => return None,
    })
}

fn dyn_compare(object: &Json) -> Option<bool> {
    Some(
        object
            .get("spec")?
            .get("terminationGracePeriodSeconds")?
            .as_i64()?
            <= 60,
    )
}

fn no_privileged(object: &Json) -> Option<bool> {
    for container in object.get("spec")?.get("containers")?.as_array()? {
        if let Some(privileged) = container
            .get("securityContext")
            .and_then(|context| context.get("privileged"))
            && privileged.as_bool()?
        {
            return Some(false);
        }
    }
    Some(true)
}

fn registries(object: &Json) -> Option<bool> {
    for container in object.get("spec")?.get("containers")?.as_array()? {
        let image = container.get("image")?.as_str()?;
        if !["ghcr.io/", "registry.k8s.io/"]
            .iter()
            .any(|prefix| image.starts_with(prefix))
        {
            return Some(false);
        }
    }
    Some(true)
}

fn label_regex(object: &Json) -> Option<bool> {
    let label = object
        .get("metadata")?
        .get("labels")?
        .get("app")?
        .as_str()?;
    // ^[a-z]([-a-z0-9]*[a-z0-9])?$
    let inner = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-';
    let bytes = label.as_bytes();
    Some(
        bytes.first()?.is_ascii_lowercase()
            && bytes.iter().all(inner)
            && bytes.last() != Some(&b'-'),
    )
}

fn drop_all_caps(object: &Json) -> Option<bool> {
    let spec = object.get("spec")?;
    for container in spec.get("containers")?.as_array()? {
        let dropped = container
            .get("securityContext")
            .and_then(|context| context.get("capabilities"));
        match dropped.and_then(|capabilities| capabilities.get("drop")) {
            Some(drop)
                if drop
                    .as_array()?
                    .iter()
                    .any(|capability| capability == "ALL") => {}
            _ => return Some(false),
        }
    }
    for container in spec.get("initContainers")?.as_array()? {
        if container.get("resources")?.get("limits")?.get("memory")? == "" {
            return Some(false);
        }
    }
    Some(true)
}

fn optional(object: &Json) -> Option<bool> {
    let context = object
        .get("spec")
        .and_then(|spec| spec.get("securityContext"));
    let non_root = context.and_then(|context| context.get("runAsNonRoot"));
    let team = object
        .get("metadata")
        .and_then(|metadata| metadata.get("labels"))
        .and_then(|labels| labels.get("team"));
    Some(non_root.is_some_and(|value| value == true) && team.is_some())
}

fn ternary_format(object: &Json) -> Option<bool> {
    let metadata = object.get("metadata")?;
    let name = metadata.get("name")?.as_str()?;
    let text = if name.chars().count() > 10 {
        format!(
            "name {name} in {} is long",
            metadata.get("namespace")?.as_str()?
        )
    } else {
        "ok".to_owned()
    };
    Some(text.starts_with("name"))
}
