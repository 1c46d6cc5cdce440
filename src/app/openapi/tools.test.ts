import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { registerHooks } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core';
import rulesets from '@stoplight/spectral-rulesets';
import { isSlice } from '#test/cases.ts';
import { shareService } from '#test/service.ts';
import { apiRoutes } from '../operations/operations.ts';
import { writeOpenApi } from '../server/server.ts';

/* Checks the document with other tools, by their rules and defaults. */

// The generators use TypeScript's AST factory, which version 7 no longer has.
registerHooks({
  resolve: (specifier, context, next) =>
    next(
      specifier === 'typescript' && /openapi-typescript|@hey-api/.test(context.parentURL ?? '')
        ? 'typescript-5'
        : specifier,
      context,
    ),
});

const service = await shareService();
const openApi = writeOpenApi(apiRoutes(service.services), {
  publicUrl: 'https://forms.formloom.test',
  version: '1.0.0',
});
const text = JSON.stringify(openApi);
/** Parses the document anew each time, because the tools modify it. */
const read = (): Record<string, unknown> => JSON.parse(text) as Record<string, unknown>;

test("Redocly's recommended rules report nothing", async () => {
  // Passes text and casts the function, because checking the object's type costs the compiler a second.
  const make = createConfig as unknown as (rules: object) => Promise<never>;
  const config = await make({ extends: ['recommended'] });
  const problems = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
  assert.deepEqual(
    problems.map(({ ruleId, message, location: [place] }) => `${ruleId}: ${message} ${place?.pointer}`),
    [],
  );
});

test("Spectral's rules for OpenAPI report nothing", { skip: isSlice }, async () => {
  const spectral = new spectralCore.Spectral();
  spectral.setRuleset({ extends: [rulesets.oas as unknown as RulesetDefinition], rules: {} });
  const problems = await spectral.run(read());
  assert.deepEqual(
    problems.map(({ code, message, path }) => `${code}: ${message} ${path.join('/')}`),
    [],
  );
});

test("the README's form compiles strictly with what openapi-typescript and hey-api generate by default", {
  skip: isSlice,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'formloom-generated-'));
  after(() => rm(folder, { recursive: true }));
  const [{ default: generate, astToString }, { createClient }] = await Promise.all([
    import('openapi-typescript'),
    import('@hey-api/openapi-ts'),
  ]);
  await writeFile(join(folder, 'types.ts'), astToString(await generate(read() as never)));
  await createClient({ input: read(), output: join(folder, 'client'), logs: { level: 'silent' } });
  const readme = await readFile(new URL('../../../README.md', import.meta.url), 'utf8');
  const form = /-d '(\{\s+"publish"[^']+)'/.exec(readme)![1]!;
  const made = { client: './client/index.js', types: './types.js' };
  const use = `
    import { createForm, type Element } from '${made.client}';
    import type { components, paths } from '${made.types}';
    type Body = paths['/forms']['post']['requestBody']['content']['application/json'];
    const body: Body = ${form};
    export const settings: components['schemas']['SettingsChange'] = { access: null, theme: { corner: 'soft' } };
    export const element: Element = { type: 'text', attrs: { id: 'a', label: 'A' } };
    type Misspelled = { type: 'tex'; attrs: { id: 'a'; label: 'A' } };
    export const isRefused: Misspelled extends Element ? never : true = true;
    export const made = createForm({ body }).then(({ data }) => data?.public_url.length);
  `;
  await writeFile(join(folder, 'use.ts'), use);
  assert.equal(compile(join(folder, 'use.ts')), '');
});

const compiler = fileURLToPath(new URL('../../../node_modules/typescript/bin/tsc', import.meta.url));

/** Returns the compiler's strict errors for a file, or '' if there are none. */
function compile(file: string): string {
  const options = [
    '--ignoreConfig',
    '--noEmit',
    '--strict',
    '--skipLibCheck',
    '--allowImportingTsExtensions',
  ];
  const language = ['--target', 'es2022', '--module', 'preserve', '--lib', 'es2023,dom,dom.iterable'];
  try {
    return execFileSync(process.execPath, [compiler, ...options, ...language, file], { encoding: 'utf8' });
  } catch (error) {
    return (error as { stdout: string }).stdout;
  }
}

/** Client generators with their defaults. Each writes into a folder and returns the file to compile. */
const generators: Readonly<Record<string, (document: string, folder: string) => Promise<string>>> = {
  async oazapfts(document, folder) {
    const { generateSource } = await import('oazapfts');
    const file = join(folder, 'client.ts');
    await writeFile(file, await generateSource(document));
    return file;
  },
  async 'swagger-typescript-api'(document, folder) {
    const { generateApi } = await import('swagger-typescript-api');
    await generateApi({ input: document, output: folder, fileName: 'client.ts', silent: true });
    return join(folder, 'client.ts');
  },
  async orval(document, folder) {
    const { default: generate } = await import('orval');
    const file = join(folder, 'client.ts');
    await generate({ input: { target: document }, output: { target: file, client: 'fetch' } }, folder);
    return file;
  },
  async kubb(document, folder) {
    // Runs in a separate process, because its types declare an `HTMLElement` and it writes below the working
    // directory.
    const script = `
      import { build } from '@kubb/core';
      import { pluginOas } from '@kubb/plugin-oas';
      import { pluginTs } from '@kubb/plugin-ts';
      import { pluginClient } from '@kubb/plugin-client';
      const config = { root: process.cwd(), input: { path: process.argv[1] }, output: { path: 'client' } };
      const plugins = [pluginOas(), pluginTs(), pluginClient({ client: 'fetch' })];
      const { failedPlugins, error } = await build({ config: { ...config, plugins } });
      if (error || failedPlugins.size > 0) throw new Error('kubb failed', { cause: error ?? [...failedPlugins] });`;
    execFileSync(process.execPath, ['--input-type=module', '-e', script, document], { cwd: folder });
    return join(folder, 'client', 'index.ts');
  },
};

for (const [name, generate] of Object.entries(generators))
  test(`the client that ${name} generates compiles strictly`, {
    skip: isSlice,
  }, async () => {
    // Inside node_modules, so that the client finds its imports.
    const folder = await mkdtemp(
      fileURLToPath(new URL('../../../node_modules/.generated-', import.meta.url)),
    );
    after(() => rm(folder, { recursive: true }));
    const document = join(folder, 'openapi.json');
    await writeFile(document, text);
    assert.equal(compile(await generate(document, folder)), '');
  });
