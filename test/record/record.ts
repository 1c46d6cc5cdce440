import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { makeEverything, sendMails } from './everything.ts';
import { normalize } from './normalize.ts';
import { openOutside } from './outside.ts';
import {
  recordCatalogue,
  recordDocument,
  recordEvents,
  recordExports,
  recordHelp,
  recordMails,
} from './texts.ts';

/* Records one source tree into a folder. Started by run.ts: node record.ts <tree> <folder> <parts> */
const [tree, folder, chosen] = process.argv.slice(2) as [string, string, string];
const parts = new Set(chosen.split(','));
const say = (text: string): void => void process.stdout.write(`  ${text}\n`);

const save = async (path: string, text: string): Promise<void> => {
  const file = join(folder, path);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `${normalize(text).trimEnd()}\n`);
};

// testDatabase does not keep the process alive while it waits for its connection.
const alive = setInterval(() => undefined, 2 ** 30);
const record = async (part: string, work: () => Promise<void>): Promise<void> => {
  if (!parts.has(part)) return;
  const since = performance.now();
  await work();
  say(`${part} (${Math.round((performance.now() - since) / 1000)} s)`);
};
process.env['RECORDED_TREE'] = tree;
const outside = await openOutside(tree);
await record('document', () => recordDocument(outside, save));
await record('catalogue', () => recordCatalogue(outside, save));
await record('help', () => recordHelp(outside, save));
await record('data', async () => {
  const everything = await makeEverything(outside);
  await recordExports(outside, everything, save);
  await recordEvents(outside, everything, save);
  await sendMails(outside, everything, folder);
  await recordMails(outside, save);
});
await outside.close();
// Each of these modules starts another service when it is loaded.
await record('pages', async () => (await import('./pages.ts')).recordPages(save));
await record('screens', async () => (await import('./screens.ts')).recordScreens(save));
clearInterval(alive);
process.exit(0);
