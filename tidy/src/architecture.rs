//! Reads the layers of crates, and the order of the engine's modules, from ARCHITECTURE.md.

/// The imports that ARCHITECTURE.md allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Architecture {
    /// The folders of crates, with their layers. A crate without a layer can use every crate.
    pub layers: Vec<(String, Option<u32>)>,
    /// The modules of the engine, by line of the list in ARCHITECTURE.md. A module can use the modules of its own line and of earlier
    /// lines.
    pub engine: Vec<Vec<String>>,
}

impl Architecture {
    /// Reads the table of crates and the list of the engine's modules. The rows of the table are `` | `folder/` | layer | … ``. The list is
    /// a code block. Each line of the block contains names of modules, two spaces, and a description.
    pub fn read(text: &str) -> Self {
        Architecture {
            layers: text.lines().filter_map(layer).collect(),
            engine: engine(text),
        }
    }

    /// The layer of a crate's folder: `None` if the table does not list the folder, `Some(None)` if the crate has no layer.
    pub fn layer(&self, folder: &str) -> Option<Option<u32>> {
        let row = self.layers.iter().find(|(name, _)| name == folder);
        row.map(|(_, layer)| *layer)
    }

    /// The index in `engine` of the line that lists a module; `None` if no line lists it.
    pub fn engine_line(&self, module: &str) -> Option<usize> {
        let has = |line: &Vec<String>| line.iter().any(|name| name == module);
        self.engine.iter().position(has)
    }
}

fn layer(line: &str) -> Option<(String, Option<u32>)> {
    let mut cells = line.strip_prefix("| `")?.split('|').map(str::trim);
    let folder = cells.next()?.strip_suffix("/`")?;
    Some((folder.to_owned(), cells.next()?.parse().ok()))
}

fn engine(text: &str) -> Vec<Vec<String>> {
    let after = text.split_once("Inside `engine`");
    let block = after.and_then(|(_, rest)| rest.split("```").nth(1));
    let lines = block.into_iter().flat_map(str::lines);
    lines
        .filter_map(|line| line.split_once("  "))
        .map(|(names, _)| names.split(", ").map(str::to_owned).collect())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_read() {
        let text = "| folder | layer | it |\n|---|---|---|\n| `a/` | 0 | x |\n| `b/` | – | y |\n\nInside `engine` …:\n\n```\nx, y    words\nz   more words\n```\n";
        let read = Architecture::read(text);
        assert_eq!(read.layer("a"), Some(Some(0)));
        assert_eq!(read.layer("b"), Some(None));
        assert_eq!(read.layer("c"), None);
        assert_eq!(read.engine_line("y"), Some(0));
        assert_eq!(read.engine_line("z"), Some(1));
    }
}
