import { hash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type { Locale } from '#ast/basics/language-tags.ts';
import { withoutAnswerKey } from '#ast/form/answer-key.ts';
import type { RawAnswers } from '#ast/form/fields.ts';
import { type Form, languagesOf } from '#ast/form/tree.ts';
import type { EvaluationContext } from '#ast/logic/evaluate.ts';
import { settingsInLanguage } from '#ast/translations/check-translations.ts';
import { formInLanguage } from '#ast/translations/translations.ts';
import { createEvaluationContext, type LiveForm, type LiveForms } from '#forms/live-form.ts';
import {
  findGuest,
  type Guest,
  type InvitationLinkResult,
  invitationParameter,
} from '#invitations/admission.ts';
import { uuidPattern } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import type { Vault } from '#kit/vault.ts';
import { findRemainingQuotas, noRemainingQuotas, type RemainingQuotas } from '#submissions/quotas.ts';
import { isFormFull } from '#submissions/response-limit.ts';
import type { Respondent } from '#workspaces/sign-in/respondent-shape.ts';
import { readRespondent } from '#workspaces/sign-in/respondents.ts';
import type { Html } from '../markup/html.ts';
import { elementStylesOfForm } from '../render/elements/element-renderers.ts';
import { languageStyle, languageSwitch } from '../render/language-switch.ts';
import { arrangeSteps } from '../render/steps.ts';
import { getPageStyle, type PageStyle } from '../theme/page-style.ts';
import {
  chooseLanguage,
  chooseNumberLocale,
  problemsByLocale,
  wordsByLocale,
} from '../words/choose-locale.ts';
import { type PageProblems, type Words, withQuestionWords } from '../words/words.ts';
import { type FormAddressParameters, parseFormAddress } from './address.ts';
import {
  embedAdmissionParameter,
  findRefusal,
  keyOfRespondent,
  type Refusal,
  refusalReasons,
} from './admission.ts';
import { isVisitCounted } from './is-counted.ts';
import { shuffleForm, shufflesForVisitors } from './shuffle-form.ts';
import { skipPrefilledQuestions } from './skipped-questions.ts';

/** A request for a form's page, with everything derived from its URL, its headers and the form. */
export type Visit = {
  /** The form in the visit's language and in the layout of its pages. */
  readonly live: LiveForm;
  /** The form as its author wrote it, in all languages. */
  readonly written: LiveForm;
  /** The path of the form's page, with the short address if the request has it. */
  readonly path: string;
  readonly address: FormAddressParameters;
  /** The raw answers of skipped questions. */
  readonly skipped: RawAnswers;
  /** The invited person, if the visitor came with an invitation link. */
  readonly guest: Guest | undefined;
  /** The person who signed in, if the form requires it. */
  readonly respondent: Respondent | undefined;
  /** The key of the visitor's only submission, if they can respond once. It replaces any sent key. */
  readonly ownKey: string | undefined;
  /** Reference data from the URL and from the invitation, which takes precedence. */
  readonly reference: Readonly<Record<string, string>>;
  /**
   * The language of the form's texts as a BCP 47 tag, and all languages of the form; empty if it names none.
   */
  readonly language: string;
  readonly languages: readonly string[];
  /** The language of the page's own texts. */
  readonly locale: Locale;
  readonly words: Words;
  /** The messages about invalid answers. */
  readonly sentences: PageProblems;
  /** The BCP 47 tag by which the page formats numbers. */
  readonly numberLocale: string;
  readonly look: PageStyle;
  /** What the form's rules and conditions use beyond the answers. */
  readonly context: EvaluationContext;
  /** Whether the form's statistics count this visit. */
  readonly isCounted: boolean;
  /** The remaining quota of each option. */
  readonly places: RemainingQuotas;
  /** Whether every new submission joins the waiting list. */
  readonly isWaiting: boolean;
  /** Why the form does not accept new submissions from this visitor, if the route admits them anyway. */
  readonly refusal?: Refusal | undefined;
};

/** Further facts about a visit: the invitation, and the stored answers that are resumed or edited. */
type VisitFacts = {
  readonly guest?: Guest | undefined;
  readonly respondent?: Respondent | undefined;
  /** The version of the stored answers, and their language. */
  readonly form?: Form;
  readonly language?: string | null;
};

/** Derives a visit from a request. @throws ApiError bad_request if the URL contains a NUL. */
export function readVisit(
  found: LiveForm,
  request: FastifyRequest,
  { guest, respondent, form = found.form, language: storedLanguage }: VisitFacts = {},
): Visit {
  const address = parseFormAddress(found.form, request.url);
  const order = shufflesForVisitors(form) ? findOrder(found.id, address, request) : undefined;
  const own = order === undefined ? address.own : new Map([...address.own, [orderParameter, order]]);
  const reference = { ...address.reference, ...guest?.reference };
  const invited = prefillOf(guest);
  const names = invited.map(([name]) => name);
  const accepted = request.headers['accept-language'];
  const languages = languagesOf(form);
  const { language, locale } = chooseLanguage(languages, {
    asked: address.own.get('_lang'),
    stored: storedLanguage ?? undefined,
    setting: found.settings.locale,
    accepted,
  });
  const localized = localizeForm(found, form, { language, locale, order });
  const context = createEvaluationContext(localized.settings, reference);
  // The URL cannot override answers of the invitation.
  const prefill = [...invited, ...address.prefill.filter(([name]) => !names.includes(name))];
  const prefilled = { ...address, own, prefill, invited: names };
  const skips = found.settings.skip_prefilled === true && form === found.form && prefilled.prefill.length > 0;
  const skipping = skips
    ? skipPrefilledQuestions(localized.form, prefilled, context)
    : { form: localized.form, skipped: {}, address: prefilled };
  const live = skips
    ? { ...localized, form: skipping.form, written: localized.written ?? localized.form }
    : localized;
  return {
    live,
    written: found,
    path: `/f/${(request as FormRequest).params.slug ?? live.id}`,
    address: skipping.address,
    skipped: skipping.skipped,
    guest,
    respondent,
    ownKey: keyOfRespondent(found, respondent) ?? guest?.invitationId,
    reference,
    language,
    languages,
    locale,
    words:
      live.settings.layout === 'question' ? withQuestionWords(wordsByLocale[locale]) : wordsByLocale[locale],
    sentences: problemsByLocale[locale],
    numberLocale: chooseNumberLocale(language, accepted),
    look: getPageStyle(live.id, live.settings, {
      isEmbedded: address.own.get('_embed') === '1',
      isPersonal: guest !== undefined || request.routeOptions.url?.endsWith('/:token') === true,
      scheme: address.own.get('_scheme') === 'dark' ? 'dark' : 'light',
      language,
      pictures: live.pictures,
      elements: [elementStylesOfForm(live.form), languages.length > 1 && languageStyle]
        .filter(Boolean)
        .join('\n'),
    }),
    context,
    isCounted: isVisitCounted(live.settings, request.headers),
    places: noRemainingQuotas,
    isWaiting: false,
  };
}

/** The parameter that keeps the order of shuffled questions and options from post to post. */
const orderParameter = '_order';

/**
 * Returns the seed of a visitor's order: of the page before or, on the first page, of the visitor's address and
 * browser. It is therefore stable when the page is loaded again, without a cookie.
 */
function findOrder(formId: string, { own }: FormAddressParameters, { ip, headers }: FastifyRequest): string {
  const known = own.get(orderParameter);
  if (known !== undefined && /^[0-9a-f]{8}$/.test(known)) return known;
  return hash('sha256', `${formId} ${ip} ${headers['user-agent']}`).slice(0, 8);
}

/**
 * Returns the form in a language and order, with the given structure and arranged for its pages. It has no right
 * answers: everything that visitors receive comes from it.
 */
function localizeForm(
  live: LiveForm,
  structure: Form,
  { language, locale, order }: Pick<Visit, 'language' | 'locale'> & { order: string | undefined },
): LiveForm {
  const inLanguage = withoutAnswerKey(formInLanguage(structure, language));
  const ordered = order === undefined ? inLanguage : shuffleForm(inLanguage, order);
  const form = arrangeSteps(ordered, live.settings, wordsByLocale[locale]);
  if (form === live.form && live.settings.translations === undefined) return live;
  return { ...live, form, written: structure, settings: settingsInLanguage(live.settings, language) };
}

/** Returns the script of a page without a form. Only an embedded page needs it, to report its height. */
export function getEmbedPageScript(
  { look }: Visit,
  { scriptSource }: { readonly scriptSource: string | undefined },
): string | undefined {
  return look.isEmbedded ? scriptSource : undefined;
}

/** The prefilled answers of an invitation as HTML fields. */
const prefillOf = (guest: Guest | undefined): [name: string, value: string][] =>
  Object.entries(guest?.prefill ?? {}).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );

/** Renders links to a page without questions in the form's other languages; undefined if there are none. */
export function languageLinks(
  { path: ownPath, language, languages, words }: Visit,
  { method, url }: Pick<FastifyRequest, 'method' | 'url'>,
): Html | undefined {
  if (languages.length < 2) return undefined;
  const here = new URL(url, 'http://form');
  const path = method === 'GET' ? here.pathname : ownPath;
  const addressIn = (tag: string): string => {
    const query = new URLSearchParams(here.search);
    query.set('_lang', tag);
    return `${path}?${query.toString()}`;
  };
  return languageSwitch({ language, languages, addressIn }, { word: words.language, isForm: false });
}

/**
 * Thrown to end a request if the form refuses the visitor. `form` is undefined if it does not exist or was
 * never published.
 */
export class FormRefusedError extends Error {
  override readonly name = 'Refused';
  readonly refusal: Refusal;
  readonly form: LiveForm | undefined;
  constructor(refusal: Refusal, form: LiveForm | undefined) {
    super(refusal.error.message, { cause: refusal.error });
    this.refusal = refusal;
    this.form = form;
  }
}

/** Finds the invitation in the URL; undefined if there is none. */
async function findInvitedGuest(
  { database }: { database: Database },
  live: LiveForm,
  request: FastifyRequest,
): Promise<InvitationLinkResult | undefined> {
  // Most visitors have no invitation, so this avoids parsing their URL.
  if (!request.url.includes(invitationParameter)) return undefined;
  const token = new URL(request.url, 'http://form').searchParams.get(invitationParameter);
  return token === null ? undefined : findGuest(database, { formId: live.id, token });
}

export type OpenVisitServices = {
  readonly liveForms: LiveForms;
  readonly database: Database;
  readonly vault: Vault;
};

/** A request below a form's URL. If it has a short address, `slug`, then `id` is the ID of its form (resolve-name.ts). */
export type FormRoute = { Params: { id: string; slug?: string } };
export type FormRequest = FastifyRequest<FormRoute>;

/** A request for a personal link below a form's URL. */
export type LinkRequest = FastifyRequest<{ Params: FormRoute['Params'] & { token: string } }>;

/**
 * Opens a visit for a visitor who can fill in the form now.
 * @param passes reasons for refusal that the caller handles itself.
 * @throws Refused; ApiError bad_request.
 */
export async function openVisit(
  context: OpenVisitServices,
  request: FormRequest | LinkRequest,
  passes: readonly Refusal['reason'][] = [],
): Promise<Visit> {
  const live = await findLive(context, request.params.id);
  const arrival = live && (await findInvitedGuest(context, live, request));
  const { cookie } = request.headers;
  const respondent =
    live?.settings.access === 'organisation' ? readRespondent(context.vault, live, cookie) : undefined;
  const refusal = await findRefusal(context, live, cookie, {
    arrival,
    respondent,
    entry: entryOf(request),
  });
  const guest = arrival?.kind === 'void' ? undefined : arrival?.guest;
  if (live && (!refusal || passes.includes(refusal.reason)))
    return {
      ...readVisit(live, request, { guest, respondent }),
      refusal,
      places: await findRemainingQuotas(context.database, live),
      isWaiting: live.settings.waiting_list === true && (await isFormFull(context.database, live)),
    };
  // A page in the form's language or look would reveal a form that was never published.
  throw new FormRefusedError(refusal!, refusal!.reason === 'absent' ? undefined : live);
}

/** Every reason except a form that does not exist. */
const allButAbsent = refusalReasons.filter((reason) => reason !== 'absent');

/** Opens a visit to a form that may be closed, for the confirmation or for editing. @throws Refused. */
export async function openVisitEvenIfClosed(
  context: OpenVisitServices,
  request: FormRequest | LinkRequest,
): Promise<Visit> {
  return openVisit(context, request, allButAbsent);
}

/** Finds a form. Converts the id to lower case, because limits, signatures and caches use it as a key. */
export function findLive({ liveForms }: OpenVisitServices, id: string): Promise<LiveForm | undefined> {
  return uuidPattern.test(id) ? liveForms.find(id.toLowerCase()) : Promise.resolve(undefined);
}

const entryOf = ({ url }: FormRequest | LinkRequest): string | undefined =>
  url.includes(embedAdmissionParameter)
    ? (new URL(url, 'http://form').searchParams.get(embedAdmissionParameter) ?? undefined)
    : undefined;
