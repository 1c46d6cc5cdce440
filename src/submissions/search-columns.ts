import type { Answers } from '#ast/answers.ts';
import { type Language, searchLanguage } from '#ast/languages.ts';
import { searchableText } from '#ast/searchable.ts';
import type { Settings } from '#ast/settings.ts';
import { inLanguage } from '#ast/translations/translations.ts';
import type { Form } from '#ast/tree.ts';

/** What a submission is found by: its words, as they were read when it was answered, and how they are stemmed. */
export const searchColumns = (
  form: Form,
  settings: Settings,
  given: {
    readonly answers: Answers;
    readonly reference: Readonly<Record<string, string>>;
    /** As a BCP-47 tag; null where the form names none. */
    readonly language: string | null;
  },
): { language: Language; subject: string; body: string } => ({
  language: searchLanguage(settings, given.language),
  ...searchableText(
    inLanguage(form, given.language ?? undefined),
    given.answers,
    given.reference,
    settings.subject_element,
  ),
});
