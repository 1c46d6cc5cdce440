import type { FastifyRequest } from 'fastify';
import type { Locale } from '#ast/locales.ts';
import type { AnswerContext } from '#ast/logic/evaluate.ts';
import type { NumberMarks } from '#ast/rules/written-numbers.ts';
import { noPlaces, type Places } from '#submissions/taken/take.ts';
import { answerContext } from '#forms/answer-context.ts';
import { type Form, languagesOf } from '#ast/tree.ts';
import { inLanguage } from '#ast/translations/translations.ts';
import { settingsInLanguage } from '#ast/translations/setting-texts.ts';
import type { LiveForm } from '#forms/live-form.ts';
import type { Guest } from '#invitations/admission.ts';
import type { Refusal } from '../admission.ts';
import { type Look, lookOf } from '../theme/look.ts';
import { languageStyle } from '../render/language-switch.ts';
import { chooseLanguage, chooseNumbers } from '../words/choose-locale.ts';
import { styleOf } from '../render/elements/drawings.ts';
import { problemsOf, wordsOf } from '../words/languages.ts';
import { countingQuestions, type PageProblems, type Words } from '../words/words.ts';
import { isCounted } from '../counting/is-counted.ts';
import { askedForm } from '../render/asked-form.ts';
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
