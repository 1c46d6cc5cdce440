import type { Settings } from '#ast/settings.ts';
import { hashPassword } from '#kit/password-hash.ts';

/** A change of a form's password: undefined leaves it, null takes it away, a text is the new one. */
export type PasswordChange = string | null | undefined;

/** Settings without the password, which is written and never shown. */
export function withoutPassword(settings: Settings): Settings {
  const { password: _, ...shown } = settings;
  return shown;
}

/** What settings as they were sent say of the password. Left out, it stays: they were read without it. */
export function passwordIn(sent: unknown): PasswordChange {
  if (typeof sent !== 'object' || sent === null || !Object.hasOwn(sent, 'password')) return undefined;
  const { password } = sent as { password: unknown };
  return typeof password === 'string' ? password : null;
}

/** What is stored of a change: the hash (scrypt, as of people's passwords), and whether it replaces the one there. */
export const storedPassword = async (
  change: PasswordChange,
): Promise<{ changes_password: boolean; password_hash: string | null }> => ({
  changes_password: change !== undefined,
  password_hash: typeof change === 'string' ? await hashPassword(change) : null,
});
