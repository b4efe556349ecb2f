// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The manual's table of the spellings in which columns read values, and the attributes that change it.
enum SpellingManual {
    static let text = """
        **Values** are read by one table of spellings, from lines and from pushes alike. What says the same as a value of
        the column's type is converted; anything else is the column's default (`default VALUE`, or `""`, 0, false, or
        null with `?`), and is counted by column. What cannot be read in a line is named in the log once an hour, and its
        default never goes back over the backend's value.

        | column | is also read from | is not, and becomes the default |
        |---|---|---|
        | `number` | texts such as `"12.50"`, `"1e3"`, `" 7 "`, `".5"`; `true` and `false`; MongoDB's `$numberLong` and the like | integers beyond 2^53 whose digits a number loses, `"12,50"`, `"1,000"`, `"NaN"`, `""` |
        | `boolean` | 1 and 0, also as texts; `t f true false yes no y n on off` in any case; MySQL's `BIT(1)` as Node.js writes it | 2, 0.5, other words |
        | `string` | numbers and truth values, with their digits; MongoDB's `$oid`, `$uuid` | objects and arrays |
        | `timestamp` | ISO 8601, with a space, in the basic format, with a zone's name behind the offset; `20250101` and `20250101100000`, unless the column has `as millis` or `as seconds`; milliseconds, or seconds with `as seconds`, also as texts; HTTP and mail dates; `toString` of JavaScript and Java; .NET's `/Date(…)/`; Jackson's arrays; MongoDB's `$date` | `"infinity"`, `"0000-00-00"`, `"01/02/2025"`, `2025` and `202501011000`, which may be counts, names of zones other than UTC |
        | `json` | everything | |
        | `ref TABLE` | as `string`; `17.0` is the id `17`, and `""` is null with `?` | `true`, 1.5 |

        Attributes say otherwise:

        - `strict` takes values of the column's own JSON type only, and timestamps with a zone or as numbers.
        - `as seconds` and `as millis` are the unit of a timestamp's numbers, both ways; seconds are sent whole. `as http`
          sends HTTP dates. `as date` sends the day alone, `2026-12-24`, in UTC or the column's zone: apps have its
          midnight, and lose any other time of day when they push. `as number` sends a `string` that is a whole number as one.
        - `zone Europe/Berlin` (or `UTC`, `+02:00`) is the zone of times that name none; they are sent back with its
          offset. Without it they are taken as UTC, which is counted and logged as `pull.times_without_zone`. Of a time
          that the clocks show twice the earlier counts.
        - `decimal` sends a number as a text with its digits, for backends whose decimals are texts. Texts of more than 15
          digits are not read, since a number would not keep them. Zeros at the end are lost: `12.50` comes back as `12.5`.
        - `true "Y" false "N"` are the backend's words, both ways; others are not read from it then.
        - `default VALUE` stands for a value that is missing or cannot be read.
        - `json`, in a `string` column, takes objects and arrays as their JSON text, and sends such a text as the value.
          It is for columns that always have them: a text of the backend that looks like one would come back as the value.

        """
}
