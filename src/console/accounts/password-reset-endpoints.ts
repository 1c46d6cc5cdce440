import { createHash } from 'node:crypto';
import { ApiError } from '#kit/errors.ts';
import { askForPasswordReset, finishPasswordReset } from '#workspaces/password-reset/password-reset.ts';
import { countTry, signInTries } from '#workspaces/sign-in.ts';
import { type ConsoleRoute, visitorEndpoint } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { NewPassword, PasswordReset } from './shapes.ts';

/** Mails to one address that are asked for in a minute, whether or not anybody has it. */
const asksPerMinute = 3;

/** Choosing a new password through a mail. Nothing of it tells whether an address has an account. */
export function passwordResetRoutes(services: ConsoleServices): readonly ConsoleRoute[] {
  const ask = visitorEndpoint({
    body: PasswordReset,
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
      return { status: 202, body: {} };
    },
  });

  const finish = visitorEndpoint({
    body: NewPassword,
    async run({ visitor, body }) {
      await countTry(services, `password reset from ${visitor.address}`, signInTries.ofAccount);
      const { email } = await finishPasswordReset(services.database, body);
      services.wakeQueue();
      return { status: 200, body: { email } };
    },
  });

  return [
    ['POST', '/password-resets', ask],
    ['PUT', '/password-resets', finish],
  ];
}
