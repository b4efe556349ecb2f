// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension KeyTable {
    static let ledger: [Key] = [
        .setting(
            "ledger", "mode", at: \.ledger.mode, as: .choice,
            summary: "Whether the gateway remembers which records each device holds.",
            about: """
                `full`: ids and digests of contents, never contents, about 27 bytes a record; a client then gets exactly \
                what is new, changed or gone for it. `off`: everything that the backend sends goes out in `updated` after \
                the first sync, what was deleted without a delete line stays, and a reset goes by \
                `[pull] unknown_cursor`. Turn it off, here or for single tables, \
                where tables are huge, never change and hold nothing that may have to go.
                """),
        .setting(
            "ledger", "resweep_every", at: \.ledger.resweepEvery,
            as: .duration(.milliseconds(1) ... .seconds(3650 * 86_400), zero: "never"),
            summary: "After how long everything of a request type is streamed anew for a device and compared.",
            about: """
                It repairs what the backend's stream has missed, and only true differences go out. One type at a time, \
                spread over the devices. Make it shorter while you do not trust the stream, longer or `0s` where full \
                streams cost the backend too much.
                """),
        .setting(
            "ledger", "resweep_parallel", at: \.ledger.resweepParallel, as: .integer(1...10_000),
            restart: true, summary: "How many pulls compare everything of a type at a time, over all clients.",
            about: "The others stay due and take their turn with a later pull. Raise it where comparisons fall behind."),
        .setting(
            "ledger", "resweep_rows", at: \.ledger.resweepRows, as: .integer(0...1_000_000_000, zero: "no limit"),
            summary: "The most records of a request type that are compared again for a device that holds them.",
            about: """
                A type with more is left out, but for resets, after a change of its mapping, and where it was never \
                compared. Raise it where larger tables have to be repaired, too; a device then waits for the whole stream \
                once in `resweep_every`.
                """),
        .setting(
            "ledger", "rewind", at: \.ledger.rewind, as: .duration(.zero ... .seconds(3650 * 86_400)),
            summary: "For how long it is remembered what a device held at an earlier cursor.",
            about: """
                A device that comes back with an older one, restored from a backup for example, gets a full stream and \
                what differs from all that it may have. Raise it where restores are common; the state grows with what \
                changes in that time.
                """),
        .setting(
            "ledger", "max_sweep", at: \.ledger.maxSweep, as: .percentage,
            summary: "How much of a table may be deleted from a device because it did not come any more.",
            about: """
                Beyond it the deletions are held back, logged, and released by `rind replicas accept ID`: a backend that \
                was restored empty must not empty every phone. Up to 100 records are never held back. Lower it where \
                records are dear, raise it if users lose access to much at a time; `100%` holds nothing back.
                """),
        .setting(
            "ledger", "settle", at: \.ledger.settle, as: .duration(.zero ... .seconds(86_400)),
            summary: "For how long a full stream need not show what a user has pushed.",
            about: """
                A comparison within it takes no record away that the user has pushed, and puts no earlier content over \
                it: the backend may read streams from a replica that lags behind its writes. It looks again an hour \
                later. Raise it where replicas lag for longer, `0s` where streams read what was just written.
                """),
        .setting(
            "ledger", "max_offline", at: \.ledger.maxOffline,
            as: .duration(.seconds(86_400) ... .seconds(3650 * 86_400)),
            summary: "For how long devices, their cursors and the ids of deleted records are remembered.",
            about: """
                A device that was away for longer is unknown: `[pull] unknown_cursor`. Raise it where devices lie in \
                drawers; lower it where the state is too large.
                """),
    ]
}
