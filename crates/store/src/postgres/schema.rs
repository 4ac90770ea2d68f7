//! The schema: what tables it has, how an older one is brought up to date.

use super::session::Session;
use crate::StoreError;

/// The steps from an empty schema to the present one. The table `migrations` tells which were taken; a step, once
/// released, never changes.
const MIGRATIONS: [&str; 1] = ["
    CREATE TABLE runs (
        key              BIGINT  GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        run_id           TEXT    COLLATE \"C\" NOT NULL UNIQUE,
        status           TEXT    NOT NULL,
        question         TEXT    NOT NULL,
        graph            TEXT    NOT NULL,
        created_at       BIGINT  NOT NULL,
        updated_at       BIGINT  NOT NULL,
        current_step     TEXT,
        completed_steps  BIGINT  NOT NULL,
        attempt          BIGINT  NOT NULL,
        deadline         BIGINT,
        cost_cents       BIGINT,
        last_seq         BIGINT  NOT NULL,
        cancel_requested BOOLEAN NOT NULL,
        exits            TEXT    NOT NULL,
        report           TEXT,
        output           TEXT    NOT NULL,
        epoch            BIGINT  NOT NULL
    );
    CREATE INDEX runs_by_age ON runs (created_at, run_id);

    -- Apart from the rest of the record, because it is long and seldom changes.
    CREATE TABLE setups (
        run      BIGINT PRIMARY KEY REFERENCES runs (key) ON DELETE CASCADE,
        bundle   TEXT   NOT NULL,
        settings TEXT   NOT NULL
    );

    CREATE TABLE entries (
        run      BIGINT NOT NULL REFERENCES runs (key) ON DELETE CASCADE,
        seq      BIGINT NOT NULL,
        scope    TEXT   COLLATE \"C\" NOT NULL,
        position BIGINT NOT NULL,
        entry    TEXT   NOT NULL,
        PRIMARY KEY (run, seq),
        UNIQUE (run, scope, position)
    );

    -- Long texts of entries and records, each once, by the SHA-256 of its bytes.
    CREATE TABLE texts (
        hash TEXT  COLLATE \"C\" PRIMARY KEY,
        text BYTEA NOT NULL
    );

    -- Which runs use which; run 0 stands for the kept values.
    CREATE TABLE text_uses (
        hash TEXT   COLLATE \"C\" NOT NULL,
        run  BIGINT NOT NULL,
        PRIMARY KEY (hash, run)
    );
    CREATE INDEX text_uses_by_run ON text_uses (run);

    -- Values that runs leave for those after them.
    CREATE TABLE kept (
        key   TEXT COLLATE \"C\" PRIMARY KEY,
        value TEXT NOT NULL
    );
"];

/// Makes the schema, or brings it up to date. One of another program, or of a later version of this one, is refused
/// and left as it is.
pub(super) fn migrate(session: &mut Session, schema: &str) -> Result<(), StoreError> {
    let known = MIGRATIONS.len() as i64;
    let row = session.first("SELECT current_setting('server_encoding')", &[])?;
    let encoding: String = row.and_then(|row| row.try_get(0).ok()).unwrap_or_default();
    if encoding != "UTF8" {
        return Err(StoreError::Encoding { place: session.name().into(), encoding });
    }
    // One after the other, where many processes start at once.
    session.all("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", &[&schema])?;
    let sql = "SELECT to_regclass(quote_ident($1) || '.migrations') IS NOT NULL, \
        to_regclass(quote_ident($1) || '.runs') IS NOT NULL, EXISTS (SELECT 1 FROM pg_namespace WHERE nspname = $1)";
    let found = session.first(sql, &[&schema])?;
    let there = |column| found.as_ref().and_then(|row| row.try_get(column).ok()).unwrap_or(false);
    let (migrated, tables, made) = (there(0), there(1), there(2));
    if tables && !migrated {
        let detail = format!("its schema {schema} has a table `runs` of another program");
        return Err(StoreError::NotAStore { path: session.name().into(), detail });
    }
    if !made {
        session.batch(&format!("CREATE SCHEMA {}", quoted(schema)))?;
    }
    if !migrated {
        session.batch(
            "CREATE TABLE migrations (step BIGINT PRIMARY KEY, at TIMESTAMPTZ NOT NULL DEFAULT now())",
        )?;
    }
    let row = session.first("SELECT coalesce(max(step), 0) FROM migrations", &[])?;
    let taken: i64 = row.and_then(|row| row.try_get(0).ok()).unwrap_or(0);
    if taken > known {
        return Err(StoreError::Newer { path: session.name().into(), found: taken, known });
    }
    for (step, sql) in (1_i64..).zip(MIGRATIONS).skip(usize::try_from(taken).unwrap_or(0)) {
        session.batch(sql)?;
        session.execute("INSERT INTO migrations (step) VALUES ($1)", &[&step])?;
    }
    Ok(())
}

/// A name as SQL has it.
pub(super) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
