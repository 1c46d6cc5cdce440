import { newId } from '#kit/clock.ts';
import { gather } from '#kit/concurrency.ts';
import type { Config } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import type { Log } from '#kit/log.ts';
import { type Crew, openCrew } from '#kit/processes/crew.ts';
import { openDoor } from '#kit/processes/door.ts';
import { PrimaryGone } from '#kit/processes/primary-link.ts';
import { startWebProcess } from '#kit/processes/web-process.ts';
import { openAnnouncer } from '#kit/queue/announcer.ts';
import { type Count, openRequestCounter, type RequestCounter } from '#workspaces/request-counter.ts';
import type { Services } from '../operations/services.ts';
import { type Background, hearRevokedKeys } from './background.ts';

/**
 * What a process has that leaves the background work to another one of its instance: one queue's lanes and one
 * housekeeping hold for all of them (docs/decisions/0022). That one hears of new jobs as other machines do.
 * @param first as startBackground has it.
 */
export function startBesideBackground(
  services: Pick<Services, 'database' | 'log'>,
  first?: Background,
): Background {
  const keys = first ? undefined : hearRevokedKeys(services);
  const announcer = openAnnouncer(services, newId());
  let ended: Promise<void> | undefined;
  const end = async (): Promise<void> => {
    await Promise.all([announcer.stop(), keys?.stop()]);
  };
  return {
    wakeQueue: () => announcer.announce(),
    mail: { problem: undefined },
    stop: () => (ended ??= end()),
  };
}

/*
 * Rate limits hold for all processes of an instance together: the primary counts, the others ask it. What is asked while
 * an answer is on its way goes together, so that a process under load sends a message for many requests.
 */

type Question = { key: string; seconds: number | undefined; points: number | undefined };

/** More requests than a process begins within the millisecond that an answer takes. */
const mostAtOnce = 200;

/**
 * Counts through the primary. When that is gone, a request is answered 503: the next start counts anew.
 * @param ask sends a question to it (kit/processes/primary-link.ts).
 */
export function countThroughPrimary(
  ask: (questions: readonly Question[]) => Promise<readonly Count[]>,
): RequestCounter['count'] {
  const count = gather(ask, { most: mostAtOnce, atOnce: 1 });
  return async (key, seconds, points) => {
    try {
      return await count({ key, seconds, points });
    } catch (cause) {
      if (!(cause instanceof PrimaryGone)) throw cause;
      throw new ApiError('service_unavailable', undefined, { retryAfter: 1, cause });
    }
  };
}

/** The primary's side: counts what a process asks. */
function countForProcesses(counter: RequestCounter): (question: unknown) => Promise<readonly Count[]> {
  return (questions) =>
    Promise.all(
      (questions as readonly Question[]).map(({ key, seconds, points }) =>
        counter.count(key, seconds, points),
      ),
    );
}

/** The web processes, running, and where they are reached. */
type Serving = { listening: string; crew: Crew };

/**
 * Opens the port and starts WEB_PROCESSES processes behind it. This process itself serves nothing: it has the database,
 * counts requests and keeps the number of the others (docs/decisions/0022).
 * @param databaseUrl where the others find the database.
 * @param endMs the longest that one may take to finish what it has begun.
 * @throws WebProcessError, or the system's error when the port cannot be had; nothing is left running.
 */
export async function serveByProcesses(
  config: Config,
  {
    log,
    databaseUrl,
    endMs,
    answer: answerOther,
    ...program
  }: {
    log: Log;
    databaseUrl: string;
    /** Answers other questions than those of counting. */
    answer: (question: string) => Promise<unknown>;
    endMs: number;
    script: string;
    environment: NodeJS.ProcessEnv;
  },
): Promise<Serving> {
  const door = openDoor();
  // In memory: with Valkey the others count there themselves, and come here only while it is away.
  const count = countForProcesses(await openRequestCounter({ valkeyUrl: undefined, log }));
  const answer = (question: unknown): Promise<unknown> =>
    typeof question === 'string' ? answerOther(question) : count(question);
  const environment = { ...program.environment, DATABASE_URL: databaseUrl };
  const crew = openCrew({
    size: config.webProcesses,
    launch: (number) => startWebProcess(number, { script: program.script, environment, answer }),
    door,
    log,
    endMs,
  });
  // First the port: when it is taken, nothing needs to be started.
  const listening = await door.open(config);
  await crew.start();
  return { listening, crew };
}
