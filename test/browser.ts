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
 * Opens the Chromium that npm installed, without any browser of the machine, as root or an ordinary user. The
 * first call on a machine unpacks it: about 4 s and 220 MB in the temporary folder. Test files of one process
 * share it, because each start takes 0.25 s of CPU. Each file has its own windows; `close` closes them.
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

/** Reuses windows of this size for one test after another, because a new window loads everything again. */
export function reuseWindows(
  browser: Browser,
  viewport: { width: number; height: number },
): { open: () => Promise<Page>; leave: (page: Page) => Promise<void> } {
  const left: Page[] = [];
  return {
    /**
     * Returns a window that a test has finished with, or a new one. The window of a failed test is not
     * reused.
     */
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
    // Chromium refuses its sandbox to root, and containers often lack what it needs. Tests open only our
    // pages.
    args: ['--no-sandbox', '--font-render-hinting=none'],
    env: {
      ...process.env,
      FONTCONFIG_FILE: join(home, 'fonts.conf'),
      // Last, so that the machine's libraries have priority.
      LD_LIBRARY_PATH: [process.env['LD_LIBRARY_PATH'], join(home, 'al2023/lib')].filter(Boolean).join(':'),
    },
  });
  isShared = closeAtEnd(() => browser.close());
  return browser;
}

/**
 * The timeout of every browser action, in milliseconds. Most finish immediately, but a busy machine takes
 * many times longer. The duration of a proof of work is random, 0.2 s on average.
 */
const patienceMs = 60_000;

/**
 * Unpacks the browser once per version and user. A user must not run files that another user could have
 * written.
 */
async function unpackOnce(): Promise<string> {
  const { version } = JSON.parse(await readFile(new URL('package.json', packageRoot), 'utf8')) as {
    version: string;
  };
  const user = process.getuid?.() ?? 0;
  // `TEST_KEPT`, because a run keeps its temporary files in memory, and all runs share the browser.
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

/**
 * Unpacks beside the target and renames it. Test files run in parallel, and none may start an incomplete
 * browser.
 */
async function unpack(home: string): Promise<void> {
  const draft = await mkdtemp(`${home}-`);
  const temporary = process.env['TMPDIR'];
  // The package always unpacks into the temporary folder.
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

/**
 * Limits fonts to those that came with the browser. Fonts of the machine differ, and with them the line
 * height before a web font loads.
 */
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
