import { entriesOf, type FieldError } from './answers.ts';
import { tell } from './embed.ts';
import { showSummary } from './errors.ts';
import { forget } from './memory.ts';
import { byId, make, type Page } from './page.ts';

/** After this many ms without an answer the visitor is asked to send again; the key makes that harmless. */
const patienceMs = 30_000;

/** The parts of the server's answers that are read here: a submission, new or changed, or a problem. */
type Answer = {
  readonly id: string;
  readonly next?: string;
  readonly message?: string;
  readonly errors?: readonly FieldError[];
};

/** How the sending ended. `elsewhere`: the answers, or the form, have changed otherwise, which needs the server's own page. */
type Outcome =
  | { readonly kind: 'taken'; readonly answer: Answer }
  | { readonly kind: 'invalid'; readonly errors: readonly FieldError[] }
  | { readonly kind: 'elsewhere' }
  | { readonly kind: 'failed'; readonly message: string };

/** The forms that are on their way now. */
const sending = new WeakSet<Page>();

/**
 * Sends the answers, and leads to the confirmation. Answers with the problems that the server found at fields; what
 * else goes wrong is said here, and everything stays as it was, under the same key, to be sent again.
 */
export async function submit(page: Page): Promise<readonly FieldError[]> {
  if (sending.has(page)) return [];
  sending.add(page);
  const stop = showSending(page);
  // No answer, or one that is not from this service, is a failure of the line.
  const outcome = await send(page).catch((): Outcome => failed(page));
  if (outcome.kind === 'taken') {
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
  const response = await post(page);
  const { status, ok } = response;
  const answer = (await response.json()) as Answer;
  if (ok) return { kind: 'taken', answer };
  if (status === 409 || status === 412) return { kind: 'elsewhere' };
  // A question that this page does not have is of a newer version of the form, which the server's own page asks.
  if (status === 422 && answer.errors?.some(({ field }) => !byId(field))) return { kind: 'elsewhere' };
  if (status === 422 && answer.errors) return { kind: 'invalid', errors: answer.errors };
  if (status === 429) return failed(page, page.data.words.tooMany);
  return failed(page, status < 500 ? answer.message : undefined);
}

function failed({ data }: Page, message = data.words.offline): Outcome {
  return { kind: 'failed', message };
}

/** Whether the answers are on their way: what is saved meanwhile could arrive behind them. */
export function isSending(page: Page): boolean {
  return sending.has(page);
}

/** Posts the form as the browser would, but for the files, which have arrived already. */
export async function post(page: Page, ...more: readonly [string, string][]): Promise<Response> {
  return fetch(page.form.getAttribute('action')!, {
    method: 'POST',
    headers: { Accept: 'application/json' },
    body: new URLSearchParams([...entriesOf(page), ...more]),
    signal: AbortSignal.timeout(patienceMs),
  });
}

/** Finds the proof of work where the form asks for one, once for each key. */
async function prove({ form, data }: Page): Promise<void> {
  if (data.proof === undefined || form.querySelector('[name=_proof]')) return;
  const { solve } = await import('./proof.ts');
  const key = form.querySelector<HTMLInputElement>('[name=_key]')?.value ?? '';
  form.insertAdjacentElement(
    'beforeend',
    make('input', { type: 'hidden', name: '_proof', value: await solve(key, data.proof) }),
  );
}

/** The button says what happens. It is not disabled: that would take the focus from it. */
function showSending({ form, data }: Page): () => void {
  const button = form.querySelector<HTMLButtonElement>('.submit')!;
  const text = button.textContent;
  button.textContent = data.words.sending;
  button.ariaDisabled = 'true';
  return () => {
    button.textContent = text;
    button.ariaDisabled = null;
  };
}

function leave({ form }: Page, { id, next: address }: Answer): void {
  forget();
  // Nobody who comes back sees what was answered, not even until the page is there anew.
  addEventListener('pagehide', () => form.reset());
  // Our own page tells it when it is there (embed.ts); the author's, on another site, does not.
  const isOwn = address?.startsWith('/');
  if (!isOwn) tell({ event: 'submitted', receipt: id });
  // Who comes back to this page from the next finds a new one, not this one still sending.
  addEventListener('pageshow', () => location.reload());
  const thanks = `${location.pathname}/submitted?receipt=${id}`;
  // Of use to framed forms of authors with a page of their own.
  if (address && !isOwn && parent !== window)
    void import('./leave-frame.ts')
      .then(({ leaveFrame }) => leaveFrame(address, id))
      .catch(() => location.assign(thanks));
  else location.assign(address ?? thanks);
}

function offerAgain({ form, data }: Page, message: string): void {
  const again = make('button', { type: 'button', className: 'submit', textContent: data.words.sendAgain });
  again.addEventListener('click', () => form.requestSubmit(form.querySelector<HTMLButtonElement>('.submit')));
  showSummary(data.words.problem, make('p', { textContent: message }), again);
}
