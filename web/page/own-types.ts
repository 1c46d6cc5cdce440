import { inputRules } from '#ast/input-rules.ts';
import { type Form, walkElements } from '#ast/tree.ts';
import type { InputRules } from '#ast/types/rules.ts';
import type { Page } from './page.ts';

/** The rules of late types (src/ast/late-rules.ts), and what the script does at their controls, by the path of the file. */
const rules = import.meta.glob<InputRules>('../../src/ast/types/*/rules.ts', { import: 'rules' });
const starts = import.meta.glob<(page: Page) => void>('./types/*.ts', { import: 'start' });

/** Brings what types of the form's elements have of their own, and no other type; the starts are to be called. */
export async function loadTypes(form: Form): Promise<((page: Page) => void)[]> {
  const types = new Set([...walkElements(form)].map(({ element }) => element.type));
  const loaded = [...types].map(async (type) => {
    const own = await rules[`../../src/ast/types/${type}/rules.ts`]?.();
    if (own) Object.assign(inputRules, { [type]: own });
    return (await starts[`./types/${type}.ts`]?.()) ?? [];
  });
  return (await Promise.all(loaded)).flat();
}
