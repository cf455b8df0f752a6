//! The selection of findings, and their severity.

use gavel_manifest::{Problem, Severity};

use crate::rules;

/// The rules that the user selects, ignores and denies.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The rules that are applied, besides the rules in `deny` and those for errors of an API server; if empty, the rules that are on by
    /// default, and those in `deny`. `all` means every rule.
    pub select: Vec<String>,
    /// The rules that are not applied.
    pub ignore: Vec<String>,
    /// The rules whose findings are errors. `all` means every rule, `warnings` those with the severity warning.
    pub deny: Vec<String>,
}

impl Selection {
    /// The unknown names in the selection, each with the name that was probably meant; `None` if no name is similar.
    pub fn unknown(&self) -> Vec<(&str, Option<&'static str>)> {
        let lists: [(&[String], &[&'static str]); 3] = [
            (&self.select, &["all"]),
            (&self.ignore, &[]),
            (&self.deny, &["all", "warnings"]),
        ];
        let mut unknown = Vec::new();
        for (names, groups) in lists {
            let names = names.iter().map(String::as_str);
            let names = names.filter(|name| !groups.contains(name) && rules::find(name).is_none());
            let meant = |name| {
                let group = gavel_manifest::nearest(name, groups.iter().copied());
                group.or_else(|| rules::nearest(name))
            };
            unknown.extend(names.map(|name| (name, meant(name))));
        }
        unknown
    }

    /// Drops problems that are not selected, and sets the severity of the rest. Errors of an API server can only be ignored by
    /// name.
    pub fn apply(&self, problems: &mut Vec<Problem>) {
        problems.retain(|problem| self.is_selected(problem));
        for problem in problems {
            let denied = |name: &String| {
                name == problem.rule
                    || name == "all"
                    || (name == "warnings" && problem.severity == Severity::Warning)
            };
            if self.deny.iter().any(denied) {
                problem.severity = Severity::Error;
            }
        }
    }

    fn is_selected(&self, problem: &Problem) -> bool {
        let names = |list: &[String]| {
            list.iter()
                .any(|name| name == problem.rule || name == "all")
        };
        if self.ignore.iter().any(|name| name == problem.rule) {
            return false;
        }
        let is_default = rules::find(problem.rule).is_none_or(|rule| rule.is_default);
        let is_refusal = problem.severity == Severity::Error;
        match self.select.is_empty() {
            true => is_default || names(&self.deny),
            false => is_refusal || names(&self.select) || names(&self.deny),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_list_has_names_of_its_own_for_groups_of_rules() {
        let names = || {
            ["all", "warnings", "optional-field"]
                .map(str::to_owned)
                .to_vec()
        };
        let unknown = |selection: Selection| {
            let unknown = selection.unknown();
            unknown
                .into_iter()
                .map(|(name, _)| name.to_owned())
                .collect::<Vec<_>>()
        };
        let select = Selection {
            select: names(),
            ..Selection::default()
        };
        assert_eq!(unknown(select), ["warnings"]);
        let ignore = Selection {
            ignore: names(),
            ..Selection::default()
        };
        assert_eq!(unknown(ignore), ["all", "warnings"]);
        let deny = Selection {
            deny: names(),
            ..Selection::default()
        };
        assert!(unknown(deny).is_empty());
        let misspelled = Selection {
            deny: vec!["warning".to_owned()],
            ..Selection::default()
        };
        assert_eq!(misspelled.unknown(), [("warning", Some("warnings"))]);
    }
}
