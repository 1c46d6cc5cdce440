import type { ProblemCode } from '#ast/basics/problems.ts';
import { type FieldError, formEntriesOf } from './answers.ts';
import { sendToEmbedder } from './embed.ts';
import { showSummaryBox } from './errors.ts';
import { byId, makeElement, type Page } from './page.ts';
import { clearStoredPageState } from './page-state-storage.ts';

/** After this many ms without a response, the visitor can send again; the key makes that harmless. */
const patienceMs = 30_000;

/** The parts of a response that are used: a submission or an error. */
type Answer = {
  readonly id: string;
  readonly next?: string;
  readonly message?: string;
  readonly errors?: readonly (FieldError & { readonly code?: ProblemCode })[];
};

/**
 * The outcome of submitting. `elsewhere`: the answers or the form changed elsewhere, so the server must
 * render the page.
 */
type Outcome =
  | { readonly kind: 'accepted'; readonly answer: Answer }
  | { readonly kind: 'invalid'; readonly errors: readonly FieldError[] }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'failed'; readonly message: string };

/** The pages that are currently submitting. */
const sending = new WeakSet<Page>();

/**
 * Submits the answers and opens the confirmation. Returns the errors that the server reports for fields.
 * Other failures are shown here, and the answers can be sent again with their key.
 */
export async function submitPageAnswers(page: Page): Promise<readonly FieldError[]> {
  if (sending.has(page)) return [];
  sending.add(page);
  const stop = showSending(page);
  // No response, or one from another service, for example a proxy, counts as a failed connection.
  const outcome = await send(page).catch((): Outcome => failed(page));
  if (outcome.kind === 'accepted') {
    leave(page, outcome.answer);
    return [];
  }
  sending.delete(page);
  stop();
  if (outcome.kind === 'elsewhere') HTMLFormElement.prototype.submit.call(page.form);
  if (outcome.kind === 'failed') offerAgain(page, outcome.message);
  return outcome.kind === 'invalid' ? outcome.errors : [];
}

async function send(page: Page): Promise<Outcome> {
  await prove(page);
  const response = await postForm(page);
  const { status, ok } = response;
  const answer = (await response.json()) as Answer;
  if (ok) return { kind: 'accepted', answer };
  if (status === 409 || status === 412) return { kind: 'elsewhere' };
  // An error for a question that this page does not have is from a newer version of the form, which the
  // server must render. So must the page that asks for the code of an address.
  if (status === 422 && answer.errors?.some(({ field, code }) => !byId(field) || code === 'not_verified'))
    return { kind: 'elsewhere' };
  if (status === 422 && answer.errors) return { kind: 'invalid', errors: answer.errors };
  if (status === 429) return failed(page, page.data.words.tooMany);
  return failed(page, status < 500 ? answer.message : undefined);
}

function failed({ data }: Page, message = data.words.offline): Outcome {
  return { kind: 'failed', message };
}

/** Whether the answers are being submitted. A save at this time could arrive after the submission. */
export function isSubmitting(page: Page): boolean {
  return sending.has(page);
}

/** Posts the form as the browser would, but without the files, which are already uploaded. */
export async function postForm(page: Page, ...more: readonly [string, string][]): Promise<Response> {
  return fetch(page.form.getAttribute('action')!, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: new URLSearchParams([...formEntriesOf(page), ...more]),
    signal: AbortSignal.timeout(patienceMs),
  });
}

/** Computes the proof of work if the form requires one, once per key. */
async function prove({ form, data }: Page): Promise<void> {
  if (data.proof === undefined || form.querySelector('[name=_proof]')) return;
  const { solveProof } = await import('./proof.ts');
  const key = form.querySelector<HTMLInputElement>('[name=_key]')?.value ?? '';
  form.insertAdjacentElement(
    'beforeend',
    makeElement('input', { type: 'hidden', name: '_proof', value: await solveProof(key, data.proof) }),
  );
}

/** Shows the progress on the button. The button is not disabled, as that would remove its focus. */
function showSending({ form, data }: Page): () => void {
  const button = submitButtonOf(form);
  const text = button.textContent;
  button.textContent = data.words.sending;
  button.ariaDisabled = 'true';
  return () => {
    button.textContent = text;
    button.ariaDisabled = null;
  };
}

function leave({ form }: Page, { id, next: address }: Answer): void {
  clearStoredPageState();
  // Going back must not show the answers, not even while the page reloads.
  addEventListener('pagehide', () => form.reset());
  // Our confirmation reports the submission itself (embed.ts). The author's page cannot.
  const isOwn = address?.startsWith('/');
  if (!isOwn) sendToEmbedder({ event: 'submitted', receipt: id });
  // Going back must show a new form, not one that is still submitting.
  addEventListener('pageshow', () => location.reload());
  const thanks = `${location.pathname}/submitted?receipt=${id}`;
  // Loaded only for embedded forms with a redirect URL.
  if (address && !isOwn && parent !== window)
    void import('./leave-frame.ts')
      .then(({ leaveFrame }) => leaveFrame(address, id))
      .catch(() => location.assign(thanks));
  else location.assign(address ?? thanks);
}

/** Returns the button that submits the form, not the one in the summary that submits it again. */
const submitButtonOf = (form: HTMLFormElement): HTMLButtonElement =>
  form.querySelector<HTMLButtonElement>('.submit:not([type=button])')!;

function offerAgain({ form, data }: Page, message: string): void {
  const again = makeElement('button', {
    type: 'button',
    className: 'submit',
    textContent: data.words.sendAgain,
  });
  again.addEventListener('click', () => form.requestSubmit(submitButtonOf(form)));
  showSummaryBox(data.words.problem, makeElement('p', { textContent: message }), again);
}
