import { appendFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import type { Vault } from '#kit/vault.ts';

/*
 * No secret may stand in a log. The files of a run write what they log, and every secret that they make or use, into a
 * directory of the run's own (TEST_LOGS); at its end test/run.ts looks for these in those.
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

/** Where a service of this process logs to: in large pieces, as a write for each line is a tenth of what requests cost. */
export const openTestLog = (): NodeJS.WritableStream =>
  new Writable({
    decodeStrings: false,
    write(line: string, _encoding, done) {
      if (directory !== undefined) logged += line;
      if (logged.length > mostCharacters) writeLogged();
      done();
    },
  });

/** What services of this process have logged so far, a line each. */
export async function readTestLog(): Promise<string[]> {
  if (directory === undefined) return [];
  writeLogged();
  return (await readFile(logPath, 'utf8')).split('\n').filter(Boolean);
}

/** Adds what another process logged. */
export function keepLog(text: string): void {
  if (directory !== undefined) appendFileSync(join(directory, `${process.pid}-others.log`), text);
}

/** Shorter ones are words: a test's "another one" as a password. Recovery codes have 11 characters, and are no words. */
const shortestSecret = 12;
const shortestCode = 11;
const uuid = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Of what came as a secret (`Bearer …`, `name=value; …`) the parts that are one each. */
function noteSecret(text: string, shortest = shortestSecret): void {
  for (const part of [text, ...text.split(/[^\w-]+/)]) {
    if (part.length < shortest || uuid.test(part) || /[\r\n]/.test(part) || noted.has(part)) continue;
    noted.add(part);
    if (directory !== undefined) appendFileSync(join(directory, `${process.pid}.secrets`), `${part}\n`);
  }
}

const secretNames = /^(?:secret|token|cookie|.*_?password)$/;

/** Notes what of a JSON value is a secret by its name, at any depth, and what of its addresses is one by its looks. */
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

/** 32 bytes in base64url: signatures and tokens, as they stand in mails and addresses. */
const token = /(?<![\w-])[\w-]{43}(?![\w-])/g;

/** Notes the tokens that stand in a text, such as a mail. */
export function noteSecretsOfText(text: string): void {
  for (const [found] of text.matchAll(token)) noteSecret(found);
}

/** A vault that notes each signature that it makes. */
export const notingVault = (vault: Vault): Vault => ({
  ...vault,
  sign(purpose, text) {
    const signature = vault.sign(purpose, text);
    noteSecret(signature);
    return signature;
  },
});

/** Notes the keys and cookies that requests come with, from browsers too, and the tokens in their addresses. */
export function noteRequests(server: Server): void {
  server.on('request', ({ url = '', headers }) => {
    noteSecretsOfText(url);
    if (headers.authorization) noteSecret(headers.authorization.replace(/^Bearer /, ''));
    for (const pair of headers.cookie?.split('; ') ?? []) noteSecret(pair.slice(pair.indexOf('=') + 1));
  });
}

/** What stands where it must not: the lines of a directory's logs with the secret that is in each. */
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
  // One look at each word of a line finds those that are words; the few others are looked for one by one.
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
