import type { FastifyRequest } from 'fastify';
import { now } from '#kit/clock.ts';
import { readKey } from '#submissions/keys.ts';
import { countCompletion, courseOf, countWay } from '../counting/count-visit.ts';
import { type Course, reachStep } from '../counting/course.ts';
import type { Visit } from '../visit/visit.ts';
import type { AnsweringContext } from './answering.ts';
import type { PagePost } from './page-post.ts';

/** Counts what a post of the page says of its visit, and the step that it leads to. Returns how far that is counted now. */
export function countPost(
  context: AnsweringContext,
  visit: Visit,
  request: FastifyRequest,
  post: PagePost,
  next?: number,
): Course | undefined {
  const { told } = post;
  if (!told) return undefined;
  const is = courseOfPost(visit, post, next);
  countWay(context, visit, request, { was: told.way.was, is }, told.byScript);
  return is;
}

/** Counts that it was taken as a submission. */
export function countTaken(
  context: AnsweringContext,
  visit: Visit,
  request: FastifyRequest,
  post: PagePost,
): void {
  const { told } = post;
  if (!told) return;
  const way = { was: told.way.was, is: courseOfPost(visit, post) };
  // The key of an invited person is older than their page.
  const served = visit.guest ? undefined : readKey(context.vault, visit.live, post.keyText)?.servedAt;
  const seconds = served && (now().getTime() - served.getTime()) / 1_000;
  countCompletion(context, visit, request, { way, byScript: told.byScript, seconds });
}

/** The script knows what was touched; else the answers show it. */
function courseOfPost({ live }: Visit, { told, raw, step }: PagePost, next?: number): Course {
  const steps = [step, next].filter((each) => each !== undefined);
  const { is } = told!.way;
  return told!.byScript ? steps.reduce(reachStep, is) : courseOf(live.form, raw, steps, is);
}
