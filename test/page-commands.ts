import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));

/** The guides with commands, in reading order. Later ones use what earlier ones created. */
export const runGuides = [
  'first-form',
  'submissions',
  'search',
  'webhooks',
  'importing',
  'forms-as-code',
  'errors',
  'limits',
  'idempotency-and-concurrency',
] as const;

/** Returns the commands of a page with this mark, in order. */
export async function readCommands(page: string, mark: string): Promise<string[]> {
  const text = await readFile(join(home, page), 'utf8');
  return [...text.matchAll(new RegExp(`^ *<!-- ${mark} -->\n *\`\`\`sh\n([^]*?)^ *\`\`\``, 'gm'))].map(
    ([, block]) => block!.replaceAll(/^ {3}/gm, ''),
  );
}

/** Returns the JSON documents of a page with this mark, as text. */
export async function readDocuments(page: string, mark: string): Promise<string[]> {
  const text = await readFile(join(home, page), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`json ${mark}\n([^]*?)^\`\`\``, 'gm'))].map(([, json]) => json!);
}

const notRun = /^not run: \S/;

/**
 * Finds command blocks that no test runs and that give no reason. Each needs `<!-- run -->`, the mark of
 * another test, or `<!-- not run: the reason -->`.
 */
export async function findUnmarked(page: string, marks: readonly string[]): Promise<string[]> {
  const lines = (await readFile(join(home, page), 'utf8')).split('\n');
  return lines.flatMap((line, index) => {
    if (!/^ *```(sh|bash|shell|console)$/.test(line)) return [];
    const before = lines.slice(0, index).findLast((each) => each.trim() !== '') ?? '';
    const mark = /^ *<!-- (.*) -->$/.exec(before)?.[1] ?? '';
    return marks.includes(mark) || notRun.test(mark) ? [] : [`${page}:${index + 1}`];
  });
}

/**
 * Replaces npm by the command that it runs. The tour covers npm itself, and each call of npm takes 0.4 s of CPU.
 */
export const direct = (block: string): string =>
  block.replaceAll('npm run -s formloom --', `node "${join(home, 'setup.mjs')}" src/app/cli.ts`);
