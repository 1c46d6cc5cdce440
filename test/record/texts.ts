import { createHmac } from 'node:crypto';
import { readXlsx } from 'hucre/xlsx';
import { readCatalogue } from './catalogue.ts';
import type { Everything } from './everything.ts';
import { sortedJson } from './normalize.ts';
import type { Outside } from './outside.ts';

/** Saves a recorded text under a path. */
export type Save = (path: string, text: string) => Promise<void>;

/** Records the OpenAPI document. */
export async function recordDocument({ url }: Outside, save: Save): Promise<void> {
  const response = await fetch(`${url}/api/v1/openapi.json`);
  await save('openapi.json', sortedJson(await response.json()));
}

/** Records tables, columns, constraints, indexes, triggers and functions of the database. */
export const recordCatalogue = async ({ query }: Outside, save: Save): Promise<void> =>
  save('catalogue.sql', await readCatalogue((sql) => query(sql)));

/** Records `--help` of the program, of each command group and of each command. */
export async function recordHelp({ run }: Outside, save: Save): Promise<void> {
  const help = async (...words: string[]): Promise<string> => {
    const { code, printed, complaint } = await run(...words, '--help');
    const text = `${printed}${complaint}`;
    await save(`help/${words.join(' ') || 'formloom'}.txt`, `exit code ${code}\n${text}`);
    return text;
  };
  const listed = new Map<string, string[]>();
  for (const [, first, rest = ''] of (await help()).matchAll(
    /^ {2}([a-z-]+)(?: +([a-z-]+(?:, [a-z-]+)*))?$/gm,
  ))
    listed.set(first!, [...(listed.get(first!) ?? []), ...rest.split(', ').filter(Boolean)]);
  const commands = [...listed].flatMap(([first, seconds]) => [
    [first],
    ...seconds.map((each) => [first, each]),
  ]);
  for (const words of commands) await help(...words);
}

/** Records the three exports of each form, the exports of the workspace, and the JSON of each submission. */
export async function recordExports(
  { url }: Outside,
  { tenant, forms }: Everything,
  save: Save,
): Promise<void> {
  const get = (path: string): Promise<Response> =>
    fetch(`${url}/api/v1${path}`, { headers: { Authorization: `Bearer ${tenant.key}` } });
  for (const [name, id] of Object.entries(forms)) {
    for (const format of ['csv', 'ndjson', 'xlsx']) {
      const response = await get(`/forms/${id}/submissions/export?format=${format}`);
      const head = `${response.status} ${response.headers.get('content-type')} ${response.headers.get('content-disposition')}`;
      const body = format === 'xlsx' ? await workbookText(await response.bytes()) : await response.text();
      await save(`exports/${name}.${format}`, `${head}\n${body}`);
    }
    for (const what of ['submissions', 'summary', 'columns', 'rows', 'export'])
      await save(
        `exports/${name}-${what}.json`,
        sortedJson(await (await get(`/forms/${id}/${what}`)).json()),
      );
  }
}

async function workbookText(bytes: Uint8Array): Promise<string> {
  const { sheets } = await readXlsx(Buffer.from(bytes));
  return sheets
    .map(({ name, rows }) => [name, ...rows.map((cells) => JSON.stringify(cells))].join('\n'))
    .join('\n');
}

/** Records every request to the webhook receiver with its headers. Marks wrong signatures. */
export async function recordEvents(
  { receiver }: Outside,
  { secret, events }: Everything,
  save: Save,
): Promise<void> {
  await receiver.waitFor(events);
  const found = receiver.requests.map(({ method, headers, body }) => {
    const text = String(body);
    const wanted = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
    const signature = headers['x-service-signature'];
    const isSigned = signature === wanted ? 'signed' : `signature is wrong: ${String(signature)}`;
    const lines = Object.entries(headers)
      .toSorted()
      .map(([name, value]) => `${name}: ${String(value)}`);
    return [method, isSigned, ...lines, JSON.stringify(JSON.parse(text), null, 2)].join('\n');
  });
  // Deliveries of one moment may arrive in any order.
  await save('webhooks.txt', found.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b))).join('\n\n'));
}

/** Returns the sort key of a request: its text without ids. */
const keyOf = (text: string): string =>
  text.replaceAll(/[0-9a-f-]{36}|\d{4}-\d\d-\d\dT[\d:.]+Z|[\w+/=]{40,}/g, '');

/** Records every email that was sent: addresses, headers, subject, text and HTML. */
export async function recordMails({ inbox }: Outside, save: Save): Promise<void> {
  const counts = new Map<string, number>();
  for (const { from, to, mail } of inbox.taken) {
    const name = `${to.join(' ')} ${mail.subject ?? ''}`.replaceAll(/[^\p{L}\p{N}@.]+/gu, '-');
    const count = (counts.get(name) ?? 0) + 1;
    counts.set(name, count);
    const headers = mail.headers
      .filter(({ key }) => !/^(message-id|date|received|content-)/.test(key))
      .map(({ key, value }) => `${key}: ${value}`)
      .toSorted();
    const files = mail.attachments.map(({ filename, mimeType }) => `attachment ${filename} ${mimeType}`);
    const parts = [
      `from ${from}`,
      ...headers,
      ...files,
      '',
      (mail.text ?? '').replaceAll(/\n{2,}/g, '\n\n'),
      '',
      mail.html ?? '',
    ];
    await save(`mails/${name}${count > 1 ? `-${count}` : ''}.txt`, parts.join('\n'));
  }
}
