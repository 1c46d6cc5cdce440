import { fill } from '#ast/words.ts';
import type { Words } from './words.ts';

/** What people call a type of files where its own name is another one. */
const names: Readonly<Record<string, string>> = {
  'application/msword': 'Word',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'Word',
  doc: 'Word',
  docx: 'Word',
  'application/vnd.ms-excel': 'Excel',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'Excel',
  xls: 'Excel',
  xlsx: 'Excel',
  'application/vnd.ms-powerpoint': 'PowerPoint',
  'application/vnd.openxmlformats-officedocument.presentationml.presentation': 'PowerPoint',
  ppt: 'PowerPoint',
  pptx: 'PowerPoint',
  jpg: 'JPEG',
  'text/plain': 'TXT',
};

/** The name of a type that is no family: `PDF` for `.pdf`, `application/pdf`, `application/x-pdf`. */
function nameOf(type: string): string {
  const [, ending = type.slice(1)] = /\/(?:.*\.|x-)?([\w-]+)/.exec(type) ?? [];
  return names[type] ?? names[ending] ?? ending.toUpperCase();
}

/** The types that an upload accepts, as the language lists them: `images and PDF`. */
export function sayFileTypes(
  types: readonly string[],
  words: Pick<Words, 'images' | 'sounds' | 'videos'>,
  language: string,
): string {
  const families: Readonly<Record<string, string>> = {
    'image/*': words.images,
    'audio/*': words.sounds,
    'video/*': words.videos,
  };
  const said = types.map((type) => type.toLowerCase()).map((type) => families[type] ?? nameOf(type));
  return new Intl.ListFormat(language).format(new Set(said));
}

/** The words for one file of a type. */
export type FileNouns = Pick<Words, 'anImage' | 'aSound' | 'aVideo' | 'aPdf' | 'aFile'>;

/** One file of one of the types, as the language lists what is left to choose: `a PDF, an image, or a Word file`. */
export function sayOneFile(types: readonly string[], nouns: FileNouns, language: string): string {
  const families: Readonly<Record<string, string>> = {
    'image/*': nouns.anImage,
    'audio/*': nouns.aSound,
    'video/*': nouns.aVideo,
  };
  const nounOf = (type: string): string => {
    const name = nameOf(type);
    return families[type] ?? (name === 'PDF' ? nouns.aPdf : fill(nouns.aFile, { name }));
  };
  const said = new Set(types.map((type) => nounOf(type.toLowerCase())));
  return new Intl.ListFormat(language, { type: 'disjunction' }).format(said);
}
