// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import CPQ

/// Reads a result of libpq, for as long as it is not cleared.
struct ReceivedResult {
    /// Names of fields of an error (`postgres_ext.h`), whose definitions by characters Swift does not import.
    private enum Field {
        static let severity = CInt(UInt8(ascii: "V"))
        static let state = CInt(UInt8(ascii: "C"))
        static let message = CInt(UInt8(ascii: "M"))
        static let constraint = CInt(UInt8(ascii: "n"))
    }

    let raw: OpaquePointer

    var status: ExecStatusType { PQresultStatus(raw) }
    var rowCount: CInt { PQntuples(raw) }

    /// The name of the command that was carried out, such as `INSERT 0 1`.
    var tag: String { String(cString: PQcmdStatus(raw)) }

    /// The number of rows that the command has touched; 0 for commands without one.
    var count: Int { Int(String(cString: PQcmdTuples(raw))) ?? 0 }

    /// The SQLSTATE; empty for errors that libpq itself reports.
    var state: String { field(Field.state) }

    /// True if the server ends the connection with this error.
    var isFatal: Bool { ["FATAL", "PANIC"].contains(field(Field.severity)) }

    var error: PostgresError {
        PostgresError(
            state: state, message: field(Field.message), constraint: field(Field.constraint), isFatal: isFatal)
    }

    /// Copies a row.
    func row(_ index: CInt) -> PostgresRow {
        PostgresRow(
            values: (0..<PQnfields(raw)).map { column in
                guard PQgetisnull(raw, index, column) == 0 else { return .null }
                let length = Int(PQgetlength(raw, index, column))
                let bytes = UnsafeRawBufferPointer(start: PQgetvalue(raw, index, column), count: length)
                // A server that is none may answer with text although it was asked for binary values.
                return PQfformat(raw, column) == 1 ? .init(type: PQftype(raw, column), bytes: bytes) : .other
            })
    }

    func byteCount(ofRow index: CInt) -> Int {
        (0..<PQnfields(raw)).reduce(0) { $0 + Int(PQgetlength(raw, index, $1)) }
    }

    private func field(_ code: CInt) -> String { PQresultErrorField(raw, code).map { String(cString: $0) } ?? "" }
}
