import type { Page } from 'playwright-core';
import { motion } from '#test/console-browser.ts';
import { element, structure } from '../ast/forms.ts';
import { ada, hears, make, openBuilder, part } from './builder-page.ts';

/* Timed actions in a form of 200 elements, for the test of their limit and for `npm run bench -- builder`. */

/**
 * The maximum time from a key or click to the paint of its result, in ms (issue of the console: "every
 * interaction").
 */
export const mostMs = 100;

/** The actions in the order of their times. */
export const deeds = [
  'arrow to the next element',
  'duplicate',
  'delete the copy',
  'lift an element',
  'carry it down',
  'carry it further',
  'let it go',
  'arrow back',
  'select by a click',
  'write into its label',
  'type a letter',
  'type another',
  'leave the label',
  'undo',
  'add from the palette',
  'leave its label',
  'delete it',
  'select by a click again',
] as const;

/** Opens the builder with a form of 200 elements and runs all actions once as a warm-up. */
export async function openTwoHundred(): Promise<Page> {
  const elements = Array.from({ length: 200 }, (_, index) =>
    element(index % 5 === 0 ? 'radio' : 'text', `e${index}`, { label: `Element ${index}` }),
  );
  const page = await openBuilder(await make(structure(...elements)), ada, motion);
  await part(page, '“Element 100”').focus();
  await timeDeeds(page);
  await hears(page, /\(Email\) deleted$/);
  return page;
}

/** Runs all actions once in the browser and returns the time of each, in ms. */
export const timeDeeds = (page: Page): Promise<number[]> =>
  page.evaluate(`(async () => {
    const canvas = document.querySelector('.canvas-host').shadowRoot;
    const times = [];
    const press = (key) => canvas.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key, ctrlKey: key === 'd' || key === 'z', bubbles: true, composed: true, cancelable: true }));
    const click = (node) => node.dispatchEvent(new MouseEvent('click', { bubbles: true, composed: true, cancelable: true }));
    const named = (words) => canvas.querySelector('[aria-label^="“' + words + '"]');
    const deeds = [
      ...['ArrowDown', 'd', 'Delete', ' ', 'ArrowDown', 'ArrowDown', ' ', 'ArrowUp'].map((key) => () => press(key)),
      () => click(named('Element 150')),
      () => click(named('Element 150').querySelector('label, legend')),
      () => document.execCommand('insertText', false, 'x'),
      () => document.execCommand('insertText', false, 'y'),
      () => press('Escape'),
      () => press('z'),
      () => click([...document.querySelectorAll('.palette button, .pane-start button')].find((node) => node.textContent === 'Email')),
      () => press('Escape'),
      () => press('Delete'),
      () => click(named('Element 100')),
    ];
    for (const deed of deeds) {
      const start = performance.now();
      deed();
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
      times.push(performance.now() - start);
    }
    return times;
  })()`);
