import type { FastifyRequest } from 'fastify';
import type { Locale } from '#ast/locales.ts';
import type { AnswerContext } from '#ast/logic/evaluate.ts';
import type { NumberMarks } from '#ast/rules/written-numbers.ts';
import { settingsInLanguage } from '#ast/translations/check-translations.ts';
import { inLanguage } from '#ast/translations/translations.ts';
import { type Form, languagesOf } from '#ast/tree.ts';
import { answerContext, type LiveForm, type LiveForms } from '#forms/live-form.ts';
import { type Arrival, type Guest, invitationParameter, receiveGuest } from '#invitations/admission.ts';
import { uuidPattern } from '#kit/clock.ts';
import type { Database } from '#kit/database.ts';
import type { Vault } from '#kit/vault.ts';
import { findPlaces, noPlaces, type Places } from '#submissions/quotas.ts';
import { entryParameter, findRefusal, type Refusal } from '../admission.ts';
import { isCounted } from '../counting/is-counted.ts';
import { styleOf } from '../render/elements/drawings.ts';
import type { Html } from '../render/html.ts';
import { languageStyle, languageSwitch } from '../render/language-switch.ts';
import { askedForm } from '../render/steps.ts';
import { type Look, lookOf } from '../theme/look.ts';
import { chooseLanguage, chooseNumbers, problemsOf, wordsOf } from '../words/choose-locale.ts';
import { countingQuestions, type PageProblems, type Words } from '../words/words.ts';
import { type Address, readAddress } from './address.ts';

/** One request for a form's page, and all that follows from its address, its headers and the form. */
export type Visit = {
  /** The form in the language of the visit, as its pages ask it. */
  readonly live: LiveForm;
  /** The form as its author wrote it, in all of its languages. */
  readonly written: LiveForm;
  readonly address: Address;
  /** Whoever came by an invitation's link. */
  readonly guest: Guest | undefined;
  /** What travels with the submission: that of the address, and of the invitation, which nobody can change. */
  readonly reference: Readonly<Record<string, string>>;
  /** The language of the form's texts, as a BCP-47 tag, and all those that it can be read in; none where it names none. */
  readonly language: string;
  readonly languages: readonly string[];
  /** The language in which the page itself speaks. */
  readonly locale: Locale;
  readonly words: Words;
  /** What is said of an answer that breaks a rule. */
  readonly sentences: PageProblems;
  /** How numbers are written in that language. */
  readonly numbers: NumberMarks;
  readonly look: Look;
  /** What the form's rules and conditions look at beside the answers. */
  readonly context: AnswerContext;
  /** Whether it is one of those that the form's visits are counted from. */
  readonly isCounted: boolean;
  /** The places that its options have left, where they are counted. */
  readonly places: Places;
  /** Why the form takes nothing new from this visitor, where the route lets them through all the same. */
  readonly refusal?: Refusal | undefined;
};

/** What else decides about a visit: who came, and the answers that are gone on with. */
type Arriving = {
  readonly guest?: Guest | undefined;
  /** The version that was answered, and the language in which. */
  readonly form?: Form;
  readonly spoken?: string | null;
};

/** @throws ApiError bad_request for an address that holds a NUL. */
export function readVisit(
  found: LiveForm,
  request: FastifyRequest,
  { guest, form = found.form, spoken }: Arriving = {},
): Visit {
  const address = readAddress(found.form, request.url);
  const reference = { ...address.reference, ...guest?.reference };
  const invited = prefillOf(guest);
  const isOpen = ([name]: readonly [string, string]) => invited.every(([known]) => known !== name);
  const accepted = request.headers['accept-language'];
  const languages = languagesOf(form);
  const { language, locale } = chooseLanguage(languages, {
    asked: address.own.get('_lang'),
    stored: spoken ?? undefined,
    setting: found.settings.locale,
    accepted,
  });
  const live = asAsked(found, form, { language, locale });
  return {
    live,
    written: found,
    // An address does not change what an invitation says.
    address: { ...address, prefill: [...invited, ...address.prefill.filter(isOpen)] },
    guest,
    reference,
    language,
    languages,
    locale,
    words: live.settings.layout === 'question' ? countingQuestions(wordsOf[locale]) : wordsOf[locale],
    sentences: problemsOf[locale],
    numbers: chooseNumbers(language, accepted),
    look: lookOf(live.id, live.settings, {
      isEmbedded: address.own.get('_embed') === '1',
      isPersonal: guest !== undefined || request.routeOptions.url?.endsWith('/:token') === true,
      scheme: address.own.get('_scheme') === 'dark' ? 'dark' : 'light',
      language,
      pictures: live.pictures,
      elements: [styleOf(live.form), languages.length > 1 && languageStyle].filter(Boolean).join('\n'),
    }),
    context: answerContext(live.settings, reference),
    isCounted: isCounted(live.settings, request.headers),
    places: noPlaces,
  };
}

/** A form with this structure as its pages ask it in a language. */
function asAsked(
  live: LiveForm,
  structure: Form,
  { language, locale }: Pick<Visit, 'language' | 'locale'>,
): LiveForm {
  const form = askedForm(inLanguage(structure, language), live.settings, wordsOf[locale]);
  if (form === live.form && live.settings.translations === undefined) return live;
  return { ...live, form, written: structure, settings: settingsInLanguage(live.settings, language) };
}

/** The script of a page that says one thing: only inside another page, which it tells how high it is. */
export function scriptInFrame(
  { look }: Visit,
  { scriptSource }: { readonly scriptSource: string | undefined },
): string | undefined {
  return look.isEmbedded ? scriptSource : undefined;
}

/** The first answers of an invitation as HTML fields. */
const prefillOf = (guest: Guest | undefined): [name: string, value: string][] =>
  Object.entries(guest?.prefill ?? {}).flatMap(([name, values]) =>
    [values].flat().map((value): [string, string] => [name, value]),
  );

/** The same page in the form's other languages, for one that asks nothing; undefined where there is no other. */
export function languageLinks(
  { live, language, languages, words }: Visit,
  { method, url }: Pick<FastifyRequest, 'method' | 'url'>,
): Html | undefined {
  if (languages.length < 2) return undefined;
  const here = new URL(url, 'http://form');
  const path = method === 'GET' ? here.pathname : `/f/${live.id}`;
  const addressIn = (tag: string): string => {
    const query = new URLSearchParams(here.search);
    query.set('_lang', tag);
    return `${path}?${query.toString()}`;
  };
  return languageSwitch({ language, languages, addressIn }, { word: words.language, isForm: false });
}

/** Ends a request for a form that does not admit the visitor. `form` is absent like a form that does not exist. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly refusal: Refusal;
  readonly form: LiveForm | undefined;
  constructor(refusal: Refusal, form: LiveForm | undefined) {
    super(refusal.error.message, { cause: refusal.error });
    this.refusal = refusal;
    this.form = form;
  }
}

/** Who came with an invitation's link; undefined when the address carries none. */
async function findArrival(
  { database }: { database: Database },
  live: LiveForm,
  request: FastifyRequest,
): Promise<Arrival | undefined> {
  // Most visitors come without: their address is not taken apart for this.
  if (!request.url.includes(invitationParameter)) return undefined;
  const token = new URL(request.url, 'http://form').searchParams.get(invitationParameter);
  return token === null ? undefined : receiveGuest(database, { formId: live.id, token });
}

export type OpenContext = {
  readonly liveForms: LiveForms;
  readonly database: Database;
  readonly vault: Vault;
};

/** A request below a form's address. */
export type FormRoute = { Params: { id: string } };
export type FormRequest = FastifyRequest<FormRoute>;

/** A request for the address of a link, below a form's. */
export type LinkRequest = FastifyRequest<{ Params: { id: string; token: string } }>;

/**
 * The visit of somebody who may fill in the form now.
 * @param passes reasons to refuse that the caller deals with itself.
 * @throws Refused; ApiError bad_request.
 */
export async function openVisit(
  context: OpenContext,
  request: FormRequest | LinkRequest,
  passes: readonly Refusal['reason'][] = [],
): Promise<Visit> {
  const live = await findLive(context, request.params.id);
  const arrival = live && (await findArrival(context, live, request));
  const refusal = await findRefusal(context, live, request.headers.cookie, {
    arrival,
    entry: entryOf(request),
  });
  const guest = arrival?.kind === 'void' ? undefined : arrival?.guest;
  if (live && (!refusal || passes.includes(refusal.reason)))
    return {
      ...readVisit(live, request, { guest }),
      refusal,
      places: await findPlaces(context.database, live),
    };
  // Of a form that was never published nobody learns that it is there, by its language or its look.
  throw new Refused(refusal!, refusal!.reason === 'absent' ? undefined : live);
}

/** The visit of a form that may be closed by now: to be thanked, or to change what was sent. @throws Refused. */
export async function openKnownForm(
  context: OpenContext,
  request: FormRequest | LinkRequest,
): Promise<Visit> {
  return openVisit(context, request, ['closed', 'early', 'full', 'invited', 'password', 'link', 'used']);
}

/** An id has one spelling from here on: limits, signatures and caches are kept under it. */
function findLive({ liveForms }: OpenContext, id: string): Promise<LiveForm | undefined> {
  return uuidPattern.test(id) ? liveForms.find(id.toLowerCase()) : Promise.resolve(undefined);
}

const entryOf = ({ url }: FormRequest | LinkRequest): string | undefined =>
  url.includes(entryParameter)
    ? (new URL(url, 'http://form').searchParams.get(entryParameter) ?? undefined)
    : undefined;
