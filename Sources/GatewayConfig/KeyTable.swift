// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// Holds every key that a file may have: the single source for parsing, `check`, `keys`, the sample and the
/// documentation.
package enum KeyTable {
    /// A section and its purpose.
    package struct Section: Sendable {
        /// Its name.
        package let name: String
        /// Its purpose, in one sentence.
        package let summary: String
    }

    /// The unnamed sections in the order of the documents.
    package static let sections: [Section] = [
        Section(name: "gateway", summary: "Where clients reach the gateway."),
        Section(
            name: "wire",
            summary:
                "The names that requests use and answers get. Apps differ; these lists make most work as they are."
        ),
        Section(name: "state", summary: "Where the gateway remembers how far each client has got."),
        Section(name: "identity", summary: "How the gateway knows who is calling."),
        Section(name: "backend", summary: "The system behind the gateway and the manner of its stream."),
        Section(name: "schema", summary: "The versions of the app's WatermelonDB schema."),
        Section(name: "pull", summary: "What a pull may take, and what happens to what does not fit."),
        Section(name: "push", summary: "How changes go to the backend."),
        Section(
            name: "ledger", summary: "What the gateway remembers of each device's records, and what it does with it."),
        Section(name: "spool", summary: "Where an answer waits until it is complete."),
        Section(name: "limits", summary: "What one request, and all of them together, may use."),
        Section(name: "log", summary: "What is written to standard error."),
        Section(name: "admin", summary: "The operator's own listener."),
    ]

    /// The kinds of sections that have a name.
    static let namedSections = ["table", "columns"]

    /// All keys, by sections, in the order of the documents.
    package static let keys: [Key] =
        gateway + proxies + tls + wire + state + identity + tokens + backend + idMaps + backendTiming + schema + pull
        + push + ledger
        + spool
        + limits + rates + limitsOfClients + log + admin + table

    /// Returns the keys of one section.
    package static func keys(of section: String) -> [Key] { keys.filter { $0.section == section } }

    private static let index: [String: Key] = Dictionary(
        uniqueKeysWithValues: keys.map { ("\($0.section).\($0.name)", $0) })

    /// Returns the key of this name.
    static func key(_ section: String, _ name: String) -> Key? { index["\(section).\(name)"] }
}
