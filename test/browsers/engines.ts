import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort, until } from '#test/service.ts';

/*
 * Starts Firefox and WebKitGTK and sends them the commands of W3C WebDriver: WebKit's driver over HTTP, and
 * Firefox over its own protocol (Marionette), which has the same commands and needs no other program.
 */

/** A command of WebDriver: its name in Marionette, and its method and path over HTTP. */
const commands = {
  navigate: ['WebDriver:Navigate', 'POST url'],
  run: ['WebDriver:ExecuteScript', 'POST execute/sync'],
  print: ['WebDriver:Print', 'POST print'],
  authenticator: ['WebAuthn:AddVirtualAuthenticator', 'POST webauthn/authenticator'],
  click: ['WebDriver:ElementClick', 'POST element/{id}/click'],
  sendKeys: ['WebDriver:ElementSendKeys', 'POST element/{id}/value'],
  act: ['WebDriver:PerformActions', 'POST actions'],
  resize: ['WebDriver:SetWindowRect', 'POST window/rect'],
  back: ['WebDriver:Back', 'POST back'],
  clearCookies: ['WebDriver:DeleteAllCookies', 'DELETE cookie'],
  addCookie: ['WebDriver:AddCookie', 'POST cookie'],
  enterFrame: ['WebDriver:SwitchToFrame', 'POST frame'],
} as const;
export type Command = keyof typeof commands;

/** A running browser with one window. */
export type Engine = {
  readonly name: EngineName;
  readonly send: (command: Command, parameters?: Readonly<Record<string, unknown>>) => Promise<unknown>;
  readonly close: () => Promise<void>;
};
export type EngineName = 'Firefox' | 'WebKit';

const programs = {
  Firefox: ['/usr/bin/firefox-esr', '/usr/bin/firefox'],
  WebKit: ['/usr/bin/WebKitWebDriver'],
} as const satisfies Record<EngineName, readonly string[]>;
const display = '/usr/bin/Xvfb';

const programOf = (name: EngineName): string | undefined => programs[name].find((path) => existsSync(path));

/** Returns what to install before the engine can start, or undefined if everything is there. */
export function missingFor(name: EngineName): string | undefined {
  if (name === 'Firefox' && !programOf(name)) return 'Firefox is not installed (Debian: firefox-esr)';
  if (name === 'WebKit' && !(programOf(name) && existsSync(display)))
    return 'WebKitGTK is not installed (Debian: webkit2gtk-driver xvfb)';
  return undefined;
}

/** @param hasScripts whether pages may run JavaScript. */
export const openEngine = (name: EngineName, hasScripts = true): Promise<Engine> =>
  name === 'Firefox' ? openFirefox(hasScripts) : openWebKit(hasScripts);

/** The language of the browser. Without it, WebKit reports a language tag that no real browser sends. */
const language = { LANG: 'en_US.UTF-8', LANGUAGE: 'en_US' };

/** Starts a program that ends with the engine. Its output is only noise about the missing desktop. */
function start(program: string, parameters: readonly string[], environment = {}): ChildProcess {
  const env = { ...process.env, ...language, ...environment };
  return spawn(program, parameters, { env, stdio: 'ignore', detached: true });
}

/** Ends a program and its children: browsers start several processes. */
async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  process.kill(-child.pid!, 'SIGKILL');
  await ended;
}

const makeFolder = (): Promise<string> => mkdtemp(join(tmpdir(), 'formloom-engine-'));

/** Firefox shows no dialogs, contacts no servers, and listens on a free port, which it reports. */
const preferences = Object.entries({
  'marionette.port': 0,
  'intl.accept_languages': 'en-US',
  'datareporting.policy.dataSubmissionEnabled': false,
  'network.captive-portal-service.enabled': false,
  'browser.aboutwelcome.enabled': false,
  // The virtual authenticator works only without the others.
  'security.webauth.webauthn_enable_usbtoken': false,
  'security.webauth.webauthn_enable_softtoken': true,
})
  .map(([name, value]) => `user_pref("${name}", ${JSON.stringify(value)});\n`)
  .join('');

async function openFirefox(hasScripts: boolean): Promise<Engine> {
  const folder = await makeFolder();
  await writeFile(join(folder, 'user.js'), `${preferences}user_pref("javascript.enabled", ${hasScripts});\n`);
  const child = start(
    programOf('Firefox')!,
    ['--headless', '--marionette', '--no-remote', '--profile', folder],
    {
      HOME: folder,
    },
  );
  const port = await until('Firefox to listen', () =>
    readFile(join(folder, 'MarionetteActivePort'), 'utf8').then(
      (text) => Number(text) || undefined,
      () => undefined,
    ),
  );
  const marionette = await openMarionette(port);
  await marionette.send('WebDriver:NewSession', {
    capabilities: { alwaysMatch: { acceptInsecureCerts: true } },
  });
  return {
    name: 'Firefox',
    send: (command, parameters = {}) => marionette.send(commands[command][0], parameters),
    async close() {
      marionette.close();
      await end(child);
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** The key under which WebDriver returns a reference to an element. */
export const elementKey = 'element-6066-11e4-a52e-4f735466cecf';
/** A message of Marionette is its length, a colon, and JSON: `[type, id, command or error, parameters or result]`. */
async function openMarionette(port: number) {
  const socket: Socket = connect(port, '127.0.0.1');
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let received = Buffer.alloc(0);
  let [count, hasGreeted] = [0, false];
  const greeting = Promise.withResolvers<void>();
  const accept = (message: unknown): void => {
    if (!hasGreeted) {
      hasGreeted = true;
      return greeting.resolve();
    }
    const [, id, error, result] = message as [1, number, { error: string; message: string } | null, unknown];
    const answer = waiting.get(id)!;
    waiting.delete(id);
    if (error) answer.reject(new Error(`${error.error}: ${error.message}`));
    else answer.resolve(isWrapped(result) ? result.value : result);
  };
  socket.on('data', (data) => {
    received = Buffer.concat([received, data]);
    for (;;) {
      const colon = received.indexOf(':');
      const length = Number(received.subarray(0, Math.max(colon, 0)));
      if (colon < 0 || received.length < colon + 1 + length) return;
      const text = received.subarray(colon + 1, colon + 1 + length).toString();
      received = received.subarray(colon + 1 + length);
      accept(JSON.parse(text));
    }
  });
  socket.on('error', (error) => greeting.reject(error));
  await greeting.promise;
  return {
    send(command: string, parameters: object): Promise<unknown> {
      count += 1;
      const answer = Promise.withResolvers<unknown>();
      waiting.set(count, answer);
      const text = JSON.stringify([0, count, command, parameters]);
      socket.write(`${Buffer.byteLength(text)}:${text}`);
      return answer.promise;
    },
    close: () => socket.destroy(),
  };
}

const isWrapped = (result: unknown): result is { value: unknown } =>
  typeof result === 'object' && result !== null && 'value' in result;

const processor = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
const miniBrowser = `/usr/lib/${processor}-linux-gnu/webkit2gtk-4.1/MiniBrowser`;

async function openWebKit(hasScripts: boolean): Promise<Engine> {
  const folder = await makeFolder();
  const port = await freePort();
  const number = `:${port}`;
  const screen = start(display, [number, '-screen', '0', '1400x1000x24', '-nolisten', 'tcp']);
  await until('the display', async () => existsSync(`/tmp/.X11-unix/X${port}`));
  const driver = start(programOf('WebKit')!, [`--port=${port}`], {
    DISPLAY: number,
    GDK_BACKEND: 'x11',
    XDG_RUNTIME_DIR: folder,
    HOME: folder,
    NO_AT_BRIDGE: '1',
    WEBKIT_DISABLE_DMABUF_RENDERER: '1',
  });
  const base = `http://127.0.0.1:${port}`;
  await until('the driver of WebKit', () =>
    fetch(`${base}/status`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(`${base}/session${path}`, {
      method,
      ...(body && method === 'POST' && { body: JSON.stringify(body) }),
    });
    const { value } = (await response.json()) as { value: { error?: string; message?: string } | null };
    if (!response.ok) throw new Error(`${value?.error}: ${value?.message}`);
    return value;
  };
  const { sessionId } = (await ask('POST', '', {
    capabilities: {
      alwaysMatch: {
        ...(!hasScripts && {
          'webkitgtk:browserOptions': {
            binary: miniBrowser,
            args: ['--automation', '--enable-javascript=false'],
          },
        }),
      },
    },
  })) as {
    sessionId: string;
  };
  return {
    name: 'WebKit',
    send(command, parameters = {}) {
      const [method, path] = commands[command][1].split(' ') as [string, string];
      return ask(method, `/${sessionId}/${path.replace('{id}', String(parameters['id']))}`, parameters);
    },
    async close() {
      await ask('DELETE', `/${sessionId}`).catch(() => {});
      await end(driver);
      await end(screen);
      await rm(folder, { recursive: true, force: true });
    },
  };
}
