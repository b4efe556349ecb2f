#!/usr/bin/env python3
# Copyright 2026 the Rind authors
# SPDX-License-Identifier: Apache-2.0
"""A backend for Rind in one file: Python 3.9 or newer and its standard library.

It keeps the to-do lists of two users in SQLite and offers what a gateway with `checkpoints = request` needs:

    POST /sync/stream   what has changed since the client's checkpoints, one JSON object a line
    POST /sync/push     what a client has changed, applied in one transaction
    GET  /users/me      whose token this is

Numbers in brackets are sections of docs/BACKEND-PROTOCOL.md, which has the rules and the reasons for them.
"""
import argparse
import hashlib
import json
import sqlite3
import sys
from contextlib import closing
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Bearer tokens and the users they belong to. A real backend looks them up among its sessions.
USERS = {"ada-token": "u-ada", "bob-token": "u-bob"}
PAGE = 500  # rows that one query reads
MAXIMUM_BODY = 64 << 20
KEEP_DELETIONS = "-30 days"  # a client that was away for longer gets a reset [6.5]
KEEP_ANSWERS = "-2 days"  # how long the answer to a push is kept under its key; at least a day [8.8]

# The members that are sent and accepted for each table: name in JSON -> (column, type, whether null is allowed).
TABLES = {
    "lists": {"title": ("title", str, False), "createdAt": ("created_at", str, False)},
    "items": {
        "text": ("text", str, False),
        "isDone": ("is_done", bool, False),
        "position": ("position", (int, float), False),
        "dueAt": ("due_at", str, True),
        "listId": ("list_id", str, False),
    },
}
# What a gateway can ask for, in the order in which it is sent: parents before their children [3.9].
# Request type -> (table, wire type of its rows, wire type of its deletions, key of a deletion).
TYPES = {
    "ListsV1": ("lists", "ListV1", "ListDeleteV1", "listId"),
    "ItemsV1": ("items", "ItemV1", "ItemDeleteV1", "itemId"),
}

SCHEMA = """
CREATE TABLE meta (epoch TEXT NOT NULL, revision INTEGER NOT NULL, pruned INTEGER NOT NULL);
INSERT INTO meta VALUES (lower(hex(randomblob(4))), 0, 0);
CREATE TABLE lists (id TEXT PRIMARY KEY, owner TEXT NOT NULL, title TEXT NOT NULL DEFAULT '',
  created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ')), revision INTEGER NOT NULL DEFAULT 0);
CREATE TABLE items (id TEXT PRIMARY KEY, owner TEXT NOT NULL, text TEXT NOT NULL DEFAULT '',
  is_done INTEGER NOT NULL DEFAULT 0, position REAL NOT NULL DEFAULT 0, due_at TEXT,
  list_id TEXT NOT NULL REFERENCES lists (id) ON DELETE CASCADE, revision INTEGER NOT NULL DEFAULT 0);
CREATE TABLE deletions (revision INTEGER PRIMARY KEY, owner TEXT NOT NULL, kind TEXT NOT NULL, id TEXT NOT NULL,
  at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE answers (owner TEXT, key TEXT, digest TEXT, status INTEGER, body TEXT,
  at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP, PRIMARY KEY (owner, key));
"""
# Every change takes the next number of one counter: the update id [1]. Triggers take it, so that no code path can
# forget it, inside the transaction that holds SQLite's only write lock, so that numbers are in the order of commits:
# a database with concurrent writers needs more than this [6.1]. A deletion leaves a row behind [6.2].
TRIGGERS = """
CREATE INDEX {0}_by_revision ON {0} (owner, revision);
CREATE TRIGGER {0}_inserted AFTER INSERT ON {0} BEGIN
  UPDATE meta SET revision = revision + 1;
  UPDATE {0} SET revision = (SELECT revision FROM meta) WHERE id = NEW.id; END;
CREATE TRIGGER {0}_updated AFTER UPDATE ON {0} WHEN NEW.revision = OLD.revision BEGIN
  UPDATE meta SET revision = revision + 1;
  UPDATE {0} SET revision = (SELECT revision FROM meta) WHERE id = NEW.id; END;
CREATE TRIGGER {0}_deleted AFTER DELETE ON {0} BEGIN
  UPDATE meta SET revision = revision + 1;
  INSERT INTO deletions (revision, owner, kind, id) SELECT revision, OLD.owner, '{0}', OLD.id FROM meta; END;
"""
SEED = """
INSERT INTO lists (id, owner, title) VALUES ('garden', 'u-ada', 'Garden');
INSERT INTO items (id, owner, text, position, list_id) VALUES ('fence', 'u-ada', 'Paint the fence', 1, 'garden');
"""


class Refused(Exception):
    """A request that is answered with an error. The gateway logs the sentence; clients never see it [9]."""

    def __init__(self, status, message):
        super().__init__(message)
        self.status, self.message = status, message


def connect(path):
    db = sqlite3.connect(path, timeout=10, isolation_level=None)  # transactions are begun by hand
    db.row_factory = sqlite3.Row
    db.execute("PRAGMA foreign_keys = ON")
    return db


def set_up(path):
    with closing(connect(path)) as db:
        db.execute("PRAGMA journal_mode = WAL")
        if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
            db.executescript("BEGIN;" + SCHEMA + "".join(map(TRIGGERS.format, TABLES)) + SEED + "COMMIT;")
        # Old deletions go, and `pruned` says up to which update id they are gone. A real backend does this daily.
        db.execute("UPDATE meta SET pruned = max(pruned, coalesce((SELECT max(revision) FROM deletions"
                   " WHERE at < datetime('now', ?)), 0))", [KEEP_DELETIONS])
        db.execute("DELETE FROM deletions WHERE revision <= (SELECT pruned FROM meta)")
        db.execute("DELETE FROM answers WHERE at < datetime('now', ?)", [KEEP_ANSWERS])


# Tokens [4]: namespace, epoch and update id. Each wire type is a namespace of its own. The epoch is made with the
# database: a token of another one must not be taken for one of this. A restored backup has its old epoch, so that it
# knows tokens of its lost future only by their numbers, and only until it has given these numbers anew: whoever
# restores one makes a new epoch before anything else is written (README).
def token(namespace, meta, revision):
    return f"{namespace}|{meta['epoch']}|{revision}"


def revision_in(text, meta):
    """The update id in a token; None where this database cannot have made it [7]."""
    parts = text.split("|")
    if len(parts) != 3 or not parts[2].isdigit():
        raise Refused(400, f"{text!r} is no token")
    return int(parts[2]) if parts[1] == meta["epoch"] and int(parts[2]) <= meta["revision"] else None


def stream(db, user, request):
    """The lines of a stream. The first one is made before the status is sent, so that an error can still be one."""
    types, checkpoints = request.get("types"), request.get("checkpoints", {})
    unknown = [name for name in types if name not in TYPES]
    if unknown:  # the whole request is refused, never silently less [9]
        raise Refused(400, f"unknown types: {', '.join(unknown)}")
    meta = db.execute("SELECT * FROM meta").fetchone()
    held = {namespace: revision_in(text, meta) for namespace, text in checkpoints.items()}
    # The complete token says up to where the client has everything. Where deletions behind it are forgotten, or a
    # token is not of this database, the checkpoints are worth nothing [7]. The next request comes without any: that
    # is how a reset is confirmed.
    if None in held.values() or held.get("SyncCompleteV1", meta["pruned"]) < meta["pruned"]:
        yield {"type": "SyncResetV1", "data": {}, "ack": "SyncResetV1|reset"}
        return
    # One bound for all queries, which is the complete line's token too [6.6]. What is changed while the stream runs
    # has a greater update id and comes with the next one.
    bound = meta["revision"]
    for name, (table, line, deletion, key) in TYPES.items():
        if name not in types:
            continue
        # A namespace without a checkpoint starts from nothing. That holds for deletions as well: a client that has
        # never got one has no token of theirs [4].
        gone = "SELECT id, revision FROM deletions WHERE owner = ? AND kind = '" + table + "'"
        for row in pages(db, gone, user, held.get(deletion, 0), bound):
            yield {"type": deletion, "data": {key: row["id"]}, "ack": token(deletion, meta, row["revision"])}
        for row in pages(db, f"SELECT * FROM {table} WHERE owner = ?", user, held.get(line, 0), bound):
            yield {"type": line, "data": record(table, row), "ack": token(line, meta, row["revision"])}
    yield {"type": "SyncCompleteV1", "data": {}, "ack": token("SyncCompleteV1", meta, bound)}


def pages(db, query, user, after, bound):
    """Rows page by page: a query that stays open for as long as a phone reads would keep the log from shrinking."""
    query += " AND revision > ? AND revision <= ? ORDER BY revision LIMIT ?"
    while True:
        rows = db.execute(query, [user, after, bound, PAGE]).fetchall()
        yield from rows
        if len(rows) < PAGE:
            return
        after = rows[-1]["revision"]


def record(table, row):
    """The whole record, nulls written out [3.3]."""
    data = {"id": row["id"]}
    for member, (column, kind, _) in TABLES[table].items():
        data[member] = bool(row[column]) if kind is bool else row[column]
    return data


def push(db, user, key, body):
    """Applies all lines or none, and keeps the answer under its key [8]."""
    digest = hashlib.sha256(body).hexdigest()
    db.execute("BEGIN IMMEDIATE")
    kept = db.execute("SELECT * FROM answers WHERE owner = ? AND key = ?", [user, key]).fetchone()
    if kept:
        db.execute("ROLLBACK")
        if kept["digest"] != digest:
            raise Refused(422, "this idempotency key was used for another push")
        return kept["status"], kept["body"]
    meta = db.execute("SELECT * FROM meta").fetchone()
    db.execute("SAVEPOINT push")
    results = []
    for number, line in enumerate(body.splitlines()):
        operation = json.loads(line)
        outcome, message = apply(db, user, meta, operation)
        results.append({"line": number, "table": operation["table"], "id": operation["id"], "outcome": outcome})
        if message:
            results[-1]["message"] = message
    refused = [result for result in results if result["outcome"] != "ok"]
    if refused:  # the answer names every line that is refused, so the loop above goes on behind the first [8.7]
        db.execute("ROLLBACK TO push")
    outcomes = {result["outcome"] for result in refused}
    status = 200 if not refused else 409 if outcomes & {"conflict", "missing"} else 422
    answer = json.dumps({"results": refused or results})
    db.execute("INSERT INTO answers (owner, key, digest, status, body) VALUES (?, ?, ?, ?, ?)",
               [user, key, digest, status, answer])
    db.execute("COMMIT")
    return status, answer


def apply(db, user, meta, operation):
    """Carries out one operation; gives its outcome and, where it is refused, a sentence for the gateway's log."""
    kind, table, id = operation["op"], operation["table"], operation["id"]
    if table not in TABLES:
        return "rejected", "unknown table"
    row = db.execute(f"SELECT owner, revision FROM {table} WHERE id = ?", [id]).fetchone()
    if row and row["owner"] != user:  # the record of somebody else is not there for this user
        return {"delete": ("ok", None), "update": ("missing", "no such record")}.get(kind, ("rejected", "id is taken"))
    if row and "base" in operation:
        # The client had everything up to this token, whatever its namespace: all have update ids of one counter [8.4].
        seen = revision_in(operation["base"], meta)
        if seen is None or row["revision"] > seen:
            return "conflict", "the record has changed since"
    if kind == "delete":  # a delete of nothing is fine [8.3]
        db.execute(f"DELETE FROM {table} WHERE id = ?", [id])
        return "ok", None
    deleted = "SELECT 1 FROM deletions WHERE owner = ? AND kind = ? AND id = ?"
    if not row and kind == "update" and db.execute(deleted, [user, table, id]).fetchone():
        return "missing", "the record was deleted"
    # A create of what is there is an update, and an update of what never was is a create [8.3].
    values = {}
    for member, value in operation["data"].items():
        column, expected, may_be_null = TABLES[table].get(member, (None, (), False))
        is_right = isinstance(value, expected) and (expected is bool) == isinstance(value, bool)
        if not is_right and not (value is None and may_be_null):
            return "rejected", f"{member} cannot be {value!r}"
        values[column] = value
    target = values.get("list_id")
    if target is not None and not db.execute(
            "SELECT 1 FROM lists WHERE id = ? AND owner = ?", [target, user]).fetchone():
        return "rejected", "listId names no list of this user"
    values = {"id": id, "owner": user, **values} if not row else values
    columns = ", ".join(values)
    try:
        if not row:
            marks = ", ".join("?" * len(values))
            db.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks})", list(values.values()))
        elif values:
            changes = ", ".join(f"{column} = ?" for column in values)
            db.execute(f"UPDATE {table} SET {changes} WHERE id = ?", [*values.values(), id])
    except sqlite3.IntegrityError as error:
        return "rejected", str(error)
    return "ok", None


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 300  # of a connection on which nothing happens

    def do_GET(self):
        self.handle_request({"/users/me": self.who_am_i})

    def do_POST(self):
        self.handle_request({"/sync/stream": self.send_stream, "/sync/push": self.take_push})

    def handle_request(self, routes):
        try:
            body = self.read_body()  # also of a request that is refused: the connection is used again
            if self.path not in routes:
                raise Refused(404, "no such path")
            scheme, _, credential = self.headers.get("Authorization", "").partition(" ")
            if scheme.lower() != "bearer" or credential not in USERS:
                raise Refused(401, "unknown token")
            with closing(connect(self.file(USERS[credential], body))) as db:
                routes[self.path](db, USERS[credential], body)
        except Refused as refusal:
            self.send_json(refusal.status, json.dumps({"message": refusal.message, "statusCode": refusal.status}))
        except (KeyError, TypeError, ValueError) as error:
            self.send_json(400, json.dumps({"message": f"not understood: {error!r}", "statusCode": 400}))

    def file(self, user, body):
        """The database that a request is about; `projects.py` has one for each project."""
        return self.server.file

    def who_am_i(self, db, user, body):
        self.send_json(200, json.dumps({"id": user}))

    def take_push(self, db, user, body):
        self.send_json(*push(db, user, self.headers["Idempotency-Key"], body))

    def send_stream(self, db, user, body):
        lines = stream(db, user, json.loads(body))
        first = next(lines)
        self.send_response(200)
        self.send_header("Content-Type", "application/jsonlines+json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            self.write_line(first)
            for line in lines:
                self.write_line(line)
            self.wfile.write(b"0\r\n\r\n")
        except Exception as error:  # too late for a status: the connection ends without an end of the body [9]
            self.log_error("the stream was cut: %r", error)
            self.close_connection = True

    def write_line(self, line):
        """Writes one line as a chunk. It waits for as long as the client takes nothing, so no line is kept [9]."""
        text = json.dumps(line, separators=(",", ":")).encode() + b"\n"
        self.wfile.write(b"%X\r\n%b\r\n" % (len(text), text))

    def read_body(self):
        """The body, whole: a server that does not read it must never answer that it has applied it [8.6]."""
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(self.checked(int(self.headers.get("Content-Length") or 0)))
        body = b""
        while size := int(self.rfile.readline().split(b";")[0], 16):
            self.checked(len(body) + size)
            body += self.rfile.read(size)
            self.rfile.readline()
        while self.rfile.readline().strip():
            pass
        return body

    def checked(self, size):
        if size > MAXIMUM_BODY:
            self.close_connection = True
            raise Refused(413, f"more than {MAXIMUM_BODY} bytes")
        return size

    def send_json(self, status, text):
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())


def main(description, handler, prepare):
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--port", type=int, default=8791, help="0 takes a free one")
    parser.add_argument("--file", default="backend.db", help="the SQLite file")
    arguments = parser.parse_args()
    prepare(arguments.file)
    server = ThreadingHTTPServer(("127.0.0.1", arguments.port), handler)
    server.file = arguments.file
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        sys.exit(0)


if __name__ == "__main__":
    main("A backend for Rind with two users, ada-token and bob-token.", Handler, set_up)
