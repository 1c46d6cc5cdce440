import { mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import packedChromium, { inflate } from '@sparticuz/chromium';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { closeAtEnd } from './group.ts';

const packageRoot = new URL('..', import.meta.resolve('@sparticuz/chromium'));

let launched: Promise<Browser> | undefined;
let isShared = false;

/**
 * The Chromium that npm installed; nothing of the machine's is needed. Works as root and as an ordinary user. The first call
 * on a machine unpacks it, about 4 s and 220 MB in the temporary folder. Test files of one process share it, as each start
 * takes 0.25 s of CPU, and each has windows of its own; close it when done, which closes those.
 */
export async function openBrowser(): Promise<Browser> {
  if (launched && !(await launched).isConnected()) launched = undefined;
  const browser = await (launched ??= launch());
  const contexts: BrowserContext[] = [];
  return Object.assign(Object.create(browser) as Browser, {
    async newContext(options?: BrowserContextOptions) {
      const context = await browser.newContext(options);
      context.setDefaultTimeout(patienceMs);
      contexts.push(context);
      return context;
    },
    async close() {
      await Promise.all(contexts.map((context) => context.close()));
      if (!isShared) await browser.close();
    },
  });
}

/** Windows of this size, each used by one test after the other: a new one loads everything anew. */
export function reuseWindows(
  browser: Browser,
  viewport: { width: number; height: number },
): { open: () => Promise<Page>; leave: (page: Page) => Promise<void> } {
  const left: Page[] = [];
  return {
    /** One that a test was done with, or a new one: of a test that fails nobody goes on in its. */
    open: async () => left.pop() ?? (await browser.newPage({ viewport })),
    async leave(page) {
      await page.unrouteAll();
      await page.evaluate('localStorage.clear(), sessionStorage.clear()');
      await page.context().clearCookies();
      await page.setViewportSize(viewport);
      await page.emulateMedia({ colorScheme: null, forcedColors: null, reducedMotion: null });
      left.push(page);
    },
  };
}

async function launch(): Promise<Browser> {
  const home = await unpackOnce();
  const browser = await chromium.launch({
    executablePath: join(home, 'chromium'),
    // Chromium refuses its sandbox to root, and containers often lack what it needs. It opens our own pages only.
    args: ['--no-sandbox', '--font-render-hinting=none'],
    env: {
      ...process.env,
      FONTCONFIG_FILE: join(home, 'fonts.conf'),
      // Last, so that libraries that the machine has go first.
      LD_LIBRARY_PATH: [process.env['LD_LIBRARY_PATH'], join(home, 'al2023/lib')].filter(Boolean).join(':'),
    },
  });
  isShared = closeAtEnd(() => browser.close());
  return browser;
}

/**
 * So long a browser is waited for at each thing, by every test: most of it comes at once, a busy machine takes many times as
 * long, and the tries of a proof of work are luck, 0.2 s of them on average.
 */
const patienceMs = 60_000;

/** The unpacked browser: one folder per version and user, as no user may run what another could have put there. */
async function unpackOnce(): Promise<string> {
  const { version } = JSON.parse(await readFile(new URL('package.json', packageRoot), 'utf8')) as {
    version: string;
  };
  const user = process.getuid?.() ?? 0;
  // A run keeps its own files in memory: not this, which is for all runs.
  const home = join(process.env['TEST_KEPT'] ?? tmpdir(), `formloom-browser-${version}-${user}`);
  if (!(await isOwnFolder(home, user))) await unpack(home);
  return home;
}

async function isOwnFolder(path: string, user: number): Promise<boolean> {
  const found = await stat(path).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (found && process.getuid && found.uid !== user)
    throw new Error(`${path} belongs to another user. Remove it.`);
  return found !== undefined;
}

/** Unpacks beside the target and renames: test files run at once, and none may start a half-written browser. */
async function unpack(home: string): Promise<void> {
  const draft = await mkdtemp(`${home}-`);
  const temporary = process.env['TMPDIR'];
  // The package unpacks into the temporary folder, whatever that is.
  process.env['TMPDIR'] = draft;
  try {
    await Promise.all([
      packedChromium.executablePath(),
      inflate(fileURLToPath(new URL('bin/al2023.tar.br', packageRoot))),
      writeFile(join(draft, 'fonts.conf'), fontsIn(home)),
    ]);
  } finally {
    if (temporary === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = temporary;
  }
  try {
    await rename(draft, home);
  } catch (error) {
    await rm(draft, { recursive: true });
    const isThere =
      error instanceof Error && 'code' in error && ['ENOTEMPTY', 'EEXIST'].includes(String(error.code));
    if (!isThere) throw error;
  }
}

/** The fonts that came with the browser alone: those of a machine differ, and with them how high a line is before a face arrives. */
function fontsIn(home: string): string {
  return `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>${home}/fonts</dir>
  <cachedir>${home}/fonts-cache</cachedir>
  <alias binding="strong"><family>system-ui</family><prefer><family>Open Sans</family></prefer></alias>
  <alias binding="strong"><family>sans-serif</family><prefer><family>Open Sans</family></prefer></alias>
</fontconfig>
`;
}
