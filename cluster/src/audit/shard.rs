//! A shard is the part of the objects that one run audits if several runs share the work.

use std::str::FromStr;

/// One of several shards of about equal size, into which all objects are divided. An object's resource, namespace and name determine its
/// shard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shard {
    index: u64,
    count: u64,
}

impl Default for Shard {
    fn default() -> Self {
        Shard { index: 0, count: 1 }
    }
}

impl Shard {
    /// Whether an object belongs to this shard.
    pub fn has(self, resource: &str, namespace: &str, name: &str) -> bool {
        let hash = fnv1a([resource, namespace, name]);
        hash.checked_rem(self.count).unwrap_or_default() == self.index
    }

    /// The number of the shard, counted from 0.
    pub fn index(self) -> u64 {
        self.index
    }

    /// The number of shards.
    pub fn count(self) -> u64 {
        self.count
    }
}

impl FromStr for Shard {
    type Err = String;

    /// Reads `K/N`: shard K of N shards, where K counts from 0, as in an Indexed Job.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || "must be K/N, with K from 0 to N-1".to_owned();
        let (index, count) = text.split_once('/').ok_or_else(wrong)?;
        let [index, count] = [index, count].map(str::parse::<u64>);
        match (index, count) {
            (Ok(index), Ok(count)) if index < count => Ok(Shard { index, count }),
            _ => Err(wrong()),
        }
    }
}

/// The 64-bit FNV-1a hash of three texts. It is the same in every process and version.
fn fnv1a(texts: [&str; 3]) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for text in texts {
        for byte in text.bytes().chain([0]) {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
        }
    }
    // For similar texts, the last bits alone are distributed unevenly.
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_object_is_in_one_part_and_parts_are_about_equal() {
        let parts: Vec<Shard> = (0..7).map(|k| format!("{k}/7").parse().unwrap()).collect();
        let mut sizes = [0; 7];
        for n in 0..7_000 {
            let name = format!("object-{n}");
            let in_parts = parts
                .iter()
                .filter(|part| part.has("pods", "default", &name));
            let found: Vec<u64> = in_parts.map(|part| part.index()).collect();
            assert_eq!(found.len(), 1, "{name}");
            sizes[usize::try_from(found[0]).unwrap()] += 1;
        }
        assert!(
            sizes.iter().all(|size| (900..1100).contains(size)),
            "{sizes:?}"
        );
    }

    #[test]
    fn shards_are_the_same_in_all_versions() {
        let found: Vec<bool> = (0..4)
            .map(|k| {
                format!("{k}/4")
                    .parse::<Shard>()
                    .unwrap()
                    .has("pods", "ns", "a")
            })
            .collect();
        assert_eq!(found, [false, false, false, true]);
    }

    #[test]
    fn invalid_shards_are_rejected() {
        for text in ["", "1", "2/2", "-1/2", "a/b", "0/0"] {
            assert!(text.parse::<Shard>().is_err(), "{text}");
        }
    }
}
