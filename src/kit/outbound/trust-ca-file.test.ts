import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { command } from '#test/command-line.ts';
import { openReceiver } from '#test/receiver.ts';
import { trustCaFile } from './address-guard.ts';
import { openOutboundSender } from './outbound.ts';

const directory = await mkdtemp(join(tmpdir(), 'formloom-ca-'));
after(() => rm(directory, { recursive: true }));
// Other test files in this process expect the self-signed certificate to be rejected.
const trusted = getCACertificates('default');
after(() => setDefaultCACertificates(trusted));
const selfSigned = fileURLToPath(new URL('../../../test/certs/selfsigned.pem', import.meta.url));

/** Writes a file and returns its path. */
async function write(name: string, content: string): Promise<string> {
  await writeFile(join(directory, name), content);
  return join(directory, name);
}

test('a certificate in WEBHOOK_CA_FILE is trusted', async () => {
  const { url } = await openReceiver({ certificate: 'selfsigned' });
  const outbound = openOutboundSender({ allowNetworks: ['127.0.0.0/8'], timeoutMs: 20_000 });
  after(() => outbound.close());
  const send = () =>
    outbound.sendRequest({ url, headers: {}, body: Buffer.from('{}'), signal: new AbortController().signal });
  assert.equal((await send()).kind, 'failure');
  trustCaFile(await write('several.pem', `# ours\n${(await readFile(selfSigned, 'utf8')).repeat(2)}`));
  assert.equal((await send()).kind, 'answer');
});

const block = (content: string): string =>
  `-----BEGIN CERTIFICATE-----\n${content}\n-----END CERTIFICATE-----\n`;
for (const [what, content, complaint] of [
  ['is missing', undefined, /does not exist/],
  ['is empty', '', /contains no certificate/],
  [
    'has a key alone',
    '-----BEGIN PRIVATE KEY-----\nAA\n-----END PRIVATE KEY-----',
    /contains no certificate/,
  ],
  ['has a broken certificate', block('AAAA'), /certificate number 1 in this file cannot be read/],
] as const)
  test(`a WEBHOOK_CA_FILE that ${what} stops a command with a clear message`, async () => {
    const path = content === undefined ? join(directory, 'nowhere.pem') : await write('broken.pem', content);
    const { code, complaint: output } = await command(
      { WEBHOOK_CA_FILE: path },
      'mail',
      'send-test',
      '--to',
      'a@b.example',
    );
    assert.equal(code, 1);
    assert.match(output, complaint);
    assert.doesNotMatch(output, /\n\s+at /);
  });

test('a WEBHOOK_CA_FILE that is a directory stops a command with a clear message', async () => {
  const { code, complaint } = await command({ WEBHOOK_CA_FILE: directory }, 'workspace', 'list');
  assert.equal(code, 1);
  assert.match(complaint, /cannot be read \(EISDIR\)/);
});
