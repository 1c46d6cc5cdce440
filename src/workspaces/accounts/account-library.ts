import { type BetterAuthOptions, type BetterAuthPlugin, betterAuth } from 'better-auth';
import { APIError, createAuthEndpoint } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { newId } from '#kit/clock.ts';
import { type Database, homeOf } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { hashPassword, verifyPassword } from '#kit/password-hash.ts';
import type { Vault } from '#kit/vault.ts';
import { passwordLength } from './passwords.ts';

/** What the library needs from us. */
export type Surroundings = { database: Database; vault: Vault; publicUrl: string; log: Log };

/** Accounts of people: email and password, sessions in cookies (better-auth on our pool and tables; docs/decisions/0009-accounts.md). */
export type AccountLibrary = {
  /** `auth.handler` answers its routes, `auth.api.getSession({ headers })` tells who is signed in. */
  auth: ReturnType<typeof openLibrary>;
  /**
   * Begins a session for somebody who has shown who they are, in all the steps that this takes of them.
   * @param headers of the browser, for how its session is called in the list.
   * @returns the cookies to set.
   */
  beginSession: (userId: string, secondFactorAt: Date | null, headers: Headers) => Promise<string[]>;
  /** Whether it refused what it was asked; any other error means that it could not look. */
  isRefusal: (error: unknown) => boolean;
};

export function openAccountLibrary(surroundings: Surroundings): AccountLibrary {
  const auth = openLibrary(surroundings);
  return {
    auth,
    async beginSession(userId, secondFactorAt, headers) {
      const body = { userId, secondFactorAt };
      const begun = await auth.api.beginSession({ body, headers, returnHeaders: true });
      return begun.headers.getSetCookie();
    },
    isRefusal: (error) => error instanceof APIError && error.statusCode < 500,
  };
}

const openLibrary = (surroundings: Surroundings) =>
  betterAuth({ ...tables, ...settings(surroundings), plugins: [ownSessions] });

/** What `tables` adds to a person, as far as a sign-in needs it. */
type SignInFields = { temporaryUntil?: Date | null; secondFactor?: boolean | null };

/** A session of the library's, with its cookie, where who somebody is was shown to us (second-factor/). */
const ownSessions = {
  id: 'formloom',
  endpoints: {
    beginSession: createAuthEndpoint.serverOnly(
      {
        method: 'POST',
        metadata: { $Infer: { body: {} as { userId: string; secondFactorAt: Date | null } } },
      },
      async (context) => {
        const { userId, secondFactorAt } = context.body;
        const { internalAdapter } = context.context;
        const user = await internalAdapter.findUserById(userId);
        if (!user) throw new APIError('UNAUTHORIZED');
        const session = await internalAdapter.createSession(userId, false, { secondFactorAt });
        await setSessionCookie(context, { session, user });
      },
    ),
    /** The library's own takes ASCII addresses alone. An unknown address costs a hash too, so that the time says nothing. */
    signInByPassword: createAuthEndpoint.serverOnly(
      { method: 'POST', metadata: { $Infer: { body: {} as { email: string; password: string } } } },
      async (context) => {
        const { email, password } = context.body;
        const { internalAdapter } = context.context;
        const found = await internalAdapter.findUserByEmail(email, { includeAccounts: true });
        const hash = found?.accounts.find(({ providerId }) => providerId === 'credential')?.password;
        if (!found || !hash) {
          await hashPassword(password);
          throw new APIError('UNAUTHORIZED');
        }
        if (!(await verifyPassword(hash, password))) throw new APIError('UNAUTHORIZED');
        const session = await internalAdapter.createSession(found.user.id, false);
        await setSessionCookie(context, { session, user: found.user });
        const user: typeof found.user & SignInFields = found.user;
        return user;
      },
    ),
  },
} as const satisfies BetterAuthPlugin;

/** The library's models in our tables (db/migrations/0001_init.sql). */
const tables = {
  user: {
    modelName: 'users',
    additionalFields: {
      /** Until when a temporary password opens its own change; null for one that its owner chose. */
      temporaryUntil: { type: 'date', fieldName: 'temporary_until', required: false, input: false },
      /** Whether there is a second factor to show (second-factor/). */
      secondFactor: { type: 'boolean', fieldName: 'second_factor', required: false, input: false },
      /** When the account is gone, while it is being deleted (endings/). */
      endsAt: { type: 'date', fieldName: 'ends_at', required: false, input: false },
    },
    fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
  },
  session: {
    modelName: 'sessions',
    additionalFields: {
      /** When the second step of the sign-in was taken; null: it was not. */
      secondFactorAt: { type: 'date', fieldName: 'second_factor_at', required: false, input: false },
    },
    fields: {
      userId: 'user_id',
      expiresAt: 'expires_at',
      ipAddress: 'ip_address',
      userAgent: 'user_agent',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
  },
  account: {
    modelName: 'accounts',
    fields: {
      userId: 'user_id',
      accountId: 'account_id',
      providerId: 'provider_id',
      accessToken: 'access_token',
      refreshToken: 'refresh_token',
      idToken: 'id_token',
      accessTokenExpiresAt: 'access_token_expires_at',
      refreshTokenExpiresAt: 'refresh_token_expires_at',
      createdAt: 'created_at',
      updatedAt: 'updated_at',
    },
  },
  verification: {
    modelName: 'verifications',
    fields: { expiresAt: 'expires_at', createdAt: 'created_at', updatedAt: 'updated_at' },
  },
} as const satisfies BetterAuthOptions;

function settings({ database, vault, publicUrl, log }: Surroundings) {
  const isSecure = publicUrl.startsWith('https:');
  return {
    appName: 'Formloom',
    baseURL: publicUrl,
    secret: vault.derive('sessions')[0],
    database: homeOf(database),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLength.least,
      // The library counts the halves of what lies beyond 16 bits; passwords.ts counts characters.
      maxPasswordLength: passwordLength.most * 2,
      password: {
        hash: hashPassword,
        verify: ({ hash, password }: { hash: string; password: string }) => verifyPassword(hash, password),
      },
      // A stolen session ends with the password that it was stolen under (docs/rules.md T20).
      revokeSessionsOnPasswordReset: true,
    },
    advanced: {
      database: { generateId: newId },
      // `__Host-` binds a cookie to this host, to https and to the path /. The library's own switch would put
      // `__Secure-` in front of it.
      cookiePrefix: isSecure ? '__Host-formloom' : 'formloom',
      useSecureCookies: false,
      defaultCookieAttributes: { secure: isSecure },
      // The library would believe any X-Forwarded-For.
      ipAddress: { disableIpTracking: true },
    },
    // Limits are ours (limit.ts), shared by all processes.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { level: 'warn', log: (level, message) => log[level]({ from: 'better-auth' }, message) },
  } as const satisfies BetterAuthOptions;
}
