//! One connection to the server.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use postgres::types::ToSql;
use postgres::{Client, NoTls, Row, Statement};

use super::PostgresOptions;
use super::fault::{fault, is_lost, not_connected};
use super::place::Place;
use super::schema::quoted;
use crate::StoreError;
use crate::packed::Packed;
use crate::worker::{Lost, Transactions};

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Access {
    Read,
    Write,
}

/// A connection, made when it is needed and made again when it broke.
pub(super) struct Session {
    place: Place,
    schema: String,
    access: Access,
    wait: Duration,
    /// Whether a server that can not be reached is waited for.
    pub(super) patient: bool,
    client: Option<Client>,
    statements: BTreeMap<String, Statement>,
    /// The names of the locks that say which runs this process drives.
    pub(super) held: BTreeSet<String>,
}

/// Parameters of a statement.
pub(super) type Params<'a> = &'a [&'a (dyn ToSql + Sync)];

impl Session {
    pub(super) fn new(place: Place, options: &PostgresOptions, access: Access) -> Session {
        Session {
            place,
            schema: options.schema.clone(),
            access,
            wait: options.wait,
            patient: true,
            client: None,
            statements: BTreeMap::new(),
            held: BTreeSet::new(),
        }
    }

    /// The name of the server, for errors.
    pub(super) fn name(&self) -> &str {
        &self.place.name
    }

    /// The name of the schema, for locks.
    pub(super) fn schema(&self) -> &str {
        &self.schema
    }

    /// Carries out statements without parameters.
    pub(super) fn batch(&mut self, sql: &str) -> Result<(), StoreError> {
        self.tried(|client| client.batch_execute(sql))
    }

    /// Carries out a statement; returns how many rows it changed.
    pub(super) fn execute(&mut self, sql: &str, params: Params<'_>) -> Result<u64, StoreError> {
        let statement = self.prepared(sql)?;
        self.tried(|client| client.execute(&statement, params))
    }

    /// All rows.
    pub(super) fn all(&mut self, sql: &str, params: Params<'_>) -> Result<Vec<Row>, StoreError> {
        let statement = self.prepared(sql)?;
        self.tried(|client| client.query(&statement, params))
    }

    /// The first row, if there is one.
    pub(super) fn first(&mut self, sql: &str, params: Params<'_>) -> Result<Option<Row>, StoreError> {
        Ok(self.all(sql, params)?.into_iter().next())
    }

    /// Writes the long texts of these parts that are not there yet, and notes that the run has them; run 0 stands for
    /// the values kept beyond runs.
    pub(super) fn keep_texts<'a>(
        &mut self,
        run: i64,
        parts: impl IntoIterator<Item = &'a Packed>,
    ) -> Result<(), StoreError> {
        // In one order everywhere, so that two writers never wait for each other.
        let texts: BTreeMap<&str, &[u8]> = parts
            .into_iter()
            .flat_map(|part| &part.texts)
            .map(|long| (long.hash.as_str(), long.text.as_bytes()))
            .collect();
        if texts.is_empty() {
            return Ok(());
        }
        // A sweep waits for this transaction, and this for a sweep: otherwise it could take a text away that is just
        // getting a new user.
        self.all("SELECT pg_advisory_xact_lock_shared(hashtextextended($1, 1))", &[&self.schema.clone()])?;
        let hashes: Vec<&str> = texts.keys().copied().collect();
        let bytes: Vec<&[u8]> = texts.values().copied().collect();
        let sql = "INSERT INTO texts (hash, text) SELECT * FROM unnest($1::text[], $2::bytea[]) \
            ON CONFLICT (hash) DO NOTHING";
        self.execute(sql, &[&hashes, &bytes])?;
        let sql = "INSERT INTO text_uses (hash, run) SELECT hash, $2 FROM unnest($1::text[]) AS new (hash) \
            ON CONFLICT (hash, run) DO NOTHING";
        self.execute(sql, &[&hashes, &run]).map(drop)
    }

    /// The bytes of a long text.
    pub(super) fn long_text(&mut self, hash: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let row = self.first("SELECT text FROM texts WHERE hash = $1", &[&hash])?;
        Ok(row.and_then(|row| row.try_get(0).ok()))
    }

    fn prepared(&mut self, sql: &str) -> Result<Statement, StoreError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.tried(|client| client.prepare(sql))?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }

    fn tried<T>(
        &mut self,
        work: impl FnOnce(&mut Client) -> Result<T, postgres::Error>,
    ) -> Result<T, StoreError> {
        let Some(client) = self.client.as_mut() else {
            let detail = "there is no connection".into();
            return Err(StoreError::Unreachable { place: self.place.name.clone(), detail });
        };
        work(client).map_err(|e| {
            if is_lost(&e) {
                self.drop_connection();
            }
            fault(&self.place.name, &e)
        })
    }

    fn drop_connection(&mut self) {
        self.client = None;
        self.statements.clear();
    }

    /// Connects, and waits for a server that is not there (yet).
    fn connect(&mut self) -> Result<(), StoreError> {
        self.drop_connection();
        let began = Instant::now();
        loop {
            match self.connect_once() {
                Ok(client) => {
                    self.client = Some(client);
                    return self.hold_again();
                }
                Err(e) if is_lost(&e) && self.patient && began.elapsed() < self.wait => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                Err(e) => return Err(not_connected(&self.place.name, &e)),
            }
        }
    }

    fn connect_once(&self) -> Result<Client, postgres::Error> {
        let mut client = self.place.config.connect(NoTls)?;
        let schema = quoted(&self.schema);
        let wait = format!("{}ms", self.wait.as_millis().max(1));
        // Each process names its own tables; a server whose default is not to wait for the disk waits here.
        let sql = "SELECT set_config('search_path', $1, false), set_config('lock_timeout', $2, false), \
            set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' \
            ELSE current_setting('synchronous_commit') END, false)";
        client.query(sql, &[&schema, &wait])?;
        Ok(client)
    }
}

impl Transactions for Session {
    fn begin(&mut self) -> Result<(), StoreError> {
        let sql = match self.access {
            Access::Write => "BEGIN",
            Access::Read => "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
        };
        if self.client.is_some() {
            match self.batch(sql) {
                // It broke while nobody used it.
                Err(StoreError::Unreachable { .. }) => {}
                begun => return begun,
            }
        }
        self.connect()?;
        self.batch(sql)
    }

    fn save(&mut self) -> Result<(), StoreError> {
        self.batch("SAVEPOINT change")
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.batch("RELEASE change")
    }

    fn undo(&mut self) -> Result<(), StoreError> {
        self.batch("ROLLBACK TO change")
    }

    fn commit(&mut self) -> Result<(), Lost> {
        self.batch("COMMIT").map_err(|error| match error {
            StoreError::Unreachable { place, detail } if self.access == Access::Write => {
                Lost::Unsure(StoreError::OutcomeUnknown { place, detail })
            }
            error => Lost::Failed(error),
        })
    }

    fn rollback(&mut self) {
        if self.client.is_some() && self.batch("ROLLBACK").is_err() {
            self.drop_connection();
        }
    }
}

/// A count for PostgreSQL, which has signed numbers only. No real count comes near the bound.
pub(super) fn number(count: u64) -> i64 {
    i64::try_from(count).unwrap_or(i64::MAX)
}
