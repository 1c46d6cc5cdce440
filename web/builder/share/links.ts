export type LinkParameter = { readonly name: string; readonly value: string };

/** Adds named parameters to the URL. Names that begin with `_` are reserved for the page and skipped. */
export function addLinkParameters(address: string, parameters: readonly LinkParameter[]): string {
  const link = new URL(address);
  for (const { name, value } of parameters) {
    const clean = name.trim();
    if (clean !== '' && value !== '' && !clean.startsWith('_')) link.searchParams.append(clean, value);
  }
  return link.href;
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' };
const escape = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => entities[character]!);

/** The options of an embedded form: URL parameters, and the text of a button that opens it. */
type Embedding = { readonly parameters: readonly LinkParameter[]; readonly popup?: string };

/** Returns HTML that shows the form inside any page, inline or behind a button (docs/embedding.md). */
export function embedSnippet(address: string, { parameters, popup }: Embedding): string {
  const form = new URL(address).pathname.split('/').at(-1)!;
  const prefill = new URL(addLinkParameters(address, parameters)).search.slice(1);
  const attributes = {
    src: new URL('../embed.js', address).href,
    'data-form': form,
    'data-prefill': prefill,
    'data-popup': popup ?? '',
  };
  const written = Object.entries(attributes)
    .filter(([, value]) => value !== '')
    .map(([name, value]) => `${name}="${escape(value)}"`);
  return `<script ${written.join('\n  ')}></script>`;
}
