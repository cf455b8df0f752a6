//! Bodies of overloads: ordinary Rust functions with typed parameters.

use super::CallContext;
use crate::error::EvalError;
use crate::value::{Duration, List, Map, Opaque, Timestamp, Value};

/// Turns a Rust function into an implementation: its arguments are read from values, and its result becomes a value.
///
/// The function takes up to four [arguments](crate::decl::Argument), after a `&CallContext` if it computes texts, lists or maps, and
/// returns something that [becomes a value](crate::decl::Returned). A call with arguments of other types fails with `no such overload`.
///
/// ```
/// use gavel_engine::body;
/// use gavel_engine::decl::{CallContext, Overload, row};
/// use gavel_engine::value::Value;
///
/// fn repeat<'a>(call: &CallContext<'a>, text: &str, count: i64) -> Value<'a> {
///     call.arena.string(&text.repeat(count.clamp(0, 100) as usize))
/// }
///
/// const ROWS: &[Overload] = &[
///     row("repeat", "string_repeat_int", "string.(int) -> string", body!(repeat), "'ab'.repeat(2) == 'abab'"),
///     row("double", "int_double", "int.() -> int", body!(|int: i64| int.wrapping_mul(2)), "2.double() == 4"),
/// ];
/// ```
#[macro_export]
macro_rules! body {
    ($body:expr) => {
        |context, values| $crate::decl::Body::call($body, context, values)
    };
}

/// A Rust type that a parameter of a [`body!`](crate::body) can have.
pub trait Argument<'a>: Sized {
    /// Reads a value as this type; `None` if the value has another type.
    fn read(value: &Value<'a>) -> Option<Self>;
}

/// A result type of a [`body!`](crate::body): something that becomes a value, or an error.
pub trait Returned<'a> {
    /// Converts this to the result of the call.
    ///
    /// # Errors
    ///
    /// The error that the function returned.
    fn into_result(self) -> Result<Value<'a>, EvalError>;
}

/// The arguments of a call as a tuple of Rust types.
pub trait Arguments<'a>: Sized {
    /// Reads the arguments from the values.
    ///
    /// # Errors
    ///
    /// `no such overload` if a value has another type, or if there are more or fewer values.
    fn read(values: &[Value<'a>]) -> Result<Self, EvalError>;
}

/// A Rust function that computes the calls of an overload. [`body!`](crate::body) turns it into a row's implementation.
///
/// `Parameters` distinguishes functions with a context from functions without a context. The compiler infers it.
pub trait Body<'a, Parameters> {
    /// Calls the function.
    ///
    /// # Errors
    ///
    /// The type of a value differs from that of its parameter, or the function fails.
    fn call(self, context: &CallContext<'a>, values: &[Value<'a>]) -> Result<Value<'a>, EvalError>;
}

/// Marks a function that only uses its arguments, not the context of the call.
#[derive(Debug)]
pub struct Plain<A>(std::marker::PhantomData<A>);

/// Marks a function that uses the context of the call.
#[derive(Debug)]
pub struct WithContext<A>(std::marker::PhantomData<A>);

/// An argument that is a text or a type, or an optional that contains one. A type is read as its name, because upstream converts the argument
/// to a Go string.
#[derive(Debug, Clone, Copy)]
pub struct NativeText<'a>(pub &'a str);

/// An argument that is an int, or an optional that contains one.
#[derive(Debug, Clone, Copy)]
pub struct NativeInt(pub i64);

macro_rules! argument {
    ($($type:ty: $accessor:ident;)*) => {$(
        impl<'a> Argument<'a> for $type {
            #[inline]
            fn read(value: &Value<'a>) -> Option<Self> {
                value.$accessor()
            }
        }
    )*};
}

argument! {
    bool: as_bool;
    i64: as_int;
    u64: as_uint;
    f64: as_double;
    &'a str: as_str;
    &'a [u8]: as_bytes;
    Duration: as_duration;
    Timestamp: as_timestamp;
    List<'a>: as_list;
    Map<'a>: as_map;
    &'a dyn Opaque: as_dyn_opaque;
}

impl<'a> Argument<'a> for Value<'a> {
    #[inline]
    fn read(value: &Value<'a>) -> Option<Self> {
        Some(*value)
    }
}

/// The argument is a CEL optional; `None` is `optional.none()`.
impl<'a> Argument<'a> for Option<&'a Value<'a>> {
    #[inline]
    fn read(value: &Value<'a>) -> Option<Self> {
        value.as_optional()
    }
}

impl<'a, T: Opaque> Argument<'a> for &'a T {
    #[inline]
    fn read(value: &Value<'a>) -> Option<Self> {
        value.as_opaque()
    }
}

impl<'a> Argument<'a> for NativeText<'a> {
    #[inline]
    fn read(value: &Value<'a>) -> Option<Self> {
        let value = value.out_of_optionals();
        value.as_str().or_else(|| value.as_type()).map(NativeText)
    }
}

impl<'a> Argument<'a> for NativeInt {
    #[inline]
    fn read(value: &Value<'a>) -> Option<Self> {
        value.out_of_optionals().as_int().map(NativeInt)
    }
}

macro_rules! returned {
    ($($type:ty),*) => {$(
        impl<'a> Returned<'a> for $type {
            #[inline]
            fn into_result(self) -> Result<Value<'a>, EvalError> {
                Ok(Value::from(self))
            }
        }
    )*};
}

returned!(
    bool,
    i64,
    u64,
    f64,
    &'a str,
    &'a [u8],
    Duration,
    Timestamp,
    &'a [Value<'a>],
    List<'a>,
    Map<'a>,
    Value<'a>
);

impl<'a, T: Into<Value<'a>>> Returned<'a> for Result<T, EvalError> {
    #[inline]
    fn into_result(self) -> Result<Value<'a>, EvalError> {
        self.map(T::into)
    }
}

macro_rules! arity {
    ($($name:ident $value:ident),*) => {
        impl<'a, $($name: Argument<'a>),*> Arguments<'a> for ($($name,)*) {
            #[inline]
            fn read(values: &[Value<'a>]) -> Result<Self, EvalError> {
                if let [$($value),*] = values
                    $(&& let Some($value) = $name::read($value))*
                {
                    return Ok(($($value,)*));
                }
                Err(EvalError::no_such_overload())
            }
        }

        impl<'a, F, R, $($name),*> Body<'a, Plain<($($name,)*)>> for F
        where
            F: FnOnce($($name),*) -> R,
            R: Returned<'a>,
            $($name: Argument<'a>,)*
        {
            #[inline]
            fn call(self, _: &CallContext<'a>, values: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
                let ($($value,)*) = <($($name,)*)>::read(values)?;
                self($($value),*).into_result()
            }
        }

        impl<'a, F, R, $($name),*> Body<'a, WithContext<($($name,)*)>> for F
        where
            F: FnOnce(&CallContext<'a>, $($name),*) -> R,
            R: Returned<'a>,
            $($name: Argument<'a>,)*
        {
            #[inline]
            fn call(self, context: &CallContext<'a>, values: &[Value<'a>]) -> Result<Value<'a>, EvalError> {
                let ($($value,)*) = <($($name,)*)>::read(values)?;
                self(context, $($value),*).into_result()
            }
        }
    };
}

arity!();
arity!(A a);
arity!(A a, B b);
arity!(A a, B b, C c);
arity!(A a, B b, C c, D d);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decl::Function;
    use crate::value::Arena;

    fn call<'a>(
        body: Function,
        arena: &'a Arena,
        values: &[Value<'a>],
    ) -> Result<Value<'a>, String> {
        body(&CallContext::new(arena), values).map_err(|error| error.message().to_owned())
    }

    fn longer<'a>(left: &'a str, right: &'a str) -> &'a str {
        if right.len() > left.len() {
            right
        } else {
            left
        }
    }

    fn half(int: i64) -> Result<i64, EvalError> {
        match int % 2 {
            0 => Ok(int / 2),
            _ => Err(EvalError::new("odd")),
        }
    }

    fn pair<'a>(call: &CallContext<'a>, first: Value<'a>, second: Value<'a>) -> Value<'a> {
        call.arena.list(&[first, second])
    }

    #[test]
    fn arguments_are_read_by_their_types() {
        let arena = Arena::new();
        let text = [Value::from("a"), Value::from("bc")];
        assert_eq!(
            call(body!(longer), &arena, &text).unwrap().as_str(),
            Some("bc")
        );
        assert_eq!(
            call(body!(half), &arena, &[4.into()]).unwrap().as_int(),
            Some(2)
        );
        assert_eq!(call(body!(half), &arena, &[3.into()]).unwrap_err(), "odd");
        let both = call(body!(pair), &arena, &text).unwrap();
        assert_eq!(both.in_message().to_string(), "[a, bc]");
        assert_eq!(
            call(body!(|| true), &arena, &[]).unwrap().as_bool(),
            Some(true)
        );
    }

    #[test]
    fn other_arguments_fit_no_overload() {
        let arena = Arena::new();
        for values in [
            [].as_slice(),
            &[Value::from("a")],
            &[1.into(), 2.into()],
            &[Value::from(1_u64)],
        ] {
            assert_eq!(
                call(body!(half), &arena, values).unwrap_err(),
                "no such overload"
            );
        }
    }
}
