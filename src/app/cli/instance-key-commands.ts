import type { Vault } from '#kit/vault.ts';
import { command } from './command.ts';
import { selectSealed } from './queries.ts';

export const instanceKeyCommands = [
  command({
    name: 'instance-key replace',
    summary:
      'For a key that is lost: goes on with SECRET_KEY, or a new DATA_DIR/secret.key, and lists the webhooks whose secret or headers are lost with it.',
    note:
      'Give each of these a new secret (webhooks set-secret <id> --no-overlap) or its headers anew; until then ' +
      'its deliveries fail. Links that were given out (to files, invitations, saved answers) and sessions have ended, mails ' +
      'that waited are lost. Forms, submissions, accounts and API keys are as they were. Restart every running server.',
    replacesKey: true,
    async run({ database, vault }) {
      const webhooks = await selectSealed(database, {});
      const data = webhooks.flatMap(({ secret, headers, ...webhook }) => {
        const lost = [
          ...(secret && !opens(vault, 'webhook secrets', secret) ? ['secret'] : []),
          ...(headers && !opens(vault, 'webhook headers', headers) ? ['headers'] : []),
        ];
        return lost.length > 0 ? [{ ...webhook, lost: lost.join(', ') }] : [];
      });
      return { data };
    },
  }),
];

function opens(vault: Vault, purpose: Parameters<Vault['unseal']>[0], sealed: Buffer): boolean {
  try {
    vault.unseal(purpose, sealed);
    return true;
  } catch {
    return false;
  }
}
