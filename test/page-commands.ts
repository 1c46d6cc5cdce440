import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));

/** The guides with commands, in the order in which one reads them: later ones use what earlier ones made. */
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

/** The commands of a page that are marked so, in order. */
export async function readCommands(page: string, mark: string): Promise<string[]> {
  const text = await readFile(join(home, page), 'utf8');
  return [...text.matchAll(new RegExp(`^ *<!-- ${mark} -->\n *\`\`\`sh\n([^]*?)^ *\`\`\``, 'gm'))].map(
    ([, block]) => block!.replaceAll(/^ {3}/gm, ''),
  );
}

/** The JSON documents of a page that are marked so, as text. */
export async function readDocuments(page: string, mark: string): Promise<string[]> {
  const text = await readFile(join(home, page), 'utf8');
  return [...text.matchAll(new RegExp(`^\`\`\`json ${mark}\n([^]*?)^\`\`\``, 'gm'))].map(([, json]) => json!);
}

const notRun = /^not run: \S/;

/**
 * Finds the blocks of commands that no test runs and that do not say why: each has to be marked `<!-- run -->`, with the mark of
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

/** A command as npm runs it: that npm does is seen in the tour, and each time takes 0.4 s of CPU. */
export const direct = (block: string): string =>
  block.replaceAll('npm run -s formloom --', `node "${join(home, 'setup.mjs')}" src/app/cli.ts`);
