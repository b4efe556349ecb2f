// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Decides how much of an answer is read at once for its client, and when its memory is worth a file.
struct SendingPace: Hashable, Sendable {
    /// The change of the pieces' size after a wait for the client.
    enum Change: Hashable, Sendable {
        case stay
        /// Pieces are small from now on.
        case shrink
        /// Pieces may be large from now on, if there is memory for that.
        case grow
    }

    /// The bytes that are read at once at first: as many as lie together in memory.
    static let firstPiece = 64 * 1_024
    /// The bytes that are read at once for a client that takes its time: as many more may wait in its connection.
    static let smallPiece = 32 * 1_024
    /// The bytes that are read at once for one that takes everything promptly: fewer changes of thread.
    static let largePiece = 256 * 1_024
    /// The most memory that sending takes besides the spool, in bytes, unless pieces are large: those that wait in the
    /// connection, the one behind them, and lines that are gathered.
    static let memory = 3 * firstPiece
    /// The memory of the compressor, in bytes.
    static let compressorMemory = 256 * 1_024
    /// The memory that large pieces take besides, in bytes.
    static let largePiecesMemory = 3 * (largePiece - firstPiece)
    /// The longest wait for a client that counts as prompt.
    static let promptness = Duration.milliseconds(50)
    /// The number of prompt waits in a row that are more than the system's buffers explain: they take megabytes of any
    /// client's answer at once.
    static let promptWaits = 128
    /// The most bytes to read at once.
    private(set) var pieceSize = firstPiece
    /// The rest of the time that the client may be waited for before its answer goes to a file.
    ///
    /// Prompt waits do not count; of any other one, ``promptness`` counts, which is the least that it has lasted.
    private(set) var patience = Duration.milliseconds(500)
    private var waits = 0

    /// Takes note of a wait for the client that is over, or that is no longer prompt.
    mutating func waited(isPrompt: Bool) -> Change {
        guard isPrompt else {
            defer { (pieceSize, waits) = (Self.smallPiece, 0) }
            patience -= min(patience, Self.promptness)
            return pieceSize == Self.largePiece ? .shrink : .stay
        }
        waits += 1
        return waits >= Self.promptWaits && pieceSize < Self.largePiece ? .grow : .stay
    }

    /// Reads more at once from now on.
    mutating func grow() { pieceSize = Self.largePiece }
}
