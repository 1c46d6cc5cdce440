import { createHash } from 'node:crypto';
import { ApiError } from '#kit/errors.ts';
import { operation } from '#kit/operation.ts';
import { notePerson, originOf } from '#workspaces/audit/note-person.ts';
import { askForPasswordReset, finishPasswordReset } from '#workspaces/password-reset.ts';
import { countTry, signInTries } from '#workspaces/sign-in.ts';
import type { ConsoleServices } from '../services.ts';
import { Account, NewPassword, PasswordReset } from './shapes.ts';

/** Mails to one address that are asked for in a minute, whether or not anybody has it. */
const asksPerMinute = 3;

/** Choosing a new password through a mail. Nothing of it tells whether an address has an account. */
export function passwordResetEndpoints(services: ConsoleServices) {
  return {
    askForPasswordReset: operation({
      summary: 'Ask for a new password by mail',
      caller: 'visitor',
      body: PasswordReset,
      reply: {
        status: 202,
        description: 'A mail is on its way to the account of this address, if there is one.',
      },
      errors: ['conflict', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        if (!services.config.smtp) {
          const message = 'This server sends no mail. Whoever runs it can give you a temporary password.';
          throw new ApiError('conflict', message);
        }
        const asked = createHash('sha256').update(body.email.trim().toLowerCase()).digest('base64url');
        await countTry(services, `password reset from ${visitor.address}`, signInTries.ofAccount);
        await countTry(services, `password reset of ${asked}`, asksPerMinute);
        await askForPasswordReset(services.database, body.email);
        services.wakeQueue();
      },
    }),

    finishPasswordReset: operation({
      summary: 'Choose a new password by the link of a mail',
      caller: 'visitor',
      body: NewPassword,
      reply: { status: 200, description: 'The address to sign in with.', schema: Account },
      errors: ['gone', 'rate_limit_exceeded'],
      async run({ visitor, body }) {
        await countTry(services, `password reset from ${visitor.address}`, signInTries.ofAccount);
        const { email } = await finishPasswordReset(services.database, body);
        const by = { origin: originOf(visitor) };
        await notePerson(services.database, { who: { email }, operation: 'finishPasswordReset', by });
        services.wakeQueue();
        return { body: { email } };
      },
    }),
  };
}
