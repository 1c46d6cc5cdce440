import { readMailAddress } from '#kit/outbox/address.ts';
import { enqueueMail } from '#kit/outbox/enqueue-mail.ts';
import type { Queryable } from '#kit/statement.ts';
import { beginPasswordReset, resetMinutes } from '#workspaces/password-reset.ts';
import type { NewsContext } from '../news-context.ts';

/** Mails the link to choose another password, if somebody has this address. */
export async function tellPasswordReset(
  { vault, config }: NewsContext,
  client: Queryable,
  workspaceId: string,
  { email }: { email: string },
): Promise<void> {
  const to = config.smtp && readMailAddress(email);
  const token = to && (await beginPasswordReset(client, email));
  if (!to || !token) return;
  await enqueueMail(
    client,
    vault,
    { workspaceId, isPrivate: true },
    {
      kind: 'password_reset',
      to,
      subject: 'Choose a new password',
      letter: {
        heading: 'Choose a new password',
        blocks: [
          {
            kind: 'text',
            text: `Somebody, probably you, asked for a new password. This link works once, for ${resetMinutes} minutes.`,
          },
          {
            kind: 'button',
            label: 'Choose a new password',
            url: `${config.publicUrl}/app/reset-password/${token}`,
          },
          { kind: 'text', text: 'If it was not you, do nothing: your password stays as it is.' },
        ],
        reason: `You get this mail because you have an account at ${config.publicUrl}.`,
      },
    },
  );
}
