import { formatDay } from '#ast/basics/words.ts';
import type { PostServices } from './post/post-context.ts';
import { type LinkMailForm, renderSavedPage } from './render/notices.ts';
import { linkMailAddress } from './visit/address.ts';
import type { Visit } from './visit/visit.ts';

/**
 * Renders the page with the link to saved answers. It offers to email the link if the instance sends emails.
 * @param link `said` is the result of the last attempt to email it.
 */
export function savedPage(
  { config, scriptSource }: PostServices,
  { live, language, locale, look, words, address }: Visit,
  link: { readonly url: string; readonly until: Date; readonly said?: Omit<LinkMailForm, 'action'> },
): string {
  return renderSavedPage({
    formName: live.form.attrs.name,
    address: link.url,
    until: formatDay(link.until, locale),
    language,
    look,
    words,
    script: scriptSource,
    mail: config.smtp && { ...link.said, action: linkMailAddress(link.url, address) },
  });
}
