//! The `toolroom` modules for Python and Node, which come in this binary: put on the disk, where workers import them.

use std::fs::{self, DirBuilder};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::interpreter::Interpreter;

macro_rules! module {
    ($folder:literal: $($name:literal)+) => {
        ($folder, &[$(($name, include_str!(concat!("../", $folder, "/toolroom/", $name)))),+])
    };
}

type Module = (&'static str, &'static [(&'static str, &'static str)]);

const MODULES: [Module; 2] = [
    module!("python":
        "__init__.py" "calling.py" "constraints.py" "content.py" "context.py" "decorator.py" "describe.py"
        "docstring.py" "errors.py" "foreign.py" "output.py" "py.typed" "records.py" "scalars.py" "signature.py"
        "testing.py" "unions.py" "validation.py" "walk.py"
    ),
    module!("node":
        "calling.js" "channel.js" "content.js" "describe.js" "index.d.ts" "index.js" "leftovers.js" "load.js"
        "package.json" "schema.js" "testing.d.ts" "testing.js" "worker.js"
    ),
];

/// Where the modules are.
#[derive(Clone, Debug)]
pub(crate) struct Modules {
    folder: PathBuf,
}

impl Modules {
    /// Unpacks them into a folder of `cache` that is named by what is in it. Blocks.
    pub(crate) fn unpack(cache: &Path) -> io::Result<Self> {
        let folder = std::path::absolute(cache)?.join(format!("modules-{:016x}", hash()));
        if !folder.is_dir() {
            DirBuilder::new().recursive(true).mode(0o700).create(cache)?;
            // Beside it, then renamed: a worker finds all of it, or nothing.
            let aside = tempfile::Builder::new().prefix(".modules-").tempdir_in(cache)?;
            write(aside.path())?;
            match fs::rename(aside.path(), &folder) {
                Err(error) if !folder.is_dir() => return Err(error),
                // Another process was first.
                _ => {}
            }
        }
        Ok(Self { folder: folder.canonicalize()? })
    }

    /// The folder that Python finds `toolroom` in.
    pub(crate) fn python(&self) -> PathBuf {
        self.folder.join("python")
    }

    /// The folder of Node's `toolroom`.
    pub(crate) fn node(&self) -> PathBuf {
        self.folder.join("node/toolroom")
    }

    /// Compiles the Python module, once for each version of the interpreter: from source its import takes 9 ms.
    pub(crate) fn compile(&self, interpreter: &Interpreter) {
        let folder = self.python().join("toolroom");
        if folder.join(format!("__pycache__/walk.{}.pyc", interpreter.cache_tag)).exists() {
            return;
        }
        let compiled = Command::new(&interpreter.program)
            .args(["-I", "-m", "compileall", "-q"])
            .arg(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        if let Err(error) = compiled {
            tracing::debug!(%error, "the Python module was not compiled");
        }
    }

    /// Every file of a module, by its path in that module's folder.
    pub(crate) fn files(which: &str) -> impl Iterator<Item = (String, &'static str)> {
        let files = MODULES.iter().find(|(folder, _)| *folder == which).map_or(&[][..], |(_, files)| files);
        files.iter().map(|(name, text)| (format!("toolroom/{name}"), *text))
    }
}

fn hash() -> u64 {
    let mut hasher = DefaultHasher::new();
    MODULES.hash(&mut hasher);
    hasher.finish()
}

/// Readable for all: in a sandbox it may be another user who imports it.
fn write(into: &Path) -> io::Result<()> {
    let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode));
    for (which, _) in MODULES {
        let folder = into.join(which).join("toolroom");
        fs::create_dir_all(&folder)?;
        for (name, text) in Modules::files(which) {
            let file = into.join(which).join(name);
            fs::write(&file, text)?;
            open(&file, 0o644)?;
        }
        open(&folder, 0o755)?;
        open(&into.join(which), 0o755)?;
    }
    open(into, 0o755)
}
