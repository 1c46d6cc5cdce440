import type { FastifyRequest } from 'fastify';
import type { FileAnswer } from '#ast/answers.ts';
import type { LiveForm } from '#forms/live-form.ts';
import { makeKey, readKey } from '#submissions/submission-keys.ts';
import { readCourses } from '../counting/count-visit.ts';
import { visitControl, type Way, writeCourse, writeWay } from '../counting/course.ts';
import type { FieldMessage } from '../render/view.ts';
import { withHiddenAnswers } from '../visit/address.ts';
import { formPage, type Showing } from '../visit/form-page.ts';
import type { Visit } from '../visit/visit.ts';
import type { AnsweringContext } from './answering.ts';
import { type Controls, controlOf, numberOf } from './controls.ts';
import { joinFiles } from './held-files.ts';
import { discardReceived, type Post, readPost } from './read-post.ts';

/** A post of the page, read whole. */
export type PagePost = Pick<Post, 'raw' | 'controls'> & {
  /** All files by HTML name: those that the page held, and those that came now. */
  readonly files: ReadonlyMap<string, readonly FileAnswer[]>;
  /** Those that came now. */
  readonly received: ReadonlyMap<string, readonly FileAnswer[]>;
  /** What is wrong with the files. */
  readonly problems: readonly FieldMessage[];
  /** The text of the control `_key`, and the key in it; a new one where the page had none of ours. */
  readonly keyText: string;
  readonly key: string;
  /** The index of the step that the page showed; none for a post that no page of ours made. */
  readonly step: number | undefined;
  /** How far the visit has come, and whether the page's script says so; undefined for one that is not counted. */
  readonly told: { readonly way: Way; readonly byScript: boolean } | undefined;
};

/**
 * Reads a post, storing its files as they come. Whoever does not keep them discards them.
 * @param submissionId the submission whose files the page may hold, where one is edited.
 */
export async function readPagePost(
  context: AnsweringContext,
  visit: Visit,
  request: FastifyRequest,
  submissionId?: string,
): Promise<PagePost> {
  const { live, words } = visit;
  const post = await readPost(context, request, live, visit);
  const { controls, received, problems } = post;
  try {
    const sent = controlOf(controls, '_key');
    const known = sent === undefined ? undefined : readKey(context.vault, live, sent);
    const keyText = known ? sent! : makeKey(context.vault, live);
    const key = known?.key ?? readKey(context.vault, live, keyText)!.key;
    const held = await context.heldFiles.read(live, controls, { key, submissionId });
    const joined = joinFiles(live.form, held, received, words);
    // An edit link shows what is stored, hidden questions among it.
    const raw =
      submissionId === undefined
        ? withHiddenAnswers(live.form, visit.address, visit.context, post.raw)
        : post.raw;
    return {
      raw,
      controls,
      received,
      files: joined.files,
      problems: [...problems, ...joined.problems],
      keyText,
      key,
      step: shownStep(live, controls),
      told: visit.isCounted ? readTold(live, controls) : undefined,
    };
  } catch (error) {
    await discardReceived(context, live, received);
    throw error;
  }
}

function readTold({ form }: LiveForm, controls: Controls): PagePost['told'] {
  const text = controlOf(controls, visitControl);
  return text === undefined ? undefined : readCourses(form, text);
}

/** A form may have fewer steps by now than the page that was open: then it is at the last one. */
function shownStep({ form }: LiveForm, controls: Controls): number | undefined {
  const step = numberOf(controls, '_step');
  return step === undefined ? undefined : Math.min(step, form.children.length - 1);
}

/** What a page says when it comes back. */
export type Again = Pick<Showing, 'focus' | 'notice' | 'submitText' | 'editToken' | 'hidden' | 'known'> & {
  /** Where the visit was counted once more. */
  readonly course?: string;
  readonly step?: number | undefined;
  readonly errors: readonly FieldMessage[];
};

/** The page that comes back, with everything in it that was sent. */
export function pageAgain(context: AnsweringContext, visit: Visit, post: PagePost, again: Again): string {
  const { told } = post;
  return formPage(context, visit, {
    raw: post.raw,
    held: post.files,
    key: post.keyText,
    done: numberOf(post.controls, '_done'),
    known: controlOf(post.controls, '_known'),
    course: told && (told.byScript ? writeWay(told.way) : writeCourse(told.way.was)),
    ...again,
  });
}

/**
 * The post without the files that came now for the fields that are wrong, which are discarded: a wrong file is not
 * kept, and a right one need not be chosen again.
 */
export async function withoutWrongFiles(
  context: AnsweringContext,
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
