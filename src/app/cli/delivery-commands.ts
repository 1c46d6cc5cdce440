import { deliveryLog, retryDelivery } from '#webhooks/delivery-log.ts';
import { command, required } from './command.ts';
import { findWorkspace } from './find-workspace.ts';
import { id } from './values.ts';

export const deliveryCommands = [
  command({
    name: 'delivery list',
    summary: 'Lists the deliveries of a webhook, newest first.',
    options: { webhook: required(id) },
    async run({ database }, { webhook }) {
      const workspaceId = await findWorkspace(database, 'webhook', webhook);
      return { data: await deliveryLog({ database }, { workspaceId, webhookId: webhook }) };
    },
  }),
  command({
    name: 'delivery retry',
    summary: 'Sends a failed delivery again, at once; a running server does it.',
    parameters: { id },
    async run({ database }, { id }) {
      const workspaceId = await findWorkspace(database, 'delivery', id);
      await retryDelivery({ database }, { workspaceId, deliveryId: id });
      return { id };
    },
  }),
];
