import { fillTemplate } from '#ast/basics/words.ts';
import { fillPiped } from '#ast/form/piping.ts';
import { renderDocument } from '../markup/document.ts';
import { attributes, type FormatAnswer, type Html, html, renderPiped, safeUrl } from '../markup/html.ts';
import type { PageStyle } from '../theme/page-style.ts';
import type { Words } from '../words/words.ts';
import { renderProse } from './steps.ts';

/** What the pages have in common. In an embedded page, `script` reports its height to the embedding page. */
type PageFrame = {
  readonly language: string;
  readonly look?: PageStyle | undefined;
  readonly script?: string | undefined;
  /** Links to this page in the form's other languages. */
  readonly languages?: Html | undefined;
};

const renderPage = ({ language, look, script }: PageFrame, title: string, main: Html): string =>
  renderDocument({ language, look, script, title, main });

/** The texts and links of the confirmation page. */
type Confirmation = {
  readonly formName: string;
  /** The author's title and message. */
  readonly title?: string | undefined;
  readonly message: string | undefined;
  /** Formats the answers shown in the title and message. */
  readonly say?: FormatAnswer | undefined;
  /** The confirmation code. */
  readonly receipt: string;
  /** The edit link, and the last day on which it works. */
  readonly edit?:
    | {
        readonly address: string;
        readonly until: string;
        readonly leavesFrame: boolean;
        /** Set if the instance can send email. */
        readonly mail?: LinkMailForm | undefined;
      }
    | undefined;
  /** The link to cancel the submission. */
  readonly cancel?: { readonly address: string; readonly leavesFrame: boolean } | undefined;
  /** The link to the PDF of the answers. */
  readonly pdf?: { readonly address: string; readonly leavesFrame: boolean } | undefined;
  /** The result of a quiz, and the link to its certificate. */
  readonly quiz?: Html | undefined;
  readonly certificate?: { readonly address: string; readonly leavesFrame: boolean } | undefined;
  /** The author's redirect URL, which opens outside the frame. */
  readonly onward?: string | undefined;
  /** The link to submit another response. */
  readonly again?: string | undefined;
  readonly words: Words;
} & PageFrame;

/** Renders the page after a submission. Its heading gets the focus. */
export function renderConfirmation(view: Confirmation): string {
  const { words, edit, pdf, quiz, certificate, onward, again, title, say: formatAnswer = () => '' } = view;
  return renderPage(
    view,
    title === undefined
      ? fillTemplate(words.thanksTitle, { title: view.formName })
      : `${fillPiped(title, (id) => formatAnswer(id))} – ${view.formName}`,
    html`<div class="notice done">
<h1 tabindex="-1" autofocus>${renderPiped(title ?? words.thanks, formatAnswer)}</h1>
${renderProse(view.message || words.received, (part) => renderPiped(part, formatAnswer))}
${quiz}
${certificate && html`<p class="prose">${link({ ...certificate, text: words.certificateLink })}</p>`}
<div class="receipt"><p>${view.formName}<br>${words.receipt}</p>
<p class="copied"><code${copyable(words, words.receipt)}>${view.receipt}</code></p></div>
${onward !== undefined && html`<p class="prose">${link({ address: onward, text: words.goOn, leavesFrame: true })}</p>`}
${pdf && html`<p class="prose">${link({ ...pdf, text: words.pdfLink })}</p>`}
${
  edit &&
  html`<div class="edit_link"><p class="copied">${link({ ...edit, text: words.editLink, copying: copyable(words, words.editLink) })}</p>
<p>${fillTemplate(words.editUntil, { date: edit.until })}</p>
${edit.mail && foldedMailForm(edit.mail, words)}</div>`
}
${view.cancel && html`<p class="prose">${link({ ...view.cancel, text: words.cancelLink })}</p>`}
${again !== undefined && html`<p>${link({ address: again, text: words.again, className: 'again' })}</p>`}
${view.languages}
</div>`,
  );
}

/** The attributes of a text or link that the script adds a Copy button to (web/page/copy.ts). */
const copyable = ({ copy, copied }: Words, name: string): Html =>
  attributes({ 'data-copy': copy, 'data-copied': copied, 'data-name': name });

type Link = {
  readonly address: string;
  readonly text: string;
  readonly leavesFrame?: boolean;
  readonly className?: string;
  readonly copying?: Html;
};

/** A request that a visitor can repeat, even without a script: its URL and fields. */
export type RetryableRequest = {
  readonly method: 'get' | 'post';
  readonly address: string;
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly text: string;
};

const retry = ({
  method,
  address,
  fields,
  text,
}: RetryableRequest): Html => html`<form method="${method}" action="${safeUrl(address)}">
${fields.map(([name, value]) => html`<input${attributes({ type: 'hidden', name, value })}>`)}
<div class="actions"><button type="submit" class="submit">${text}</button></div>
</form>`;

function link({ address, text, className, copying, leavesFrame = false }: Link): Html {
  const target = attributes({ href: safeUrl(address), target: leavesFrame && '_top', class: className });
  return html`<a${target}${copying}>${text}</a>`;
}

/** The result of the last attempt to email a personal link. */
export type LinkMailResult = {
  readonly given?: string | undefined;
  readonly problem?: string | undefined;
  readonly sentTo?: string | undefined;
};

/** The form that emails a personal link. `action` is the address to post to. */
export type LinkMailForm = LinkMailResult & { readonly action: string };

/** Renders the email form behind its title, open if it has something to report. */
const foldedMailForm = (mail: LinkMailForm, words: Words): Html =>
  html`<details${attributes({ open: mail.problem !== undefined || mail.sentTo !== undefined })}>
<summary>${words.mailLink}</summary>
${mailForm(mail, words)}
</details>`;

function mailForm({ action, given, problem, sentTo }: LinkMailForm, words: Words): Html {
  if (sentTo !== undefined)
    return html`<p class="prose" role="status">${fillTemplate(words.mailLinkSent, { address: sentTo })}</p>`;
  const input = { type: 'email', value: given, autocomplete: 'email', required: true };
  return html`<form method="post" action="${safeUrl(action)}" novalidate>
${renderField('mail', { label: words.mailLinkTo, problem, input })}
<div class="actions"><button type="submit" class="submit">${words.mailLink}</button></div>
</form>`;
}

/** Renders the only field of a form, with its problem. */
function renderField(
  name: string,
  field: { label: string; problem: string | undefined; input: Parameters<typeof attributes>[0] },
): Html {
  const { label, problem, input } = field;
  const [id, errorId] = [`_${name}`, `error~${name}`];
  const invalid = { 'aria-describedby': errorId, 'aria-invalid': problem !== undefined && 'true' };
  return html`<div class="field labelled${problem !== undefined && ' invalid'}">
<label for="${id}">${label}</label>
<div id="${errorId}" class="error">${problem !== undefined && html`<p>${problem}</p>`}</div>
<input${attributes({ id, name: id, ...input, ...invalid })}>
</div>`;
}

/**
 * Renders the page after saving. It shows the whole resume link, so that it can be copied or written down.
 */
export function renderSavedPage(
  view: {
    formName: string;
    /** The absolute URL of the resume link. */
    address: string;
    until: string;
    words: Words;
    /** Set if the instance can send email. */
    mail?: LinkMailForm | undefined;
  } & PageFrame,
): string {
  const { words, address, mail } = view;
  return renderPage(
    view,
    `${words.savedTitle} – ${view.formName}`,
    html`<div class="notice done">
<h1 tabindex="-1" autofocus>${words.savedTitle}</h1>
${renderProse(words.savedText)}
<p class="receipt copied">${link({ address, text: address, leavesFrame: view.look?.isEmbedded === true, copying: copyable(words, words.savedTitle) })}</p>
${renderProse(fillTemplate(words.savedUntil, { date: view.until }))}
${mail && mailForm(mail, words)}
</div>`,
  );
}

/**
 * Renders a page with one message: closed, not found, gone, too large, or an error. The page of a form also
 * shows its name.
 */
export function renderNotice(
  view: {
    formName?: string | undefined;
    title: string;
    message: string;
    /** What the visitor can do next. */
    next?: string | undefined;
    again?: RetryableRequest | undefined;
    link?: Link | undefined;
  } & PageFrame,
): string {
  const { formName, title, again } = view;
  return renderPage(
    view,
    formName === undefined ? title : `${title} – ${formName}`,
    html`${formName !== undefined && formHeader(formName)}
<div class="notice">
${formName === undefined ? html`<h1>${title}</h1>` : html`<h2>${title}</h2>`}
${renderProse(view.message)}
${renderProse(view.next)}
${again && retry(again)}
${view.link && html`<div class="actions">${link(view.link)}</div>`}
${view.languages}
</div>`,
  );
}

/** The form's name, as on its own page. */
const formHeader = (name: string): Html => html`<header>
<h1>${name}</h1>
</header>`;

/** Renders the page that asks for the form's password. */
export function renderPasswordForm(
  view: {
    formName: string;
    action: string;
    problem: string | undefined;
    words: Words;
  } & PageFrame,
): string {
  const { words, problem } = view;
  const title = problem
    ? fillTemplate(words.errorTitle, { title: words.passwordTitle })
    : words.passwordTitle;
  const input = { type: 'password', autocomplete: 'off', autofocus: true };
  return renderPage(
    view,
    `${title} – ${view.formName}`,
    html`${formHeader(view.formName)}
${view.languages}
<form method="post" action="${safeUrl(view.action)}" novalidate>
<section class="step">
<h2>${words.passwordTitle}</h2>
${renderProse(words.passwordText)}
<div class="stack">${renderField('password', { label: words.password, problem, input })}</div></section>
<div class="actions"><button type="submit" class="submit">${words.passwordGo}</button></div>
</form>`,
  );
}

/** Renders the page to confirm unsubscribing. Opening it changes nothing, because programs open links too. */
export function renderUnsubscribe(view: { action: string; language: string; words: Words }): string {
  const { words } = view;
  return renderPage(
    view,
    words.unsubscribeTitle,
    html`<div class="notice">
<h1>${words.unsubscribeTitle}</h1>
${renderProse(words.unsubscribeText)}
<form method="post" action="${safeUrl(view.action)}">
<div class="actions"><button type="submit" class="submit">${words.unsubscribeGo}</button></div>
</form>
</div>`,
  );
}
