import type { FastifyRequest } from 'fastify';
import type { FileAnswer } from '#ast/answers/check-answers.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { createSubmissionKey, readSubmissionKey } from '#submissions/submission-keys.ts';
import type { VerifiedAddresses } from '#submissions/verified.ts';
import type { FieldMessage } from '../render/view.ts';
import { prefillHiddenAnswers } from '../visit/address.ts';
import { parseVisitReport } from '../visit/count-visit.ts';
import { type CodeState, type FormPageContent, formPage } from '../visit/form-page.ts';
import { joinFiles } from '../visit/kept-files.ts';
import type { Visit } from '../visit/visit.ts';
import {
  formatProgressChange,
  formatVisitProgress,
  type ProgressChange,
  visitControl,
} from '../visit/visit-progress.ts';
import { getControlNumber, getControlValue, type PostedControls } from './controls.ts';
import { readCodeStates } from './email-codes.ts';
import type { PostServices } from './post-context.ts';
import { discardReceived, type RawPost, readPost } from './read-post.ts';

/** A fully read post of the page. */
export type PagePost = Pick<RawPost, 'raw' | 'controls'> & {
  /** All files by HTML name, both kept and new ones. */
  readonly files: ReadonlyMap<string, readonly FileAnswer[]>;
  /** New files by HTML name. */
  readonly received: ReadonlyMap<string, readonly FileAnswer[]>;
  /** Problems with the files. */
  readonly problems: readonly FieldMessage[];
  /** The value of the control `_key`, and the key in it. Both are new if the page sent no valid one. */
  readonly keyText: string;
  readonly key: string;
  /** The codes that the page asks for, and the tokens of verified addresses, by element id. */
  readonly codes: ReadonlyMap<string, CodeState>;
  /** The addresses that are verified (email-codes.ts). */
  readonly verified: VerifiedAddresses;
  /** The index of the step that the page showed; undefined for a post from a page that is not ours. */
  readonly step: number | undefined;
  /**
   * Progress of the visit, and whether the page's script reported it; undefined if the visit is not counted.
   */
  readonly report: { readonly change: ProgressChange; readonly byScript: boolean } | undefined;
};

/**
 * Reads a post and stores its files as they arrive. The caller discards files that it does not keep.
 * @param submissionId the edited submission, whose files the page may keep.
 */
export async function readPagePost(
  context: PostServices,
  visit: Visit,
  request: FastifyRequest,
  submissionId?: string,
): Promise<PagePost> {
  const { live, words } = visit;
  const post = await readPost(context, request, live, visit);
  const { controls, received, problems } = post;
  try {
    const sent = getControlValue(controls, '_key');
    const known = sent === undefined ? undefined : readSubmissionKey(context.vault, live, sent);
    const keyText = known ? sent! : createSubmissionKey(context.vault, live);
    const key = known?.key ?? readSubmissionKey(context.vault, live, keyText)!.key;
    const keptFiles = await context.heldFiles.read(live, controls, { key, submissionId });
    const joined = joinFiles(live.form, keptFiles, received, words);
    // An edit link shows the stored answers, including those of hidden questions.
    const raw =
      submissionId === undefined
        ? prefillHiddenAnswers(live.form, visit.address, visit.context, post.raw)
        : post.raw;
    return {
      raw,
      controls,
      received,
      files: joined.files,
      problems: [...problems, ...joined.problems],
      keyText,
      key,
      codes: readCodeStates(context, live, { raw, controls }),
      verified: {},
      step: shownStep(live, controls),
      report: visit.isCounted ? readVisitReport(live, controls) : undefined,
    };
  } catch (error) {
    await discardReceived(context, live, received);
    throw error;
  }
}

function readVisitReport({ form }: LiveForm, controls: PostedControls): PagePost['report'] {
  const text = getControlValue(controls, visitControl);
  return text === undefined ? undefined : parseVisitReport(form, text);
}

/**
 * Returns the index of the shown step. If the form now has fewer steps than when the page was opened, it is
 * the last one.
 */
function shownStep({ form }: LiveForm, controls: PostedControls): number | undefined {
  const step = getControlNumber(controls, '_step');
  return step === undefined ? undefined : Math.min(step, form.children.length - 1);
}

/** The content of a page that is shown again. */
export type RedisplayedPage = Pick<
  FormPageContent,
  'focus' | 'notice' | 'submitText' | 'editToken' | 'hidden' | 'known'
> & {
  /** The progress of the visit, if this post was counted. */
  readonly course?: string;
  readonly step?: number | undefined;
  readonly errors: readonly FieldMessage[];
};

/** Renders the page again with everything that was posted. */
export function renderPageAgain(
  context: PostServices,
  visit: Visit,
  post: PagePost,
  again: RedisplayedPage,
): string {
  const { report } = post;
  return formPage(context, visit, {
    raw: post.raw,
    files: post.files,
    key: post.keyText,
    codes: post.codes,
    done: getControlNumber(post.controls, '_done'),
    known: getControlValue(post.controls, '_known'),
    course:
      report &&
      (report.byScript ? formatProgressChange(report.change) : formatVisitProgress(report.change.was)),
    ...again,
  });
}

/**
 * Discards the new files of fields with errors, and returns the post without them. The visitor need not
 * choose the other files again.
 */
export async function discardInvalidFiles(
  context: PostServices,
  visit: Visit,
  post: PagePost,
  errors: readonly FieldMessage[],
): Promise<PagePost> {
  const wrong = new Map(
    errors.flatMap(({ field }) => {
      const files = post.received.get(field);
      return files ? [[field, files] as const] : [];
    }),
  );
  await discardReceived(context, visit.live, wrong);
  const files = new Map(
    [...post.files].map(
      ([name, all]) => [name, all.filter((file) => !wrong.get(name)?.includes(file))] as const,
    ),
  );
  return { ...post, files: new Map([...files].filter(([, all]) => all.length > 0)) };
}
