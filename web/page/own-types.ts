import { inputRules } from '#ast/input-rules.ts';
import { type Form, walkElements } from '#ast/tree.ts';
import type { InputRules } from '#ast/types/rules.ts';
import type { Page } from './page.ts';

/** What the script does only on some pages. */
type Part = { readonly start: (page: Page) => void };

/** The rules of late types (src/ast/late-rules.ts), and what the script does at their controls, by the path of the file. */
const rules = import.meta.glob<{ rules: InputRules }>('./*/rules.ts', { base: '../../src/ast/types' });
const starts = import.meta.glob<Part>('./types/*.ts');

/** Brings what types of the form's elements have of their own, and no other type; each is to be started. */
export async function loadTypes(form: Form): Promise<Part[]> {
  const types = new Set([...walkElements(form)].map(({ element }) => element.type));
  const loaded = [...types].map(async (type) => {
    const own = await rules[`./${type}/rules.ts`]?.();
    if (own) Object.assign(inputRules, { [type]: own.rules });
    return (await starts[`./types/${type}.ts`]?.()) ?? [];
  });
  return (await Promise.all(loaded)).flat();
}
