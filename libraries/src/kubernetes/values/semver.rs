//! Semantic versions (`github.com/blang/semver`).

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;

use gavel_golang::integer::parse_uint;
use gavel_golang::quote::quote;
use smol_str::SmolStr;

/// A version. Build metadata does not affect the order: versions that differ only in their build metadata are equal.
#[derive(Debug, Clone)]
pub struct Version {
    /// The major version.
    pub major: u64,
    /// The minor version.
    pub minor: u64,
    /// The patch version.
    pub patch: u64,
    /// The identifiers after `-`, separated by points; empty if the version is a release.
    prerelease: SmolStr,
    /// The identifiers after `+`.
    build: SmolStr,
}

/// The error for a text that is not a version, in upstream's words.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParseVersionError(Cow<'static, str>);

impl From<&'static str> for ParseVersionError {
    fn from(message: &'static str) -> Self {
        ParseVersionError(message.into())
    }
}

impl Version {
    /// Reads a version as Semantic Versioning requires it.
    ///
    /// # Errors
    ///
    /// The text is not a version.
    pub fn parse(text: &str) -> Result<Version, ParseVersionError> {
        if text.is_empty() {
            return Err("Version string empty".into());
        }
        let mut parts = text.splitn(3, '.');
        let (Some(major), Some(minor), Some(rest)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err("No Major.Minor.Patch elements found".into());
        };
        let major = number(major, "major number", "Major number")?;
        let minor = number(minor, "minor number", "Minor number")?;
        let (rest, build) = split(rest, '+');
        let (patch, prerelease) = split(rest, '-');
        let patch = number(patch, "patch number", "Patch number")?;
        for identifier in prerelease.into_iter().flat_map(|text| text.split('.')) {
            if identifier.is_empty() {
                return Err("Prerelease is empty".into());
            }
            if identifier.bytes().all(|byte| byte.is_ascii_digit()) {
                number(identifier, "", "Numeric PreRelease version")?;
            }
            check_characters(identifier, is_alphanumeric, "prerelease")?;
        }
        for identifier in build.into_iter().flat_map(|text| text.split('.')) {
            if identifier.is_empty() {
                return Err("Build meta data is empty".into());
            }
            check_characters(identifier, is_alphanumeric, "build meta data")?;
        }
        Ok(Version {
            major,
            minor,
            patch,
            prerelease: SmolStr::new(prerelease.unwrap_or_default()),
            build: SmolStr::new(build.unwrap_or_default()),
        })
    }

    /// Reads a version leniently. A version such as `v1.02` may have a leading `v` and leading zeros. It may lack the minor and patch
    /// versions.
    ///
    /// # Errors
    ///
    /// The text is not a version even when read leniently.
    pub(crate) fn parse_normalized(text: &str) -> Result<Version, ParseVersionError> {
        let text = text.strip_prefix('v').unwrap_or(text);
        let mut parts: Vec<String> = text.splitn(3, '.').map(without_leading_zeros).collect();
        if parts.len() < 3 {
            if parts.last().is_some_and(|last| last.contains(['+', '-'])) {
                return Err("short version cannot contain PreRelease/Build meta data".into());
            }
            parts.resize(3, "0".to_owned());
        }
        Version::parse(&parts.join("."))
    }

    /// The memory of the version outside of itself, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.prerelease.len().saturating_add(self.build.len())
    }

    /// The order of two versions; a prerelease comes before its release.
    pub fn compare(&self, other: &Version) -> Ordering {
        let numbers = |version: &Version| (version.major, version.minor, version.patch);
        let order = numbers(self).cmp(&numbers(other));
        order.then_with(|| match (&*self.prerelease, &*other.prerelease) {
            ("", "") => Ordering::Equal,
            ("", _) => Ordering::Greater,
            (_, "") => Ordering::Less,
            (left, right) => Identifier::all(left).cmp(Identifier::all(right)),
        })
    }
}

/// An identifier of a prerelease. Numbers come before words.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Identifier<'t> {
    Number(u64),
    Word(&'t str),
}

impl<'t> Identifier<'t> {
    fn all(prerelease: &'t str) -> impl Iterator<Item = Identifier<'t>> {
        prerelease.split('.').map(|text| match parse_uint(text) {
            Some(number) => Identifier::Number(number),
            None => Identifier::Word(text),
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)?;
        if !self.prerelease.is_empty() {
            write!(f, "-{}", self.prerelease)?;
        }
        if !self.build.is_empty() {
            write!(f, "+{}", self.build)?;
        }
        Ok(())
    }
}

fn split(text: &str, separator: char) -> (&str, Option<&str>) {
    match text.split_once(separator) {
        Some((before, after)) => (before, Some(after)),
        None => (text, None),
    }
}

/// Reads a number. Messages call it `name`, or `capitalized` at their beginning.
fn number(text: &str, name: &str, capitalized: &str) -> Result<u64, ParseVersionError> {
    check_characters(text, |byte| byte.is_ascii_digit(), name)?;
    if text.len() > 1 && text.starts_with('0') {
        let message = format!(
            "{capitalized} must not contain leading zeroes {}",
            quote(text)
        );
        return Err(ParseVersionError(message.into()));
    }
    parse_uint(text).ok_or_else(|| {
        let why = if text.is_empty() {
            "invalid syntax"
        } else {
            "value out of range"
        };
        let message = format!("strconv.ParseUint: parsing {}: {why}", quote(text));
        ParseVersionError(message.into())
    })
}

fn check_characters(
    text: &str,
    accepted: impl Fn(u8) -> bool,
    name: &str,
) -> Result<(), ParseVersionError> {
    if text.bytes().all(accepted) {
        return Ok(());
    }
    let message = format!("Invalid character(s) found in {name} {}", quote(text));
    Err(ParseVersionError(message.into()))
}

fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-'
}

/// Removes the leading zeros from a part of a version.
fn without_leading_zeros(part: &str) -> String {
    let stripped = part.trim_start_matches('0');
    if part.len() <= 1 {
        part.to_owned()
    } else if stripped.starts_with(|c: char| c.is_ascii_digit()) {
        stripped.to_owned()
    } else {
        format!("0{stripped}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions_strictly() {
        for text in [
            "0.0.0",
            "1.2.3",
            "1.2.3-rc.1",
            "1.2.3-0a.b-c+001.z",
            "1.2.3+a-b",
            "18446744073709551615.0.0",
        ] {
            assert_eq!(Version::parse(text).unwrap().to_string(), text);
        }
        let check = |text: &str, expected: &str| {
            let error = Version::parse(text).unwrap_err().to_string();
            assert_eq!(error, expected, "{text}");
        };
        check("", "Version string empty");
        check("1.2", "No Major.Minor.Patch elements found");
        check(
            "v1.2.3",
            "Invalid character(s) found in major number \"v1\"",
        );
        check(
            "1.02.3",
            "Minor number must not contain leading zeroes \"02\"",
        );
        check("1..3", "strconv.ParseUint: parsing \"\": invalid syntax");
        check(
            "1.2.18446744073709551616",
            "strconv.ParseUint: parsing \"18446744073709551616\": value out of range",
        );
        check(
            "1.2.3.4",
            "Invalid character(s) found in patch number \"3.4\"",
        );
        check("1.2.3-", "Prerelease is empty");
        check("1.2.3-a..b", "Prerelease is empty");
        check(
            "1.2.3-01",
            "Numeric PreRelease version must not contain leading zeroes \"01\"",
        );
        check(
            "1.2.3-a_b",
            "Invalid character(s) found in prerelease \"a_b\"",
        );
        check("1.2.3+", "Build meta data is empty");
        check(
            "1.2.3+é",
            "Invalid character(s) found in build meta data \"é\"",
        );
    }

    #[test]
    fn normalizes_versions() {
        let check = |text: &str, expected: Result<&str, &str>| {
            let version = Version::parse_normalized(text);
            let version = version
                .map(|version| version.to_string())
                .map_err(|error| error.to_string());
            assert_eq!(
                version.as_deref().map_err(String::as_str),
                expected,
                "{text}"
            );
        };
        check("v1", Ok("1.0.0"));
        check("01.002", Ok("1.2.0"));
        check("00.0.007-rc+1", Ok("0.0.7-rc+1"));
        check("1.2.00-rc", Ok("1.2.0-rc"));
        check("", Err("strconv.ParseUint: parsing \"\": invalid syntax"));
        check(
            "vv1",
            Err("Invalid character(s) found in major number \"0v1\""),
        );
        check(
            "1.2-rc",
            Err("short version cannot contain PreRelease/Build meta data"),
        );
        check(
            "1.2.3-01",
            Err("Numeric PreRelease version must not contain leading zeroes \"01\""),
        );
    }

    #[test]
    fn orders_versions() {
        let ascending = [
            "0.9.10",
            "1.0.0-1",
            "1.0.0-2.x",
            "1.0.0-10",
            "1.0.0-A",
            "1.0.0-alpha",
            "1.0.0-alpha.1",
            "1.0.0-alpha.beta",
            "1.0.0-rc",
            "1.0.0",
            "1.0.1",
            "1.1.0",
            "2.0.0",
        ];
        for (n, left) in ascending.iter().enumerate() {
            for (m, right) in ascending.iter().enumerate() {
                let order = Version::parse(left)
                    .unwrap()
                    .compare(&Version::parse(right).unwrap());
                assert_eq!(order, n.cmp(&m), "{left} {right}");
            }
        }
        let built = Version::parse("1.0.0+b").unwrap();
        assert!(built.compare(&Version::parse("1.0.0+a").unwrap()).is_eq());
    }
}
