//! Equality of Go structs (apimachinery `pkg/api/equality/semantic.go`).

use gavel_apimachinery::quantity::Quantity;
use gavel_apimachinery::server::Server;
use gavel_engine::error::EvalError;
use gavel_engine::value::{Reach, Value};

use super::kubernetes::Kubernetes;
use super::typed::GoType;

/// Whether two Go structs with the same schema are equal, as `Semantic.DeepEqual` compares them: quantities by their amount, an absent list
/// or map like an empty one, and all other values as JSON. `None` if there is no schema with this name.
///
/// # Errors
///
/// The errors of [`Value::equals_within`].
pub fn structs_equal(
    left: Value<'_>,
    right: Value<'_>,
    name: &str,
    server: Server,
    reach: &mut Reach<'_>,
) -> Option<Result<bool, EvalError>> {
    let kubernetes = Kubernetes::of(server);
    kubernetes.schema(name)?;
    let ty = GoType::named(name, kubernetes);
    Some(are_equal([Some(left), Some(right)], ty, kubernetes, reach))
}

// Documents are at most 127 levels deep, patched documents at most 400.
fn are_equal(
    both: [Option<Value<'_>>; 2],
    ty: GoType<'_>,
    kubernetes: &Kubernetes,
    reach: &mut Reach<'_>,
) -> Result<bool, EvalError> {
    let [left, right] = match both.map(|value| value.filter(|value| !value.is_null())) {
        [Some(left), Some(right)] => [left, right],
        [None, None] => return Ok(true),
        [value, None] | [None, value] => return Ok(is_unset(value, ty)),
    };
    reach.step(&left)?;
    match ty {
        GoType::Struct(_, schema)
            if let [Some(left), Some(right)] = [left, right].map(Value::as_map) =>
        {
            for (name, field) in &schema.properties {
                let both = [left.get_str(name)?, right.get_str(name)?];
                if !are_equal(both, GoType::of(field, kubernetes), kubernetes, reach)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        GoType::Map(of) if let [Some(left), Some(right)] = [left, right].map(Value::as_map) => {
            let of = GoType::of(of, kubernetes);
            if left.len() != right.len() {
                return Ok(false);
            }
            for entry in left.iter() {
                let (key, left) = entry?;
                let right = right.get(&key)?;
                if right.is_none() || !are_equal([Some(left), right], of, kubernetes, reach)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        GoType::List(of) if let [Some(left), Some(right)] = [left, right].map(Value::as_list) => {
            let of = GoType::of(of, kubernetes);
            if left.len() != right.len() {
                return Ok(false);
            }
            for (left, right) in left.iter().zip(right.iter()) {
                if !are_equal([Some(left), Some(right)], of, kubernetes, reach)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        GoType::Quantity if let [Some(left), Some(right)] = [left, right].map(quantity) => {
            Ok(left.compare(&right).is_eq())
        }
        _ => left.equals_within(&right, reach),
    }
}

/// Whether a value is equal to an absent value.
fn is_unset(value: Option<Value<'_>>, ty: GoType<'_>) -> bool {
    match (ty, value) {
        (GoType::List(_), Some(value)) => value.as_list().is_some_and(|list| list.is_empty()),
        (GoType::Map(_), Some(value)) => value.as_map().is_some_and(|map| map.is_empty()),
        _ => false,
    }
}

fn quantity(value: Value<'_>) -> Option<Quantity> {
    Quantity::parse(value.as_str()?).ok()
}
