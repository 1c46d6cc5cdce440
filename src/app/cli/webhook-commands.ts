import { readFile } from 'node:fs/promises';
import { readHealth } from '#webhooks/log/delivery-health.ts';
import { changeWebhook } from '#webhooks/editing/change-webhook.ts';
import { createWebhook, deleteWebhook, listWebhooks } from '#webhooks/editing/webhooks.ts';
import { command, flag, optional, required } from './command.ts';
import { findWorkspace } from './find-place.ts';
import { condition, id, list, text, UsageError } from './values.ts';

export const webhookCommands = [
  command({
    name: 'webhook create',
    summary: 'Sends the named events of a form to a receiver, signed when there is a secret.',
    options: {
      form: required(id),
      url: required(text('<https url>')),
      events: required(list),
      secret: optional(text('<text>')),
      'generate-secret': flag,
      filter: optional(condition),
      'no-pause-on-failure': flag,
    },
    note: 'A secret is shown only this once.',
    async run(
      { config, database, vault },
      { form, url, events, secret, 'generate-secret': generate, ...more },
    ) {
      if (secret !== undefined && generate)
        throw new UsageError('--secret and --generate-secret exclude each other.');
      const workspaceId = await findWorkspace(database, 'form', form);
      return createWebhook(
        { config, database, vault },
        {
          workspaceId,
          formId: form,
          url,
          events,
          secret: generate ? 'generate' : secret,
          filter: more.filter,
          pausesOnFailure: !more['no-pause-on-failure'],
        },
      );
    },
  }),
  command({
    name: 'webhook change',
    summary:
      'Changes what is named; a new secret signs beside the old one for a day, unless --no-overlap is given.',
    parameters: { id },
    options: {
      url: optional(text('<https url>')),
      events: optional(list),
      secret: optional(text('<text>')),
      'generate-secret': flag,
      'no-secret': flag,
      'no-overlap': flag,
      pause: flag,
      resume: flag,
      filter: optional(condition),
      'no-filter': flag,
      'pause-on-failure': flag,
      'no-pause-on-failure': flag,
      'headers-file': optional(text('<json file>')),
    },
    note: 'A headers file is a JSON object of names and values; a null keeps the value that is stored.',
    async run({ config, database, vault }, { id, url, events, secret, ...more }) {
      const chosen = [secret !== undefined, more['generate-secret'], more['no-secret']].filter(Boolean);
      if (chosen.length > 1)
        throw new UsageError('--secret, --generate-secret and --no-secret exclude each other.');
      if (more.pause && more.resume) throw new UsageError('--pause and --resume exclude each other.');
      if (more.filter !== undefined && more['no-filter'])
        throw new UsageError('--filter and --no-filter exclude each other.');
      if (more['pause-on-failure'] && more['no-pause-on-failure'])
        throw new UsageError('--pause-on-failure and --no-pause-on-failure exclude each other.');
      const workspaceId = await findWorkspace(database, 'webhook', id);
      const file = more['headers-file'];
      const headers = file === undefined ? undefined : await readHeaders(file);
      const changed = await changeWebhook(
        { config, database, vault },
        {
          workspaceId,
          webhookId: id,
          url,
          events,
          headers,
          secret: more['generate-secret'] ? 'generate' : more['no-secret'] ? null : secret,
          overlap: !more['no-overlap'],
          active: more.pause ? false : more.resume ? true : undefined,
          filter: more['no-filter'] ? null : more.filter,
          pausesOnFailure: more['no-pause-on-failure'] ? false : more['pause-on-failure'] || undefined,
        },
      );
      return { id, ...changed };
    },
  }),
  command({
    name: 'webhook health',
    summary: 'Shows how a webhook fared in the last 24 hours and 7 days.',
    parameters: { id },
    async run({ database }, { id }) {
      const workspaceId = await findWorkspace(database, 'webhook', id);
      const { day, week } = await readHealth(database, { workspaceId, webhookId: id });
      return { day, week };
    },
  }),
  command({
    name: 'webhook list',
    summary: 'Lists the webhooks of a form.',
    options: { form: required(id) },
    async run({ database }, { form }) {
      const workspaceId = await findWorkspace(database, 'form', form);
      return { data: await listWebhooks({ database }, { workspaceId, formId: form }) };
    },
  }),
  command({
    name: 'webhook delete',
    summary: 'Removes a webhook with its delivery log; what waits to be sent is not sent.',
    parameters: { id },
    async run({ database }, { id }) {
      const workspaceId = await findWorkspace(database, 'webhook', id);
      await deleteWebhook({ database }, { workspaceId, webhookId: id });
      return { id };
    },
  }),
];

/** Header values are passwords as a rule: a file keeps them out of the list of processes. */
async function readHeaders(path: string): Promise<{ name: string; value: string | null }[]> {
  const problem = new UsageError(`${path} must be a JSON object of header names and their values.`);
  let found: unknown;
  try {
    found = JSON.parse(await readFile(path, 'utf8'));
  } catch {
    throw problem;
  }
  if (typeof found !== 'object' || found === null || Array.isArray(found)) throw problem;
  return Object.entries(found).map(([name, value]: [string, unknown]) => {
    if (value !== null && typeof value !== 'string') throw problem;
    return { name, value };
  });
}
