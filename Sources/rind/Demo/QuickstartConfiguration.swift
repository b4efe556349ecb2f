// Copyright 2026 the Rind authors
// SPDX-License-Identifier: Apache-2.0

/// The configuration of `examples/quickstart/rind.ini`, so that the demo needs no file; a test holds the two together.
enum QuickstartConfiguration {
    static let text = """
        # Rind before the demo backend: projects, tasks, comments, tags and labels on tasks.
        # The app's schema has three versions; each column and table says since which one it is there.

        [gateway]
        listen = 127.0.0.1:8790

        [state]
        url = sqlite:rind-state.db

        [identity]
        principal = backend:GET /users/me id
        # For trying out only: make your own with `openssl rand -hex 32` and keep it in a file.
        key = quickstart-key-that-is-no-secret-at-all

        [backend]
        url = http://127.0.0.1:8791
        stream = POST /sync/stream body {"types":"{types}"}
        ack = POST /sync/ack body {"acks":"{acks}"}
        list = GET /sync/ack
        forget = DELETE /sync/ack body {"types":"{namespaces}"}
        checkpoints = server

        [push]
        path = POST /sync/push

        [schema]
        version = 3
        oldest = 1
        migrations_enabled_at = 1

        [table projects]
        request = ProjectsV1 then ProjectsV2 since 3
        upsert = ProjectV1, ProjectV2
        delete = ProjectDeleteV1 by projectId
        id = id
        [columns projects]
        name = string
        is_archived = boolean isArchived
        color = string? since 3

        [table tasks]
        request = TasksV1 then TasksV2 since 2
        upsert = TaskV1, TaskV2, TaskBackfillV1, TaskBackfillV2
        delete = TaskDeleteV1 by taskId
        id = id
        parent = project_id projects
        [columns tasks]
        name = string
        position = number
        is_done = boolean isDone
        project_id = string projectId ref projects
        note = string?
        created_at = timestamp createdAt
        updated_at = timestamp updatedAt
        due_at = timestamp? dueAt since 2

        [table comments]
        since = 2
        request = CommentsV1
        upsert = CommentV1, CommentBackfillV1
        delete = CommentDeleteV1 by commentId
        id = id
        parent = task_id tasks
        [columns comments]
        body = string
        task_id = string taskId ref tasks

        [table tags]
        since = 3
        request = TagsV1
        upsert = TagV1
        delete = TagDeleteV1 by tagId
        id = id
        [columns tags]
        label = string

        [table task_tags]
        since = 3
        request = TaskTagsV1
        upsert = TaskTagV1, TaskTagBackfillV1
        delete = TaskTagDeleteV1 by taskId tagId
        id = taskId tagId
        parent = task_id tasks, tag_id tags
        [columns task_tags]
        task_id = string taskId ref tasks
        tag_id = string tagId ref tags

        """
}
