import { createHash } from 'node:crypto';
import { cellOfWorkspace } from '#cells/across-cells.ts';
import { newId, now } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import type { Role } from '#rules/permissions.ts';
import { insertUser, openAccounts } from '#workspaces/accounts/users.ts';
import { addMember } from '#workspaces/members.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { createWorkspace } from '#workspaces/workspaces.ts';
import { noteSecretsOf } from './secrets.ts';
import type { TestService } from './service.ts';

/** An answer of the console's JSON API. The test declares the type of `body`, which is undefined if empty. */
export type ConsoleAnswer<Body> = { status: number; headers: Headers; body: Body };

/** A person who is signed in to the console. */
export type ConsolePerson = {
  userId: string;
  email: string;
  password: string;
  workspaceId: string;
  /** `name=value; name=value`, as a browser sends it. */
  cookie: string;
  /** The session for a browser: `context.addCookies(person.cookies)`. */
  cookies: { name: string; value: string; url: string; httpOnly: boolean; sameSite: 'Lax' }[];
  /** Calls `/api/v1` + path in `workspaceId`, like a page of this origin. */
  api: ConsolePerson['call'];
  /** Calls `/app/api` + path as this person, like a page of this origin. */
  call<
    Body = {
      error: string;
      message: string;
      errors: { field?: string; path?: number[]; message: string }[];
    } & Record<string, unknown>,
  >(
    method: string,
    path: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<ConsoleAnswer<Body>>;
};

/** The password of every person that tests create. */
export const password = 'a long test password';
/**
 * The hash from `hashPassword`, computed once: each takes 150 ms of CPU, and tests sign in hundreds of
 * people.
 */
const passwordHash =
  '$scrypt$ln=15,r=8,p=3$bR_sL_IM0zZ8XjB6Y2myFA$UpNFaqRSHNRmQfhqM_ud2AeIFjwE0jaRh3hV6rjICEMqUWcdNEE06Nrlwb-HGfW4WpyURVGJgDyUET_ak8Usjw';
let people = 0;
/** The accounts that sign people in, by service. */
const openedAccounts = new WeakMap<TestService, ReturnType<typeof openAccounts>>();

/**
 * Sets the count of sign-in attempts to an account. Each checked attempt takes 150 ms of CPU, and the last
 * ones show the limit as well. With a wrong counter name more attempts are checked than a test expects.
 */
export const afterTries = (requestCounter: RequestCounter, email: string, times: number): Promise<unknown> =>
  countTimes(requestCounter, `sign-in to ${createHash('sha256').update(email).digest('base64url')}`, times);
/** Sets a counter with this name (limit.ts) to this number. */
export const countTimes = (requestCounter: RequestCounter, name: string, times: number): Promise<unknown> =>
  Promise.all(Array.from({ length: times }, () => requestCounter.count(name)));

/**
 * Starts a session without checking the password and returns its cookie. The check takes a tenth of a second
 * of CPU, hundreds of times.
 */
export async function beginSession(service: TestService, userId: string): Promise<string> {
  const { database, vault, log, config } = service.services;
  const accounts =
    openedAccounts.get(service) ?? openAccounts({ database, vault, log, publicUrl: config.publicUrl });
  openedAccounts.set(service, accounts);
  const library = await accounts.library();
  const [cookie] = await library.beginSession(userId, null, new Headers());
  return cookie!.split(';', 1)[0]!;
}

/**
 * Creates an account with `password`, without the hashing of `createUser`.
 * @returns its ID.
 */
export async function makePerson(
  database: Database,
  email: string,
  name = email.split('@', 1)[0]!,
): Promise<string> {
  const id = newId();
  await insertUser(database, {
    id,
    account_id: newId(),
    name,
    email,
    password: passwordHash,
    email_verified: true,
    now: now(),
  });
  return id;
}

/**
 * Creates a person and signs them in without the sign-in limits. They are a member of `workspaceId`, or the
 * owner of a new workspace.
 */
export async function signIn(
  service: TestService,
  options: { role?: Role; workspaceId?: string; email?: string; name?: string } = {},
): Promise<ConsolePerson> {
  const { database } = service.services;
  people += 1;
  const email = options.email ?? `person-${people}@example.org`;
  const userId = await makePerson(database, email, options.name);
  const workspaceId =
    options.workspaceId ?? (await createWorkspace(database, { name: 'Test', plan: 'enterprise' })).id;
  await addMember(await cellOfWorkspace(database, workspaceId), {
    workspaceId,
    userId,
    role: options.role ?? 'owner',
  });
  const cookie = await beginSession(service, userId);
  const [name, value] = cookie.split('=', 2) as [string, string];
  return {
    userId,
    email,
    password,
    workspaceId,
    cookie,
    cookies: [{ name, value, url: service.url, httpOnly: true, sameSite: 'Lax' }],
    call: (method, path, body, extra) => callConsole(service.url, cookie, method, path, body, extra),
    api: (method, path, body, extra) =>
      callConsole(service.url, cookie, method, path, body, { 'X-Workspace-ID': workspaceId, ...extra }),
  };
}

/** Calls the console's JSON API with a cookie ('' if signed out). Sends a string body unchanged. */
export async function callConsole<Body>(
  url: string,
  cookie: string,
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<ConsoleAnswer<Body>> {
  const sends = method !== 'GET';
  const base = 'X-Workspace-ID' in headers ? '/api/v1' : '/app/api';
  const response = await fetch(`${url}${base}${path}`, {
    method,
    redirect: 'manual',
    headers: {
      ...(cookie && { Cookie: cookie }),
      ...(sends && { 'Content-Type': 'application/json', Origin: url }),
      ...headers,
    },
    ...(sends && { body: typeof body === 'string' ? body : JSON.stringify(body ?? {}) }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  const answer = (isJson && text ? JSON.parse(text) : text || undefined) as Body;
  noteSecretsOf([body, answer]);
  return { status: response.status, headers: response.headers, body: answer };
}
