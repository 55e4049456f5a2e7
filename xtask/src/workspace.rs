//! Where things are: the root of the workspace, its crates, its files.

use std::fs;
use std::path::{Path, PathBuf};
use toml::Table;

/// One crate of the workspace.
pub(crate) struct Member {
    /// The package's name.
    pub(crate) name: String,
    /// Its `Cargo.toml`, relative to the root.
    pub(crate) manifest: PathBuf,
    /// The text of the manifest, for line numbers.
    pub(crate) text: String,
    /// The manifest as a table.
    pub(crate) table: Table,
}

/// The folder of the workspace's `Cargo.toml`.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// The facade and every member, as the root manifest lists them.
pub(crate) fn members() -> Result<Vec<Member>, String> {
    let facade = member(Path::new("Cargo.toml"))?;
    let listed = facade.table.get("workspace").and_then(|w| w.get("members")).and_then(|m| m.as_array());
    let listed = listed.ok_or("`Cargo.toml` lists no `workspace.members`")?;
    let mut members = Vec::new();
    for path in listed {
        let path = path.as_str().ok_or_else(|| format!("`workspace.members` holds `{path}`, expected a path"))?;
        members.push(member(&Path::new(path).join("Cargo.toml"))?);
    }
    members.insert(0, facade);
    Ok(members)
}

fn member(manifest: &Path) -> Result<Member, String> {
    let text = read(manifest)?;
    let table: Table = text.parse().map_err(|e| format!("`{}` is not TOML: {e}", manifest.display()))?;
    let name = table.get("package").and_then(|p| p.get("name")).and_then(|n| n.as_str());
    let name = name.ok_or_else(|| format!("`{}` names no package", manifest.display()))?.to_string();
    Ok(Member { name, manifest: manifest.to_path_buf(), text, table })
}

/// The text of a file given relative to the root.
pub(crate) fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(root().join(path)).map_err(|e| format!("`{}` cannot be read: {e}", path.display()))
}

/// Every file under the root that git would show: tracked, or new and not ignored; relative to the root, in order.
pub(crate) fn files() -> Result<Vec<PathBuf>, String> {
    let output = std::process::Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
        .current_dir(root())
        .output()
        .map_err(|e| format!("`git ls-files` cannot be run: {e}"))?;
    if !output.status.success() {
        return Err(format!("`git ls-files` failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    let mut paths: Vec<PathBuf> = names.split('\0').filter(|n| !n.is_empty()).map(PathBuf::from).collect();
    paths.retain(|p| root().join(p).is_file());
    paths.sort();
    Ok(paths)
}
