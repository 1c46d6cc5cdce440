/** What `{{…}}` may stand for in a subject and a message, beside the names of reference values. */
export const placeholders = {
  name: 'The name of the person.',
  email: 'The address of the person.',
  form: 'The name of the form.',
  link: 'The personal link. The mail has a button for it in any case.',
  expires: 'The day on which the link runs out.',
} as const satisfies Record<string, string>;

/** `{{name}}`, or `{{name|friend}}` with what stands there when there is no value. */
const pattern = /\{\{\s*([^{}|]{1,64}?)\s*(?:\|([^{}]{0,200}))?\}\}/gu;

/** Puts values in the place of placeholders, once: what a value holds is text. */
export function fillPlaceholders(text: string, values: ReadonlyMap<string, string>): string {
  return text.replaceAll(
    pattern,
    (_, name: string, otherwise: string | undefined) => values.get(name) || (otherwise ?? ''),
  );
}

/** The placeholders of a text that stand for nothing. */
export function unknownPlaceholders(text: string, referenceNames: ReadonlySet<string>): string[] {
  const named = [...text.matchAll(pattern)].map(([, name]) => name!);
  return [...new Set(named)].filter(
    (name) => !Object.hasOwn(placeholders, name) && !referenceNames.has(name),
  );
}
