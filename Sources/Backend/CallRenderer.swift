// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import JSONBytes
import SyncModel

/// Fills the placeholders of a call's target and body.
struct CallRenderer {
    let values: CallValues
    let scope: SyncScope

    /// The longest target in bytes: most servers refuse longer addresses, and this leaves room for the backend's URL.
    static let maximumTarget = 15 * 1_024

    /// Returns the target below the backend's URL.
    ///
    /// Each value is percent-encoded so that it stays within its segment or its query parameter, and a segment that
    /// contains a value must mean the same to every server on the way.
    ///
    /// - Throws: ``BackendError/invalidCall(_:)`` if a value is missing, is empty in a path, or makes the target too
    ///   long; ``BackendError/unsafeValue(_:)`` if a value would name another resource.
    func target(_ fragments: [TextFragment]) throws(BackendError) -> String {
        var target = ""
        var filled: [(start: Int, name: String)] = []
        var isPath = true
        for fragment in fragments {
            switch fragment {
            case .text(let text):
                target += text
                if text.utf8.contains(UInt8(ascii: "?")) { isPath = false }
            case .placeholder(let name):
                guard let value = self[name] else { throw .invalidCall("there is no value for {\(name)}") }
                let text = Self.text(of: value)
                guard !isPath || !text.isEmpty else { throw .invalidCall("the value for {\(name)} is empty") }
                guard text.utf8.count <= Self.maximumTarget else { throw .invalidCall("the target is too long") }
                if isPath { filled.append((target.utf8.count, name)) }
                target += PercentCoding.encode(text)
            }
        }
        guard target.first == "/" else { throw .invalidCall("the target does not begin with a slash") }
        guard target.utf8.count <= Self.maximumTarget else { throw .invalidCall("the target is too long") }
        try check(target, filled)
        return target
    }

    /// Checks the segments that contain values; text that the configuration writes itself is not restricted.
    private func check(_ target: String, _ filled: [(start: Int, name: String)]) throws(BackendError) {
        let path = target.utf8.prefix { $0 != UInt8(ascii: "?") }
        var start = 0
        for segment in path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            let end = start + segment.count
            if let value = filled.first(where: { (start..<end).contains($0.start) }),
                PathSegment.isAmbiguousWhenDecodedAgain(segment)
            {
                throw .unsafeValue(value.name)
            }
            start = end + 1
        }
    }

    /// Returns the bytes of the body; nil if the call has none.
    func body(of call: Call) throws(BackendError) -> [UInt8]? {
        if let template = call.body { return try value(of: template)?.serialised ?? Array("null".utf8) }
        guard ["POST", "PUT", "PATCH"].contains(call.method), values.columns != nil else { return nil }
        return allColumns.serialised
    }

    /// Returns the value of a template; nil if the template is a single placeholder without a value.
    ///
    /// Members and elements without a value are left out, so that one template serves `forget these` and `forget all`.
    private func value(of template: JSONTemplate) throws(BackendError) -> JSONValue? {
        switch template {
        case .null: return .null
        case .boolean(let value): return .bool(value)
        case .number(let spelling):
            guard let number = JSONNumber(spelling: spelling) else { throw .invalidCall("\(spelling) is no number") }
            return .number(number)
        case .string(let fragments): return .string(try text(of: fragments))
        case .value(let name): return self[name]
        case .allColumns: return allColumns
        case .array(let elements):
            var result: [JSONValue] = []
            for element in elements { if let value = try value(of: element) { result.append(value) } }
            return .array(result)
        case .object(let members):
            var result: [JSONValue.Member] = []
            for member in members {
                if let value = try value(of: member.value) { result.append(JSONValue.Member(member.name, value)) }
            }
            return .object(result)
        }
    }

    private func text(of fragments: [TextFragment]) throws(BackendError) -> String {
        var result = ""
        for fragment in fragments {
            switch fragment {
            case .text(let text): result += text
            case .placeholder(let name):
                guard let value = self[name] else { throw .invalidCall("there is no value for {\(name)}") }
                result += Self.text(of: value)
            }
        }
        return result
    }

    /// Returns the value of a placeholder; a part of the scope is always text.
    private subscript(name: String) -> JSONValue? { values.named[name] ?? scope[placeholder: name].map { .string($0) } }

    private var allColumns: JSONValue {
        var object = JSONValue.object([])
        for (path, value) in values.columns ?? [] { object.set(value, at: path.steps[...]) }
        return object
    }

    /// Returns a value as text: lists with commas, objects as JSON.
    private static func text(of value: JSONValue) -> String {
        switch value {
        case .null: ""
        case .bool(let value): value ? "true" : "false"
        case .number(let number): number.spelling
        case .string(let text): text
        case .array(let elements): elements.map(text(of:)).joined(separator: ",")
        case .object: String(decoding: value.serialised, as: UTF8.self)
        }
    }
}
