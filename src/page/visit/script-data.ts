import { type Condition, comparisonsOf } from '#ast/logic/condition.ts';
import { offersIn } from '#ast/logic/offers.ts';
import { isPiped } from '#ast/piping.ts';
import { type Form, isAsked, isInput, optionsIn, walkElements } from '#ast/tree.ts';
import { fileLimits } from '#files/receive.ts';
import { invitationParameter } from '#invitations/token.ts';
import { entryParameter } from '../admission.ts';
import { type ScriptData, scriptWords } from '../render/script-data.ts';
import { proofBits } from '../screening.ts';
import { writeAddress } from './address.ts';
import type { Visit } from './visit.ts';
import type { Words } from '../words/words.ts';
import { sentencesFor } from '../words/say-problem.ts';

/** The page that the script is told of. `path` is where it posts to. */
type ShownPage = {
  readonly step: number;
  readonly path: string;
  readonly saves: boolean;
  readonly isEdit: boolean;
};

/** What the page tells its script about this visit. */
export function scriptDataOf(
  { live, words, sentences, numbers, context, address }: Visit,
  { step, path, saves, isEdit }: ShownPage,
): ScriptData {
  const offers = offersIn(live.form);
  // What opens the form opens the way for its files.
  const admitting = [...address.own].filter(
    ([name]) => name === invitationParameter || name === entryParameter,
  );
  return {
    form: live.form,
    sentences: sentencesFor(live.form, sentences, offers),
    numbers,
    words: scriptWords(words),
    today: context.today,
    reference: namedReference(live.form, context.reference),
    limits: fileLimits,
    step,
    upload: writeAddress(`${path}/files`, { reference: {}, prefill: [], own: new Map(admitting) }),
    ...(saves && { saves }),
    ...(live.settings.review_step && {
      review: pick(words, ['change', 'noAnswer', 'row', 'yes', 'no']),
    }),
    ...(offers && { offers }),
    ...(isPiped(live.form) && { piping: pick(words, ['yes', 'no']) }),
    ...(live.settings.layout === 'question' && { singly: pick(words, ['newLine']) }),
    // What is changed was screened when it came.
    ...(live.settings.proof_of_work && !isEdit && { proof: proofBits }),
  };
}

const pick = <Name extends keyof Words>(words: Words, names: readonly Name[]): Pick<Words, Name> =>
  Object.fromEntries(names.map((name) => [name, words[name]])) as Pick<Words, Name>;

/** The reference values that a condition of the form looks at. */
function namedReference(form: Form, reference: Readonly<Record<string, string>>): Record<string, string> {
  const names = new Set<string>();
  for (const condition of conditionsOf(form)) {
    for (const comparison of comparisonsOf(condition)) {
      if ('reference' in comparison) names.add(comparison.reference);
    }
  }
  return Object.fromEntries(Object.entries(reference).filter(([name]) => names.has(name)));
}

type Logic = Readonly<Partial<Record<'show_when' | 'hide_when', Condition | undefined>>>;

function* conditionsOf(form: Form): Generator<Condition, void> {
  const elements = [...walkElements(form)].map(({ element }) => element);
  for (const { attrs } of [...form.children, ...elements]) {
    const { show_when, hide_when }: Logic = attrs ?? {};
    for (const condition of [show_when, hide_when]) if (condition) yield condition;
  }
  for (const element of elements) {
    if (isInput(element) && isAsked(element) && element.attrs.require_when) yield element.attrs.require_when;
    for (const { show_when: condition } of optionsIn(element).values()) if (condition) yield condition;
  }
  for (const { attrs } of form.children) {
    for (const { when } of attrs?.jumps ?? []) if (when) yield when;
  }
}
