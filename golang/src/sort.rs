//! Sorting as Go's `sort.Slice` does (pattern-defeating quicksort, `sort/zsortfunc.go`), so that equal elements come out in the same order.
//! In lists of up to 12 elements, equal elements keep their order. In longer lists their order may change, in the same way as in Go.

use std::convert::Infallible;

/// Sorts by `less`. The result is the same as Go's even if `less` is not a consistent order.
pub fn sort_by_less<T>(values: &mut [T], less: impl Fn(&T, &T) -> bool) {
    let Ok(()) = try_sort_by_less(values, |left, right| Ok::<_, Infallible>(less(left, right)));
}

/// Like `sort_by_less`, but stops at the first comparison that fails.
///
/// # Errors
///
/// The first failure of `less`; the order of the values is then unspecified.
pub fn try_sort_by_less<T, E>(
    values: &mut [T],
    less: impl Fn(&T, &T) -> Result<bool, E>,
) -> Result<(), E> {
    let end = values.len();
    // The number of unbalanced partitions that are tolerated before heapsort takes over: the number of bits of the length.
    let patience = usize::BITS.saturating_sub(end.leading_zeros());
    Sorter { values, less }.sort(0, end, patience)
}

/// The largest number of elements that insertion sort is used for.
const FEW: usize = 12;
/// The smallest length of a range whose pivot is chosen among nine elements. In a shorter range, the pivot is chosen among three
/// elements, and `mend` swaps nothing.
const MANY: usize = 50;
/// The maximum number of pairs in the wrong order that `mend` corrects. After that many corrections, a range counts as unsorted.
const MENDINGS: usize = 5;
/// The maximum number of swaps while the pivot is chosen among nine elements. If the range is decreasing, all these swaps occur.
const NINTHER_SWAPS: u32 = 12;

struct Sorter<'v, T, F> {
    values: &'v mut [T],
    less: F,
}

/// The presumed order of a range, guessed from the swaps that choosing a pivot needed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trend {
    Increasing,
    Decreasing,
    Unknown,
}

#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions lie within the range that is sorted, or one next to it; a slice is shorter than half of usize"
)]
impl<T, E, F: Fn(&T, &T) -> Result<bool, E>> Sorter<'_, T, F> {
    fn less(&self, left: usize, right: usize) -> Result<bool, E> {
        match (self.values.get(left), self.values.get(right)) {
            (Some(left), Some(right)) => (self.less)(left, right),
            _ => Ok(false),
        }
    }

    fn swap(&mut self, left: usize, right: usize) {
        self.values.swap(left, right);
    }

    /// Sorts `start..end`. The shorter side of each partition is sorted recursively, which keeps the recursion shallow.
    fn sort(&mut self, mut start: usize, mut end: usize, mut patience: u32) -> Result<(), E> {
        let mut balanced = true;
        let mut partitioned = true;
        loop {
            let length = end - start;
            if length <= FEW {
                return self.insertion_sort(start, end);
            }
            if patience == 0 {
                return self.heap_sort(start, end);
            }
            if !balanced {
                self.break_patterns(start, end);
                patience -= 1;
            }
            let (mut pivot, mut trend) = self.choose_pivot(start, end)?;
            if trend == Trend::Decreasing {
                if let Some(range) = self.values.get_mut(start..end) {
                    range.reverse();
                }
                pivot = (end - 1) - (pivot - start);
                trend = Trend::Increasing;
            }
            if balanced && partitioned && trend == Trend::Increasing && self.mend(start, end)? {
                return Ok(());
            }
            // The element before the range is not greater than any element in it. If it equals the pivot, the range probably has many equal
            // elements.
            if start > 0 && !self.less(start - 1, pivot)? {
                start = self.partition_equal(start, end, pivot)?;
                continue;
            }
            let (middle, untouched) = self.partition(start, end, pivot)?;
            partitioned = untouched;
            let (left, right) = (middle - start, end - middle);
            balanced = left.min(right) >= length / 8;
            if left < right {
                self.sort(start, middle, patience)?;
                start = middle + 1;
            } else {
                self.sort(middle + 1, end, patience)?;
                end = middle;
            }
        }
    }

    fn insertion_sort(&mut self, start: usize, end: usize) -> Result<(), E> {
        for next in start + 1..end {
            let mut at = next;
            while at > start && self.less(at, at - 1)? {
                self.swap(at, at - 1);
                at -= 1;
            }
        }
        Ok(())
    }

    fn heap_sort(&mut self, start: usize, end: usize) -> Result<(), E> {
        let length = end - start;
        for root in (0..=(length - 1) / 2).rev() {
            self.sift_down(root, length, start)?;
        }
        for last in (0..length).rev() {
            self.swap(start, start + last);
            self.sift_down(0, last, start)?;
        }
        Ok(())
    }

    /// Restores the heap below `root` within the first `length` elements from `start`.
    fn sift_down(&mut self, mut root: usize, length: usize, start: usize) -> Result<(), E> {
        loop {
            let mut child = 2 * root + 1;
            if child >= length {
                return Ok(());
            }
            if child + 1 < length && self.less(start + child, start + child + 1)? {
                child += 1;
            }
            if !self.less(start + root, start + child)? {
                return Ok(());
            }
            self.swap(start + root, start + child);
            root = child;
        }
    }

    /// Swaps three elements in the middle with elements at positions that depend only on the length.
    fn break_patterns(&mut self, start: usize, end: usize) {
        let length = end - start;
        let mut random = length as u64;
        let mask = (1_u64 << (u64::BITS - random.leading_zeros())) - 1;
        let middle = start + length / 4 * 2;
        for at in middle - 1..=middle + 1 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let mut other = usize::try_from(random & mask).unwrap_or(0);
            if other >= length {
                other -= length;
            }
            self.swap(at, start + other);
        }
    }

    fn choose_pivot(&self, start: usize, end: usize) -> Result<(usize, Trend), E> {
        let quarter = (end - start) / 4;
        let mut swaps = 0;
        let [mut low, mut middle, mut high] = [1, 2, 3].map(|n| start + quarter * n);
        if end - start >= MANY {
            low = self.median(low - 1, low, low + 1, &mut swaps)?;
            middle = self.median(middle - 1, middle, middle + 1, &mut swaps)?;
            high = self.median(high - 1, high, high + 1, &mut swaps)?;
        }
        let pivot = self.median(low, middle, high, &mut swaps)?;
        let trend = match swaps {
            0 => Trend::Increasing,
            NINTHER_SWAPS => Trend::Decreasing,
            _ => Trend::Unknown,
        };
        Ok((pivot, trend))
    }

    /// The position of the median of three elements. Adds the swaps needed to find it to `swaps`.
    fn median(&self, a: usize, b: usize, c: usize, swaps: &mut u32) -> Result<usize, E> {
        let mut ordered = |a, b| {
            Ok(if self.less(b, a)? {
                *swaps += 1;
                (b, a)
            } else {
                (a, b)
            })
        };
        let (a, b) = ordered(a, b)?;
        let (b, _) = ordered(b, c)?;
        Ok(ordered(a, b)?.1)
    }

    /// Moves elements less than the pivot before the pivot, and all others behind it. Returns the position of the pivot, and whether no
    /// element had to be moved.
    fn partition(&mut self, start: usize, end: usize, pivot: usize) -> Result<(usize, bool), E> {
        self.swap(start, pivot);
        let (mut low, mut high) = (start + 1, end - 1);
        let mut untouched = true;
        loop {
            while low <= high && self.less(low, start)? {
                low += 1;
            }
            while low <= high && !self.less(high, start)? {
                high -= 1;
            }
            if low > high {
                self.swap(high, start);
                return Ok((high, untouched));
            }
            self.swap(low, high);
            untouched = false;
            low += 1;
            high -= 1;
        }
    }

    /// Moves elements equal to the pivot before greater elements; no element is less than the pivot. Returns the position of the first
    /// greater element.
    fn partition_equal(&mut self, start: usize, end: usize, pivot: usize) -> Result<usize, E> {
        self.swap(start, pivot);
        let (mut low, mut high) = (start + 1, end - 1);
        loop {
            while low <= high && !self.less(start, low)? {
                low += 1;
            }
            while low <= high && self.less(start, high)? {
                high -= 1;
            }
            if low > high {
                return Ok(low);
            }
            self.swap(low, high);
            low += 1;
            high -= 1;
        }
    }

    /// Sorts an almost sorted range by at most [`MENDINGS`] insertions. Returns whether the range is then known to be sorted.
    fn mend(&mut self, start: usize, end: usize) -> Result<bool, E> {
        let mut at = start + 1;
        for _ in 0..MENDINGS {
            while at < end && !self.less(at, at - 1)? {
                at += 1;
            }
            if at == end {
                return Ok(true);
            }
            if end - start < MANY {
                return Ok(false);
            }
            self.swap(at, at - 1);
            if at - start >= 2 {
                // As upstream, continues to the start of the slice, not of the range.
                let mut smaller = at - 1;
                while smaller >= 1 && self.less(smaller, smaller - 1)? {
                    self.swap(smaller, smaller - 1);
                    smaller -= 1;
                }
            }
            if end - at >= 2 {
                let mut greater = at + 1;
                while greater < end && self.less(greater, greater - 1)? {
                    self.swap(greater, greater - 1);
                    greater += 1;
                }
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A hash of the order in which `sort_by_less` puts the keys.
    fn fingerprint(keys: &[u32]) -> u32 {
        let mut pairs: Vec<(u32, u32)> = keys.iter().copied().zip(0..).collect();
        sort_by_less(&mut pairs, |left, right| left.0 < right.0);
        assert!(pairs.is_sorted_by_key(|pair| pair.0));
        pairs.iter().fold(2_166_136_261, |hash, (_, index)| {
            (hash ^ index).wrapping_mul(16_777_619)
        })
    }

    /// `n` keys in a pattern such as "sawtooth". Random keys have `distinct` different values.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "small numbers, none of them zero"
    )]
    fn keys(pattern: &str, n: u32, distinct: u32) -> Vec<u32> {
        let mut state: u32 = 12_345;
        (0..n)
            .map(|i| match pattern {
                "random" => {
                    state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                    (state >> 8) % distinct
                }
                "ascending" => i / distinct,
                "descending" => (n - i) / distinct,
                "organ pipe" => i.min(n - i) / distinct,
                "sawtooth" => i % distinct,
                _ => 0,
            })
            .collect()
    }

    #[test]
    fn equal_elements_come_out_as_in_go() {
        for (pattern, n, distinct, expected) in CASES {
            let keys = keys(pattern, *n, *distinct);
            assert_eq!(fingerprint(&keys), *expected, "{pattern} {n} {distinct}");
        }
    }

    #[test]
    fn few_elements_keep_their_order() {
        let mut pairs: Vec<(u32, u32)> = [2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1]
            .into_iter()
            .zip(0..)
            .collect();
        sort_by_less(&mut pairs, |left, right| left.0 < right.0);
        assert!(pairs.is_sorted());
    }

    #[test]
    fn inconsistent_orders_do_not_break_the_sort() {
        for n in 0..300 {
            let mut values: Vec<u32> = (0..n).collect();
            sort_by_less(&mut values, |_, _| true);
            sort_by_less(&mut values, |_, _| false);
            values.sort_unstable();
            assert!(values.iter().copied().eq(0..n));
        }
    }

    /// The arguments of `keys`, and the fingerprint of the keys as Go sorts them.
    const CASES: &[(&str, u32, u32, u32)] = &[
        ("random", 13, 3, 144927429),
        ("random", 40, 5, 291160315),
        ("random", 50, 2, 2221697918),
        ("random", 51, 7, 992726408),
        ("random", 100, 10, 1689987565),
        ("random", 300, 17, 2356786587),
        ("random", 1000, 2, 2966140415),
        ("random", 1000, 300, 4157987653),
        ("random", 5000, 40, 583577481),
        ("random", 20000, 7, 2660777029),
        ("ascending", 13, 3, 1373724879),
        ("ascending", 40, 5, 3388221373),
        ("ascending", 50, 2, 3846415658),
        ("ascending", 51, 7, 24962248),
        ("ascending", 100, 10, 3726872593),
        ("ascending", 300, 17, 3202810361),
        ("ascending", 1000, 2, 2691360765),
        ("ascending", 1000, 300, 2691360765),
        ("ascending", 5000, 40, 2356979101),
        ("ascending", 20000, 7, 3262506853),
        ("descending", 13, 3, 2575456889),
        ("descending", 40, 5, 1849054333),
        ("descending", 50, 2, 336502470),
        ("descending", 51, 7, 3553664986),
        ("descending", 100, 10, 3280712513),
        ("descending", 300, 17, 3863024811),
        ("descending", 1000, 2, 1300276709),
        ("descending", 1000, 300, 3881309023),
        ("descending", 5000, 40, 700930453),
        ("descending", 20000, 7, 3346903757),
        ("organ pipe", 13, 3, 3731962809),
        ("organ pipe", 40, 5, 2879806019),
        ("organ pipe", 50, 2, 162154448),
        ("organ pipe", 51, 7, 903477088),
        ("organ pipe", 100, 10, 2893076327),
        ("organ pipe", 300, 17, 4074694973),
        ("organ pipe", 1000, 2, 1100884503),
        ("organ pipe", 1000, 300, 4050186875),
        ("organ pipe", 5000, 40, 2033166773),
        ("organ pipe", 20000, 7, 2633807679),
        ("sawtooth", 13, 3, 1535984571),
        ("sawtooth", 40, 5, 2646497037),
        ("sawtooth", 50, 2, 3122422374),
        ("sawtooth", 51, 7, 218913030),
        ("sawtooth", 100, 10, 1744810151),
        ("sawtooth", 300, 17, 2630697825),
        ("sawtooth", 1000, 2, 1333479769),
        ("sawtooth", 1000, 300, 2813617565),
        ("sawtooth", 5000, 40, 2303978741),
        ("sawtooth", 20000, 7, 2917065521),
    ];
}
