//! The rules as handwritten Rust code, which a program could contain instead of expressions.

use gavel_engine::value::Json;
use jiff::{SignedDuration, Timestamp};

/// A rule as Rust code. It returns `None` if a field is absent or has the wrong type. An expression fails in these cases.
pub type Closure = fn(&Json) -> Option<bool>;

/// Finds the closure for the rule `id`.
pub fn closure(id: &str) -> Option<Closure> {
    Some(match id {
        "dyn-compare" => dyn_compare,
        "no-privileged" => no_privileged,
        "registries" => registries,
        "label-regex" => label_regex,
        "drop-all-caps" => drop_all_caps,
        "optional" => optional,
        "ternary-format" => ternary_format,
        "replicas" => replicas,
        "disjoint-sets" => disjoint_sets,
        "expiry" => expiry,
        "env-filter" => env_filter,
        "strings" => strings,
        "quantity" => quantity,
        "url" => url,
        "thousand" => thousand,
        "sum-matrix" => sum_matrix,
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
    // The rule's pattern is ^[a-z]([-a-z0-9]*[a-z0-9])?$
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

fn replicas(this: &Json) -> Option<bool> {
    let replicas = this.get("replicas")?.as_i64()?;
    Some(
        this.get("minReplicas")?.as_i64()? <= replicas
            && replicas <= this.get("maxReplicas")?.as_i64()?,
    )
}

fn disjoint_sets(this: &Json) -> Option<bool> {
    let other = this.get("set2")?.as_array()?;
    let set = this.get("set1")?.as_array()?;
    Some(!set.iter().any(|element| other.contains(element)))
}

fn expiry(this: &Json) -> Option<bool> {
    let time = |name| this.get(name)?.as_str()?.parse::<Timestamp>().ok();
    let ttl: SignedDuration = this.get("ttl")?.as_str()?.parse().ok()?;
    Some(time("created")?.checked_add(ttl).ok()? < time("expired")?)
}

fn env_filter(this: &Json) -> Option<bool> {
    for variable in this.get("envars")?.as_array()? {
        let value = variable.get("value")?.as_str()?;
        // The rule's pattern is ^[a-zA-Z0-9-]*$
        if variable.get("name")?.as_str()?.starts_with("VAR_1")
            && !value
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-')
        {
            return Some(false);
        }
    }
    Some(true)
}

fn strings(this: &Json) -> Option<bool> {
    let parts = this.get("name")?.as_str()?.split('-');
    let parts: Vec<String> = parts.map(str::to_ascii_uppercase).collect();
    Some(parts.join("_").chars().count() < 64)
}

fn quantity(this: &Json) -> Option<bool> {
    let memory = this.get("memory")?.as_str()?;
    let digits = memory.trim_end_matches(|c: char| !c.is_ascii_digit());
    let unit = match memory.strip_prefix(digits)? {
        "" => 1,
        "Ki" => 1 << 10,
        "Mi" => 1 << 20,
        "Gi" => 1 << 30,
        _ => return None,
    };
    let bytes = digits.parse::<u64>().ok()?.checked_mul(unit)?;
    Some((64 << 20..1 << 30).contains(&bytes))
}

fn url(this: &Json) -> Option<bool> {
    let endpoint = url::Url::parse(this.get("endpoint")?.as_str()?).ok()?;
    let mut regions = endpoint.query_pairs().filter(|(key, _)| key == "region");
    let region = regions.next()?.1;
    Some(endpoint.scheme() == "https" && region == "eu" && regions.next().is_none())
}

fn thousand(this: &Json) -> Option<bool> {
    for number in this.get("numbers")?.as_array()? {
        if number.as_i64()? < 0 {
            return Some(false);
        }
    }
    Some(true)
}

fn sum_matrix(this: &Json) -> Option<bool> {
    let mut total = 0_i64;
    for row in this.get("matrix")?.as_array()? {
        for number in row.as_array()? {
            total = total.checked_add(number.as_i64()?)?;
        }
    }
    Some(total == 14400)
}
