import { until } from '#test/service.ts';
import { type Engine, elementKey } from './engines.ts';

/** A reference to an element, as WebDriver passes it to scripts and back. */
type ElementReference = { readonly [elementKey]: string };

/** Keys that have no character, by WebDriver. */
export const keys = {
  tab: '\uE004',
  enter: '\uE007',
  escape: '\uE00C',
  left: '\uE012',
  up: '\uE013',
  right: '\uE014',
  down: '\uE015',
} as const;

/**
 * Finds the visible elements of a selector whose name is or contains a text. Runs in the browser, as text,
 * because this program's types have no document.
 */
const findScript = `
  const [selector, name] = arguments;
  const nameOf = (element) =>
    (element.getAttribute('aria-label') ?? [...(element.labels ?? [])].map((label) => label.innerText).join(' '))
    || element.innerText || element.value || '';
  const shown = [...document.querySelectorAll(selector)].filter(
    (element) => !element.matches('.unseen') && element.getClientRects().length > 0 && getComputedStyle(element).visibility !== 'hidden');
  if (name === undefined || name === null) return shown[0] ?? null;
  const trimmed = (element) => nameOf(element).trim().replace(/\\s+/g, ' ');
  return shown.find((element) => trimmed(element) === name)
    ?? shown.find((element) => trimmed(element).includes(name)) ?? null;
`;

export type Tab = ReturnType<typeof openTab>;

/** What a test does in a browser's window. Every action waits for its element. */
export function openTab(engine: Engine) {
  const { send } = engine;
  const run = async <T>(script: string, ...args: unknown[]): Promise<T> =>
    (await send('run', { script, args })) as T;
  const find = (selector: string, name?: string): Promise<ElementReference> =>
    until(
      `${engine.name}: ${selector} ${name ?? ''}`,
      async () => (await run<ElementReference | null>(findScript, selector, name ?? null)) ?? undefined,
    );
  const idOf = async (selector: string, name?: string): Promise<string> =>
    (await find(selector, name))[elementKey];
  const tab = {
    engine,
    run,
    find,
    open: (url: string) => send('navigate', { url }),
    click: async (selector: string, name?: string) => {
      await run(`arguments[0].scrollIntoView({ block: 'center' })`, await find(selector, name));
      await send('click', { id: await idOf(selector, name) });
    },
    /** Types into the field with this label, after what it contains. */
    type: async (selector: string, name: string | undefined, text: string) =>
      send('sendKeys', { id: await idOf(selector, name), text }),
    /** Presses keys one by one, wherever the focus is. */
    press: (text: string) =>
      send('act', {
        actions: [
          {
            type: 'key',
            id: 'keyboard',
            actions: Array.from(text).flatMap((value) => [
              { type: 'keyDown', value },
              { type: 'keyUp', value },
            ]),
          },
        ],
      }),
    /** Drags from the middle of an element by some pixels. */
    drag: async (
      selector: string,
      name: string | undefined,
      by: { x: number; y: number },
      pointerType: 'mouse' | 'touch' = 'mouse',
    ) => {
      const origin = await find(selector, name);
      const steps = [1, 2, 3, 4].map((part) => ({
        type: 'pointerMove',
        duration: 20,
        origin: 'pointer',
        x: Math.round((by.x * part) / 4) - Math.round((by.x * (part - 1)) / 4),
        y: Math.round((by.y * part) / 4) - Math.round((by.y * (part - 1)) / 4),
      }));
      await send('act', {
        actions: [
          {
            type: 'pointer',
            id: pointerType,
            parameters: { pointerType },
            actions: [
              { type: 'pointerMove', duration: 0, origin, x: 0, y: 0 },
              { type: 'pointerDown', button: 0 },
              ...steps,
              { type: 'pointerUp', button: 0 },
            ],
          },
        ],
      });
    },
    /** Waits until a visible element contains a text. */
    see: (text: string, selector = 'body') =>
      until(`${engine.name}: "${text}"`, () =>
        run<boolean>(
          `return [...document.querySelectorAll(arguments[0])].some((each) =>
            each.getClientRects().length > 0 && each.innerText.includes(arguments[1]))`,
          selector,
          text,
        ),
      ),
    waitFor: (what: string, script: string, ...args: unknown[]) =>
      until(`${engine.name}: ${what}`, () => run<boolean>(script, ...args)),
    resize: (width: number, height: number) => send('resize', { width, height, x: 0, y: 0 }),
  };
  return tab;
}
