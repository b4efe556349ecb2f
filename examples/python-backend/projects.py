#!/usr/bin/env python3
# Copyright 2026 the Rind authors
# SPDX-License-Identifier: Apache-2.0
"""backend.py with one database for each project: what a sync is about stands in its address.

    /projects/7/stream, push and acks    as projects.ini has them; the backend keeps the checkpoints
    /stream, /lists, /items?farm_id=7    as farms.ini has them; they travel in the request, pushes are calls

Whoever asks for a project of others is answered 403 at each of them, and for one that does not exist 404: the gateway
writes nothing for a scope that the backend has not accepted.
"""
import json
from urllib.parse import parse_qs, unquote

import backend
from backend import Refused

# Projects, or farms, and who may see them. A real backend looks them up.
MEMBERS = {"7": {"u-ada", "u-bob"}, "8": {"u-ada"}, "a b&c": {"u-ada"}}
# The checkpoints of a session are kept for each project: what one project's devices confirm moves no other [5].
ACKS = {}


class Handler(backend.Handler):
    def do_any(self):
        path, _, query = self.path.partition("?")
        parts = [unquote(part) for part in path.strip("/").split("/")]
        self.scope = parse_qs(query).get("farm_id", [None])[0]
        if parts[0] == "projects" and len(parts) > 2:
            self.scope, parts = parts[1], parts[2:]
        routes = {
            ("GET", "users"): self.who_am_i, ("POST", "stream"): self.send_stream, ("POST", "push"): self.take_push,
            ("GET", "acks"): self.list_acks, ("POST", "acks"): self.take_acks, ("DELETE", "acks"): self.forget_acks,
            ("POST", "lists"): self.take_call, ("PATCH", "lists"): self.take_call,
            ("DELETE", "lists"): self.take_call, ("PUT", "items"): self.take_call, ("PATCH", "items"): self.take_call,
            ("DELETE", "items"): self.take_call,
        }
        self.parts = parts
        route = routes.get((self.command, parts[0]))
        self.handle_request({self.path: route} if route else {})

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_any

    def file(self, user, body):
        if self.parts[0] == "users":  # who somebody is does not depend on a project
            return self.server.file
        if self.scope is None and self.parts == ["lists"]:  # as any value can, it may stand in a body
            self.scope = json.loads(body)["farmId"]
        if self.scope not in MEMBERS:
            raise Refused(404, "no such project")
        if user not in MEMBERS[self.scope]:
            raise Refused(403, "not your project")
        return database(self.server.file, self.scope)

    def acks(self, user):
        return ACKS.setdefault((user, self.headers["Authorization"], self.scope), {})

    def send_stream(self, db, user, body):
        request = json.loads(body)
        request.setdefault("checkpoints", dict(self.acks(user)))
        super().send_stream(db, user, json.dumps(request))

    def list_acks(self, db, user, body):
        self.send_json(200, json.dumps([{"type": name, "ack": ack} for name, ack in self.acks(user).items()]))

    def take_acks(self, db, user, body):
        for ack in json.loads(body)["acks"]:
            namespace = ack.split("|")[0]
            if namespace == "SyncResetV1":
                self.acks(user).clear()
            else:
                self.acks(user)[namespace] = ack
        self.send_json(200, "{}")

    def forget_acks(self, db, user, body):
        for name in json.loads(body).get("types", list(self.acks(user))):
            self.acks(user).pop(name, None)
        self.send_json(200, "{}")

    def take_call(self, db, user, body):
        data = json.loads(body) if body else {}
        data.pop("farmId", None)
        id = self.parts[1] if len(self.parts) > 1 else data.pop("id")
        kind = {"POST": "create", "PUT": "create", "PATCH": "update", "DELETE": "delete"}[self.command]
        meta = db.execute("SELECT * FROM meta").fetchone()
        operation = {"op": kind, "table": self.parts[0], "id": id, "data": data}
        outcome, message = backend.apply(db, user, meta, operation)
        status = {"ok": 200, "missing": 404, "conflict": 409}.get(outcome, 422)
        self.send_json(status, json.dumps({"message": message}))


def database(file, scope):
    return f"{file}.{scope.encode().hex()}"


def set_up(file):
    backend.set_up(file)
    for scope in MEMBERS:
        backend.set_up(database(file, scope))


if __name__ == "__main__":
    backend.main("A backend for Rind with one database for each project.", Handler, set_up)
