import { type BetterAuthOptions, type BetterAuthPlugin, betterAuth } from 'better-auth';
import { APIError, createAuthEndpoint } from 'better-auth/api';
import { setSessionCookie } from 'better-auth/cookies';
import { newId } from '#kit/clock.ts';
import { type Database, sharedDatabaseOf } from '#kit/database.ts';
import type { Log } from '#kit/log.ts';
import { hashPassword, verifyPassword } from '#kit/password-hash.ts';
import type { Vault } from '#kit/vault.ts';
import { passwordLength } from './passwords.ts';

export type AccountServices = { database: Database; vault: Vault; publicUrl: string; log: Log };

/**
 * Accounts: email and password, sessions in cookies (better-auth with our pool and tables;
 * docs/decisions/0009-accounts.md).
 */
export type AccountLibrary = {
  /** `auth.handler` serves its routes; `auth.api.getSession({ headers })` returns the signed-in person. */
  auth: ReturnType<typeof openLibrary>;
  /**
   * Creates a session for a person who has completed every step of the sign-in.
   * @param headers the browser's headers, which name the session in the list.
   * @returns the cookies to set.
   */
  beginSession: (userId: string, secondFactorAt: Date | null, headers: Headers) => Promise<string[]>;
  /** Whether the library refused the request; any other error means that it could not check. */
  isRefusal: (error: unknown) => boolean;
};

export function openAccountLibrary(surroundings: AccountServices): AccountLibrary {
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

const openLibrary = (surroundings: AccountServices) =>
  betterAuth({ ...tables, ...settings(surroundings), plugins: [sessionPlugin] });

/** The fields that `tables` adds to a person and that a sign-in needs. */
type SignInFields = { temporaryUntil?: Date | null; secondFactor?: boolean | null };

/**
 * Creates sessions of the library, with their cookies, after our own identity checks
 * (sign-in/second-factor.ts).
 */
const sessionPlugin = {
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
    /**
     * Replaces the library's own endpoint, which only accepts ASCII addresses. A hash is computed even for an
     * unknown address, so that timing reveals nothing.
     */
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

/** Maps the library's models to our tables (db/migrations/0001_init.sql). */
const tables = {
  user: {
    modelName: 'users',
    additionalFields: {
      /**
       * The expiry of a temporary password, which only allows the person to change it; null for a password
       * that its owner chose.
       */
      temporaryUntil: { type: 'date', fieldName: 'temporary_until', required: false, input: false },
      /** Whether the account has two-factor (sign-in/second-factor.ts). */
      secondFactor: { type: 'boolean', fieldName: 'second_factor', required: false, input: false },
      /** When the account will be deleted; null if it is not scheduled for deletion (account-deletion.ts). */
      endsAt: { type: 'date', fieldName: 'ends_at', required: false, input: false },
    },
    fields: { emailVerified: 'email_verified', createdAt: 'created_at', updatedAt: 'updated_at' },
  },
  session: {
    modelName: 'sessions',
    additionalFields: {
      /** When two-factor was completed; null if it was not. */
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

function settings({ database, vault, publicUrl, log }: AccountServices) {
  const isSecure = publicUrl.startsWith('https:');
  return {
    appName: 'Formloom',
    baseURL: publicUrl,
    secret: vault.derive('sessions')[0],
    database: sharedDatabaseOf(database),
    emailAndPassword: {
      enabled: true,
      disableSignUp: true,
      minPasswordLength: passwordLength.least,
      // The library counts UTF-16 code units; passwords.ts counts characters.
      maxPasswordLength: passwordLength.most * 2,
      password: {
        hash: hashPassword,
        verify: ({ hash, password }: { hash: string; password: string }) => verifyPassword(hash, password),
      },
      // Changing the password ends stolen sessions (docs/rules.md T20).
      revokeSessionsOnPasswordReset: true,
    },
    advanced: {
      database: { generateId: newId },
      // `__Host-` binds a cookie to this host, to https and to the path /. The library's own option would use
      // the prefix `__Secure-`.
      cookiePrefix: isSecure ? '__Host-formloom' : 'formloom',
      useSecureCookies: false,
      defaultCookieAttributes: { secure: isSecure },
      // Disabled because the library would trust any X-Forwarded-For.
      ipAddress: { disableIpTracking: true },
    },
    // Our own limits apply (request-counter.ts); all processes share them.
    rateLimit: { enabled: false },
    telemetry: { enabled: false },
    logger: { level: 'warn', log: (level, message) => log[level]({ from: 'better-auth' }, message) },
  } as const satisfies BetterAuthOptions;
}
