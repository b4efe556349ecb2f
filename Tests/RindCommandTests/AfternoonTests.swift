// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import Foundation
import PostgresTesting
import Testing

/// The programs that the page's commands run.
private enum AfternoonTools {
    static let areThere = ["bash", "curl", "python3"].allSatisfy { tool in
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)")
        }
    }
}

/// `docs/AFTERNOON.md`: its files grow block by block, and its commands run as they stand there.
@Suite(.timeLimit(.minutes(5)), .enabled(if: AfternoonTools.areThere, "bash, curl or python3 is missing"))
struct AfternoonTests {
    /// A piece of the page.
    private enum Block {
        case file(String, [String])
        case command(String, output: [String])
    }

    private static func blocks() throws -> [Block] {
        let files = ["```python": "backend.py", "```ini": "rind.ini"]
        var (blocks, fence): ([Block], String?) = ([], nil)
        for line in try Place.text("docs/AFTERNOON.md").split(separator: "\n", omittingEmptySubsequences: false) {
            let line = String(line)
            switch (fence, line) {
            case (nil, _) where line.hasPrefix("```"):
                fence = line
                if let file = files[line] { blocks.append(.file(file, [])) }
            case (nil, _): break
            case (_, "```"): fence = nil
            case ("```console", _) where line.hasPrefix("$ "):
                blocks.append(.command(String(line.dropFirst(2)), output: []))
            default:
                switch blocks.popLast() {
                case .file(let name, let lines)? where files[fence ?? ""] == name:
                    blocks.append(.file(name, lines + [line]))
                case .command(let command, let output)? where fence == "```console":
                    blocks.append(.command(command, output: output + [line]))
                case let other?: blocks.append(other)
                case nil: break
                }
            }
        }
        return blocks
    }

    /// Functions of the script: `start` runs a program that goes on, in place of the one before it.
    private static let prelude = """
        set -m
        exec 2>&1
        rind() { "$RIND" "$@"; }
        end() { [ -n "${running[$1]}" ] && kill -INT -- "-${running[$1]}" && wait "${running[$1]}"; } 2>> ends.log
        start() {
          end "$1"
          eval "$3" >> "$1.log" 2>&1 &
          running[$1]=$!
          for try in {1..600}; do (: < "/dev/tcp/127.0.0.1/$2") 2>> ends.log && return; sleep 0.1; done
          echo "nothing listens on $2"
        }
        declare -A running
        """

    private static func script(_ blocks: [Block], backend: Int, gateway: Int) -> String {
        var lines = [prelude]
        for (number, block) in blocks.enumerated() {
            lines.append("echo '@@@ \(number)'")
            switch block {
            case .file(let name, let text): lines += ["cat >> \(name) <<'END OF BLOCK'"] + text + ["END OF BLOCK"]
            case .command(let command, _) where command.hasPrefix("rind demo"): break
            case .command(let command, _) where command.hasSuffix(" &"):
                let (name, port) = command.hasPrefix("rind") ? ("gateway", gateway) : ("backend", backend)
                lines += [
                    "start \(name) \(port) \"$(cat <<'END OF COMMAND'", String(command.dropLast(2)), "END OF COMMAND",
                    ")\"",
                ]
            case .command(let command, _): lines.append(command)
            }
        }
        lines.append("end gateway; end backend")
        return lines.joined(separator: "\n").replacing("8790", with: "\(gateway)").replacing("8791", with: "\(backend)")
    }

    /// Returns true if lines are as the page has them, where `…` stands for anything.
    private static func matches(_ lines: [Substring], _ page: [String]) -> Bool {
        let pattern = page.map {
            $0 == "…" ? "(.*\n)*" : NSRegularExpression.escapedPattern(for: $0).replacing("…", with: ".*") + "\n"
        }
        let text = lines.map { $0 + "\n" }.joined()
        return (try? Regex("(?:\(pattern.joined()))").wholeMatch(in: text)) != nil
    }

    @Test func `from an empty directory to a phone, every command answers as the page says`() async throws {
        let blocks = try Self.blocks()
        let (backend, gateway) = (try PostgresServer.freePort(), try PostgresServer.freePort())
        let script = Self.script(blocks, backend: backend, gateway: gateway)
        let finished = try await Place.withDirectory { directory in
            try await RunningCommand.run(
                ["bash", "-c", script], program: "/usr/bin/env",
                environment: [
                    "RIND": RunningCommand.executable, "RIND_GATEWAY_LISTEN": "127.0.0.1:\(gateway)",
                ], directory: directory)
        }
        var outputs: [Int: [Substring]] = [:]
        var number = -1
        for line in finished.out.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.hasPrefix("@@@ ") {
                number = Int(line.dropFirst(4)) ?? -1
            } else {
                outputs[number, default: []].append(line)
            }
        }
        for (number, block) in blocks.enumerated() {
            guard case .command(let command, let page) = block, !command.hasPrefix("rind demo") else { continue }
            // What ends without a line break is followed by the next mark.
            let lines = (outputs[number] ?? []).filter { !$0.isEmpty }
            #expect(Self.matches(lines, page), "$ \(command)\n\(lines.joined(separator: "\n"))")
        }
        #expect(blocks.count > 40)
    }
}
