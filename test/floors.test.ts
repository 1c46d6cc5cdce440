import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

/** The rooms in order, lowest first. Imports only go down, so rooms cannot import each other in a circle. */
const floors = [
  'ast',
  'rules',
  'kit',
  'cells',
  'workspaces',
  'tasks',
  'forms',
  'files',
  'webhooks',
  'submissions',
  'search',
  'invitations',
  'mail',
  'people',
  'backup',
  'page',
  'console',
  'app',
];
/**
 * The rooms of browser code in order. The scripts of the public page, of embedding and of the API reference
 * are independent.
 */
const webFloors = [
  'api',
  'design',
  'conditions',
  'shell',
  'account',
  'settings',
  'forms',
  'webhooks',
  'submissions',
  'invitations',
  'builder',
];
/** The part of the published client that sends requests and throws errors. The console uses it too. */
const transport = 'clients/typescript/src/transport';
const webAlone = ['page', 'embed', 'docs'];

const home = fileURLToPath(new URL('..', import.meta.url));

type Source = {
  path: string;
  /** Undefined outside of the rooms, for the entry and the build of web. */
  room: string | undefined;
  text: string;
  imports: string[];
  /** The imports that exist at runtime, without types. */
  needs: string[];
  /** The dynamic imports. */
  later: (string | undefined)[];
};

const anyImport =
  /(?:^|\s)(?<what>(?:import|export)\s[^'";]*?)from\s+'(?<from>[^']+)'|import\s*\(\s*'(?<later>[^']+)'|^import '(?<alone>[^']+)'/gm;
const isOfTypes = (what: string): boolean =>
  /^(import|export) type\b/.test(what) || /\{(\s*type [^,}]+,?)+\s*\}\s*$/.test(what);

async function readSources(house: 'src' | 'web' | typeof transport): Promise<Source[]> {
  const names = await readdir(join(home, house), { recursive: true });
  const paths = names
    .filter((name) => /\.tsx?$/.test(name))
    .map((name) => posix.join(house, name.replaceAll('\\', '/')));
  return Promise.all(
    paths.map(async (path) => {
      const text = await readFile(join(home, path), 'utf8');
      const found = [...text.matchAll(anyImport)].map(({ groups = {} }) => ({
        specifier: groups['from'] ?? groups['later'] ?? groups['alone']!,
        isType: isOfTypes(groups['what'] ?? ''),
        later: groups['later'],
      }));
      return {
        path,
        room: path.split('/').length > 2 ? path.split('/')[1]! : undefined,
        text,
        imports: found.map(({ specifier }) => specifier),
        needs: found.filter(({ isType }) => !isType).map(({ specifier }) => specifier),
        later: found.map(({ later }) => later),
      };
    }),
  );
}

const sources = await readSources('src');
const webSources = await readSources('web');
const isTest = ({ path }: Source): boolean => /\.test\.tsx?$/.test(path);
const carrying = await readSources(transport);
const ours = sources.filter((source) => !isTest(source));
const web = webSources.filter((source) => !isTest(source));
const isConfig = ({ path }: Source): boolean => path.endsWith('/vite.config.ts');
/** Returns the file of an import, relative to the project's folder, or undefined for a package. */
function target(source: Pick<Source, 'path'>, specifier: string): string | undefined {
  if (specifier.startsWith('#transport/')) return posix.join(transport, posix.basename(specifier));
  if (specifier.startsWith('#')) return posix.join('src', specifier.slice(1));
  if (specifier.startsWith('.')) return posix.join(posix.dirname(source.path), specifier);
  return undefined;
}

/** Returns every violation as a readable line. Tests expect none. */
function offences(candidates: readonly Source[], find: (source: Source) => readonly string[]): string[] {
  return candidates.flatMap((source) => find(source).map((what) => `${source.path}: ${what}`));
}

test('every folder of src and web is a room', () => {
  const rooms = (of: readonly Source[]): string[] => [...new Set(of.map(({ room, path }) => room ?? path))];
  assert.deepEqual(
    rooms(sources).filter((room) => !floors.includes(room)),
    [],
  );
  const outside = ['web/main.tsx', 'web/routes.tsx', 'web/first-load.ts', 'web/vite.config.ts'];
  assert.deepEqual(
    rooms(webSources).filter((room) => ![...webFloors, ...webAlone, ...outside].includes(room)),
    [],
  );
});

test('imports go only to lower rooms', () => {
  const upward = offences(ours, (source) =>
    source.imports.filter((specifier) => {
      const room = target(source, specifier)?.split('/')[1];
      return room !== undefined && floors.indexOf(room) > floors.indexOf(source.room!);
    }),
  );
  assert.deepEqual(upward, []);
});

test('imports of web go only to lower rooms, and independent scripts import no room', () => {
  const upward = offences(
    web.filter(({ room }) => room !== undefined),
    (source) =>
      source.imports.filter((specifier) => {
        const path = target(source, specifier);
        if (path === undefined || !path.startsWith('web/')) return false;
        const room = path.split('/').length > 2 ? path.split('/')[1]! : undefined;
        if (room === source.room) return false;
        if (room === undefined || webAlone.includes(room) || webAlone.includes(source.room!)) return true;
        return webFloors.indexOf(room) > webFloors.indexOf(source.room!);
      }),
  );
  assert.deepEqual(upward, []);
});

/** The names, methods and paths of routes and the format of an ETag, which have no imports. */
const shared = ['#app/operations/routes.ts', '#kit/replies/etag.ts'];

test('web imports from the server only the form language, shared rules, page rendering, routes, ETag format and types of answers', () => {
  const others = offences(web, (source) =>
    source.imports.filter(
      (specifier) =>
        specifier.startsWith('#') &&
        !/^#(ast|rules|page|transport)\//.test(specifier) &&
        !shared.includes(specifier) &&
        source.needs.includes(specifier),
    ),
  );
  assert.deepEqual(others, []);
});

test('browser code imports no server code, directly or indirectly', () => {
  const byPath = new Map([...ours, ...web, ...carrying].map((source) => [source.path, source]));
  const reached = new Set<Source>();
  const reach = (source: Source): void => {
    if (reached.has(source)) return;
    reached.add(source);
    for (const specifier of source.needs) {
      const next = byPath.get(target(source, specifier) ?? '');
      if (next) reach(next);
    }
  };
  for (const source of web) if (!isConfig(source) && source.path !== 'web/first-load.ts') reach(source);
  assert.ok(reached.size > web.length + 50);
  assert.deepEqual(
    offences([...reached], ({ path, needs }) => [
      ...needs.filter((specifier) => specifier.startsWith('node:')),
      ...(/^(web|src\/(ast|rules|page)|clients)\//.test(path) ||
      shared.some((one) => path === target({ path }, one))
        ? []
        : ['is of a server']),
    ]),
    [],
  );
});

test('modules that the service loads on demand are compiled before it starts, because it may be unable to cache them later', () => {
  const main = 'src/app/main.ts';
  const byPath = new Map(ours.map((source) => [source.path, source]));
  const reach = (path: string, isLate: boolean, found = new Set<string>()): Set<string> => {
    const source = byPath.get(path);
    if (!source || found.has(path)) return found;
    found.add(path);
    for (const specifier of source.needs)
      if (isLate || path === main || !source.later.includes(specifier))
        reach(target(source, specifier) ?? '', isLate, found);
    return found;
  };
  const all = reach(main, true);
  assert.ok(all.size > 500);
  assert.deepEqual([...all.difference(reach(main, false))], []);
});

test('an import names the room if it crosses rooms, and not otherwise', () => {
  const wrong = offences(ours, (source) =>
    source.imports.filter((specifier) => {
      const room = target(source, specifier)?.split('/')[1];
      if (room === undefined) return false;
      return specifier.startsWith('#') ? room === source.room : room !== source.room;
    }),
  );
  assert.deepEqual(wrong, []);
});

test('MCP and the operation runner do not import the command line', () => {
  const wrong = offences(
    ours.filter(({ path }) => /^src\/app\/(operations\/run-operation\.ts|mcp\/)/.test(path)),
    (source) => source.imports.filter((specifier) => target(source, specifier)?.startsWith('src/app/cli/')),
  );
  assert.deepEqual(wrong, []);
});

test('imports inside a room are not circular', () => {
  const all = [...ours, ...web];
  const byPath = new Map(all.map((source) => [source.path, source]));
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
  for (const source of all) visit(source, []);
  assert.deepEqual(circles, []);
});

/**
 * The maximum size of the code: files, and lines including blank ones and comments. The goal is 900 files and
 * 104,000 lines. These numbers may only be lowered, so a feature must make room for its lines.
 */
const most = {
  files: 880,
  lines: 137_791,
  linesOfFile: 400,
  mutualFolders: 1,
  endpointsFiles: 16,
  leastMedian: 119,
};

test('the code stays within its size budget', () => {
  const all = [...ours, ...web];
  const sizes = all.map(({ text }) => text.split('\n').length - 1).toSorted((one, other) => one - other);
  const lines = sizes.reduce((sum, size) => sum + size, 0);
  assert.ok(all.length <= most.files, `${all.length} files`);
  assert.ok(lines <= most.lines, `${lines} lines`);
  assert.ok(sizes.at(-1)! <= most.linesOfFile, `a file of ${sizes.at(-1)} lines`);
  assert.ok(sizes[sizes.length >> 1]! >= most.leastMedian, `a median of ${sizes[sizes.length >> 1]} lines`);
  assert.ok(all.filter(({ path }) => path.endsWith('/endpoints.ts')).length <= most.endpointsFiles);
  assert.deepEqual(
    all.filter(({ path }) => path.startsWith('src/') && path.endsWith('/queries.ts')).map(({ path }) => path),
    [],
  );
});

test('the number of folder pairs in a room that import each other only falls', () => {
  const all = [...ours, ...web];
  const paths = new Set(all.map(({ path }) => path));
  const edges = new Set(
    all.flatMap((source) =>
      source.imports.flatMap((specifier) => {
        const to = target(source, specifier);
        const [from, other] = [posix.dirname(source.path), posix.dirname(to ?? '')];
        const isInside =
          to !== undefined && paths.has(to) && to.split('/')[1] === source.room && from !== other;
        return isInside ? [`${from} ${other}`] : [];
      }),
    ),
  );
  const mutual = [...edges].filter((edge) => {
    const [from, to] = edge.split(' ');
    return from! < to! && edges.has(`${to} ${from}`);
  });
  assert.ok(mutual.length <= most.mutualFolders, mutual.join('\n'));
});

test('the form language has no imports and no access to the machine', () => {
  const impure = offences(
    ours.filter((source) => source.room === 'ast'),
    (source) => [
      ...source.imports.filter((specifier) => !/^\.\.?\//.test(specifier)),
      ...(source.text.match(/\b(process|Date\.now|new Date\(\)|Math\.random|fetch|console)\b/g) ?? []),
    ],
  );
  assert.deepEqual(impure, []);
});

test('page rendering also runs in a browser, without node: imports', () => {
  const drawing = ours.filter(({ path }) =>
    /^src\/page\/((render|markup|words)\/|theme\/(look|fonts|font-face|theme-style)\.ts)/.test(path),
  );
  assert.ok(drawing.length >= 5);
  assert.deepEqual(
    offences(drawing, (source) =>
      source.imports.filter((specifier) => specifier.startsWith('node:') || specifier.startsWith('#kit')),
    ),
    [],
  );
});

test('modules have no default exports, barrels or star exports', () => {
  const found = offences([...ours, ...web], (source) => [
    ...(isConfig(source) ? [] : (source.text.match(/^export default\b.*$/gm) ?? [])),
    ...(source.text.match(/^export \* .*$/gm) ?? []),
    ...(/\/index\.tsx?$/.test(source.path) ? ['is a barrel'] : []),
  ]);
  assert.deepEqual(found, []);
});

test('files are named for their content', () => {
  assert.deepEqual(
    offences([...ours, ...web], ({ path }) =>
      /\/(utils?|helpers?|common|manager|service|base|misc)\.tsx?$/.test(path) ? ['says nothing'] : [],
    ),
    [],
  );
});

/** Privileges of a few files, so that a reader knows where to look. */
const privileges: readonly { what: string; pattern: RegExp; allowed: RegExp }[] = [
  {
    what: 'reads the environment',
    pattern: /\bprocess\.env\b/g,
    allowed: /^src\/(app\/main\.ts|app\/cli\.ts|kit\/embedded-(client\.ts|postgres\/))/,
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
    // Rooms that run in a browser have no database.
    allowed: /^src\/(?!ast\/|rules\/|page\/)/,
  },
  {
    what: 'opens connections to the outside',
    pattern: /from 'undici'|from 'nodemailer\/lib\/smtp|\bfetch\(|from 'node:(net|dns|tls|https)/g,
    allowed: /^src\/(kit\/|app\/cli\/(remote-api|listen-command)\.ts$)/,
  },
];

/** Privileges of a few files in browser code. */
const webPrivileges: typeof privileges = [
  {
    what: 'asks the server',
    pattern: /\bfetch\(|\bXMLHttpRequest\b|\bsendBeacon\b|\bEventSource\b|\bWebSocket\b/g,
    allowed: /^web\/(api\/client|page\/(submitting|uploads|start|types\/signature)|docs\/main)\.ts$/,
  },
  {
    what: 'writes markup',
    pattern: /\b(inner|outer)HTML =|dangerouslySetInnerHTML|insertAdjacentHTML/g,
    allowed: /^web\/builder\/canvas\/|^web\/page\//,
  },
  { what: 'prints', pattern: /\bconsole\.(log|error|warn|info|debug)\(/g, allowed: /^web\/main\.tsx$/ },
];

for (const [candidates, table] of [
  [ours, privileges],
  [web, webPrivileges],
] as const)
  for (const { what, pattern, allowed } of table)
    test(`only an allowed file of ${candidates === ours ? 'src' : 'web'} ${what}`, () => {
      const found = offences(
        candidates.filter(({ path }) => !allowed.test(path)),
        ({ text }) =>
          [...text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '').matchAll(pattern)].map((match) => match[0]),
      );
      assert.deepEqual(found, []);
    });

test('an element type consists of its definition, its renderer and a line in each of at most three tables', () => {
  const tables = [
    'src/ast/form/elements.ts',
    'src/ast/form/input-rules.ts',
    'src/ast/form/lazy-rules.ts',
    'src/page/render/elements/element-renderers.ts',
  ];
  // Types whose names have no other meaning. Templates and imports are excluded, because they only use types.
  const types = ['multiple_choice', 'file_upload', 'rating'];
  const others = [...ours, ...web]
    .filter(({ path }) => !/^(web\/forms\/templates|src\/forms\/import)\//.test(path))
    .map(({ path, text }) => ({ path, text: text.replace(/^\s*(\/\/|\*|\/\*).*$/gm, '') }));
  // Definitions and renderers are in files of families, which have several types.
  const own = /^src\/(ast\/types\/\w+-types|page\/render\/elements\/(?!element-renderers)[\w-]+)\.ts$/;
  for (const type of types) {
    const named = others.filter(
      ({ path, text }) => !own.test(path) && new RegExp(`\\b${type}\\b`).test(text),
    );
    assert.deepEqual(
      named.map(({ path }) => path).filter((path) => !tables.includes(path)),
      [],
      type,
    );
    assert.ok(named.length <= 3, `${type} in ${named.map(({ path }) => path).join(', ')}`);
    for (const { path, text } of named) {
      const lines = text
        .split('\n')
        .filter((line) => !line.startsWith('import') && new RegExp(`\\b${type}\\b`).test(line));
      assert.equal(lines.length, 1, `${type} in ${path}`);
    }
  }
});

test('each room has a README that describes it', async () => {
  const rooms = [...new Set(sources.map((source) => source.room!))];
  const missing: string[] = [];
  for (const room of rooms) {
    const text = await readFile(join(home, 'src', room, 'README.md'), 'utf8').catch(() => '');
    if (text.split('\n').length < 5) missing.push(room);
  }
  assert.deepEqual(missing, []);
});

test('what a comment cites exists in the repository', async () => {
  const files = [...sources, ...webSources].filter(({ path }) => path !== 'test/floors.test.ts');
  const rules = await readFile(join(home, 'docs', 'rules.md'), 'utf8');
  const known = new Set([...rules.matchAll(/\*\*([A-Z]?\d+)\b/g)].map(([, rule]) => rule!));
  const pages = new Set(
    (await readdir(join(home, 'docs'), { recursive: true })).map((page) => `docs/${page}`),
  );
  const missing = offences(files, ({ text }) => [
    ...(text.match(/\bDESIGN\b|\b[Rr]eliability`? [0-9A-Z]|`features`|\bresearch\/\w+/g) ?? []),
    ...[...text.matchAll(/\bdocs\/[\w/-]+\.md/g)].map(([page]) => page).filter((page) => !pages.has(page)),
    ...[...text.matchAll(/docs\/rules\.md ([A-Z]?\d+(?:(?:, | and | to |-)[A-Z]?\d+)*)/g)]
      .flatMap(([, cited]) => cited!.split(/, | and | to |-/))
      .filter((rule) => !known.has(rule)),
  ]);
  assert.deepEqual(missing, []);
});

test('each threat is in the threat model, with tests that exist in the repository', async () => {
  const [model, rules] = await Promise.all(
    ['threat-model.md', 'rules.md'].map((page) => readFile(join(home, 'docs', page), 'utf8')),
  );
  const threats = [...rules!.matchAll(/^- \*\*(T\d+)\./gm)].map(([, threat]) => threat!);
  assert.ok(threats.length > 10);
  assert.deepEqual(
    threats.filter((threat) => !new RegExp(`\\b${threat}\\b`).test(model!)),
    [],
  );
  const rows = model!.split('\n').filter((line) => line.startsWith('| **'));
  const held = rows.map((row) =>
    [
      ...row
        .split('|')
        .at(-2)!
        .matchAll(/`([^`]+)`/g),
    ].map(([, path]) => path!),
  );
  assert.ok(held.every((paths) => paths.length > 0));
  const missing = held.flat().filter((path) => !existsSync(join(home, path)));
  assert.deepEqual(missing, []);
});

test('the files and tests cited for OWASP ASVS exist in the repository', async () => {
  const page = await readFile(join(home, 'docs', 'asvs.md'), 'utf8');
  const cited = [...page.matchAll(/`((?:src|web|test|deploy)\/[^`]+)`/g)].map(([, path]) => path!);
  assert.ok(cited.length > 100);
  assert.deepEqual(
    cited.filter((path) => !existsSync(join(home, path))),
    [],
  );
});

test('type errors are never suppressed', () => {
  const silenced = offences(
    // Vite requires a default export.
    [...sources, ...webSources.filter((source) => !isConfig(source))],
    ({ text }) =>
      text.match(
        /(: |as )any\b(?! [a-z]|\.)|<any>|@ts-ignore|@ts-expect-error|oxlint-disable|biome-ignore/g,
      ) ?? [],
  );
  assert.deepEqual(silenced, []);
});
