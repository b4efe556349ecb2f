// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The exit status of a command.
///
/// The numbers are those of `sysexits.h`, so that scripts and systemd can tell them apart.
enum ExitStatus: Int32, CaseIterable {
    case done = 0
    case notAsExpected = 1
    case notTried = 2
    case usage = 64
    case badData = 65
    case noInput = 66
    case unavailable = 69
    case internalError = 70
    case system = 71
    case cannotCreate = 73
    case inputOutput = 74
    case tryAgain = 75
    case protocolViolation = 76
    case noPermission = 77
    case configuration = 78

    /// The meaning, in one line.
    var meaning: String {
        switch self {
        case .done: "all went well"
        case .notAsExpected: "'demo', 'check', 'conform' or 'state copy' found a fault, or no certainty"
        case .notTried: "'conform' can try nothing: no answer, or a refused credential"
        case .usage: "the arguments are not understood"
        case .badData: "a sample is not what it should be"
        case .noInput: "a sample, replica, principal or entry that was named is not there"
        case .unavailable: "an address cannot be listened on, or is not reached"
        case .internalError: "a defect of Rind"
        case .system: "the system has no memory or no thread left"
        case .cannotCreate: "the state cannot be opened, made or written"
        case .inputOutput: "the state is damaged, too new or not Rind's; the disk is full or failed"
        case .tryAgain: "not now: the state is in use, or the clock is behind it"
        case .protocolViolation: "a server answered with an error, or not as the protocol says"
        case .noPermission: "a server does not accept the credential"
        case .configuration: "the configuration has mistakes; all are printed"
        }
    }

    /// Returns all statuses, a line each.
    static func table(indent: String) -> String {
        allCases.map { status in
            let number = String(status.rawValue)
            return indent + String(repeating: " ", count: 2 - number.count) + number + "  " + status.meaning
        }.joined(separator: "\n")
    }
}
