import type { AnswerFiles, Answers, FileAnswer } from '#ast/answers/check-answers.ts';
import { insertUnclaimedFile, setFileContent } from '#files/stored-files.ts';
import { createForm } from '#forms/forms.ts';
import { openLiveForms } from '#forms/live-form.ts';
import { newId, now } from '#kit/clock.ts';
import { type Database, transaction } from '#kit/database.ts';
import { openVault } from '#kit/vault.ts';
import { addToSubmissionCount } from '#submissions/submission-rows.ts';
import { submitAnswers } from '#submissions/submit.ts';
import type { SubmitResult } from '#submissions/submit-request.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { structure } from '../ast/forms.ts';
import { makeWebhook } from '../webhooks/make-webhook.ts';

// Submissions for tests. Only tests import this file.

/** A published form with submissions, and views of them in the database. */
export type Scene = Awaited<ReturnType<typeof openScene>>;

/**
 * Opens a scene.
 * @param beside an existing workspace. Default: a new one.
 */
export async function openScene(
  database: Database,
  elements: readonly unknown[],
  settings: object = {},
  beside?: { readonly workspaceId: string },
) {
  const workspaceId =
    beside?.workspaceId ?? (await createWorkspace(database, { name: 'Condition', plan: 'enterprise' })).id;
  const { id: formId } = await createForm(database, workspaceId, {
    structure: structure(...elements),
    status: 'published',
    settings,
  });
  const liveForms = openLiveForms(database);
  const key = { workspaceId, formId };
  const wakeQueue = (): void => {};
  const vault = openVault('5c'.repeat(32));
  return {
    workspaceId,
    formId,
    context: { database, vault, wakeQueue },
    /** Returns the form that visitors currently get. */
    live: async () => (await liveForms.find(formId))!,
    /** Adds a webhook for every event of the form. */
    listen: () => makeWebhook(database, key, { url: 'https://receiver.test/hook' }),
    /** Submits and returns the result. `key` is a value from readKey. */
    async send(
      answers: object,
      options: { reference?: Record<string, string>; files?: AnswerFiles; key?: string } = {},
    ): Promise<SubmitResult> {
      const live = await liveForms.find(formId);
      const { reference = {}, files = new Map(), key } = options;
      return submitAnswers(
        { database, vault, wakeQueue },
        { live: live!, raw: answers, files, reference, key },
      );
    },
    /** Submits and returns the id of the completed submission. */
    async submit(
      answers: object,
      options: { reference?: Record<string, string>; files?: AnswerFiles } = {},
    ): Promise<string> {
      const result = await this.send(answers, options);
      if (!result.ok) throw new Error(JSON.stringify(result.errors));
      return result.submission.id;
    },
    /** Stores saved answers: a submission that was started but not completed. */
    async begin(answers: object): Promise<string> {
      const id = await this.submit(answers);
      await transaction(database, async (client) => {
        await client.query(
          `update submissions set status = 'incomplete', completed_at = null where id = $1`,
          [id],
        );
        for (const [status, change] of [
          ['completed', -1],
          ['incomplete', 1],
        ] as const) {
          await addToSubmissionCount(client, { workspace_id: workspaceId, form_id: formId, status, change });
        }
      });
      return id;
    },
    /** Creates a file that no submission has claimed yet. Its bytes are not stored. */
    async upload(element: string, filename: string, contentType = 'image/png'): Promise<FileAnswer> {
      const file = { workspace_id: workspaceId, id: newId() };
      const row = { ...file, form_id: formId, element, filename, content_type: contentType, upload: null };
      await insertUnclaimedFile(database, { ...row, created_at: now() });
      await setFileContent(database, { ...file, size: 9, content_type: contentType });
      return { id: file.id, filename, size: 9, content_type: contentType };
    },
    async read(id: string): Promise<Stored> {
      const { rows } = await database.query<Stored>(
        'select status, answers, reference, has_files, created_at, updated_at, completed_at from submissions where id = $1',
        [id],
      );
      return rows[0]!;
    },
    /** Returns the counts shown in lists, and the counts of the rows. */
    async counts(): Promise<{ shown: Record<string, number>; found: Record<string, number> }> {
      const ask = async (sql: string): Promise<Record<string, number>> => {
        const { rows } = await database.query<{ status: string; count: number }>(sql, [formId]);
        return Object.fromEntries(
          rows.filter((row) => row.count !== 0).map((row) => [row.status, row.count]),
        );
      };
      return {
        shown: await ask(
          'select status, sum(count)::bigint as count from submission_counts where form_id = $1 group by status',
        ),
        found: await ask(
          'select status, count(*) as count from submissions where form_id = $1 group by status',
        ),
      };
    },
    /** Returns the queued events for webhooks, oldest first. */
    async events(): Promise<{ kind: string; submission_id: string; snapshot: Snapshot }[]> {
      const { rows } = await database.query<{ kind: string; submission_id: string; snapshot: Snapshot }>(
        'select kind, submission_id, snapshot from events where form_id = $1 order by id',
        [formId],
      );
      return rows;
    },
  };
}

/**
 * Inserts incomplete submissions with one set of answers, a millisecond apart from `since`. Inserts only
 * rows, without counts and search text.
 */
export async function insertMany(
  database: Database,
  many: { workspaceId: string; formId: string; version: number; answers: object; since: Date; count: number },
): Promise<void> {
  await database.query(
    `insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at)
     select $1, (lpad(to_hex($5::bigint + n), 12, '0') || '70008000000000000000')::uuid, $2, $3, 'incomplete', $4, '{}', false, now(), now()
     from generate_series(0, $6::bigint - 1) as n`,
    [many.workspaceId, many.formId, many.version, many.answers, many.since.getTime(), many.count],
  );
}

type Stored = {
  status: string;
  answers: Answers;
  reference: Record<string, string>;
  has_files: boolean;
  created_at: Date;
  updated_at: Date;
  completed_at: Date | null;
};

type Snapshot = {
  submission: {
    status: string;
    responses: Answers;
    reference_data: Record<string, string>;
    file_uploads: object;
  };
};
