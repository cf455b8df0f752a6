//! Which findings count, and how much.

use gavel_manifest::{Problem, Severity};

use crate::rules;

/// What the user asks for.
#[derive(Debug, Clone, Default)]
pub struct Selection {
    /// The rules that are looked at; all that are so by default where there is none. `all` stands for every rule.
    pub select: Vec<String>,
    /// The rules that are not looked at.
    pub ignore: Vec<String>,
    /// The rules whose findings are errors. `warnings` stands for all rules that find warnings.
    pub deny: Vec<String>,
}

impl Selection {
    /// The names in the selection that no rule has, with the rule that was probably meant.
    pub fn unknown(&self) -> Vec<(&str, Option<&'static str>)> {
        let names = self.select.iter().chain(&self.ignore).chain(&self.deny);
        let unknown = names.filter(|name| {
            !matches!(name.as_str(), "all" | "warnings") && rules::find(name).is_none()
        });
        unknown
            .map(|name| (name.as_str(), rules::nearest(name)))
            .collect()
    }

    /// Leaves out what is not looked at, and sets how much the rest counts. What an API server refuses cannot be ignored by
    /// leaving it out of the selected rules, only by name.
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
