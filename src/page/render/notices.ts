import { fill } from '#ast/basics/words.ts';
import { fillPiped } from '#ast/form/piping.ts';
import { renderDocument } from '../markup/document.ts';
import { attributes, type Html, html, piped, type SayAnswer, url } from '../markup/html.ts';
import type { Look } from '../theme/look.ts';
import type { Words } from '../words/words.ts';
import { lead } from './steps.ts';

/** A page that may stand inside another one: `script` then tells that one how high it is. */
type Framed = {
  readonly script?: string | undefined;
  /** The same page in the form's other languages. */
  readonly languages?: Html | undefined;
};

/** What the page after a submission says. */
type Confirmation = {
  readonly formName: string;
  /** The author's own heading and words. */
  readonly title?: string | undefined;
  readonly message: string | undefined;
  /** The answers that they show. */
  readonly say?: SayAnswer | undefined;
  /** What the visitor can refer to. */
  readonly receipt: string;
  /** Where the answers can be changed, and until which day. */
  readonly edit?:
    | { readonly address: string; readonly until: string; readonly leavesFrame: boolean }
    | undefined;
  /** The author's own page, which is not for the frame that this one stands in. */
  readonly onward?: string | undefined;
  /** Where the form can be filled in once more. */
  readonly again?: string | undefined;
  readonly language: string;
  readonly look?: Look | undefined;
  readonly words: Words;
} & Framed;

/** The page after a submission; it takes the focus to its heading. */
export function renderConfirmation(view: Confirmation): string {
  const { words, edit, onward, again, title, say = () => '' } = view;
  return renderDocument({
    language: view.language,
    look: view.look,
    script: view.script,
    title:
      title === undefined
        ? fill(words.thanksTitle, { title: view.formName })
        : `${fillPiped(title, (id) => say(id))} – ${view.formName}`,
    main: html`<div class="notice done">
<h1 tabindex="-1" autofocus>${piped(title ?? words.thanks, say)}</h1>
${lead(view.message || words.received, (part) => piped(part, say))}
<p class="receipt">${view.formName}<br>${words.receipt} <code>${view.receipt}</code></p>
${onward !== undefined && link({ address: onward, text: words.goOn, leavesFrame: true })}
${edit && link({ ...edit, text: words.editLink, note: fill(words.editUntil, { date: edit.until }) })}
${again !== undefined && link({ address: again, text: words.again })}
${view.languages}
</div>`,
  });
}

type Link = {
  readonly address: string;
  readonly text: string;
  readonly note?: string;
  readonly leavesFrame?: boolean;
};

/** A request that can be made once more, by a visitor without script as well: where it went, and with what. */
export type Retry = {
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
}: Retry): Html => html`<form method="${method}" action="${url(address)}">
${fields.map(([name, value]) => html`<input${attributes({ type: 'hidden', name, value })}>`)}
<div class="actions"><button type="submit" class="submit">${text}</button></div>
</form>`;

function link({ address, text, note, leavesFrame = false }: Link): Html {
  const target = attributes({ href: url(address), target: leavesFrame && '_top' });
  return html`<p class="prose"><a${target}>${text}</a>${note && html`<br><span class="help">${note}</span>`}</p>`;
}

/** What the page after saving says of mailing its link: where to post an address, and what became of the last one. */
export type SavedMail = {
  readonly action: string;
  readonly given?: string | undefined;
  readonly problem?: string | undefined;
  readonly sentTo?: string | undefined;
};

function mailForm({ action, given, problem, sentTo }: SavedMail, words: Words): Html {
  if (sentTo !== undefined) {
    return html`<p class="prose" role="status">${fill(words.mailLinkSent, { address: sentTo })}</p>`;
  }
  const input = attributes({
    type: 'email',
    id: '_mail',
    name: '_mail',
    value: given,
    autocomplete: 'email',
    required: true,
    'aria-describedby': 'error~mail',
    'aria-invalid': problem !== undefined && 'true',
  });
  return html`<form method="post" action="${url(action)}" novalidate>
<div class="field labelled${problem !== undefined && ' invalid'}">
<label for="_mail">${words.mailLinkTo}</label>
<div id="error~mail" class="error">${problem !== undefined && html`<p>${problem}</p>`}</div>
<input${input}>
</div>
<div class="actions"><button type="submit" class="submit">${words.mailLink}</button></div>
</form>`;
}

/** The page after saving: the link with which the visitor goes on, whole, so that it can be copied or noted. */
export function renderSaved(
  view: {
    formName: string;
    /** With its origin. */
    address: string;
    until: string;
    language: string;
    look?: Look | undefined;
    words: Words;
    /** Where the service sends mail. */
    mail?: SavedMail | undefined;
  } & Framed,
): string {
  const { words, address, mail } = view;
  return renderDocument({
    language: view.language,
    look: view.look,
    script: view.script,
    title: `${words.savedTitle} – ${view.formName}`,
    main: html`<div class="notice done">
<h1 tabindex="-1" autofocus>${words.savedTitle}</h1>
${lead(words.savedText)}
<p class="receipt"><a${attributes({ href: url(address), target: view.look?.isEmbedded && '_top' })}>${address}</a></p>
${lead(fill(words.savedUntil, { date: view.until }))}
${mail && mailForm(mail, words)}
</div>`,
  });
}

/** A page that says one thing: closed, not found, gone, too large, an error. One of a form bears its name. */
export function renderNotice(
  view: {
    formName?: string | undefined;
    title: string;
    message: string;
    /** What the visitor can do, or what comes. */
    next?: string | undefined;
    again?: Retry | undefined;
    language: string;
    look?: Look | undefined;
  } & Framed,
): string {
  const { formName, title, again } = view;
  return renderDocument({
    language: view.language,
    look: view.look,
    script: view.script,
    title: formName === undefined ? title : `${title} – ${formName}`,
    main: html`${formName !== undefined && formHeader(formName)}
<div class="notice">
${formName === undefined ? html`<h1>${title}</h1>` : html`<h2>${title}</h2>`}
${lead(view.message)}
${lead(view.next)}
${again && retry(again)}
${view.languages}
</div>`,
  });
}

/** A form's name, as it stands on its own page. */
const formHeader = (name: string): Html => html`<header>
<h1>${name}</h1>
</header>`;

/** The page that asks for the form's password. */
export function renderPassword(
  view: {
    formName: string;
    action: string;
    problem: string | undefined;
    language: string;
    look?: Look | undefined;
    words: Words;
  } & Framed,
): string {
  const { words, problem } = view;
  const title = problem ? fill(words.errorTitle, { title: words.passwordTitle }) : words.passwordTitle;
  const input = attributes({
    type: 'password',
    id: '_password',
    name: '_password',
    autocomplete: 'off',
    autofocus: true,
    'aria-describedby': 'error~password',
    'aria-invalid': problem !== undefined && 'true',
  });
  return renderDocument({
    language: view.language,
    look: view.look,
    script: view.script,
    title: `${title} – ${view.formName}`,
    main: html`${formHeader(view.formName)}
${view.languages}
<form method="post" action="${url(view.action)}" novalidate>
<section class="step">
<h2>${words.passwordTitle}</h2>
${lead(words.passwordText)}
<div class="stack"><div class="field labelled${problem !== undefined && ' invalid'}">
<label for="_password">${words.password}</label>
<div id="error~password" class="error">${problem !== undefined && html`<p>${problem}</p>`}</div>
<input${input}>
</div></div></section>
<div class="actions"><button type="submit" class="submit">${words.passwordGo}</button></div>
</form>`,
  });
}

/** The page that asks whether a person wants no more mails: a visit alone decides nothing, since programs visit too. */
export function renderUnsubscribe(view: { action: string; language: string; words: Words }): string {
  const { words } = view;
  return renderDocument({
    language: view.language,
    title: words.unsubscribeTitle,
    main: html`<div class="notice">
<h1>${words.unsubscribeTitle}</h1>
${lead(words.unsubscribeText)}
<form method="post" action="${url(view.action)}">
<div class="actions"><button type="submit" class="submit">${words.unsubscribeGo}</button></div>
</form>
</div>`,
  });
}
