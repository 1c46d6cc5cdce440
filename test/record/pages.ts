import { locales } from '#ast/basics/language-tags.ts';
import { browser, type Dress, dresses, openState, outside } from '#test/gallery/pages.ts';
import { type GalleryState, galleryStates } from '#test/gallery/states.ts';
import { splitTags } from './normalize.ts';
import { recordMails, type Save } from './texts.ts';

/** States that together show every sentence in a language. English and Arabic record all states. */
const spoken =
  /^(errors|errors-bare|rows-errors|review|offline|files-sent|order-errors|confirmation|saved|resumed|closed|early|full|invited|used|no-link|password-wrong)$/;
const otherLocales = locales.filter((each) => each !== 'en' && each !== 'ar');
/** Selects states by the start of their names. */
const wanted = new RegExp(`^(?:${process.env['SCREENS'] ?? ''})`);

/**
 * Records every state of a form's page: the HTML from the server, and the document after the page's script
 * ran.
 */
export async function recordPages(save: Save): Promise<void> {
  for (const dress of Object.keys(dresses) as Dress[])
    for (const state of galleryStates.filter(({ name }) => wanted.test(name)))
      await recordPage(state, dress, save);
  for (const locale of otherLocales) {
    const dress = `in-${locale}` as Dress;
    Object.assign(dresses, { [dress]: { say: (text: string) => text, locale } });
    for (const state of galleryStates.filter(({ name }) => spoken.test(name) && wanted.test(name)))
      await recordPage(state, dress, save);
  }
  await recordMails(outside, (path, text) => save(`pages/${path}`, text));
}

async function recordPage(state: GalleryState, dress: Dress, save: Save): Promise<void> {
  const path = `pages/${state.name}/${dress}`;
  const sent: Promise<string>[] = [];
  const page = await openState(state, dress, (opened) =>
    opened.on('response', (response) => {
      if (response.request().resourceType() === 'document' && response.status() !== 303)
        sent.push(response.text().catch((error: unknown) => `no text: ${String(error)}`));
    }),
  ).catch((error: unknown) => error as Error);
  if (page instanceof Error) return save(`${path}.txt`, `This page could not be opened: ${page.message}`);
  if (state.name === 'saved') {
    await page.locator('[type=email]').fill(`${dress}.later@example.org`);
    await page.locator('.submit').click();
    await outside.inbox.waitForOne(`${dress}.later@example.org`);
  }
  await page.evaluate('document.activeElement?.blur()');
  const frames = await Promise.all(page.frames().map((frame) => frame.content()));
  await save(`${path}.html`, frames.map(splitTags).join('\n\n'));
  await save(`${path}.sent.html`, (await Promise.all(sent)).map(splitTags).join('\n\n'));
  await page.context().close();
  browser.assertQuiet();
}
