import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newId } from '#kit/clock.ts';
import { freePort, until } from '#test/service.ts';
import { eventKinds } from '#webhooks/event.ts';
import { listExampleReceivers } from '#webhooks/payload.ts';
import { createDeliveryHeaders } from '#webhooks/signature.ts';

const examples = fileURLToPath(new URL('../examples/', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'formloom-examples-'));
const running = new Set<ChildProcess>();
after(() => {
  for (const { pid, exitCode } of running) if (exitCode === null) process.kill(-pid!, 'SIGKILL');
  rmSync(folder, { recursive: true });
});

type Language = { command: string; version: string; start: (file: string, port: number) => string[] };
const languages: Readonly<Record<'node' | 'python' | 'php' | 'go', Language>> = {
  node: { command: process.execPath, version: '--version', start: (file) => [file] },
  python: { command: 'python3', version: '--version', start: (file) => [file] },
  php: { command: 'php', version: '--version', start: (file, port) => ['-S', `127.0.0.1:${port}`, file] },
  go: { command: 'go', version: 'version', start: (file) => ['run', file] },
};

function isInstalled({ command, version }: Language): boolean {
  try {
    execFileSync(command, [version], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

const secret = `whsec_${Buffer.from('a key of thirty-two random bytes').toString('base64')}`;
const plainSecret = 'a secret with ünïcode';

type Sent = { body: string; headers: Record<string, string> };
/** Returns a delivery, signed like every delivery. */
function delivery(
  options: { secrets?: string[]; id?: string; at?: number; kind?: (typeof eventKinds)[number] } = {},
): Sent {
  const { secrets = [secret], id = newId(), at = Date.now(), kind = eventKinds[0] } = options;
  const submission = { id: newId(), responses: { 'e-mail': 'Ada 👋' } };
  const body = JSON.stringify({ event: kind, delivery_id: id, submission });
  const timestamp = Math.floor(at / 1_000);
  const source = {
    kind,
    deliveryId: id,
    timestamp,
    body: Buffer.from(body),
    secrets,
    custom: {},
    isTest: false,
  };
  return { body, headers: createDeliveryHeaders(source) };
}

/** Go compiles its standard library first if nothing is compiled yet. */
const mostSeconds = 120;

/** Starts the example that the console shows for a webhook, as a person would save it. */
async function start(id: keyof typeof languages, withSecret: string) {
  const url = 'https://example.org/a?b=c&d=?>';
  const shown = listExampleReceivers({ url, events: ['submission.created'], field: 'e-mail' });
  const { code, file } = shown.find((receiver) => receiver.id === id)!;
  assert.ok(code.includes(new URL(url).href), 'it names the address');
  const seen = mkdtempSync(join(folder, `${id}-`));
  const path = join(seen, file);
  writeFileSync(path, code);
  const port = await freePort();
  const { command, start: args } = languages[id];
  const child = spawn(command, args(path, port), {
    cwd: seen,
    detached: true,
    env: { ...process.env, WEBHOOK_SECRET: withSecret, PORT: String(port), SEEN_DIR: join(seen, 'seen') },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  running.add(child);
  let said = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (text: Buffer) => (said += text.toString()));
  const post = async ({ body, headers }: Sent): Promise<[status: number, text: string]> => {
    const { 'Content-Length': _, ...sent } = headers;
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', headers: sent, body });
    return [answer.status, await answer.text()];
  };
  const nothing: Sent = { body: '{}', headers: {} };
  await until(
    `${id} to listen`,
    () => {
      if (child.exitCode !== null) throw new Error(`${id} ended: ${said}`);
      return post(nothing).then(
        () => true,
        () => false,
      );
    },
    mostSeconds,
  );
  return { post, said: () => said };
}

for (const id of Object.keys(languages) as (keyof typeof languages)[]) {
  const skip = isInstalled(languages[id]) ? false : `${languages[id].command} is not on this machine`;

  test(`the ${id} receiver accepts only what the service signs, and only once`, { skip }, async () => {
    const { post, said } = await start(id, secret);
    const first = delivery();
    assert.deepEqual(await post(first), [200, 'done\n']);
    assert.deepEqual(await post(first), [200, 'seen before\n']);
    assert.match(said(), /submission\.created [^]*Ada/);
    const { headers, body } = delivery();
    const without = (name: string): Sent => ({
      body,
      headers: Object.fromEntries(Object.entries(headers).filter(([key]) => key !== name)),
    });
    const signature = headers['X-Service-Signature']!;
    const forged: readonly (readonly [what: string, sent: Sent])[] = [
      ['another body', { body: `${body} `, headers }],
      ['no signature', without('X-Service-Signature')],
      ['no signature of Standard Webhooks', without('webhook-signature')],
      ['no id', without('webhook-id')],
      ['no prefix', { body, headers: { ...headers, 'X-Service-Signature': signature.slice(7) } }],
      ['another secret', delivery({ secrets: ['whsec_another'] })],
      ['what was recorded ten minutes ago', delivery({ at: Date.now() - 600_000 })],
      ['a time that is none', { body, headers: { ...headers, 'webhook-timestamp': '1e9' } }],
    ];
    for (const [what, sent] of forged) assert.equal((await post(sent))[0], 401, what);
    assert.deepEqual(await post({ body, headers }), [200, 'done\n'], 'what was forged has marked nothing');
  });

  test(`the ${id} receiver supports a custom secret and a secret rotation`, {
    skip,
  }, async () => {
    const { post } = await start(id, plainSecret);
    assert.deepEqual(await post(delivery({ secrets: [plainSecret] })), [200, 'done\n']);
    assert.deepEqual(await post(delivery({ secrets: [plainSecret, 'the one of before'] })), [200, 'done\n']);
  });
}

test('every example has the placeholders that the console fills in, and is shown unchanged without values', () => {
  const asItStands = listExampleReceivers({
    url: 'https://example.com/hooks/formloom',
    events: eventKinds,
    field: 'subject',
  });
  for (const { id, file, code } of asItStands) {
    assert.equal(code, readFileSync(join(examples, id, file), 'utf8'));
    const [filled] = listExampleReceivers({
      url: 'https://example.org/x',
      events: ['submission.deleted'],
      field: 'f-1',
    }).filter((receiver) => receiver.id === id);
    for (const text of ['https://example.org/x', 'submission.deleted', 'f-1'])
      assert.ok(filled!.code.includes(text), id);
    for (const text of ['example.com', 'submission.created', "'subject'", '"subject"'])
      assert.ok(!filled!.code.includes(text), `${id}: ${text}`);
  }
});
