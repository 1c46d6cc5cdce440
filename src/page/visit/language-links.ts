import type { FastifyRequest } from 'fastify';
import type { Html } from '../render/html.ts';
import { languageSwitch } from '../render/language-switch.ts';
import type { Visit } from './visit.ts';

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
