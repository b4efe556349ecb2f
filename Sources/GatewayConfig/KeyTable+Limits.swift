// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import SyncModel

extension KeyTable {
    static let pull: [Key] = [
        .setting(
            "pull", "first_byte_after", at: \.pull.firstByteAfter,
            as: .duration(.milliseconds(10) ... .seconds(600), zero: "never"),
            summary: "After how long an answer begins with white space instead of waiting for the backend.",
            about: """
                So that no phone or proxy gives up on a long first sync. Once the answer has begun, a failure can only cut \
                the connection.
                """),
        .setting(
            "pull", "keep_alive_every", at: \.pull.keepAliveEvery, as: .duration(.milliseconds(10) ... .seconds(600)),
            summary: "How often more white space follows."),
        .setting(
            "pull", "repeat_window", at: \.pull.repeatWindow,
            as: .duration(.milliseconds(10) ... .seconds(3600), zero: "not at all"),
            restart: true,
            summary:
                "How long the lines of a pull are kept for a client that asks again because the answer did not arrive.",
            about: """
                The client's next pull goes on from where the backend's stream had ended, so that a large first sync is not \
                streamed again and still brings the newest state. Small pulls are not kept.
                """),
        .setting(
            "pull", "unknown_cursor", at: \.pull.unknownCursor, as: .choice,
            summary: "How to answer a cursor that is not in the state.",
            about: """
                The app may have talked to another server before. `adopt`: everything comes in `updated`; nothing is \
                wiped, and edits that are not yet pushed survive; records that the backend deleted long ago may stay. \
                `replacement`: the client replaces all it has; only where the app hands the whole answer to WatermelonDB. \
                `refuse`: the sync fails with a clear error.
                """),
        .setting(
            "pull", "max_line", at: \.pull.maxLine, as: .size(1024...(1 << 30)),
            summary: "The longest line of the stream.",
            about: "A longer one is quarantined, and the stream goes on."),
        .setting(
            "pull", "max_rows", at: \.pull.maxRows, as: .integer(0...1_000_000_000, zero: "no limit"),
            summary: "The most rows of one answer; a pull with more fails."),
        .setting(
            "pull", "quarantine_keep", at: \.pull.quarantineKeep, as: .choice,
            summary: "How much of a quarantined line is kept.",
            about:
                "`no`: only why and where. `cut`: the first 1024 bytes. `whole`: all of it; lines hold users' data."),
    ]

    static let push: [Key] = [
        .setting(
            "push", "path", at: \.push.path, as: ValueFormat<Call>.call(placeholders: [], takesBody: false).optional,
            summary: "Where a whole push is sent as one stream of operations, such as `POST /sync/push`.",
            about: """
                The backend applies it in one transaction (docs/BACKEND-PROTOCOL.md). Empty: each record is a call of its \
                own, by the create, update and remove of its table.
                """),
        .setting(
            "push", "send", at: \.push.send, as: .choice, summary: "Which columns of an updated record are sent.",
            about: """
                `row`: all writable ones that the app sent. `changed`: those that WatermelonDB lists in the record's \
                `_changed`, so that a PATCH overwrites nothing that has been changed elsewhere in other columns; a record \
                that has to be created after all is sent whole. For a backend whose update takes a part of the record.
                """),
        .setting(
            "push", "conflicts", at: \.push.conflicts, as: .choice,
            summary: "Who looks for changes that were made elsewhere to a pushed record since.",
            about: """
                `auto`: `backend` where pushes are one stream or an update call has `{base}`, else `stream`, and `backend` \
                where there is no ledger. `stream`: the gateway asks the backend's stream for the tables of the push, from where the client's last \
                pull ended, and compares what comes with the ledger; one more stream request for each push, and what \
                others write between it and the push is overwritten. `backend`: the backend, where it can: a stream push \
                names in `base` what its client had seen, and a 412 of a call and a 409 to anything but a creation are \
                conflicts; nothing is overwritten unseen only where it does. `none`: nobody; the last write wins. A conflict is answered 409 \
                before anything is applied, and the client pulls, merges and pushes again.
                """),
        .setting(
            "push", "cascade", at: \.push.cascade, as: .choice,
            summary: "Who deletes the descendants of a record that an app deletes.",
            about: """
                `backend`: the backend, or the app itself. `gateway`: what the ledger of the device has below the record, by \
                `parent`, is deleted with the same push, children before parents; at most 50,000 records. It needs the ledger \
                and a push that says what its device has seen; `conflicts = stream` keeps records that were moved \
                elsewhere since.
                """),
        .setting(
            "push", "without_cursor", at: \.push.withoutCursor, as: .choice,
            summary: "What a push without `lastPulledAt` means.",
            about: """
                A third of apps send none. `accept`: it is applied, without knowing what its device had seen. `refuse`: it \
                is answered 400 with a sentence for the app's developers.
                """),
        .setting(
            "push", "rejected", at: \.push.rejected, as: .choice,
            summary: "What a record means that the backend will never take.",
            about: """
                That is one whose call is answered with 400, 403, 422 or a status that its table calls `rejected`. `fail`: \
                the push fails and names the record; nothing behind it is tried. `report`: the others go on, and the 2xx \
                answer names it in `experimentalRejectedIds`, so that it stays changed on the device. Only for apps whose \
                `pushChanges` returns the answer: others would take the record for accepted. `quarantine`: the others go on, \
                the record is kept in the state for `rind quarantine`, and the app hears that all was taken. With `fail` \
                that is done only for a record whose parent its device does not have any more, as after a project was \
                revoked: the app shows neither, so its user could not mend it, and it would stop all pushes for ever.
                """),
        .setting(
            "push", "quarantine_entries", at: \.push.quarantineEntries, as: .integer(1...100_000),
            summary: "How many records of one user `rejected = quarantine` keeps.",
            about: "With more the push fails, as with `rejected = fail`. Nothing goes by itself: the operator decides."),
        .setting(
            "push", "quarantine_record", at: \.push.quarantineRecord, as: .size(1024...(16 << 20)),
            summary: "The largest record that the quarantine takes, as the app sent it.",
            about: "A larger one fails its push."),
        .setting(
            "push", "retry_budget", at: \.push.retryBudget,
            as: .duration(.milliseconds(10) ... .seconds(300), zero: "not at all"),
            summary: "How long a push goes on trying what may pass later.",
            about: """
                What the backend puts off (408, 425, 429, 5xx, no connection) is tried again with growing pauses, or after \
                its `Retry-After`, as long as the pauses of one push are no longer than this; then the app is answered 503. \
                What may have happened is repeated only where that does no harm.
                """),
        .setting(
            "push", "parallel", at: \.push.parallel, as: .integer(1...64),
            summary: "How many calls of one push are under way at the same time.",
            about: """
                Of a push by calls. Only records of one table that do not refer to each other are sent side by side, in an \
                order that means nothing to apps either; parents are there before their children are sent. With 1 nothing \
                behind a record that the backend refuses has been sent.
                """),
        .setting(
            "push", "idempotency_header", at: \.push.idempotencyHeader, as: ValueFormat<String>.fieldName.optional,
            summary:
                "The header field that tells the backend of a creation that comes twice, such as `Idempotency-Key`.",
            about: """
                Of a push by calls. Each creation carries a key of its own there, and comes with the same one when it is \
                repeated, also after the gateway was stopped: so it is not carried out twice. Only for backends that answer \
                a repeated key as they have answered the first time. Empty: no such field.
                """),
        .setting(
            "push", "idempotency_life", at: \.push.idempotencyLife, as: .duration(.seconds(60) ... .seconds(2_592_000)),
            summary: "How long the backend knows a creation by its key, at the least.",
            about: """
                The backend must keep keys and their answers for as long as this. A push that was cut off for longer is not asked for by its key any more, since the backend might carry it \
                out a second time: the records that it has created are looked for in the stream (`ref`, `match`), or their \
                outcome stays unknown.
                """),
        .setting(
            "push", "batch", at: \.push.batch, as: .integer(0...1_000_000, zero: "all of them"),
            summary: "How many operations one request of a stream push has at the most.",
            about: """
                Only for a backend that cannot take more at once: a larger push is then several requests, each with its own \
                idempotency key, and each a transaction of its own; where one is refused, those before it stay applied.
                """),
        .setting(
            "push", "max_records", at: \.push.maxRecords, as: .integer(1...10_000_000),
            summary: "The most records of one push."),
        .setting(
            "push", "max_ids", at: \.push.maxIDs, as: .integer(1...100_000_000),
            summary: "How many records of one user may have ids that the backend has made.",
            about: """
                Beyond that new ones are refused for good, in tables whose ids the backend makes or puts together. Each takes 80 \
                to 130 bytes in memory while that user pulls or pushes.
                """),
        .setting(
            "push", "receipt_window", at: \.push.receiptWindow,
            as: .duration(.milliseconds(10) ... .seconds(120), zero: "not at all"),
            summary: "How long the answer to a push is remembered for the very same push.",
            about: "The user's next pull or other push ends that earlier."),
    ]

    static let spool: [Key] = [
        .setting(
            "spool", "dir", at: \.spool.dir, as: ValueFormat<String>.text("path").optional,
            restart: true, summary: "The directory of the spool's files.",
            about: """
                Empty: the system's temporary directory, which should not be in memory. Files have mode 0600 and no name: \
                they are gone with the process. A relative path is relative to this file.
                """),
        .setting(
            "spool", "memory", at: \.spool.memory, as: .size((64 << 10)...(16 << 30)),
            summary: "Bytes of one answer that are kept in memory before a file is used.",
            about: "Beyond `memory_total`, and for clients that read slowly, a file is used earlier."),
        .setting(
            "spool", "max", at: \.spool.max, as: .size((1 << 20)...(1 << 44)),
            summary: "The most bytes of one answer; a pull with more fails."),
        .setting(
            "spool", "memory_total", at: \.spool.memoryTotal, as: .size((1 << 20)...(1 << 44)),
            restart: true,
            summary: "The memory of all answers together, from their first line until they are sent or dropped.",
            about: """
                Answers kept for repeats count as well. Answers to clients that read slowly go to files, and count with what \
                is on its way, 192 KiB each, or 448 KiB with gzip. While three quarters are taken, all answers go to files; \
                the rest is for sending them. One principal alone gets half. What comes while there is no room is answered \
                503 and Retry-After.
                """),
        .setting(
            "spool", "disk_total", at: \.spool.diskTotal, as: .size((1 << 20)...(1 << 44)),
            restart: true,
            summary: "The most bytes of all files together, from their first line until they are sent or dropped.",
            about: """
                One principal alone gets half, so it should be twice `max`. What comes while there is no room is answered 503 \
                and Retry-After; answers kept for repeats are dropped first.
                """),
    ]

    static let limits: [Key] = [
        .setting(
            "limits", "memory", at: \.limits.memory, as: .size(0...(1 << 44)), restart: true,
            summary: "The memory of the machine or container that is Rind's; 0 for no such budget.",
            about: """
                Limits that are not set then get their shares of it: `pulls`, `connections`, `body`, `inflated_body`, \
                `push_memory`, `answers_kept`, `[spool] memory` and `memory_total`, and so do caches. Limits that together may take more than \
                two thirds are refused, with the sum: the rest is for code, gaps in the heap and the page cache.
                """),
        .setting(
            "limits", "body", at: \.limits.body, as: .size(1024...(1 << 34)),
            summary: "The most bytes of a sync request's body as it comes.",
            about: "Bodies that pass through to the backend have no limit here."),
        .setting(
            "limits", "inflated_body", at: \.limits.inflatedBody, as: .size(1024...(1 << 34)),
            summary: "The most bytes of a sync request's body after gzip is undone."),
        .setting(
            "limits", "push_memory", at: \.limits.pushMemory, as: .size((1 << 20)...(1 << 40)),
            restart: true, summary: "The memory of all pushes together, those that wait included.",
            about: """
                Each takes its body and 1 KiB for each record. What comes while there is no room is answered 503 and \
                Retry-After; a push that would never fit is answered 413.
                """),
        .setting(
            "limits", "header_bytes", at: \.limits.headerBytes, as: .size(1024...(1 << 20)),
            restart: true, summary: "The most bytes of a request's head."),
        .setting(
            "limits", "json_depth", at: \.limits.jsonDepth, as: .integer(4...512),
            summary: "How deep JSON from clients and backend may be nested."),
        .setting(
            "limits", "pulls", at: \.limits.pulls, as: .integer(1...100_000),
            restart: true, summary: "How many pulls run at a time, over all clients.",
            about:
                "What comes beyond that is answered 503 and Retry-After: at once, before the caller is known, and also "
                + "if it would only have to wait for its session."),
        .setting(
            "limits", "queue", at: \.limits.queue, as: .integer(0...10_000),
            restart: true, summary: "How many requests wait for the lock of one session or replica.",
            about: "What comes beyond that is answered 429."),
        .setting(
            "limits", "queue_wait", at: \.limits.queueWait, as: .duration(.zero ... .seconds(600)),
            restart: true, summary: "How long each of them waits."),
        .setting(
            "limits", "answers_kept", at: \.limits.answersKept, as: .size(0...(1 << 44)),
            restart: true, summary: "The most bytes of streams that are kept for clients that ask again."),
    ]

    static let log: [Key] = [
        .setting("log", "level", at: \.log.level, as: .choice, summary: "The least important level that is written."),
        .setting(
            "log", "format", at: \.log.format, as: .choice, restart: true,
            summary: "Lines for reading, or one JSON object a line."),
    ]
}
