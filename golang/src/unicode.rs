//! Unicode tables as Go 1.26 knows them (`unicode/tables.go`, Unicode 15.0).
//!
//! The data is regex-syntax's, of Unicode 16.0, restricted to the code points that Unicode 15.0 assigns.
//!
//! DIFFERENCE: U+1171E is in the category Mn here and in Mc in Go, because Unicode 16.0 changed its category.

use std::collections::BTreeMap;
use std::sync::{LazyLock, RwLock};

use regex_syntax::hir::{Class, ClassUnicode, ClassUnicodeRange, HirKind};

/// The general categories of assigned code points, without the surrogates, which texts cannot contain.
const CATEGORIES: &str =
    "Cc Cf Co Ll Lm Lo Lt Lu Mc Me Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs";

/// Go's aliases of categories, in the spelling of [`canonical`], each with the short name of its category.
const CATEGORY_ALIASES: &str = "Casedletter=LC Closepunctuation=Pe Cntrl=Cc Combiningmark=M Connectorpunctuation=Pc Control=Cc \
    Currencysymbol=Sc Dashpunctuation=Pd Decimalnumber=Nd Digit=Nd Enclosingmark=Me Finalpunctuation=Pf Format=Cf \
    Initialpunctuation=Pi Letter=L Letternumber=Nl Lineseparator=Zl Lowercaseletter=Ll Mark=M Mathsymbol=Sm \
    Modifierletter=Lm Modifiersymbol=Sk Nonspacingmark=Mn Number=N Openpunctuation=Ps Other=C Otherletter=Lo \
    Othernumber=No Otherpunctuation=Po Othersymbol=So Paragraphseparator=Zp Privateuse=Co Punct=P Punctuation=P \
    Separator=Z Spaceseparator=Zs Spacingmark=Mc Surrogate=Cs Symbol=S Titlecaseletter=Lt Unassigned=Cn \
    Uppercaseletter=Lu";

/// The scripts that Go finds by name: those whose name is one word. Go's table has underscores in names of several words, but Go looks up
/// the [`canonical`] spelling, which has none.
const SCRIPTS: &str = "Adlam Ahom Arabic Armenian Avestan Balinese Bamum Batak Bengali Bhaiksuki Bopomofo Brahmi Braille Buginese \
    Buhid Carian Chakma Cham Cherokee Chorasmian Common Coptic Cuneiform Cypriot Cyrillic Deseret Devanagari \
    Dogra Duployan Elbasan Elymaic Ethiopic Georgian Glagolitic Gothic Grantha Greek Gujarati Gurmukhi Han Hangul \
    Hanunoo Hatran Hebrew Hiragana Inherited Javanese Kaithi Kannada Katakana Kawi Kharoshthi Khmer Khojki \
    Khudawadi Lao Latin Lepcha Limbu Lisu Lycian Lydian Mahajani Makasar Malayalam Mandaic Manichaean Marchen \
    Medefaidrin Miao Modi Mongolian Mro Multani Myanmar Nabataean Nandinagari Newa Nko Nushu Ogham Oriya Osage \
    Osmanya Palmyrene Phoenician Rejang Runic Samaritan Saurashtra Sharada Shavian Siddham Sinhala Sogdian \
    Soyombo Sundanese Syriac Tagalog Tagbanwa Takri Tamil Tangsa Tangut Telugu Thaana Thai Tibetan Tifinagh \
    Tirhuta Toto Ugaritic Vai Vithkuqi Wancho Yezidi Yi";

/// The code points of a category, script or other property by the name that Go's regular expressions give it.
///
/// Case, spaces, hyphens and underscores in the name do not matter. With `fold`, the class also contains the code points that simple case
/// folding makes equal. Returns `None` if Go does not know the name.
pub(super) fn named_class(name: &str, fold: bool) -> Option<ClassUnicode> {
    /// The classes that were named before. Go knows few names, so the map stays small.
    static KNOWN: RwLock<BTreeMap<(String, bool), ClassUnicode>> = RwLock::new(BTreeMap::new());
    let key = (canonical(name), fold);
    if let Some(class) = KNOWN.read().ok().and_then(|known| known.get(&key).cloned()) {
        return Some(class);
    }
    let (name, _) = &key;
    let mut class = canonical_class(name)?;
    // Go has no fold table for the category LC (cased letters).
    if fold && !matches!(name.as_str(), "Lc" | "Casedletter") {
        fold_case(&mut class);
    }
    if let Ok(mut known) = KNOWN.write() {
        known.insert(key, class.clone());
    }
    Some(class)
}

fn canonical_class(name: &str) -> Option<ClassUnicode> {
    match name {
        "Any" => return Some(any()),
        "Ascii" => return Some(ClassUnicode::new([ClassUnicodeRange::new('\0', '\x7f')])),
        "Assigned" => return Some(category("")),
        "Lc" => return Some(category("LC")),
        _ => {}
    }
    if matches!(name, "C" | "Cn" | "Cs" | "L" | "M" | "N" | "P" | "S" | "Z")
        || holds(CATEGORIES, name)
    {
        return Some(category(name));
    }
    if holds(SCRIPTS, name) {
        return query(&format!("sc={name}"));
    }
    let mut aliases = CATEGORY_ALIASES
        .split(' ')
        .filter_map(|alias| alias.split_once('='));
    aliases
        .find(|(alias, _)| *alias == name)
        .map(|(_, actual)| category(actual))
}

/// Whether a list of words, separated by spaces, contains a name.
fn holds(words: &str, name: &str) -> bool {
    words.split(' ').any(|word| word == name)
}

/// A name with an upper-case first letter, otherwise in lower case, without spaces, hyphens and underscores.
fn canonical(name: &str) -> String {
    let mut canonical: String = name
        .chars()
        .filter(|c| !matches!(c, '_' | '-' | ' '))
        .collect();
    canonical.make_ascii_lowercase();
    if let Some(first) = canonical.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    canonical
}

/// The code points of a general category by its short name. The empty name stands for all assigned code points.
pub(super) fn category(name: &str) -> ClassUnicode {
    let within = |category: &&str| match name {
        "LC" => matches!(*category, "Ll" | "Lt" | "Lu"),
        _ => category.starts_with(name),
    };
    let mut class = ClassUnicode::empty();
    if name != "Cn" {
        for category in CATEGORIES.split(' ').filter(within) {
            class.union(&query(&format!("gc={category}")).unwrap_or_else(ClassUnicode::empty));
        }
    }
    if matches!(name, "C" | "Cn") {
        let mut unassigned = category("");
        negate(&mut unassigned);
        class.union(&unassigned);
    }
    class
}

/// Every code point.
pub(super) fn any() -> ClassUnicode {
    ClassUnicode::new([ClassUnicodeRange::new('\0', char::MAX)])
}

/// Adds the code points that simple case folding makes equal to a code point of the class.
pub(super) fn fold_case(class: &mut ClassUnicode) {
    let mut folded = class.clone();
    // Unicode 15.0 assigns all code points that fold to ASCII, so ASCII classes need no restriction.
    let restrict = !class.is_ascii();
    if restrict {
        folded.intersect(&KNOWN);
    }
    if folded.try_case_fold_simple().is_err() {
        return;
    }
    if restrict {
        folded.intersect(&KNOWN);
    }
    class.union(&folded);
}

/// Replaces a class by its complement.
///
/// regex-syntax's own negation is wrong for ranges that end at the surrogates: it drops the adjacent code points.
pub(super) fn negate(class: &mut ClassUnicode) {
    let mut gaps = Vec::with_capacity(class.ranges().len().saturating_add(1));
    let mut next = Some('\0');
    for range in class.ranges() {
        let before = ('\0'..range.start()).next_back();
        if let (Some(low), Some(high)) = (next, before)
            && low <= high
        {
            gaps.push(ClassUnicodeRange::new(low, high));
        }
        next = (range.end()..=char::MAX).nth(1);
    }
    if let Some(low) = next {
        gaps.push(ClassUnicodeRange::new(low, char::MAX));
    }
    *class = ClassUnicode::new(gaps);
}

/// Whether a class contains a character.
pub(super) fn contains(class: &ClassUnicode, c: char) -> bool {
    let index = class.ranges().partition_point(|range| range.end() < c);
    class
        .ranges()
        .get(index)
        .is_some_and(|range| range.start() <= c)
}

/// The code points that Unicode 15.0 assigns.
static KNOWN: LazyLock<ClassUnicode> =
    LazyLock::new(|| parse(r"\p{age=15.0}").unwrap_or_else(ClassUnicode::empty));

/// The code points with a property, restricted to those that Unicode 15.0 assigns. The property is spelled as in regex-syntax: `gc=Lu` or
/// `sc=Greek`.
fn query(property: &str) -> Option<ClassUnicode> {
    let mut class = parse(&format!(r"\p{{{property}}}"))?;
    class.intersect(&KNOWN);
    Some(class)
}

fn parse(pattern: &str) -> Option<ClassUnicode> {
    match regex_syntax::parse(pattern).ok()?.into_kind() {
        HirKind::Class(Class::Unicode(class)) => Some(class),
        HirKind::Literal(literal) => {
            let text = str::from_utf8(&literal.0).ok()?;
            Some(ClassUnicode::new(
                text.chars().map(|c| ClassUnicodeRange::new(c, c)),
            ))
        }
        _ => None,
    }
}
