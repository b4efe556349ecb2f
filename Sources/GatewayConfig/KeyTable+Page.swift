// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension KeyTable {
    /// Returns the text of `docs/CONFIGURATION.md`.
    package static func page() -> String {
        var lines = [pageHead]
        lines += ["## Keys", ""]
        for section in sections {
            lines += ["### [\(section.name)]", "", section.summary, ""]
            for key in keys(of: section.name) { lines += page(key) }
        }
        lines += ["## Tables", "", tableHead]
        lines += ["### [table NAME]", ""]
        for key in table { lines += page(key) }
        lines += [
            "### [columns NAME]", "",
            "One column a line: `column = type [source] [attributes]`. `id` is never declared.", "",
        ]
        for paragraph in columnLanguage { lines += [escaped(paragraph), ""] }
        lines += [columnTail, SpellingManual.text, lengthAndNames]
        return lines.joined(separator: "\n")
    }

    private static func page(_ key: Key) -> [String] {
        var facts: [String] = ["type: \(escaped(key.type))"]
        switch key.defaultText {
        case nil: facts.append("**required**")
        case "": facts.append("default: none")
        case let text?: facts.append("default: `\(text)`")
        }
        if let limits = key.limits { facts.append("limits: \(escaped(limits))") }
        if key.isSecret { facts.append("secret: never shown") }
        if let variable = key.variable { facts.append("`\(variable)`") }
        if key.needsRestart { facts.append("needs a restart") }
        var lines = ["#### \(key.name)", "", escaped(key.summary)]
        if !key.about.isEmpty { lines[2] += " " + escaped(key.about) }
        lines += ["", facts.joined(separator: " · "), ""]
        return lines
    }

    /// Escapes `*`, `<`, `_` and brackets outside of code, so that Markdown does not read them as markup.
    private static func escaped(_ text: String) -> String {
        var isCode = false
        return text.map { character in
            if character == "`" { isCode.toggle() }
            return !isCode && "*<_[]".contains(character) ? "\\\(character)" : String(character)
        }.joined()
    }

    private static let pageHead = """
        # Configuration

        <!-- Generated from the key table. To change it, change the table and run
             RIND_REGENERATE=1 swift test --filter GeneratedFilesTests -->

        One INI file. `config/rind-minimal.ini` is the least that works, `config/rind.ini` has every key. `rind
        check --config FILE` reports every mistake of a file in one run, each with its line, its column and,
        where there is one, a way out; `rind keys` prints the keys below. A configuration with a mistake is
        never used: the commands end with status 78.

        ## The file

        ```
        line   = comment | "[" kind [name] "]" | key "=" value [ space ";" text ]
        string = '"' … '"' with \\" and \\\\
        ```

        - `#` begins a comment only at the start of a line; ` ;` begins one behind a value or a section's name.
        - A line that begins with white space continues the value of the line before.
        - In double quotes and in braces neither `;` nor `,` is special. A quoted string ends on its own line.
        - A key or a section that comes twice is an error, and so is an unknown one.
        - An empty value means "none" where a key may have none, and the empty list where a list is wanted.
        - Durations are whole numbers with `ms`, `s`, `m`, `h` or `d`; sizes with `B`, `KiB`, `MiB` or `GiB`.
        - The file is UTF-8 with at most 1 MiB; a byte order mark and CR LF are no problem.

        ### Variables and files

        `${VAR}` inserts an environment variable; a value that begins with `@file:` is the contents of that
        file, without one newline at its end. A path is relative to the configuration file's directory. What is
        inserted is literal text: a comma, a quote, a keyword or `${…}` in it has no meaning. A variable that is
        not set and a file that cannot be read are errors.

        ### Overrides

        Every key below `Keys` can be set by an environment variable `RIND_SECTION_KEY`, which wins over the
        file; it is named with each key. A `RIND_` variable that names a section but none of its keys is an
        error, so that a typing mistake is found. Where Kubernetes makes variables for a service called
        `rind-admin` or the like, set `enableServiceLinks: false`. Tables and columns cannot be set by
        variables.

        ### Reload

        On SIGHUP a gateway reads the file again, with the files that it names, and applies it as a whole:
        requests that run finish with the old configuration. If there is a mistake, the old configuration stays,
        and the log has the mistake. A key marked "needs a restart" keeps its value until then, and the log names
        it if it was changed. Environment variables are those that the process was started with.

        ### Secrets

        The value of a secret key is masked in every message. Keep it out of the file:
        `@file:/etc/rind/identity.key`.

        """

    private static let tableHead = """
        `[table NAME]` and `[columns NAME]` describe one table of the app's WatermelonDB schema: which request
        types fill it, what the lines of the stream mean, and which calls write it. They are also the whitelist:
        no other table and no other column goes to a client or to the backend. The little languages inside the
        values, whole:

        ```
        path    = step *("." step) ; step = name | index | string
        request = feed *("," feed) ; feed = Type ["since" N] *("then" Type "since" N)
        upsert  = Type *("," Type)
        delete  = del *("," del) ; del = Type "by" path+ ["all"] | Type "where" column "=" path
        id      = path+ ["in" Type+] *("," path+ "in" Type+)
        parent  = column table *("," column table)
        match   = column+
        column  = type["?"] [source *("|" source)] attribute*
        source  = path ["in" Type+] | "@type" | string | number | "true" | "false"
        attribute = "since" N | "readonly" | "version" | "ref" table | "oneof" word+ "else" word | "max" N
                  | "send" path | "strict" | "default" value | "as" ("iso"|"millis"|"seconds"|"http"|"number")
                  | "zone" (name | offset) | "decimal" | "true" value "false" value | "json"
        call    = "none" | METHOD target outcome* ["body" JSON]
        target  = "/"… with {id} {id.1} {column} {base} {path.name} {query.name}
        outcome = ("ok"|"missing"|"exists"|"conflict"|"rejected") status+ | "returns" path
                | "when" path literal *("|" path literal) | "if_match"
        body    : "{name}" alone in quotes = typed value; {*} = all writable columns
        ```

        A `{` in a body's string that is no placeholder is written `\\u007b`.

        """

    private static let columnTail = """
        A quoted text as a source is a fixed value. A member whose name is one of the words of this language
        (`since`, `readonly`, `version`, `ref`, `strict`, `as`, `zone`, `decimal`, `default`, `json`, `oneof`, `max`,
        `else`, `send`, `in`, `true`, `false`) is written in quotes too, and is a path.

        """

    private static let lengthAndNames = """
        `max N` cuts a pushed text behind its Nth Unicode scalar, as `varchar(N)` of PostgreSQL and MySQL counts; what
        was cut is counted as repaired, and the app gets the short text with its next pull.

        WatermelonDB's own rules hold: `id`, `_status`, `_changed`, `local_storage`, `rowid`, `oid` and names
        that begin with `__` are no columns; `created_at` and `updated_at` are numbers or timestamps without
        `?`; `last_modified` is a number or timestamp.

        """
}
