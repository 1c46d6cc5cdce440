import type { Answers } from '#ast/answers.ts';
import { type Language, searchLanguage } from '#ast/languages.ts';
import { limits } from '#ast/limits.ts';
import { chosenLabels, searchableText } from '#ast/searchable.ts';
import type { Settings } from '#ast/settings.ts';
import { inLanguage } from '#ast/translations/translations.ts';
import { byteLength, cutToBytes } from '#ast/text.ts';
import { type Form, languagesOf } from '#ast/tree.ts';

/**
 * What a submission is found by: its words, as they were read when it was answered, options in every language of the form,
 * and how they are stemmed.
 */
export const searchColumns = (
  form: Form,
  settings: Settings,
  given: {
    readonly answers: Answers;
    readonly reference: Readonly<Record<string, string>>;
    /** As a BCP-47 tag; null where the form names none. */
    readonly language: string | null;
  },
): { language: Language; subject: string; body: string } => {
  const spoken = inLanguage(form, given.language ?? undefined);
  const { subject, body } = searchableText(spoken, given.answers, given.reference, settings.subject_element);
  const others = labelsElsewhere(form, spoken, given.answers);
  return {
    language: searchLanguage(settings, given.language),
    subject,
    body: others === '' ? body : cutToBytes(`${body}\n${others}`, limits.searchBytes - byteLength(subject)),
  };
};

/** What chosen options are called in the other languages of the form; nothing of a form in one. */
function labelsElsewhere(form: Form, spoken: Form, answers: Answers): string {
  const languages = languagesOf(form);
  if (languages.length < 2) return '';
  const known = chosenLabels(spoken, answers);
  const others = languages.flatMap((language) => [...chosenLabels(inLanguage(form, language), answers)]);
  return [...new Set(others)].filter((label) => !known.has(label)).join('\n');
}
