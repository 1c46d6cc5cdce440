import { isLocale, type Locale, type LocaleChoice } from '#ast/basics/language-tags.ts';
import ar from './ar.json' with { type: 'json' };
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };
import fr from './fr.json' with { type: 'json' };
import ja from './ja.json' with { type: 'json' };
import nl from './nl.json' with { type: 'json' };
import pt from './pt.json' with { type: 'json' };
import zh from './zh.json' with { type: 'json' };

/**
 * The texts of emails to visitors in one language. The English file defines the names and their `{parts}`.
 */
export type MailWords = Readonly<Record<keyof typeof en, string>>;

const languages: Readonly<Record<Locale, MailWords>> = { en, fr, de, es, pt, nl, ar, ja, zh };

/** The English texts of emails. */
export const english: MailWords = en;

/**
 * Returns the texts of a language. Falls back to English if the form uses the visitor's language and that
 * language is unknown.
 */
export function mailWords(choice: LocaleChoice | undefined): { locale: Locale; words: MailWords } {
  const locale = isLocale(choice) ? choice : 'en';
  return { locale, words: languages[locale] };
}
