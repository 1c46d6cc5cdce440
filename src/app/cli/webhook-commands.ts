import { openVault, readInstanceKey } from '#kit/vault.ts';
import { command, flag, optional, required } from './command.ts';
import { findWorkspace } from './find-workspace.ts';
import { id, list, text, UsageError } from './values.ts';

/** Loaded when it is used: it can reach the outside (undici), which costs the other commands 100 ms. */
const loadWebhooks = () => import('#webhooks/webhooks.ts');

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
    },
    note: 'A secret is shown only this once.',
    async run({ config, database }, { form, url, events, secret, 'generate-secret': generate }) {
      if (secret !== undefined && generate)
        throw new UsageError('--secret and --generate-secret exclude each other.');
      const workspaceId = await findWorkspace(database, 'form', form);
      const vault = openVault(await readInstanceKey(config.dataDir, config.secretKey));
      const { createWebhook } = await loadWebhooks();
      return createWebhook(
        { config, database, vault },
        { workspaceId, formId: form, url, events, secret: generate ? 'generate' : secret },
      );
    },
  }),
  command({
    name: 'webhook list',
    summary: 'Lists the webhooks of a form.',
    options: { form: required(id) },
    async run({ database }, { form }) {
      const workspaceId = await findWorkspace(database, 'form', form);
      const { listWebhooks } = await loadWebhooks();
      return { data: await listWebhooks({ database }, { workspaceId, formId: form }) };
    },
  }),
  command({
    name: 'webhook delete',
    summary: 'Removes a webhook with its delivery log; what waits to be sent is not sent.',
    parameters: { id },
    async run({ database }, { id }) {
      const workspaceId = await findWorkspace(database, 'webhook', id);
      const { deleteWebhook } = await loadWebhooks();
      await deleteWebhook({ database }, { workspaceId, webhookId: id });
      return { id };
    },
  }),
];
