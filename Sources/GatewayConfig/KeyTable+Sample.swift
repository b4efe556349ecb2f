// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

extension KeyTable {
    /// Returns `config/rind.ini`: every key at its default, commented out, and tables for an Immich backend.
    package static func sample() -> String {
        var lines = [
            "# Every key of Rind, commented out at its default; what is set here is what has no default, and the",
            "# schema of an example: albums of an Immich server. docs/CONFIGURATION.md tells more about each key.",
            "#",
            "# Generated from the key table. To change it, change the table and run",
            "#   RIND_REGENERATE=1 swift test --filter GeneratedFilesTests",
            "#",
            "# A line that begins with white space continues the value. ' ;' begins a comment behind a value.",
            "# ${VAR} inserts an environment variable, @file:PATH a file. RIND_SECTION_KEY in the environment",
            "# overrides a key. 'rind check --config FILE' reports every mistake at once.",
        ]
        for section in sections {
            lines += ["", "# \(section.summary)", "[\(section.name)]"]
            for key in keys(of: section.name) { lines += sample(key) }
        }
        return lines.joined(separator: "\n") + "\n" + sampleTables
    }

    /// Returns `config/rind-minimal.ini`: the keys without a default, and one table.
    package static func minimalSample() -> String {
        """
        # The least that Rind needs: who is calling, where the backend is, and one table.
        # config/rind.ini has every key; 'rind check --config FILE' reports every mistake at once.
        #
        # Generated from the key table. To change it, change the table and run
        #   RIND_REGENERATE=1 swift test --filter GeneratedFilesTests

        [identity]
        \(assignment("identity", "principal"))
        \(assignment("identity", "key"))

        [backend]
        \(assignment("backend", "url"))

        [table albums]
        request = AlbumsV2
        upsert = AlbumV2
        delete = AlbumDeleteV1 by albumId
        id = id

        [columns albums]
        name = string name send albumName
        description = string
        created_at = timestamp createdAt readonly

        """
    }

    private static func assignment(_ section: String, _ name: String) -> String {
        "\(name) = \(key(section, name)?.example ?? "")"
    }

    private static func sample(_ key: Key) -> [String] {
        var lines = [""] + wrap(key.summary + (key.about.isEmpty ? "" : " " + key.about), indent: "# ")
        if let limits = key.limits { lines += wrap("(\(key.type), \(limits))", indent: "# ") }
        if let example = key.example {
            lines.append("\(key.name) = \(example)")
        } else {
            let value = key.defaultText ?? ""
            lines.append("#\(key.name) =\(value.isEmpty ? "" : " \(value)")")
        }
        return lines
    }

    private static let sampleTables = """

        # A table of the app's schema: which request and line types fill it, and how pushed records reach the backend.
        # The configured tables and columns are also the whitelist: nothing else goes through.
        [table albums]
        # 'then' asks for exactly one version, by the client's schema version; a comma asks for all.
        request = AlbumsV1 then AlbumsV2 since 12
        upsert = AlbumV1, AlbumV2
        delete = AlbumDeleteV1 by albumId
        id = id
        # Immich makes the ids of albums and takes no idempotency key: an album whose answer was lost can only be guessed by
        # 'match', as 'rind check' then warns. Without 'create' apps change albums, and make none. To let them:
        # match = name description
        # create = POST /albums returns id body {"albumName":"{name}","description":"{description}"}
        update = PATCH /albums/{id}
        remove = DELETE /albums/{id} missing 400 404
        # column = type [source] [attributes]; without a source it is the member of the same name
        [columns albums]
        name = string name send albumName           ; 'name' in the stream, 'albumName' in the calls
        description = string
        order = string order oneof asc desc else desc
        cover_id = string? thumbnailAssetId send albumThumbnailAssetId ref assets
        created_at = timestamp createdAt readonly   ; ISO 8601 or number → milliseconds
        is_activity_enabled = boolean isActivityEnabled since 12

        [table album_assets]
        since = 9
        request = AlbumToAssetsV1
        upsert = AlbumToAssetV1, AlbumToAssetBackfillV1
        delete = AlbumToAssetDeleteV1 by albumId assetId
        id = albumId assetId
        parent = album_id albums                    ; deleting the album deletes these
        create = PUT /albums/{album_id}/assets when 0.success true | 0.error duplicate body {"ids":["{asset_id}"]}
        remove = DELETE /albums/{album_id}/assets missing 400 when 0.success true | 0.error not_found
          body {"ids":["{asset_id}"]}
        [columns album_assets]
        album_id = string albumId ref albums
        asset_id = string assetId ref assets

        [table assets]
        request = AssetsV1 then AssetsV2 since 12, PartnerAssetsV1 then PartnerAssetsV2 since 12
        upsert = AssetV1, AssetV2,
          PartnerAssetV1, PartnerAssetBackfillV1, PartnerAssetV2, PartnerAssetBackfillV2
        delete = AssetDeleteV1 by assetId all, PartnerAssetDeleteV1 by assetId
        id = id
        # No 'create': a photo is uploaded through the gateway, and comes with the next pull.
        update = PUT /assets/{id} body {"isFavorite":"{is_favorite}"}
        remove = DELETE /assets missing 400 body {"ids":["{id}"]}
        [columns assets]
        owner_id = string ownerId readonly
        file_name = string originalFileName readonly
        taken_at = timestamp? localDateTime readonly
        is_favorite = boolean isFavorite
        duration_ms = number? duration in AssetV2 PartnerAssetV2 PartnerAssetBackfillV2 readonly since 12

        """
}
