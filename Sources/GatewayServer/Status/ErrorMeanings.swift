// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Holds the meanings of codes; made of docs/ERRORS.md by `RIND_REGENERATE=1 swift test --filter ErrorCodeTests`.
enum ErrorMeanings {
    /// The meanings by their codes.
    static let all: [String: String] = Dictionary(
        text.split(separator: "\n").compactMap { line in
            line.firstRange(of: ": ").map { (String(line[..<$0.lowerBound]), String(line[$0.upperBound...])) }
        }
    ) { first, _ in first }

    private static let text = """
        request.malformed: not valid HTTP, or a request that cannot be passed on
        request.transfer_coding: a Transfer-Encoding other than chunked alone
        request.http_version: neither HTTP/1.1 nor 1.0
        request.host: not exactly one Host field
        request.target: an absolute URL, //…, CONNECT, or bytes that are invalid in an address
        request.target_too_long: an address of more than 16 KiB
        request.head_too_large: more than [limits] header_bytes
        request.method: a method that the path does not accept; Allow lists the accepted ones
        request.origin: a push with cookies and no Authorization, from a web page that cors_origins does not list
        request.not_signed_in: no credential where [identity] principal looks for it
        request.timeout: the request's body came too slowly ([limits] body_timeout, body_rate, body_time)
        request.client_gone: the client closed the connection; only in the log
        request.client_too_slow: the client accepted nothing of its answer for [limits] send_timeout, or less than \
        send_rate, and was cut; only in the log
        request.cancelled: the gateway is shutting down
        request.body_too_large: more than [limits] body, or inflated_body after decompression; or its records \
        alone would take more than push_memory
        request.encoding: a Content-Encoding other than gzip and deflate
        request.compressed_body: the compressed body is damaged
        request.not_json: the body is not JSON
        request.too_deep: nested deeper than [limits] json_depth
        request.body_path: nothing where [wire] body_path points
        request.body_shape: neither a pull nor a push
        request.too_many_parameters: more parameters in the query than any sync needs
        request.scope_missing: the address lacks a part that calls to the backend use, such as a parameter of \
        [wire] scope; undefined and null count as missing
        request.scope: such a part is . or .., has control characters or more than 255 bytes, is no text, could be \
        read as another address in a call's path, or is there twice with different values
        request.scope_unknown: the backend answers 404 or 410 for the scope: what the address names does not \
        exist, or not for this user
        request.last_pulled_at: lastPulledAt is not a time; fractions are cut off
        request.last_pulled_at_twice: two different times, in query and body
        request.schema_version: not a whole number above zero, or two different ones
        request.migration: unreadable, or names that no schema can have
        request.changes_in_pull: changes sent to a path for pulls only
        request.changes_missing: a push without changes
        request.changes_shape: the changes are not lists by table
        request.table_name: an impossible table name, or a duplicate one
        request.record_id: a record whose id is missing, not text or half a surrogate pair; with [push] rejected = \
        fail also one that is empty or longer than 255 bytes
        request.id_twice: a duplicate id in one table
        request.too_many_tables: more tables than any schema has
        request.too_many_records: more than [push] max_records
        schema.too_old: the app's schema version is below [schema] oldest
        schema.went_back: the app reports an older schema version than that of its last sync
        schema.migrations_enabled_at: the app has synced before, and its schema version is below [schema] \
        migrations_enabled_at
        proxy.ambiguous_target: a path that two servers could read in two ways (%2e%2e, %2F, …)
        proxy.denied: a path of the backend that [backend] or denied_paths closes to apps
        proxy.backend_failed: the backend's own answer with status 500 or above, passed through to the client as \
        it is
        proxy.off: no sync path, and [backend] pass_through = false
        admin.unknown: no such path on [admin] listen
        limit.pulls: [limits] pulls are running; or, if the line has a principal, that one runs as many as are \
        still free
        limit.spool: answers that are being made, sent or cached hold all of [spool] disk_total or memory_total, \
        or the same principal's hold as much as is still free
        limit.rate: more requests than [limits] client_rate from one address, or than principal_rate of one user
        limit.queue: [limits] queue requests already wait for the same session or device
        limit.queue_wait: another sync of the same session took longer than [limits] queue_wait
        limit.lease_wait: another gateway on the same state had the user's lease for longer than [limits] \
        queue_wait; the log has holder and since
        limit.bodies: running pushes hold all of [limits] push_memory, or this caller's pushes hold all of their \
        share
        limit.connections: there are [limits] connections, or as many as the system has descriptors for
        limit.tunnels: there are [limits] tunnels, or as many as half of the clients' connections
        limit.client_tunnels: one address has [limits] tunnels_per_client
        limit.memory: no memory for decompression
        pull.unknown_cursor: the cursor is unknown, and [pull] unknown_cursor = refuse
        pull.foreign_cursor: the presented cursor belongs to another principal; it counts as unknown
        pull.clock_behind: the clock is behind the newest cursor in the state
        pull.cursor_contention: other pulls of the same user took every cursor that was tried
        pull.too_many_rows: more rows than [pull] max_rows
        pull.too_many_lines: more than 10,000,000 lines in one pull without a row: blank lines, unknown types, \
        unreadable lines
        identity.changed: the backend assigns the credential to another user than it did within [identity] \
        auth_ttl before; no cached data was used
        identity.token: the caller's token does not count: a line a token was refused has the check that failed \
        (form, algorithm, key, signature, exp, nbf, iss, aud or claim) and its cause, never the token
        identity.keys: the keys that verify tokens are not known: they could not be fetched for longer than \
        [identity] jwt_stale, or could not be fetched for a token with a new key. In the log, with url and cause: \
        a fetch failed; usable tells whether the keys of before still count. As the end of a start or of a reload: \
        the file cannot be used
        identity.other_key: the state was written under another [identity] key, under which alone it recognises \
        its users; no gateway starts on it (status 78)
        identity.header: the field of [identity] principal = header:NAME came twice, or is no text of 1 to 255 \
        bytes
        identity.untrusted_peer: a request says who is calling, and its peer is none of [gateway] trusted_proxies
        identity.gone: the backend answers 404 (then 401) or 410 (then 410) to the call of [identity] principal: \
        the account was deleted. Until the call has worked once, a 404 is backend.refused, since the path may be \
        wrong
        identity.no_principal: the identity response has neither a text of 1 to 255 bytes nor an integer at the \
        path in [identity] principal
        pull.too_many_kept: a device had received more than 1,000 records before the mappings of their ids were \
        known
        pull.too_many_idmaps: a stream had more than 10,000 id map lines in one pull; the rest was skipped
        push.conflict: a record was changed elsewhere since the client's last pull; the body names table and ids \
        and, if the gateway knows it, the backend's version of the records (present, PROTOCOL)
        push.outdated: with [push] conflicts = stream: the stream cannot go on from the client's cursor, which is \
        unknown, of another session or from before a reset, so conflicts cannot be detected
        push.rejected: the backend will never accept a record; the body names it. With one call per record, those \
        before it are applied
        push.parent_gone: the backend refuses a record that refers to one which its device does not have any more, \
        such as a task of a revoked project. It goes into quarantine, and stops no other record
        push.unsafe_id: by calls: an id, or another value that goes into the path of a call, could reach another \
        address or be read differently on the way (.., a/b, %2e%2e, control bytes). With report and quarantine, \
        for every kind of push: an id that is empty or longer than 255 bytes. Nothing of this record was sent
        push.unsendable: by calls: no call can be made for this record: a placeholder in its path is empty, a \
        column that the call names is missing, or the address is longer than 15 KiB; nothing of this record was \
        sent
        push.without_cursor: the push has no lastPulledAt, and [push] without_cursor = refuse
        push.too_many_descendants: with cascade = gateway: the deleted records have more than 50,000 descendants
        push.too_many_ids: a principal has [push] max_ids records with ids that the backend has assigned
        push.too_many_refusals: with [push] rejected = report or quarantine: the backend refuses the lines of a \
        stream push, or of one of its batches, one at a time, more than 256 times or for more than a minute; the \
        body names those so far
        push.unknown_outcome: it is unknown whether the backend has applied the push
        push.unknown_names: a push has tables or columns that are not in the configuration: dropped records and \
        values were left out, and tables and columns name the first of them; once a push
        pull.unreadable_values: values of a column cannot be read, so apps get its default; once an hour for each \
        column, with table, column, the number of values since the last time, and the shape and record of the \
        first
        pull.times_without_zone: times of a column name no zone and are taken as UTC; once an hour for each column
        push.withheld_values: a push has records of which the backend has values that could not be read on the way \
        down; columns that hold their default, and of which the app does not say that it has changed them \
        (_changed), were not sent, so that the backend keeps its values; columns and record name the first
        push.repaired_values: values of an accepted push did not fit their columns: the backend got the column's \
        default instead, in place of what it had, or a text that was cut; columns names the first of the columns
        push.cascade_unknown: with cascade = gateway: the descendants of deleted records are unknown, because the \
        push has no time, an unknown one, or one whose ledger is not complete; only the records that it names are \
        deleted
        push.half_applied: a push by calls stopped in the middle: applied of its operations are done; the client's \
        next sync brings the rest
        push.unknown_create: a push was interrupted while it created a record that gets its id from the backend, \
        and the outcome is unknown: a duplicate record may appear
        push.unseen_changes: a pushed record was changed elsewhere, but the line of that change could not be read, \
        so the change is overwritten
        push.unkept_id: the backend assigned an id that Rind cannot store, for example an empty or too long one; \
        the record stays without a mapping
        push.unreachable_ids: records were pushed under ids with unsafe characters; no device can receive them
        push.not_recorded: the backend has answered a push, but the state could not store its consequences. The \
        client gets the backend's answer. A missing receipt costs a second push of the same body; a missing note \
        or id, an echo or a duplicate; a refusal or a quarantined record stays as it was
        push.quarantined: the backend refused records, or refused a retried one again; they are in quarantine, and \
        their devices believe them synced
        push.quarantine_full: a principal already has [push] quarantine_entries, so the push fails with \
        push.rejected
        push.quarantine_too_large: a refused record is larger than [push] quarantine_record, so the push fails \
        with push.rejected
        push.no_table: the table of a retried record is no longer in the configuration; the record stays in \
        quarantine
        backend.credential: the backend does not accept the credential, or denies permission
        backend.busy: the backend asks to try later
        backend.circuit_open: the backend has not answered [backend] breaker_failures calls in a row, so syncs are \
        refused at once for breaker_open; as a line of the log it names the last cause
        backend.circuit_closed: in the log only: the backend answers again, and syncs go on
        backend.resolve: its name has no address
        backend.connect: nothing listens at its address
        backend.tls: no TLS, or an untrusted certificate
        backend.timeout.connect: no connection within connect_timeout, or none of max_connections was free
        backend.timeout.first_byte: no answer within first_byte_timeout
        backend.timeout.idle: silence for idle_timeout within an answer
        backend.timeout.total: longer than total_timeout altogether
        backend.closed: it closed a connection in the middle of an answer
        backend.protocol: its answer is not valid HTTP
        backend.head_too_large: an answer's head has more than 64 KiB
        backend.body_too_large: the answer of an error or a call is unreasonably large
        backend.upload: a request's body could not be read to its end
        backend.cancelled: the gateway cancelled the call
        backend.shutdown: the gateway cancelled the call
        backend.request: the configuration yields a request that cannot be sent
        backend.system: libcurl failed: memory, threads
        backend.failed: status 5xx
        backend.refused: a status 4xx that no repetition changes
        backend.ack_refused: the call that sets checkpoints does not exist (405, 501, or 404 for a second time, \
        after a full stream, which is tried once an hour for each session), so devices cannot continue from their \
        cursors; nothing is streamed for them
        backend.tokens_refused: the backend refuses checkpoints that it has made itself, with status; the pull \
        begins anew, and its device gets the difference
        backend.types: it refuses request types; the log names them. If the backend names them, the other tables \
        go on and the pull is answered
        backend.status: an unexpected status, such as a redirection
        backend.content_type: the stream is not lines of JSON but, for example, a login page
        backend.encoding: an answer's compression is unknown or broken
        backend.results_missing: the backend says that it has applied a push, and has no result for some of its \
        lines: it may not have read them. The app gets push.unknown_outcome and keeps its changes
        backend.answer: an answer does not conform to BACKEND-PROTOCOL
        backend.answer_too_large: an answer to a call is unreasonably large
        backend.call: a call cannot be made with these values; nothing was sent
        backend.not_configured: a call is needed that is not configured (ack = none, …)
        backend.stream_broken: the stream broke more often than resume_attempts; after a stream that brought \
        nothing, Rind no longer asks for compression
        backend.tokens_refused: it refused a checkpoint that it had made, and again after everything was forgotten
        backend.reset_again: it asked for a second reset while the first was served
        backend.position_moved: its checkpoints were moved while it streamed, perhaps by a late call of a gateway \
        that had lost its lease; nothing was answered
        state.open: the file cannot be opened or created
        state.new: in the log only: there was no state at this path, so one was made
        state.sibling: in the log only: a state was made, and one at this path beside it has the same identity key
        state.elsewhere: there is no state where [state] url says, and there is one of this identity key in the \
        working directory, where earlier versions looked for a relative path
        state.in_use: another gateway has the file open
        state.not_rind: another kind of file, or a schema with other tables; it was not changed
        state.outdated: the state has the form of an earlier version, which is not read; it was not changed
        state.schema_newer: a newer version has migrated it
        state.copying: an unfinished rind state copy
        state.not_empty: rind state copy into a state that has rows; it was not changed
        state.copy_differs: rind state copy has found a difference in the end: one of the two was changed \
        meanwhile
        state.corrupt: the contents are damaged: all, or those of the principal or replica in the line; cause says \
        what is known of it
        state.full: no space; transient
        state.busy: locked by another process for longer than busy_timeout; transient
        state.read_only: no right to write; the message says which
        state.replaced: the file, or its -wal or -shm, was removed, moved or replaced while the gateway ran
        state.io: the disk failed; transient
        state.slow: the state did not answer in time: from /readyz, and with PostgreSQL from any sync; transient
        state.unreachable: the database cannot be reached, refuses the gateway, is stopping or starting, or shows \
        no tables; transient
        state.connections: the database has no connection to spare, or too many calls wait for one; transient
        state.standby: the database takes no writes; transient
        state.outcome_unknown: the connection ended during a COMMIT, so the change was made or not; transient
        state.closed: only while shutting down
        state.cursor_taken: another request of the same principal interfered
        state.cursor_unknown: another request of the same principal interfered
        state.replica_unknown: another request of the same principal interfered
        state.replica_forked: another request of the same principal interfered
        state.generation_changed: another request of the same principal interfered
        state.ledger_changed: another request of the same principal interfered
        state.journal_closed: another request of the same principal interfered
        state.ids_changed: another request of the same principal interfered
        state.lease_lost: another request of the same principal interfered
        state.lease_taken_over: in the log only: another gateway, the holder, has not given a lease back within \
        [state] lease
        state.too_large: a value exceeds its limit
        state.invalid: a value exceeds its limit
        state.failed: a defect of Rind
        ledger.damaged: a part of one device's ledger cannot be read; in the log only: the device gets everything \
        and a new ledger (restart is damaged_ledger)
        state.clock_leapt: in the log only: the clock and the running time since the last collection differ, by \
        seconds
        spool.disk_full: no space in [spool] dir; 503 again; an answer that is being sent stays in memory instead, \
        with a line of the log
        spool.too_large: an answer of more than [spool] max, or of more than half of disk_total; 500
        spool.file: [spool] dir is missing, or a file in it cannot be created, written or read; 503 again; an \
        answer that is being sent stays in memory, as above
        ledger.sweep_blocked: more records of a table are missing from the stream than [ledger] max_sweep allows; \
        none of them is deleted
        ledger.sweep_suspended: records may be gone, but the stream does not prove it: a line has no readable id, \
        lines are of a version that upsert does not list (unknown_types), the stream broke while a parent was \
        deleted, a record's deletion came behind its row, a full stream lacks the parent of a row or what was \
        pushed within [ledger] settle, or too many parents were deleted at once
        schema.unknown_names: a client's migration asks for tables or columns that the configuration does not have \
        for its version; they are left out (names has the first of them)
        ledger.sweep_failed: a request type could not be compared: its stream broke, was refused or is too large \
        (because has the code); the device still gets what is new
        ledger.unresolved_deletes: lines of a delete = … where rule came for a table with ledger = off, so their \
        records are unknown
        ledger.too_many_notes: a device presents a cursor since which its user has pushed more than 50,000 \
        records; it gets a full stream
        backend.tokens_went_back: the backend's complete token is older than the one of the device's cursor, as \
        after a restored backup; the device is compared with everything
        ledger.missed_changes: a full comparison found repairs differences that the backend's stream had missed; \
        the device is correct now
        state.too_many_starting: in the log only: a user has more devices that have never come back than are kept, \
        and one of them, replica, gets everything again
        ledger.too_many_devices: a device is compared with the ledgers of all its principal's devices, and there \
        are more than 1,000; the rest is left out
        line.invalid_json: not JSON by RFC 8259
        line.invalid_utf8: not UTF-8
        line.too_long: longer than [pull] max_line
        line.too_deep: nested deeper than [limits] json_depth
        line.not_an_object: not an object, such as an array around the lines
        line.no_envelope: without type or data
        record.no_id: no id where the table looks for it
        record.unsafe_id: an id that apps cannot hold
        record.not_an_object: the data of the line is not an object
        record.unreadable_value: a value that its column cannot have without a loss; the record goes out with the \
        column's default in its place, and the entry has the column and the value's shape, never the value. The \
        first three records of each column, once an hour
        line.no_token: no ack, an empty one, or one that is too long; if the stream breaks after it, it is resumed \
        from an earlier line
        line.number_token: ack is a number; its text is used, but many languages change numbers of more than 15 \
        digits
        line.unknown_type: a type that the configuration does not name; the line is skipped
        stream.incomplete: the answer ended properly but without its complete line (last_type came last); it is \
        requested again, then backend.stream_broken
        stream.no_line_end: the answer ended in the middle of a line: its last bytes bytes have no line end, so \
        they may be incomplete; otherwise as above
        config.error: a mistake in the configuration, with file, line, column and hint; in the lines of rind serve \
        with [log] format = json, and of every reload; config.error is also the code of the last line, with which \
        the command ends
        config.warning: a mistake in the configuration, with file, line, column and hint; in the lines of rind \
        serve with [log] format = json, and of every reload; config.error is also the code of the last line, with \
        which the command ends
        config.reloaded: the configuration was read again after SIGHUP and is in use; changed is false if it says \
        the same as before
        config.not_reloaded: the configuration that was read again has mistakes, and a config.error before it \
        names each; or it can be applied by a restart only, for the cause; the configuration before stays in use
        config.needs_restart: the reloaded file has other values for these settings, which a reload does not \
        apply; everything else was applied
        server.accept: the system gives the listener no connection, mostly because all descriptors are used; it \
        tries again every half second
        server.draining: /readyz answers 503 with it, and the log has it each second: after a signal the gateway \
        finishes running requests and then exits
        device.stuck: in the log only: a device tries and does not get on; reason says in which way, last_code why
        proxy.header: refused connections were closed: they came from a peer that is none of [gateway] \
        trusted_proxies, or did not begin with a header of the PROXY protocol; logged every ten seconds at most
        server.cut_off: requests were still running when shutdown_grace was over
        server.descriptors: the system allows fewer descriptors than the configuration needs; fewer connections \
        are served
        tls.certificate: the certificate for clients, or its key, cannot be used, with the file and the reason. At \
        the start Rind ends with it; at a reload all stays as it was. From rind check also: it expires in less \
        than three weeks
        tls.handshake: at debug: a client and the gateway found no common TLS, or the client does not trust the \
        certificate, with cause
        server.listen: the address cannot be listened on
        internal: status 500, or the end of rind serve: a defect of Rind
        internal.unexpected_event: status 500: a defect of Rind, or an unsolicited action of the backend; only \
        this sync fails, and the log has state and event
        """
}
