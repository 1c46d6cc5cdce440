import { newId } from '#kit/clock.ts';
import { batchCalls } from '#kit/concurrency.ts';
import type { Config } from '#kit/config.ts';
import { ApiError } from '#kit/errors.ts';
import type { Log } from '#kit/log.ts';
import { openConnectionListener } from '#kit/processes/connection-listener.ts';
import { PrimaryGone } from '#kit/processes/primary-link.ts';
import { openSupervisor, type Supervisor } from '#kit/processes/supervisor.ts';
import { startWebProcess } from '#kit/processes/web-process.ts';
import { openAnnouncer } from '#kit/queue/announcer.ts';
import { openRequestCounter, type RequestCounter, type WindowCount } from '#workspaces/request-counter.ts';
import type { Services } from '../operations/services.ts';
import { type BackgroundWork, listenForRevokedKeys } from './background.ts';

/**
 * Returns the background work of a process whose instance has another process for it. The queue lanes and
 * periodic tasks of that other process serve all processes (docs/decisions/0022). It is notified of new jobs
 * in the same way as processes on other machines.
 * @param first as in startBackgroundWork.
 */
export function delegateBackgroundWork(
  services: Pick<Services, 'database' | 'log'>,
  first?: BackgroundWork,
): BackgroundWork {
  const keys = first ? undefined : listenForRevokedKeys(services);
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
 * Rate limits apply to all processes of an instance together: the primary counts, and the others ask it.
 * Requests to the primary that arrive while a reply is pending are sent together, so a process under load
 * sends one message for many requests.
 */

type CountRequest = { key: string; seconds: number | undefined; points: number | undefined };

/** More requests than a process starts in the millisecond that a reply takes. */
const mostAtOnce = 200;

/**
 * Counts requests through the primary. If the primary is gone, a request gets 503; after the next start,
 * counting begins again.
 * @param ask sends questions to the primary (kit/processes/primary-link.ts).
 */
export function countRequestsThroughPrimary(
  ask: (questions: readonly CountRequest[]) => Promise<readonly WindowCount[]>,
): RequestCounter['count'] {
  const count = batchCalls(ask, { most: mostAtOnce, atOnce: 1 });
  return async (key, seconds, points) => {
    try {
      return await count({ key, seconds, points });
    } catch (cause) {
      if (!(cause instanceof PrimaryGone)) throw cause;
      throw new ApiError('service_unavailable', undefined, { retryAfter: 1, cause });
    }
  };
}

function countForProcesses(counter: RequestCounter): (question: unknown) => Promise<readonly WindowCount[]> {
  return (questions) =>
    Promise.all(
      (questions as readonly CountRequest[]).map(({ key, seconds, points }) =>
        counter.count(key, seconds, points),
      ),
    );
}

/** The running web processes, and the URL at which they listen. */
type Serving = { listening: string; crew: Supervisor };

/**
 * Opens the port and starts WEB_PROCESSES processes behind it. This process serves no requests itself: it
 * owns the database, counts requests and keeps the number of processes constant (docs/decisions/0022).
 * @param databaseUrl the URL of the database for the other processes.
 * @param endMs the longest time that a process may take to finish its work.
 * @throws WebProcessError, or the system's error if the port is not available; nothing is left running.
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
    /** Replies to questions from the processes that are not about counting. */
    answer: (question: string) => Promise<unknown>;
    endMs: number;
    script: string;
    environment: NodeJS.ProcessEnv;
  },
): Promise<Serving> {
  const door = openConnectionListener();
  // In memory: if Valkey is configured, the other processes count there, and use this counter only while
  // Valkey is down.
  const count = countForProcesses(await openRequestCounter({ valkeyUrl: undefined, log }));
  const answer = (question: unknown): Promise<unknown> =>
    typeof question === 'string' ? answerOther(question) : count(question);
  const environment = { ...program.environment, DATABASE_URL: databaseUrl };
  const crew = openSupervisor({
    size: config.webProcesses,
    launch: (number) => startWebProcess(number, { script: program.script, environment, answer }),
    door,
    log,
    endMs,
  });
  // The port is opened first: if it is in use, nothing else needs to be started.
  const listening = await door.open(config);
  await crew.start();
  return { listening, crew };
}
