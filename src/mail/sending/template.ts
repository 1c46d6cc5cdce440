import { formatFileSize } from '#ast/basics/format-size.ts';
import type { EmailBlock, EmailBody, EmailField, EmailFile, EmailPart } from '#kit/outbox.ts';

// With a symbol as the key, parsed JSON can never pass for markup.
const markup = Symbol('markup');

/** Markup that is safe to send. Only this file makes it. */
type Markup = { readonly [markup]: string };

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

/**
 * Builds markup: html`<p title="${title}">${text}</p>`. Every part is escaped unless it is markup; attributes
 * must be in quotes.
 */
const html = (literals: TemplateStringsArray, ...parts: readonly Part[]): Markup => ({
  [markup]: literals.reduce((before, literal, index) => before + write(parts[index - 1]!) + literal),
});

/** Returns a constant, such as the style sheet, as markup without escaping it. */
const verbatim = (constant: string): Markup => ({ [markup]: constant });

const toHtml = (content: Markup): string => content[markup];

/**
 * The style of every email: the console's colors, light and dark. Email clients that drop a style sheet show
 * plain, well-ordered text, so nothing depends on it. Contrast is at least 4.5:1 in both schemes.
 */
const style = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
body { margin: 0; padding: 24px 12px; background: #f3f6f5; color: #16201d;
  font: 16px/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif; }
main { max-width: 560px; margin: 0 auto; padding: 28px 24px; background: #ffffff; border: 1px solid #dbe2df; border-radius: 10px; }
h1 { margin: 0 0 16px; font-size: 22px; line-height: 1.3; }
h2 { margin: 28px 0 8px; font-size: 17px; line-height: 1.3; }
p { margin: 0 0 14px; overflow-wrap: anywhere; }
dl { margin: 0 0 14px; }
dt { margin: 14px 0 2px; color: #53605b; font-size: 14px; }
dd { margin: 0; overflow-wrap: anywhere; }
a { color: #0b6655; }
.button { display: inline-block; padding: 12px 20px; border-radius: 8px; background: #0b6655; color: #ffffff; font-weight: 600; text-decoration: none; }
.address, .reason { color: #53605b; font-size: 14px; }
.reason { max-width: 560px; margin: 16px auto 0; padding: 0 24px; }
@media (prefers-color-scheme: dark) {
  body { background: #0f1513; color: #e8eeec; }
  main { background: #171f1c; border-color: #2c3733; }
  dt, .address, .reason { color: #a5b2ad; }
  a { color: #63cdb6; }
  .button { background: #63cdb6; color: #06231d; }
}
`;

type SignFile = (fileId: string) => string;

export type RenderedEmail = { html: string; text: string };

export function renderEmail(letter: EmailBody, signFile: SignFile): RenderedEmail {
  return { html: toHtml(renderEmailHtml(letter, signFile)), text: renderEmailText(letter, signFile) };
}

/** Returns the note below a list of files; empty if there are no files. */
const noteOnFiles = ({ blocks, filesNote }: EmailBody): string[] =>
  blocks.some((block) => block.kind === 'fields' && block.fields.some((field) => 'files' in field))
    ? [filesNote ?? 'Links to files work for one hour after this email was sent.']
    : [];

// HTML ------------------------------------------------------------------------------------------------------

function renderEmailHtml(letter: EmailBody, signFile: SignFile): Markup {
  const { lang = 'en', heading, blocks, reason } = letter;
  return html`<!doctype html>
<html lang="${lang}" dir="auto">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${heading}</title>
<style>${verbatim(style)}</style>
</head>
<body>
<main>
<h1 dir="auto">${heading}</h1>
${blocks.map((block) => renderBlock(block, signFile))}
${noteOnFiles(letter).map((note) => html`<p class="address">${note}</p>`)}
</main>
<footer><p class="reason" dir="auto">${lines(reason)}</p></footer>
</body>
</html>
`;
}

function renderBlock(block: EmailBlock, signFile: SignFile): Markup {
  if (block.kind === 'text') return html`${paragraphs(block.text)}`;
  if (block.kind === 'rich') return renderRich(block);
  if (block.kind === 'heading') return html`<h2 dir="auto">${block.text}</h2>`;
  if (block.kind === 'fields')
    return html`<dl>
${block.fields.map((field) => renderField(field, signFile))}
</dl>`;
  const address = webAddress(block.url);
  return html`<p><a class="button" href="${address}">${block.label}</a></p>
<p class="address">${address}</p>`;
}

type RichBlock = Extract<EmailBlock, { kind: 'rich' }>;

function renderRich({ style: look, lines: written }: RichBlock): Markup {
  // Without line breaks between the parts, because they would show as spaces.
  const drawn = written.map((parts) =>
    parts.map(renderPart).reduce((all, part) => html`${all}${part}`, html``),
  );
  if (look === 'ul') return html`<ul>${drawn.map((line) => html`<li dir="auto">${line}</li>`)}</ul>`;
  if (look === 'ol') return html`<ol>${drawn.map((line) => html`<li dir="auto">${line}</li>`)}</ol>`;
  if (look === 'heading') return html`<h2 dir="auto">${drawn}</h2>`;
  return html`<p dir="auto">${drawn.map((line, index) => (index > 0 ? html`<br>${line}` : line))}</p>`;
}

function renderPart({ text, mark, href }: EmailPart): Markup {
  if (href !== undefined) return html`<a href="${webAddress(href)}">${text}</a>`;
  if (mark === 'bi') return html`<b><i>${text}</i></b>`;
  if (mark === 'b') return html`<b>${text}</b>`;
  return mark === 'i' ? html`<i>${text}</i>` : html`${text}`;
}

const renderField = (field: EmailField, signFile: SignFile): Markup => html`<dt dir="auto">${field.label}</dt>
<dd dir="auto">${'files' in field ? field.files.map((file) => renderFile(file, signFile)) : lines(field.value)}</dd>`;

const renderFile = (file: EmailFile, signFile: SignFile): Markup =>
  html`<a href="${webAddress(signFile(file.id))}">${file.filename}</a> (${formatFileSize(file.size, 'en')})<br>`;

const paragraphs = (text: string): Markup[] =>
  text
    .split(/\n\s*\n/)
    .filter((paragraph) => paragraph.trim() !== '')
    .map((paragraph) => html`<p dir="auto">${lines(paragraph.trim())}</p>`);

/** Renders line breaks as <br>, so that they show even without the style sheet. */
const lines = (text: string): Markup[] => {
  const all = text.split(/\r\n|\r|\n/);
  return all.map((line, index) => (index < all.length - 1 ? html`${line}<br>` : html`${line}`));
};

// Text ------------------------------------------------------------------------------------------------------

function renderEmailText(letter: EmailBody, signFile: SignFile): string {
  const parts = [
    letter.heading,
    ...letter.blocks.map((block) => writeBlock(block, signFile)),
    ...noteOnFiles(letter),
    // The delimiter of a signature (RFC 3676, 4.3): email clients collapse it.
    `-- \n${letter.reason}`,
  ];
  return `${parts.join('\n\n').replaceAll(/\r\n?/g, '\n')}\n`;
}

function writeBlock(block: EmailBlock, signFile: SignFile): string {
  if (block.kind === 'text') return block.text.trim();
  if (block.kind === 'rich') return writeRich(block);
  if (block.kind === 'heading') return block.text;
  if (block.kind === 'button') return `${block.label}:\n${webAddress(block.url)}`;
  return block.fields.map((field) => writeField(field, signFile)).join('\n\n');
}

const writeRich = ({ style: look, lines: written }: RichBlock): string =>
  written
    .map((parts, index) => {
      const line = parts.map(writePart).join('');
      return look === 'ul' ? `- ${line}` : look === 'ol' ? `${index + 1}. ${line}` : line;
    })
    .join('\n');

function writePart({ text, href }: EmailPart): string {
  const address = href === undefined ? text : webAddress(href);
  return address === text ? text : `${text} (${address.replace('mailto:', '')})`;
}

function writeField(field: EmailField, signFile: SignFile): string {
  if ('files' in field) {
    const listed = field.files.map(
      ({ id, filename, size }) =>
        `  ${filename} (${formatFileSize(size, 'en')})\n  ${webAddress(signFile(id))}`,
    );
    return [`${field.label}:`, ...listed].join('\n');
  }
  const indented = field.value.replaceAll(/\r\n|\r|\n/g, '\n  ');
  return `${field.label}:\n  ${indented}`;
}

/** Returns an http, https or mailto URL. The parser also removes characters that could break out of a line. */
function webAddress(address: string): string {
  const url = URL.parse(address);
  return url && /^(?:https?|mailto):$/.test(url.protocol) ? url.href : 'about:blank';
}
