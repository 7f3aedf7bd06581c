-- A .still file: one run, in one SQLite database. application_id 0x5354494c ("STIL"), user_version = the schema version.
-- Opening one is reading data: nothing in it is ever imported, executed or unpickled.
-- Ids are positive integers; 0 means "none". Columns named *_json hold UTF-8 JSON.
-- Version 1.

-- What was run and how: command, target, versions, sizes, scenario, ended ("" while running). One row a key.
CREATE TABLE manifest (key TEXT PRIMARY KEY, value_json TEXT NOT NULL) WITHOUT ROWID;

-- Source text in scope, functions in it, places in them (records.SourceFile, Function, Site).
CREATE TABLE files (id INTEGER PRIMARY KEY, path TEXT NOT NULL, package_path TEXT NOT NULL, origin TEXT NOT NULL, text TEXT NOT NULL);
CREATE TABLE functions (id INTEGER PRIMARY KEY, file INTEGER NOT NULL, qualname TEXT NOT NULL, line INTEGER NOT NULL, end_line INTEGER NOT NULL);
CREATE TABLE sites (
  id INTEGER PRIMARY KEY, function INTEGER NOT NULL, kind TEXT NOT NULL, node TEXT NOT NULL, use TEXT NOT NULL,
  line INTEGER NOT NULL, col INTEGER NOT NULL, end_line INTEGER NOT NULL, end_col INTEGER NOT NULL, binds TEXT NOT NULL);

-- Names of the functions out of scope that stood between a caller and a callee, outermost first; each such list kept once.
CREATE TABLE chains (id INTEGER PRIMARY KEY, names_json TEXT NOT NULL);

-- Calls of functions in scope (records.Frame), in chunks of rows of nine little-endian signed 64-bit integers:
-- id, function, caller, call_site, chain, owner, phase (0 forward, 1 backward, 2 recompute), thread, first_event.
-- In this and all tables of chunks, `low` and `high` are the smallest and largest id in the chunk.
CREATE TABLE frames (chunk INTEGER PRIMARY KEY, low INTEGER NOT NULL, high INTEGER NOT NULL, count INTEGER NOT NULL, rows BLOB NOT NULL);

-- Events in order, in chunks: event i of a chunk has index first + i. Each BLOB is `count` little-endian signed 64-bit integers.
CREATE TABLE events (first INTEGER PRIMARY KEY, count INTEGER NOT NULL, sites BLOB NOT NULL, frames BLOB NOT NULL, "values" BLOB NOT NULL);

-- Bounded descriptions of values, each kept once (records.Value.about).
CREATE TABLE descriptions (id INTEGER PRIMARY KEY, about_json TEXT NOT NULL);

-- Values, in chunks of rows of seven little-endian signed 64-bit integers:
-- id, description, object, storage, content, version, base.
CREATE TABLE "values" (chunk INTEGER PRIMARY KEY, low INTEGER NOT NULL, high INTEGER NOT NULL, count INTEGER NOT NULL, rows BLOB NOT NULL);

-- Bytes and summaries, in chunks: `rows` holds, for each content, five little-endian signed 64-bit integers
-- (id, storage, form: 0 storage, 1 dense, 2 summary; offset and length in `data`).
CREATE TABLE contents (chunk INTEGER PRIMARY KEY, low INTEGER NOT NULL, high INTEGER NOT NULL, count INTEGER NOT NULL, rows BLOB NOT NULL, data BLOB NOT NULL);

-- Torch modules seen (records.Module), breakpoint() marks, exceptions, and what the reader must know about gaps.
CREATE TABLE modules (object INTEGER NOT NULL, root INTEGER NOT NULL, path TEXT NOT NULL, class_name TEXT NOT NULL,
  training INTEGER NOT NULL, parameters_json TEXT NOT NULL, PRIMARY KEY (object, root, path)) WITHOUT ROWID;
CREATE TABLE marks (id INTEGER PRIMARY KEY, after_event INTEGER NOT NULL, frame INTEGER NOT NULL, path TEXT NOT NULL,
  line INTEGER NOT NULL, function TEXT NOT NULL, names_json TEXT NOT NULL);
CREATE TABLE raised (id INTEGER PRIMARY KEY, after_event INTEGER NOT NULL, type_name TEXT NOT NULL, message TEXT NOT NULL,
  frames_json TEXT NOT NULL, lines_json TEXT NOT NULL, names_json TEXT NOT NULL, caught_in INTEGER NOT NULL);
CREATE TABLE notes (id INTEGER PRIMARY KEY, kind TEXT NOT NULL, subject TEXT NOT NULL, reason TEXT NOT NULL);
