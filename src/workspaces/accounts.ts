import type { AccountLibrary, Surroundings } from './account-library.ts';
import { signAnew } from './sessions.ts';
import { createUser, type NewUser } from './users.ts';

/**
 * Accounts of people. Nobody signs up: the library's sign-up is off, and people are made by the set-up link, the CLI
 * or a member. Its API-key plugin is not used (CVE-2025-61928); API keys are ours.
 */
export type Accounts = {
  /** Loaded when a person first comes: it takes 25 MB, and forms and the API do without it. */
  library(): Promise<AccountLibrary>;
  /** See users.ts, which does it without the library. */
  createUser(user: NewUser): Promise<{ id: string }>;
  /** The cookies of a request as the library takes them: see signAnew. */
  readCookies(cookies: string | undefined): string;
};

export function openAccounts(surroundings: Surroundings): Accounts {
  let loading: Promise<AccountLibrary> | undefined;
  const load = async (): Promise<AccountLibrary> => {
    const { openAccountLibrary } = await import('./account-library.ts');
    return openAccountLibrary(surroundings);
  };
  return {
    library: () => (loading ??= load()),
    createUser: (user) => createUser(surroundings.database, user),
    readCookies: (cookies = '') => signAnew(surroundings.vault, cookies),
  };
}
