import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { type FromWebProcess, type ToWebProcess, webProcessArgument } from './messages.ts';

/** What a web process hears from the primary and tells it. */
export type PrimaryLink = {
  /** Which of the web processes this is: 1 and up. */
  readonly number: number;
  /** Answered by the primary. @throws PrimaryGone */
  ask<Answer>(question: unknown): Promise<Answer>;
  /** What this process says of itself when the primary asks all of them. */
  onSurvey(answer: () => Promise<unknown>): void;
  /** From now on connections come to this server, which does not listen itself. */
  serve(http: HttpServer): void;
  /** Tells why this process cannot serve; resolves when it has been told. */
  fail(why: string): Promise<void>;
  /** Asks for no more connections: this process ends by itself. */
  leave(): void;
};

/** There is nobody who could answer, and this process is about to end. */
export class PrimaryGone extends Error {
  override readonly name = 'PrimaryGone';
}

/** What the primary wants. */
type Orders = {
  /** The whole service is about to end. */
  onStopping: () => void;
  /** Finish what has begun and end: told so by the primary, or because it is gone. Called once. */
  onEnd: () => void;
};

/**
 * The link to the primary, when it started this process; else undefined. Signals mean the primary: a terminal's Ctrl-C
 * and a service manager reach every process of the group, and one of several ends when it is told to.
 */
export function joinPrimary(argv: readonly string[], orders: Orders): PrimaryLink | undefined {
  if (argv[2] !== webProcessArgument || process.send === undefined) return undefined;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {});

  const asked = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  let http: HttpServer | undefined;
  let hasEnded = false;
  let surveyed: () => Promise<unknown> = async () => undefined;
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    orders.onEnd();
  };
  const hear = (message: ToWebProcess, socket?: Socket): void => {
    if (message.kind === 'connection') {
      void tell({ kind: 'taken', id: message.id });
      take(http!, socket);
    } else if (message.kind === 'answer') {
      asked.get(message.id)?.resolve(message.answer);
      asked.delete(message.id);
    } else if (message.kind === 'survey') {
      void surveyed().then((answer) => tell({ kind: 'surveyed', id: message.id, answer }));
    } else if (message.kind === 'ping') void tell({ kind: 'alive' });
    else if (message.kind === 'stopping') orders.onStopping();
    else end();
  };
  process.on('message', hear);
  process.on('disconnect', () => {
    for (const { reject } of asked.values()) reject(new PrimaryGone());
    asked.clear();
    end();
  });

  return {
    number: Number(argv[3]),
    async ask<Answer>(question: unknown) {
      if (!process.connected) throw new PrimaryGone();
      const id = (lastId += 1);
      const answered = Promise.withResolvers<unknown>();
      asked.set(id, answered);
      void tell({ kind: 'ask', id, question });
      return (await answered.promise) as Answer;
    },
    onSurvey(answer) {
      surveyed = answer;
    },
    serve(server) {
      http = server;
      // Node watches over slow and idle connections from when a server listens, which this one never does.
      http.emit('listening');
      void tell({ kind: 'ready' });
    },
    fail: (why) => tell({ kind: 'failed', why }),
    leave: () => void tell({ kind: 'leaving' }),
  };
}

/** Resolves also when the primary is gone: then `disconnect` says so. */
const tell = (message: FromWebProcess): Promise<void> =>
  new Promise((resolve) => {
    if (!process.connected) return resolve();
    process.send!(message, undefined, undefined, () => resolve());
  });

/** @param socket undefined when the client was gone before it was handed over. */
function take(http: HttpServer, socket: Socket | undefined): void {
  if (socket) http.emit('connection', socket);
}
