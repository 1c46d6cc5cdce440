import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const home = fileURLToPath(new URL('..', import.meta.url));

/** The commands of a page that are marked so, in order. */
export async function readCommands(page: string, mark: string): Promise<string[]> {
  const text = await readFile(join(home, page), 'utf8');
  return [...text.matchAll(new RegExp(`^ *<!-- ${mark} -->\n *\`\`\`sh\n([^]*?)^ *\`\`\``, 'gm'))].map(
    ([, block]) => block!.replaceAll(/^ {3}/gm, ''),
  );
}

/** A command as npm runs it: that npm does is seen in the tour, and each time takes 0.4 s of CPU. */
export const direct = (block: string): string =>
  block.replaceAll('npm run -s formloom --', `node "${join(home, 'setup.mjs')}" src/app/cli.ts`);
