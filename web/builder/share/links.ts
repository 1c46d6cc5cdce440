export type Parameter = { readonly name: string; readonly value: string };

/** The address with the parameters that have a name; names that begin with `_` are the page's own and left out. */
export function linkWith(address: string, parameters: readonly Parameter[]): string {
  const link = new URL(address);
  for (const { name, value } of parameters) {
    const clean = name.trim();
    if (clean !== '' && value !== '' && !clean.startsWith('_')) link.searchParams.append(clean, value);
  }
  return link.href;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => entities[character]!);

/** HTML that shows the form inside another page. */
export function embedSnippet(address: string, name: string): string {
  return `<iframe src="${escape(address)}" title="${escape(name)}"\n  style="inline-size: 100%; block-size: 48rem; border: 0" loading="lazy"></iframe>`;
}
