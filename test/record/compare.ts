import { spawnSync } from 'node:child_process';
import { allowed } from './allowed.ts';

/** The difference of one recorded file: its unified diff, and the changed lines that no entry of allowed.ts covers. */
type FileDifference = { readonly file: string; readonly diff: string; readonly lines: readonly string[] };

/**
 * Prints how two recorded folders differ: one unified diff per file, then a summary.
 * @returns whether every difference is allowed.
 */
export function compareRecords(
  { before, after }: { before: string; after: string },
  say: (text: string) => void,
): boolean {
  const counts = allowed.map(() => 0);
  const found = diffsOf(before, after).map((difference) => ({
    ...difference,
    lines: difference.lines.filter((line) => {
      const index = allowed.findIndex((each) => each.file.test(difference.file) && each.line.test(line));
      if (index >= 0) counts[index]! += 1;
      return index < 0;
    }),
  }));
  const open = found.filter(({ lines }) => lines.length > 0);
  for (const { diff } of open) say(diff);
  for (const [index, { reason }] of allowed.entries())
    say(`${String(counts[index]).padStart(6)} lines allowed: ${reason}`);
  for (const { file, lines } of open) say(`${String(lines.length).padStart(6)} lines differ: ${file}`);
  say(
    open.length === 0
      ? 'The records do not differ.'
      : `The records differ in ${open.length} files. If a difference is intended, add it to test/record/allowed.ts with its reason.`,
  );
  return open.length === 0;
}

function diffsOf(before: string, after: string): FileDifference[] {
  const { stdout, status, stderr } = spawnSync(
    'git',
    [
      '-c',
      'core.quotepath=false',
      'diff',
      '--no-index',
      '--no-renames',
      '--no-color',
      '--no-prefix',
      '--text',
      '--unified=2',
      before,
      after,
    ],
    { encoding: 'utf8', maxBuffer: 2 ** 30 },
  );
  if (status !== 0 && status !== 1) throw new Error(stderr);
  return stdout
    .split(/^(?=diff --git )/m)
    .filter(Boolean)
    .map((diff) => {
      // A file that exists on one side only is /dev/null on the other.
      const sides = [...diff.matchAll(/^(?:---|\+\+\+) (.*?)\t?$/gm)].map(([, path]) => `/${path}`);
      const folders = [before, after].map((folder) => `${folder}/`);
      const file = sides.flatMap((path) =>
        folders.filter((folder) => path.startsWith(folder)).map((folder) => path.slice(folder.length)),
      )[0];
      const body = diff.slice(diff.indexOf('\n@@'));
      const lines = body.split('\n').filter((line) => /^[+-]/.test(line));
      return {
        file: file ?? diff.slice(0, diff.indexOf('\n')),
        diff,
        lines: lines.map((line) => line.slice(1)),
      };
    });
}
