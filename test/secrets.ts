import { appendFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { Vault } from '#kit/vault.ts';

/*
 * No log may contain a secret. Test files write their logs and every secret they create or use into a
 * directory of the run (TEST_LOGS). At the end test/run.ts searches the logs for these secrets.
 */
const directory = process.env['TEST_LOGS'];
const noted = new Set<string>();

const logPath = join(directory ?? '', `${process.pid}.log`);
let logged = '';
const mostCharacters = 1_000_000;

function writeLogged(): void {
  if (directory !== undefined && logged !== '') appendFileSync(logPath, logged);
  logged = '';
}
process.once('exit', writeLogged);

/**
 * Opens the log of a service in this process. It writes in large chunks, because a write for each line takes
 * a tenth of the time of requests.
 */
export const openTestLog = (): NodeJS.WritableStream =>
  new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      if (directory !== undefined) logged += line;
      if (logged.length > mostCharacters) writeLogged();
      done();
    },
  });

/** Returns the log lines of services in this process so far. */
export async function readTestLog(): Promise<string[]> {
  if (directory === undefined) return [];
  writeLogged();
  return (await readFile(logPath, 'utf8')).split('\n').filter(Boolean);
}

/** Adds the log of another process. */
export function keepLog(text: string): void {
  if (directory !== undefined) appendFileSync(join(directory, `${process.pid}-others.log`), text);
}

/**
 * Shorter ones are words, such as "another one" as a test's password. Recovery codes have 11 characters and
 * are no words.
 */
const shortestSecret = 12;
const shortestCode = 11;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Records the secret parts of a value (`Bearer …`, `name=value; …`). */
function noteSecret(text: string, shortest = shortestSecret): void {
  for (const part of [text, ...text.split(/[^\w-]+/)]) {
    if (part.length < shortest || uuid.test(part) || /[\r\n]/.test(part) || noted.has(part)) continue;
    noted.add(part);
    if (directory !== undefined) appendFileSync(join(directory, `${process.pid}.secrets`), `${part}\n`);
  }
}

const secretNames = /^(?:secret|token|cookie|.*_?password)$/;

/** Records secrets of a JSON value at any depth, by their names, and tokens in its URLs. */
export function noteSecretsOf(value: unknown, name = ''): void {
  if (typeof value === 'string') {
    if (name === 'recovery_codes') noteSecret(value, shortestCode);
    else if (secretNames.test(name) || value.startsWith('fl_')) noteSecret(value);
    else if (/^https?:/.test(value)) noteSecretsOfText(value);
  } else if (typeof value === 'object' && value !== null) {
    for (const [inner, each] of Object.entries(value))
      noteSecretsOf(each, Array.isArray(value) ? name : inner);
  }
}

/** 32 bytes in base64url: signatures and tokens in emails and URLs. */
const token = /(?<![\w-])[\w-]{43}(?![\w-])/g;

/** Records the tokens in a text such as an email. */
export function noteSecretsOfText(text: string): void {
  for (const [found] of text.matchAll(token)) noteSecret(found);
}

/** Returns a vault that records each signature it makes. */
export const notingVault = (vault: Vault): Vault => ({
  ...vault,
  sign(purpose, text) {
    const signature = vault.sign(purpose, text);
    noteSecret(signature);
    return signature;
  },
});

/** Records keys and cookies of requests, including those of browsers, and tokens in their URLs. */
export function noteRequests(server: Server): void {
  server.on('request', ({ url = '', headers }) => {
    noteSecretsOfText(url);
    if (headers.authorization) noteSecret(headers.authorization.replace(/^Bearer /, ''));
    for (const pair of headers.cookie?.split('; ') ?? []) noteSecret(pair.slice(pair.indexOf('=') + 1));
  });
}

/** Returns the log lines of a directory that contain a secret, with the secret. */
export async function findLoggedSecrets(
  path: string,
): Promise<{ lines: number; secrets: number; found: string[] }> {
  const names = await readdir(path);
  const read = async (ending: string): Promise<string[]> => {
    const files = names.filter((name) => name.endsWith(ending));
    const texts = await Promise.all(files.map((name) => readFile(join(path, name), 'utf8')));
    return texts.join('\n').split('\n').filter(Boolean);
  };
  const secrets = new Set(await read('.secrets'));
  // Secrets that are words are found by one lookup for each word of a line. The few others are searched one
  // by one.
  const phrases = [...secrets].filter((secret) => /[^\w-]/.test(secret));
  const lines = await read('.log');
  const found = lines.flatMap((line) => {
    const secret =
      line.split(/[^\w-]+/).find((word) => secrets.has(word)) ??
      phrases.find((phrase) => line.includes(phrase));
    return secret === undefined ? [] : [`${secret} in ${line.slice(0, 300)}`];
  });
  return { lines: lines.length, secrets: secrets.size, found };
}
