import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The rooms in one total order, ground first. Imports only go down, so a circle between rooms cannot be written. */
const floors = [
  'ast',
  'kit',
  'workspaces',
  'forms',
  'files',
  'webhooks',
  'submissions',
  'search',
  'invitations',
  'mail',
  'page',
  'console',
  'app',
];

const home = fileURLToPath(new URL('..', import.meta.url));

type Source = { path: string; room: string; text: string; imports: string[] };

async function readSources(): Promise<Source[]> {
  const names = await readdir(join(home, 'src'), { recursive: true });
  const paths = names
    .filter((name) => name.endsWith('.ts'))
    .map((name) => posix.join('src', name.replaceAll('\\', '/')));
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(join(home, path), 'utf8');
      const imports = [
        ...text.matchAll(/(?:^|\s)(?:import|export)\s[^'";]*?from\s+'([^']+)'|import\s*\(\s*'([^']+)'/g),
      ].map((match) => match[1] ?? match[2]!);
      return { path, room: path.split('/')[1]!, text, imports };
    }),
  );
}

const sources = await readSources();
const isTest = ({ path }: Source): boolean =>
  /\.(test|external|fixture)\.ts$/.test(path) || path.endsWith('/testing.ts');
const ours = sources.filter((source) => !isTest(source));
/** The file that an import leads to, as a path from the project's folder; undefined for a package. */
function target(source: Source, specifier: string): string | undefined {
  if (specifier.startsWith('#')) return posix.join('src', specifier.slice(1));
  if (specifier.startsWith('.')) return posix.join(posix.dirname(source.path), specifier);
  return undefined;
}

/** Every offence as a readable line; none is what a test expects. */
function offences(candidates: readonly Source[], find: (source: Source) => readonly string[]): string[] {
  return candidates.flatMap((source) => find(source).map((what) => `${source.path}: ${what}`));
}

test('every folder of src is a room', () => {
  assert.deepEqual(
    [...new Set(sources.map((source) => source.room))].filter((room) => !floors.includes(room)),
    [],
  );
});

test('imports only go down', () => {
  const upward = offences(ours, (source) =>
    source.imports.filter((specifier) => {
      const room = target(source, specifier)?.split('/')[1];
      return room !== undefined && floors.indexOf(room) > floors.indexOf(source.room);
    }),
  );
  assert.deepEqual(upward, []);
});

test('across rooms an import names the room, inside a room it does not', () => {
  const wrong = offences(ours, (source) =>
    source.imports.filter((specifier) => {
      const room = target(source, specifier)?.split('/')[1];
      if (room === undefined) return false;
      return specifier.startsWith('#') ? room === source.room : room !== source.room;
    }),
  );
  assert.deepEqual(wrong, []);
});

test('no circle inside a room', () => {
  const byPath = new Map(ours.map((source) => [source.path, source]));
  const done = new Set<string>();
  const circles: string[] = [];
  const visit = (source: Source, trail: readonly string[]): void => {
    if (trail.includes(source.path))
      circles.push([...trail.slice(trail.indexOf(source.path)), source.path].join(' -> '));
    else if (!done.has(source.path)) {
      for (const specifier of source.imports) {
        const next = byPath.get(target(source, specifier) ?? '');
        if (next) visit(next, [...trail, source.path]);
      }
      done.add(source.path);
    }
  };
  for (const source of ours) visit(source, []);
  assert.deepEqual(circles, []);
});

test('the form language imports nothing and touches no machine', () => {
  const impure = offences(
    ours.filter((source) => source.room === 'ast'),
    (source) => [
      ...source.imports.filter((specifier) => !/^\.\.?\//.test(specifier)),
      ...(source.text.match(/\b(process|Date\.now|new Date\(\)|Math\.random|fetch|console)\b/g) ?? []),
    ],
  );
  assert.deepEqual(impure, []);
});

test('the drawing of the page runs in a browser too: no node: imports', () => {
  const drawing = ours.filter(({ path }) =>
    /^src\/page\/(render\/|words\/|style\.ts|theme\/(look|fonts|font-face|theme-style)\.ts)/.test(path),
  );
  assert.ok(drawing.length >= 5);
  assert.deepEqual(
    offences(drawing, (source) =>
      source.imports.filter((specifier) => specifier.startsWith('node:') || specifier.startsWith('#kit')),
    ),
    [],
  );
});

test('no default exports, no barrels, no star exports', () => {
  const found = offences(ours, (source) => [
    ...(source.text.match(/^export default\b.*$/gm) ?? []),
    ...(source.text.match(/^export \* .*$/gm) ?? []),
    ...(source.path.endsWith('/index.ts') ? ['is a barrel'] : []),
  ]);
  assert.deepEqual(found, []);
});

test('files are named for what they hold', () => {
  assert.deepEqual(
    offences(ours, ({ path }) =>
      /\/(utils?|helpers?|common|manager|service|base|misc)\.ts$/.test(path) ? ['says nothing'] : [],
    ),
    [],
  );
});

/** What only some files may do, so that a reader knows where to look for it. */
const privileges: readonly { what: string; pattern: RegExp; allowed: RegExp }[] = [
  {
    what: 'reads the environment',
    pattern: /\bprocess\.env\b/g,
    allowed: /^src\/(app\/main\.ts|app\/cli\.ts|kit\/embedded-postgres\/)/,
  },
  {
    what: 'reads the wall clock',
    pattern: /\bDate\.now\(|\bnew Date\(\)/g,
    allowed: /^src\/kit\/(clock\.ts|embedded-postgres\/)/,
  },
  {
    what: 'prints',
    pattern: /\bconsole\.|process\.std(out|err)\.write/g,
    allowed: /^src\/app\/(main|cli)\.ts$|^src\/app\/cli\/|^src\/kit\/log\.ts$/,
  },
  {
    what: 'declares SQL',
    pattern: /\bstatement\(/g,
    allowed: /\/queries\.ts$|^src\/kit\/(statement|queue)\.ts$/,
  },
  {
    what: 'opens connections to the outside',
    pattern: /from 'undici'|from 'nodemailer\/lib\/smtp|\bfetch\(|from 'node:(net|dns|tls|https)/g,
    allowed: /^src\/kit\//,
  },
];

for (const { what, pattern, allowed } of privileges) {
  test(`only its own place ${what}`, () => {
    const found = offences(
      ours.filter(({ path }) => !allowed.test(path)),
      ({ text }) =>
        [...text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '').matchAll(pattern)].map((match) => match[0]),
    );
    assert.deepEqual(found, []);
  });
}

test('each room says in ten lines what it is', async () => {
  const rooms = [...new Set(sources.map((source) => source.room))];
  const missing: string[] = [];
  for (const room of rooms) {
    const text = await readFile(join(home, 'src', room, 'README.md'), 'utf8').catch(() => '');
    if (text.split('\n').length < 5) missing.push(room);
  }
  assert.deepEqual(missing, []);
});

test('types are never silenced', () => {
  const silenced = offences(
    sources,
    ({ text }) =>
      text.match(/: any\b|as any\b|<any>|@ts-ignore|@ts-expect-error|oxlint-disable|biome-ignore/g) ?? [],
  );
  assert.deepEqual(silenced, []);
});
