import type { Locale } from '#ast/basics/language-tags.ts';
import ar from './ar.json' with { type: 'json' };
import de from './de.json' with { type: 'json' };
import en from './en.json' with { type: 'json' };
import es from './es.json' with { type: 'json' };
import fr from './fr.json' with { type: 'json' };
import ja from './ja.json' with { type: 'json' };
import nl from './nl.json' with { type: 'json' };
import pt from './pt.json' with { type: 'json' };
import zh from './zh.json' with { type: 'json' };

/** The service's own texts in a PDF. */
export type PdfWords = Readonly<Record<keyof typeof en, string>>;

export const pdfWords: Readonly<Record<Locale, PdfWords>> = { en, fr, de, es, pt, nl, ar, ja, zh };
