import type { FastifyRequest } from 'fastify';
import { formatDay } from '#ast/basics/words.ts';
import { editDaysOf } from '#ast/settings.ts';
import { shortReference } from '#ast/short-reference.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { timeOfId, uuidPattern } from '#kit/clock.ts';
import type { Vault } from '#kit/vault.ts';
import { redirectOf } from './post/handle-json-post.ts';
import { confirmationParameter, readConfirmation } from './post/prepare-confirmation.ts';
import { renderConfirmation } from './render/notices.ts';
import { formatFormAddress } from './visit/address.ts';
import { languageLinks, scriptInFrame, type Visit } from './visit/visit.ts';

/** Renders the page shown after a submission. Returns undefined if the query has no receipt. */
export function confirmationPage(
  context: { readonly scriptSource: string | undefined; readonly vault: Vault },
  visit: Visit,
  request: Pick<FastifyRequest, 'method' | 'url' | 'query'>,
): string | undefined {
  const { live, language, locale, look, words, address } = visit;
  const { receipt, edit } = request.query as Readonly<Record<string, unknown>>;
  if (typeof receipt !== 'string' || !uuidPattern.test(receipt)) return undefined;
  const { say, settings } = readConfirmation(context.vault, visit);
  const { theme } = settings;
  const isChanged = address.own.has('_changed');
  const isEditable =
    live.settings.editing === true && typeof edit === 'string' && /^[\w-]{20,100}$/.test(edit);
  const own = new Map(
    [...address.own].filter(([name]) => name !== '_changed' && name !== confirmationParameter),
  );
  const leadTo = (path: string, carried: ReadonlyMap<string, string> = own): string =>
    formatFormAddress(path, { reference: {}, prefill: [], own: carried });
  // Only the sites in the form's `embed_origins` can frame a page with personal links. Without that setting,
  // the edit link opens outside the frame.
  const leavesFrame = look.isEmbedded && live.settings.embed_origins === undefined;
  const plain = new Map([...own].filter(([name]) => name === '_lang'));
  return renderConfirmation({
    formName: live.form.attrs.name,
    title: isChanged ? undefined : theme?.confirmation_title,
    message: isChanged ? words.changed : settings.confirmation_message,
    receipt: theme?.short_reference ? shortReference(receipt) : receipt,
    say,
    edit: isEditable
      ? {
          address: leadTo(`/f/${live.id}/edit/${edit}`, leavesFrame ? plain : own),
          until: formatDay(editableUntil(live, receipt), locale),
          leavesFrame,
        }
      : undefined,
    onward: look.isEmbedded && !isChanged ? redirectOf(settings, receipt) : undefined,
    again: live.settings.access === 'invited' ? undefined : leadTo(`/f/${live.id}`),
    language,
    languages: languageLinks(visit, request),
    look,
    script: scriptInFrame(visit, context),
    words,
  });
}

/** The receipt is the id of the submission, which includes its time (docs/decisions/0014). */
function editableUntil({ settings }: LiveForm, receipt: string): Date {
  return new Date(timeOfId(receipt).getTime() + editDaysOf(settings) * 86_400_000);
}
