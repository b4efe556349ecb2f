// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import JSONBytes
import Testing

/// The parsing cases of Nicolas Seriot's JSONTestSuite, which lie beside the package.
enum JSONTestSuite {
    static let folder = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("shared/json-test-suite")

    static let isPresent = FileManager.default.fileExists(atPath: folder.appendingPathComponent("test_parsing").path)

    /// In continuous integration the cases must be there; elsewhere their tests are skipped without them.
    static let isUsable = isPresent || ProcessInfo.processInfo.environment["CI"] == "true"

    static func names(beginningWith prefix: String) -> [String] {
        let files = try? FileManager.default.contentsOfDirectory(
            atPath: folder.appendingPathComponent("test_parsing").path)
        return (files ?? []).filter { $0.hasPrefix(prefix) }.sorted()
    }

    static func bytes(_ name: String, in subfolder: String = "test_parsing") throws -> [UInt8] {
        [UInt8](try Data(contentsOf: folder.appendingPathComponent(subfolder).appendingPathComponent(name)))
    }
}

@Suite(.enabled(if: JSONTestSuite.isUsable, "the folder ../shared/json-test-suite is not there"))
struct JSONTestSuiteTests {
    @Test func `the cases are there`() {
        #expect(JSONTestSuite.names(beginningWith: "y_").count == 95)
        #expect(JSONTestSuite.names(beginningWith: "n_").count == 188)
        #expect(JSONTestSuite.names(beginningWith: "i_") == (Self.accepted + Self.refused.keys).sorted())
    }

    @Test func `what must be accepted is accepted`() throws {
        for name in JSONTestSuite.names(beginningWith: "y_") {
            let error = outcome(of: try JSONTestSuite.bytes(name))
            #expect(error == nil, "\(name)")
        }
    }

    @Test func `what must be refused is refused`() throws {
        for name in JSONTestSuite.names(beginningWith: "n_") {
            let error = outcome(of: try JSONTestSuite.bytes(name))
            #expect(error != nil, "\(name)")
        }
    }

    @Test func `a deep document is refused by its depth and not by a crash`() throws {
        let bytes = try JSONTestSuite.bytes("n_structure_100000_opening_arrays.json")
        #expect(outcome(of: bytes)?.code == .tooDeep)
        #expect(outcome(of: bytes, depth: .max)?.code == .unexpectedEnd)
    }

    /// What the grammar leaves to the parser and is accepted here.
    ///
    /// Numbers of any size are in the grammar; whether they fit is asked later. Escaped surrogates need no partner.
    static let accepted = [
        "i_number_double_huge_neg_exp.json",
        "i_number_huge_exp.json",
        "i_number_neg_int_huge_exp.json",
        "i_number_pos_double_huge_exp.json",
        "i_number_real_neg_overflow.json",
        "i_number_real_pos_overflow.json",
        "i_number_real_underflow.json",
        "i_number_too_big_neg_int.json",
        "i_number_too_big_pos_int.json",
        "i_number_very_big_negative_int.json",
        "i_object_key_lone_2nd_surrogate.json",
        "i_string_1st_surrogate_but_2nd_missing.json",
        "i_string_1st_valid_surrogate_2nd_invalid.json",
        "i_string_incomplete_surrogate_and_escape_valid.json",
        "i_string_incomplete_surrogate_pair.json",
        "i_string_incomplete_surrogates_escape_valid.json",
        "i_string_invalid_lonely_surrogate.json",
        "i_string_invalid_surrogate.json",
        "i_string_inverted_surrogates_U+1D11E.json",
        "i_string_lone_second_surrogate.json",
    ]

    /// What the grammar leaves to the parser and is refused here: other encodings, malformed UTF-8, depth.
    static let refused: [String: JSONError.Code] = [
        "i_string_UTF-16LE_with_BOM.json": .unexpectedByte,
        "i_string_utf16BE_no_BOM.json": .unexpectedByte,
        "i_string_utf16LE_no_BOM.json": .unexpectedByte,
        "i_structure_UTF-8_BOM_empty_object.json": .unexpectedByte,
        "i_string_UTF-8_invalid_sequence.json": .invalidUTF8,
        "i_string_UTF8_surrogate_U+D800.json": .invalidUTF8,
        "i_string_invalid_utf-8.json": .invalidUTF8,
        "i_string_iso_latin_1.json": .invalidUTF8,
        "i_string_lone_utf8_continuation_byte.json": .invalidUTF8,
        "i_string_not_in_unicode_range.json": .invalidUTF8,
        "i_string_overlong_sequence_2_bytes.json": .invalidUTF8,
        "i_string_overlong_sequence_6_bytes.json": .invalidUTF8,
        "i_string_overlong_sequence_6_bytes_null.json": .invalidUTF8,
        "i_string_truncated-utf-8.json": .invalidUTF8,
        "i_structure_500_nested_arrays.json": .tooDeep,
    ]

    @Test func `what is left to the parser has one written result`() throws {
        for name in Self.accepted {
            let error = outcome(of: try JSONTestSuite.bytes(name))
            #expect(error == nil, "\(name)")
        }
        for (name, code) in Self.refused {
            let error = outcome(of: try JSONTestSuite.bytes(name))
            #expect(error?.code == code, "\(name)")
        }
    }

    @Test func `500 levels are accepted where the limit allows them`() throws {
        #expect(outcome(of: try JSONTestSuite.bytes("i_structure_500_nested_arrays.json"), depth: 500) == nil)
    }

    /// The canonical form that each of the transformation cases has here.
    static let transformations: [String: String] = [
        "number_-9223372036854775808.json": "[-9223372036854775808]",
        "number_-9223372036854775809.json": "[-9223372036854775809]",
        "number_1.0.json": "[1.0]",
        "number_1.000000000000000005.json": "[1.000000000000000005]",
        "number_1000000000000000.json": "[1000000000000000]",
        "number_10000000000000000999.json": "[10000000000000000999]",
        "number_1e-999.json": "[1E-999]",
        "number_1e6.json": "[1E6]",
        "number_9223372036854775807.json": "[9223372036854775807]",
        "number_9223372036854775808.json": "[9223372036854775808]",
        "object_key_nfc_nfd.json": "{\"\u{e9}\":\"NFC\",\"e\u{301}\":\"NFD\"}",
        "object_key_nfd_nfc.json": "{\"e\u{301}\":\"NFD\",\"\u{e9}\":\"NFC\"}",
        "object_same_key_different_values.json": #"{"a":2}"#,
        "object_same_key_same_value.json": #"{"a":1}"#,
        "object_same_key_unclear_values.json": #"{"a":-0}"#,
        "string_1_escaped_invalid_codepoint.json": "[\"\u{fffd}\"]",
        "string_2_escaped_invalid_codepoints.json": "[\"\u{fffd}\u{fffd}\"]",
        "string_3_escaped_invalid_codepoints.json": "[\"\u{fffd}\u{fffd}\u{fffd}\"]",
        "string_with_escaped_NULL.json": #"["A\u0000B"]"#,
    ]

    @Test func `numbers keep their digits, the last member wins and lone surrogates are repaired`() throws {
        for (name, expected) in Self.transformations {
            let value = try JSONValue.parse(try JSONTestSuite.bytes(name, in: "test_transform"))
            // Bytes, because Swift's strings are equal across normal forms.
            #expect(value.serialised == Array(expected.utf8), "\(name)")
        }
    }

    @Test func `strings that are not UTF-8 are refused`() throws {
        for count in ["1_invalid_codepoint", "2_invalid_codepoints", "3_invalid_codepoints"] {
            let error = outcome(of: try JSONTestSuite.bytes("string_\(count).json", in: "test_transform"))
            #expect(error?.code == .invalidUTF8, "\(count)")
        }
    }
}
