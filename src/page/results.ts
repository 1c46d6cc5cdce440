import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Answers } from '#ast/answers/check-answers.ts';
import { getProperty } from '#ast/basics/json.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import type { LiveForm, LiveForms } from '#forms/live-form.ts';
import { uuidPattern } from '#kit/clock.ts';
import { coalesceCalls } from '#kit/concurrency.ts';
import type { Database } from '#kit/database.ts';
import { ApiError } from '#kit/errors.ts';
import { refuseOtherMethods, type Server } from '#kit/http.ts';
import { readPageRequestByPosition } from '#kit/pagination.ts';
import type { Vault } from '#kit/vault.ts';
import { planTableReads } from '#search/read-submissions.ts';
import { type OpenShare, openShare, readSharedSummary, sharedFilter } from '#search/shares.ts';
import { readTableView } from '#search/view.ts';
import { listColumnsOfVersions } from '#submissions/columns.ts';
import { answerCells, listExportHeadings } from '#submissions/export/cells.ts';
import { readAnsweredStructures } from '#submissions/read-columns.ts';
import type { Bar, ElementSummary, Summary } from '#submissions/shapes.ts';
import { ipRateLimitKey } from '#workspaces/accounts/users.ts';
import { enforceRateLimit } from '#workspaces/authenticate.ts';
import type { RequestCounter } from '#workspaces/request-counter.ts';
import { renderDocument } from './markup/document.ts';
import { type Html, html, safeUrl } from './markup/html.ts';
import { sendPage } from './post/problem-page.ts';
import { renderPasswordForm } from './render/notices.ts';
import { getPageStyle } from './theme/page-style.ts';
import { embedAdmissionParameter, hasEntered, tryPassword } from './visit/admission.ts';
import { chooseLocale, wordsByLocale } from './words/choose-locale.ts';
import type { Words } from './words/words.ts';

const resultsStyle = `
main { max-inline-size: 60rem; }
.results { overflow-x: auto; margin-block-start: var(--4); }
.results table { inline-size: 100%; border-spacing: 0; }
.results :is(th, td) { padding: var(--2) var(--3) var(--2) 0; border-block-end: 1px solid var(--line); font-weight: 400; text-align: start; vertical-align: top; unicode-bidi: plaintext; overflow-wrap: break-word; white-space: pre-line; }
.results thead th { color: var(--soft); min-inline-size: 5rem; }
.bars th { inline-size: 40%; }
.bars td:last-child { inline-size: 4rem; padding-inline-end: 0; text-align: end; font-variant-numeric: tabular-nums; }
.bars progress { inline-size: 100%; min-inline-size: 5rem; margin: 0; }
.bars :is(th, td) { vertical-align: middle; }
.step > ul { margin: var(--3) 0 0; padding-inline-start: 1.25rem; }
`.trim();

type Context = {
  database: Database;
  vault: Vault;
  liveForms: LiveForms;
  requestCounter: RequestCounter;
  config: { readonly publicUrl: string };
};
type ResultsRequest = FastifyRequest<{ Params: { token: string } }>;

/** Requests per minute from one address. Each can read thousands of submissions. */
const requestsOfAddress = 120;

/** A request for shared results, with the form that they belong to. */
type Reading = {
  share: OpenShare;
  live: LiveForm;
  locale: keyof typeof wordsByLocale;
  query: URLSearchParams;
};

/** Adds `/r/<token>`: results of a form for everyone with the link. A POST sends the password. */
export function resultsRoutes(server: Server, context: Context): void {
  const { database, vault } = context;
  // Visitors who read the same results at the same moment share the work.
  const readSummary = coalesceCalls(
    (key: string) => {
      const [share, locale] = JSON.parse(key) as [OpenShare, string];
      return readSharedSummary(database, share, locale);
    },
    { atOnce: 1 },
  );

  const open = async (request: ResultsRequest): Promise<Reading> => {
    const key = `results from ${ipRateLimitKey(request.ip)}`;
    await enforceRateLimit(context.requestCounter, key, requestsOfAddress);
    const share = await openShare(context, request.params.token);
    const live = await context.liveForms.find(share.formId);
    if (!live) throw new ApiError('not_found');
    const query = new URL(request.url, 'http://results').searchParams;
    const accepted = request.headers['accept-language'];
    const asked = query.get('_lang') ?? undefined;
    return { share, live, query, locale: chooseLocale({ asked, setting: live.settings.locale, accepted }) };
  };

  server.get('/r/:token', async (request: ResultsRequest, reply) => {
    const reading = await open(request);
    const { share, locale, query } = reading;
    const entry = query.get(embedAdmissionParameter) ?? undefined;
    if (share.passwordHash !== null && !hasEntered(vault, share, request.headers.cookie, entry))
      return sendResults(reply, 403, reading, passwordForm(request, reading));
    const words = wordsByLocale[locale];
    if (share.kind === 'summary')
      return sendResults(
        reply,
        200,
        reading,
        renderSummary(await readSummary(JSON.stringify([share, locale])), words, locale),
      );
    const page = /^\d{1,6}$/.test(query.get('page') ?? '') ? Math.max(1, Number(query.get('page'))) : 1;
    const table = await readSharedTable(database, share, { page, language: locale });
    const linkTo = (number: number): string => {
      query.set('page', String(number));
      return `?${query.toString()}`;
    };
    return sendResults(reply, 200, reading, renderTable(table, { page, linkTo, words, locale }));
  });

  server.post('/r/:token', async (request: ResultsRequest, reply) => {
    const reading = await open(request);
    const { share, query, locale } = reading;
    const password = request.body instanceof URLSearchParams ? request.body.get('_password') : undefined;
    const path = `/r/${request.params.token}`;
    const entered = await tryPassword(
      context,
      { live: share, words: wordsByLocale[locale] },
      {
        password: password ?? '',
        path,
        address: ipRateLimitKey(request.ip),
        publicUrl: context.config.publicUrl,
      },
    );
    if ('problem' in entered) {
      const { problem, status, headers } = entered;
      return sendResults(reply.headers(headers), status, reading, passwordForm(request, reading, problem));
    }
    if (query.get('_embed') === '1') query.set(embedAdmissionParameter, entered.entry);
    const search = query.size > 0 ? `?${query.toString()}` : '';
    return reply.header('Set-Cookie', entered.cookie).redirect(`${path}${search}`, 303);
  });

  refuseOtherMethods(server, '/r/:token', ['GET', 'POST']);
}

const lookOf = ({ live, locale, query }: Reading) =>
  getPageStyle(live.id, live.settings, {
    isEmbedded: query.get('_embed') === '1',
    scheme: query.get('_scheme') === 'dark' ? 'dark' : 'light',
    language: locale,
    elements: resultsStyle,
    pictures: live.pictures,
  });

/** Sends a page of results, which other sites can embed and search engines must not list. */
function sendResults(
  reply: FastifyReply,
  status: number,
  reading: Reading,
  content: Html | string,
): FastifyReply {
  const { share, locale } = reading;
  const look = lookOf(reading);
  const main = html`<header><h1>${share.title}</h1></header>
${content}`;
  const page =
    typeof content === 'string'
      ? content
      : renderDocument({ language: locale, title: share.title, look, main });
  return sendPage(reply.header('X-Robots-Tag', 'noindex'), status, page, { ...look, isEmbedded: true });
}

const passwordForm = (request: ResultsRequest, reading: Reading, problem?: string): string => {
  const words = wordsByLocale[reading.locale];
  return renderPasswordForm({
    formName: reading.share.title,
    action: request.url,
    problem,
    language: reading.locale,
    look: lookOf(reading),
    words: { ...words, passwordText: '', passwordGo: words.goOn },
  });
};

const countOf = (count: number, words: Words, locale: string): Html =>
  html`<p>${fillTemplate(words.responses, { count: count.toLocaleString(locale) })}</p>`;

/** Renders the chosen questions with their counts. Texts that identify people are only counted. */
const renderSummary = ({ completed, elements }: Summary, words: Words, locale: string): Html =>
  html`${countOf(completed, words, locale)}
${elements.map((element) => renderElement(element, words, locale))}`;

function renderElement(element: ElementSummary, words: Words, locale: string): Html {
  const { label, group, answered, numbers, rows = [], bars } = element;
  // Texts that several people gave already have a bar.
  const texts = element.texts.filter(({ text }) => !bars.some((bar) => bar.label === text));
  const mean = numbers?.mean.toLocaleString(locale, { maximumFractionDigits: 2 });
  return html`<section class="step">
<h2>${group === null ? label : `${group}: ${label}`}</h2>
${countOf(answered, words, locale)}
${mean !== undefined && html`<p>${fillTemplate(words.average, { mean })}</p>`}
${bars.length > 0 && renderBars(bars, answered, locale)}
${rows.map((row) => html`<h3>${row.label}</h3>${renderBars(row.bars, row.answered, locale)}`)}
${texts.length > 0 && html`<ul>${texts.map(({ text }) => html`<li>${text}</li>`)}</ul>`}
</section>`;
}

const renderBars = (bars: readonly Bar[], answered: number, locale: string): Html =>
  html`<div class="results"><table class="bars">${bars.map(
    ({ label, count }) =>
      html`<tr><th scope="row">${label}</th><td><progress aria-hidden="true" max="${Math.max(1, answered)}" value="${count}"></progress></td><td>${count.toLocaleString(locale)}</td></tr>`,
  )}</table></div>`;

const rowsPerPage = 50;

/** Reads one page of a shared table, newest first: headings and cells of the chosen questions. */
async function readSharedTable(
  database: Database,
  share: OpenShare,
  { page, language }: { page: number; language: string },
) {
  const view = await readTableView(database, share, sharedFilter, { isPart: true });
  const cut = readPageRequestByPosition(uuidPattern, { page, per_page: rowsPerPage }, 'results', share.id);
  const [{ rows, total }, versions] = await Promise.all([
    planTableReads(database, view).page(cut),
    readAnsweredStructures(database, share),
  ]);
  const chosen = listColumnsOfVersions(versions, language).filter(({ id }) => share.elements.includes(id));
  return {
    total,
    pages: Math.max(1, Math.ceil(total / rowsPerPage)),
    // Exports begin with four columns about the submission, and end with its reference data.
    headings: listExportHeadings(chosen).slice(4, -1),
    rows: rows.map((row) => {
      const answers = JSON.parse(row.answers) as Answers;
      return chosen.flatMap((column) => answerCells(getProperty(answers, column.id), column));
    }),
  };
}

type Table = Awaited<ReturnType<typeof readSharedTable>>;

function renderTable(
  { total, pages, headings, rows }: Table,
  {
    page,
    linkTo,
    words,
    locale,
  }: { page: number; linkTo: (page: number) => string; words: Words; locale: string },
): Html {
  const cell = (value: Table['rows'][number][number]): string =>
    value instanceof Date
      ? value.toISOString()
      : typeof value === 'number'
        ? value.toLocaleString(locale)
        : (value ?? '');
  return html`${countOf(total, words, locale)}
<div class="results" role="region" aria-label="${words.answers}" tabindex="0"><table>
<thead><tr>${headings.map((heading) => html`<th scope="col">${heading}</th>`)}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${row.map((value) => html`<td>${cell(value)}</td>`)}</tr>`)}</tbody>
</table></div>
${
  pages > 1 &&
  html`<nav class="actions" aria-label="${words.pages}">
${page > 1 && html`<a rel="prev" href="${safeUrl(linkTo(Math.min(page - 1, pages)))}">${words.back}</a>`}
<span>${fillTemplate(words.pageOf, { number: page, total: pages })}</span>
${page < pages && html`<a rel="next" href="${safeUrl(linkTo(page + 1))}">${words.next}</a>`}
</nav>`
}`;
}
