//! The packages of a script for Node.js, from the `package.json` beside it.

use std::path::Path;

use anyhow::Result;
use serde_json::{Map, Value};

use crate::failure::Failure;

/// The line that names the packages, to be added at the end of a script that names none itself.
pub(super) fn line(script: &Path, text: &str) -> Result<Option<String>> {
    let ending = script.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let names_some = text.lines().any(|line| line.starts_with("// @deps "));
    if !["ts", "mts", "js", "mjs"].contains(&ending) || names_some {
        return Ok(None);
    }
    let file = script.with_file_name("package.json");
    let Ok(package) = std::fs::read_to_string(&file) else { return Ok(None) };
    let failed = |what: String| {
        Failure::new(
            format!("{}: {what}", file.display()),
            "Fix it, or name the packages in the script: // @deps zod@4",
        )
    };
    let package: Map<String, Value> =
        serde_json::from_str(&package).map_err(|error| failed(error.to_string()))?;
    let mut packages = Vec::new();
    for (name, version) in package.get("dependencies").and_then(Value::as_object).into_iter().flatten() {
        // The module comes with Toolroom; what is in a folder beside it would not be found from the home.
        let version = version.as_str().unwrap_or_default();
        if name == "toolroom" {
            continue;
        }
        if version.contains(char::is_whitespace)
            || version.contains("file:")
            || version.contains("workspace:")
        {
            return Err(failed(format!(
                "'{name}' has the version '{version}', which cannot be installed in the home"
            ))
            .into());
        }
        packages.push(if version.is_empty() { name.clone() } else { format!("{name}@{version}") });
    }
    let end = if text.ends_with('\n') { "" } else { "\n" };
    Ok((!packages.is_empty()).then(|| format!("{end}// @deps {}\n", packages.join(" "))))
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn packages_stand_in_a_line_at_the_end_so_that_the_lines_of_the_script_stay() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("a.ts");
        let package = |text: &str| std::fs::write(folder.path().join("package.json"), text).unwrap();
        assert_eq!(line(&script, "x").unwrap(), None);
        package(
            r#"{ "dependencies": { "zod": "^4.0.0", "toolroom": "*", "undici": "" }, "devDependencies": { "x": "1" } }"#,
        );
        assert_eq!(line(&script, "x").unwrap().unwrap(), "\n// @deps zod@^4.0.0 undici\n");
        assert_eq!(line(&script, "// @deps y\n").unwrap(), None);
        assert_eq!(line(&folder.path().join("a.py"), "x").unwrap(), None);
        package(r#"{ "dependencies": { "zod": ">=1 <2" } }"#);
        assert!(line(&script, "x").is_err());
    }
}
