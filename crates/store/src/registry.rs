//! The registry of processes that share a PostgreSQL database: documents under one version, which every change moves on.
//!
//! A change is answered when every process that is alive serves its version; each says in its row which one it does.

use std::time::Duration;

use toolroom_contract::ids::RunId;

use crate::engine::args;
use crate::{StoreError, Unit, bell, slots};

/// What is rung when there is a new version; and, with [`SERVED`] as key, when a process serves one.
pub const BELL: &str = "registry";
/// The key of the second.
pub const SERVED: &str = "served";

/// What a document is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file of a home, by its path there.
    File,
    /// What was approved of a server, by the server's name.
    Approved,
    /// That a person has logged in at a server, or out, by the server's name. The tokens are not here.
    Login,
    /// Sealed values of tools, and the hosts that may get them, by the name of their file in a home.
    Secrets,
}

impl Kind {
    const fn as_str(self) -> &'static str {
        match self {
            Self::File => "file",
            Self::Approved => "approved",
            Self::Login => "login",
            Self::Secrets => "secrets",
        }
    }

    fn named(name: &str) -> Option<Self> {
        [Self::File, Self::Approved, Self::Login, Self::Secrets]
            .into_iter()
            .find(|kind| kind.as_str() == name)
    }
}

/// A document as it is in the newest version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Document {
    pub kind: Kind,
    pub name: String,
    /// The version that it came with.
    pub version: i64,
    pub text: Text,
}

/// What a document says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    /// `None` if it was removed.
    pub body: Option<Vec<u8>>,
    /// Whether it is a file that is run as it is.
    pub is_executable: bool,
}

/// A document as it is to be.
#[derive(Clone, Debug)]
pub struct NewDocument {
    pub kind: Kind,
    pub name: String,
    pub text: Text,
}

/// The next version.
#[derive(Clone, Debug)]
pub struct Change {
    /// Who makes it.
    pub run: RunId,
    /// What it is, in a few words.
    pub what: String,
    pub documents: Vec<NewDocument>,
    pub base: Base,
}

/// What a change was worked out from: if that has changed since, the change is refused.
#[derive(Clone, Debug)]
pub enum Base {
    /// All files, as of a version.
    Files(i64),
    /// One document, as of the version that it came with; 0 if there was none.
    Document(Kind, String, i64),
    /// Nothing: it is right whatever there was.
    Nothing,
}

/// The version of a change; `None` if what it was based on is not the newest.
pub fn change(unit: &mut Unit<'_>, change: &Change) -> Result<Option<i64>, StoreError> {
    let last: i64 = unit.query_one("SELECT version FROM registry FOR UPDATE", &[])?.take(0)?;
    let is_newer = match &change.base {
        Base::Nothing => false,
        Base::Files(base) => {
            let sql = "SELECT EXISTS (SELECT 1 FROM registry_documents WHERE kind = $1 AND version > $2)";
            unit.query_one(sql, args![Kind::File.as_str(), *base])?.take(0)?
        }
        Base::Document(kind, name, base) => {
            let sql = "SELECT EXISTS (SELECT 1 FROM registry_documents
                                      WHERE kind = $1 AND name = $2 AND version <> $3)";
            unit.query_one(sql, args![kind.as_str(), name, *base])?.take(0)?
        }
    };
    if is_newer {
        return Ok(None);
    }
    let version = last + 1;
    unit.execute("UPDATE registry SET version = $1", args![version])?;
    let sql = format!(
        "INSERT INTO registry_changes (version, at, run, change) VALUES ($1, {}, $2, $3)",
        unit.clock()
    );
    unit.execute(&sql, args![version, change.run, &change.what])?;
    for document in &change.documents {
        let Text { body, is_executable } = &document.text;
        unit.execute(
            "INSERT INTO registry_documents (kind, name, version, body, executable) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (kind, name) DO UPDATE
             SET version = excluded.version, body = excluded.body, executable = excluded.executable",
            args![document.kind.as_str(), &document.name, version, body.as_deref(), *is_executable],
        )?;
    }
    bell::ring(unit, BELL, "")?;
    Ok(Some(version))
}

/// The newest version, and what has changed since that one. By one statement.
pub fn read_since(unit: &mut Unit<'_>, version: i64) -> Result<(i64, Vec<Document>), StoreError> {
    let sql = "SELECT registry.version, kind, name, found.version, body, executable
               FROM registry LEFT JOIN registry_documents AS found ON found.version > $1
               ORDER BY kind, name";
    let (mut newest, mut documents) = (0, Vec::new());
    for mut row in unit.query(sql, args![version])? {
        newest = row.take(0)?;
        // Of a newer release, or there is none.
        let Some(kind) = row.take::<Option<String>>(1)?.as_deref().and_then(Kind::named) else { continue };
        let text = Text { body: row.take(4)?, is_executable: row.take(5)? };
        documents.push(Document { kind, name: row.take(2)?, version: row.take(3)?, text });
    }
    Ok((newest, documents))
}

/// One document, if there ever was one. By one statement.
pub fn read(unit: &mut Unit<'_>, kind: Kind, name: &str) -> Result<Option<(i64, Text)>, StoreError> {
    let sql = "SELECT version, body, executable FROM registry_documents WHERE kind = $1 AND name = $2";
    let Some(mut row) = unit.query_first(sql, args![kind.as_str(), name])? else { return Ok(None) };
    Ok(Some((row.take(0)?, Text { body: row.take(1)?, is_executable: row.take(2)? })))
}

/// This process serves that version from now on. By one statement.
pub fn serve(unit: &mut Unit<'_>, run: RunId, version: i64) -> Result<(), StoreError> {
    let sql = "WITH served AS (UPDATE replicas SET registry_version = $2 WHERE id = $1 RETURNING id)
               SELECT pg_notify('toolroom', $3) FROM served";
    unit.execute(sql, args![run, version, format!("{BELL}:{SERVED}")]).map(drop)
}

/// The homes of those that are alive and do not serve that version yet. By one statement.
pub fn behind(unit: &mut Unit<'_>, version: i64) -> Result<Vec<String>, StoreError> {
    let sql = format!(
        "SELECT home FROM replicas WHERE shared AND lease_until > {} AND registry_version < $1 ORDER BY home",
        unit.clock()
    );
    unit.query(&sql, args![version])?.iter_mut().map(|row| row.take(0)).collect()
}

/// A process that cannot read a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotKnown {
    pub field: String,
    pub home: String,
    /// The release that it is of.
    pub release: String,
}

/// A process that is alive and cannot read one of these fields, if there is one. By one statement.
pub fn not_known(unit: &mut Unit<'_>, fields: &[String]) -> Result<Option<NotKnown>, StoreError> {
    let sql = format!(
        "SELECT home, version, knows FROM replicas
         WHERE shared AND lease_until > {} AND knows IS NOT NULL ORDER BY home",
        unit.clock()
    );
    for mut row in unit.query(&sql, &[])? {
        let knows: Vec<String> = serde_json::from_str(&row.take::<String>(2)?).unwrap_or_default();
        if let Some(field) = fields.iter().find(|field| !knows.contains(field)) {
            return Ok(Some(NotKnown { field: field.clone(), home: row.take(0)?, release: row.take(1)? }));
        }
    }
    Ok(None)
}

/// How long a process may take for one change.
const LONGEST_TURN: Duration = Duration::from_secs(30);

/// Takes the turn to change files, if nobody else has it; one of several that ask in turn. By one statement.
pub fn take_turn(unit: &mut Unit<'_>, run: RunId, token: &str) -> Result<bool, StoreError> {
    slots::take_named(unit, BELL, run, token, LONGEST_TURN)
}

/// Gives the turn back. By one statement.
pub fn end_turn(unit: &mut Unit<'_>, token: &str) -> Result<(), StoreError> {
    slots::give_back_named(unit, BELL, token)
}
