// A symbol as the key: nothing that was parsed from JSON can pass for markup.
const markup = Symbol('markup');

/** Markup that is safe to send. Only this file makes it. */
export type Markup = { readonly [markup]: string };

type Part = Markup | string | readonly Markup[];

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const write = (part: Part): string => {
  if (typeof part === 'string') return part.replaceAll(/[&<>"']/g, (character) => entities[character]!);
  return markup in part ? part[markup] : part.map(write).join('\n');
};

/** html`<p title="${title}">${text}</p>`: every part is escaped unless it is markup; attributes are in quotes. */
export const html = (literals: TemplateStringsArray, ...parts: readonly Part[]): Markup => ({
  [markup]: literals.reduce((before, literal, index) => before + write(parts[index - 1]!) + literal),
});

/** A constant of our own, unescaped: the style sheet. */
export const verbatim = (constant: string): Markup => ({ [markup]: constant });

export const toHtml = (made: Markup): string => made[markup];
