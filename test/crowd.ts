import { openDatabase } from '#kit/database.ts';
import { openLog } from '#kit/log.ts';
import { findInstanceKey, openVault } from '#kit/vault.ts';
import type { Permission } from '#rules/permissions.ts';
import { createWebhook } from '#webhooks/webhooks.ts';
import { createKey } from '#workspaces/keys.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import type { Instance } from './process.ts';
import { type Answer, callApi } from './service.ts';

/** A published form with one question and a file upload, in a separate workspace. */
export type PublishedForm = {
  id: string;
  publicUrl: string;
  key: string;
  call(method: string, path: string, body?: unknown): Promise<Answer>;
  /** Lists all submissions of the form page by page, with their IDs by answer. */
  listAll(): Promise<{ idsByAnswer: Map<string, string[]>; totals: Set<number>; listed: number }>;
};

const structure = {
  type: 'form',
  attrs: { name: 'Guest book' },
  children: [
    {
      type: 'step',
      attrs: { layout: 'stack' },
      children: [
        { type: 'text', attrs: { id: 'entry', label: 'Entry', required: true }, children: [] },
        { type: 'file_upload', attrs: { id: 'file', label: 'File' }, children: [] },
      ],
    },
  ],
};

/** A workspace on a running instance with a key. */
export type Owner = Pick<PublishedForm, 'key' | 'call'> & { workspaceId: string };

/**
 * Creates a workspace without the API, because the CLI takes longer.
 * @param permissions of its key; all except the administrative ones by default.
 * @param path selects its cell, unless it is the first.
 */
export async function makeOwner(
  instance: Instance,
  permissions?: readonly Permission[],
  path?: string,
): Promise<Owner> {
  const database = openDatabase(
    { connectionString: instance.databaseUrl },
    { pool: 1, log: openLog('silent'), ...(path !== undefined && { path }) },
  );
  const { id: workspaceId } = await createWorkspace(database, {
    name: 'Load',
    plan: 'enterprise',
    rateLimit: 1_000_000,
  });
  const { key } = await createKey(database, { workspaceId, name: 'Load', permissions });
  await database.end();
  const call: Owner['call'] = (method, path, body) => callApi(instance.url, key, method, path, body);
  return { workspaceId, key, call };
}

/** Creates a form on a running instance, in a separate workspace. */
export async function publishForm(
  instance: Instance,
  receiverUrl?: string,
  permissions?: readonly Permission[],
  path?: string,
): Promise<PublishedForm> {
  const { workspaceId, key, call } = await makeOwner(instance, permissions, path);
  const { body: form } = await call('POST', '/forms', { structure, publish: true });
  if (receiverUrl !== undefined) {
    const database = openDatabase(
      { connectionString: instance.databaseUrl },
      { pool: 1, log: openLog('silent'), ...(path !== undefined && { path }) },
    );
    await createWebhook(
      {
        database,
        vault: openVault((await findInstanceKey(instance.dataDir, instance.environment['SECRET_KEY']))!),
        config: { webhookAllowNetworks: ['127.0.0.0/8'], publicUrl: instance.url },
      },
      { workspaceId, formId: form.id, url: receiverUrl, events: ['submission.created'] },
    );
    await database.end();
  }
  return {
    id: form.id,
    publicUrl: form.public_url,
    key,
    call,
    async listAll() {
      const idsByAnswer = new Map<string, string[]>();
      const totals = new Set<number>();
      let listed = 0;
      for (let page = 1; ; page += 1) {
        const { body } = await call('GET', `/forms/${form.id}/submissions?per_page=100&page=${page}`);
        totals.add(body.pagination.total_count);
        if (body.data.length === 0) return { idsByAnswer, totals, listed };
        listed += body.data.length;
        for (const { id, answers } of body.data) {
          const entry = answers['entry'] as string;
          idsByAnswer.set(entry, [...(idsByAnswer.get(entry) ?? []), id]);
        }
      }
    },
  };
}

export type Visitors = {
  /** Submissions with status 201: the submission's ID by sent text. */
  acknowledged: Map<string, string>;
  /** Other results: a status, or the code of a network error. */
  failures: string[];
  /** Resolves when all visitors have left, either because connections are refused or after `leave`. */
  gone: Promise<unknown>;
  /** Lets each visitor finish the current submission. Resolves when all have left. */
  leave(): Promise<unknown>;
};

/** Sends visitors to a form. Each submits repeatedly, every time with a different text. */
export function sendVisitors(
  publicUrl: string,
  { count, name, pauseMs = 0 }: { count: number; name: string; pauseMs?: number },
): Visitors {
  const acknowledged = new Map<string, string>();
  const failures: string[] = [];
  const over = new AbortController();

  const visit = async (visitor: number): Promise<void> => {
    for (let entry = 0; !over.signal.aborted; entry += 1) {
      const text = `${name} ${visitor}/${entry}`;
      const outcome = await submitEntry(publicUrl, text);
      if ('id' in outcome) acknowledged.set(text, outcome.id);
      else if (outcome.failure === 'ECONNREFUSED') return;
      else failures.push(outcome.failure);
      if (pauseMs > 0) await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  const gone = Promise.all(Array.from({ length: count }, (_, visitor) => visit(visitor)));
  const leave = (): Promise<unknown> => {
    over.abort();
    return gone;
  };
  return { acknowledged, failures, gone, leave };
}

/**
 * Sends one submission with or without a file. Returns its ID if it was acknowledged, or else the failure.
 */
export async function submitEntry(
  publicUrl: string,
  entry: string,
  file?: Blob,
): Promise<{ id: string } | { failure: string; retryAfter: string | null }> {
  try {
    const response = await fetch(publicUrl, {
      method: 'POST',
      headers: file ? { Accept: 'application/json' } : { 'Content-Type': 'application/json' },
      body: file ? withFile(entry, file) : JSON.stringify({ answers: { entry } }),
    });
    const body = (await response.json()) as { id: string };
    return response.status === 201
      ? body
      : { failure: String(response.status), retryAfter: response.headers.get('retry-after') };
  } catch (error) {
    return { failure: codeOf(error), retryAfter: null };
  }
}

function withFile(entry: string, file: Blob): FormData {
  const body = new FormData();
  body.set('entry', entry);
  body.set('file', file, 'file.txt');
  return body;
}

/** Inserts this number of submissions of about 1 KB, without the API. */
export const addSubmissions = (instance: Instance, formId: string, count: number): Promise<unknown> =>
  instance.query(
    `insert into submissions (workspace_id, id, form_id, version, status, answers, reference, has_files, created_at, updated_at, completed_at)
     select workspace_id, gen_random_uuid(), id, version, 'completed', json_build_object('entry', repeat(md5(n::text), 30)), '{}', false, now(), now(), now()
     from forms, generate_series(1, ${count}) n where id = '${formId}'`,
  );

function codeOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  return cause instanceof Error && 'code' in cause ? String(cause.code) : String(cause);
}
