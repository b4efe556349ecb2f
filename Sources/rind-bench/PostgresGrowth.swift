// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

import PostgresTesting

/// Multiplies the replicas of a state in PostgreSQL, as ``ReplicaGrowth`` does in SQLite.
///
/// The copies are those of one replica that has made its first sync. Columns are read from the database, so a new
/// column is copied too.
struct PostgresGrowth {
    let server: PostgresServer
    /// The schema of a state that no gateway uses.
    let schema: String

    /// Adds replicas until there are `count`, and returns the bytes that they take.
    func grow(to count: Int) async throws -> Int {
        let output = try await server.query(Self.script(schema: schema, count: count))
        return output.split(separator: "\n").last.flatMap { Int($0) } ?? 0
    }

    // It waits for no disk: the database is made for the measurement. Times are earlier by a millisecond for each
    // principal, as if they had come one by one.
    private static func script(schema: String, count: Int) -> String {
        """
        SET search_path = \(schema);
        SET synchronous_commit = off;
        CREATE TEMP TABLE model AS
            SELECT c.principal, c.replica, coalesce(c.layer, r.base) AS layer
            FROM cursor c JOIN replica r ON r.principal = c.principal AND r.id = c.replica
            WHERE coalesce(c.layer, r.base) IS NOT NULL ORDER BY c.principal, c.cursor LIMIT 1;
        CREATE TEMP TABLE grown AS
            SELECT n, encode(sha256(convert_to('grown ' || n, 'UTF8')), 'hex') AS principal,
                (random() * 9e18)::bigint AS replica, n + (SELECT max(id) FROM layer) AS layer
            FROM generate_series(1, \(count) - (SELECT count(*) FROM replica)) AS n;
        CREATE FUNCTION pg_temp.copy(name text, key text, changed jsonb) RETURNS void AS $copy$
        DECLARE
            names text;
            expressions text;
        BEGIN
            SELECT string_agg(quote_ident(attname), ', ' ORDER BY attnum),
                string_agg(coalesce(changed ->> attname, 'source.' || quote_ident(attname)), ', ' ORDER BY attnum)
            INTO names, expressions
            FROM pg_attribute
            WHERE attrelid = ('\(schema).' || name)::regclass AND attnum > 0 AND NOT attisdropped
                AND NOT (name = 'chunk' AND attname = 'id');
            EXECUTE format(
                'INSERT INTO %I (%s) SELECT %s FROM grown CROSS JOIN model JOIN %I AS source ON %s',
                name, names, expressions, name, key);
        END $copy$ LANGUAGE plpgsql;
        SELECT pg_temp.copy('principal', 'source.principal = model.principal',
            '{"principal": "grown.principal", "newest": "source.newest - n", "last_seen": "source.last_seen - n"}');
        SELECT pg_temp.copy('session', 'source.principal = model.principal',
            '{"principal": "grown.principal", "last_seen": "source.last_seen - n"}');
        SELECT pg_temp.copy('layer', 'source.id = model.layer',
            '{"id": "grown.layer", "principal": "grown.principal", "cursor": "source.cursor - n",
              "replica": "CASE WHEN source.replica IS NULL THEN NULL ELSE grown.replica END"}');
        SELECT pg_temp.copy('replica', 'source.principal = model.principal AND source.id = model.replica',
            '{"principal": "grown.principal", "id": "grown.replica", "tip": "source.tip - n",
              "last_seen": "source.last_seen - n",
              "base": "CASE WHEN source.base IS NULL THEN NULL ELSE grown.layer END"}');
        SELECT pg_temp.copy('layer_count', 'source.layer = model.layer', '{"layer": "grown.layer"}');
        SELECT pg_temp.copy('chunk', 'source.layer = model.layer', '{"layer": "grown.layer"}');
        SELECT pg_temp.copy('cursor', 'source.principal = model.principal AND source.replica = model.replica',
            '{"principal": "grown.principal", "cursor": "source.cursor - n", "parent": "source.parent - n",
              "below": "source.below - n", "replica": "grown.replica",
              "layer": "CASE WHEN source.layer IS NULL THEN NULL ELSE grown.layer END"}');
        SELECT setval(pg_get_serial_sequence('\(schema).layer', 'id'), (SELECT max(id) FROM layer));
        ANALYZE;
        CHECKPOINT;
        SELECT sum(pg_total_relation_size(c.oid))::bigint FROM pg_class c
            WHERE c.relnamespace = '\(schema)'::regnamespace AND c.relkind = 'r';
        """
    }
}
