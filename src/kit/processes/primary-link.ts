import type { Server as HttpServer } from 'node:http';
import type { Socket } from 'node:net';
import { type FromWebProcess, type ToWebProcess, webProcessArgument } from './messages.ts';

/** The connection of a web process to the primary. */
export type PrimaryLink = {
  /** The number of this web process, from 1. */
  readonly number: number;
  /** Asks the primary. @throws PrimaryGone */
  ask<Answer>(question: unknown): Promise<Answer>;
  /** Sets the report of this process for surveys. */
  onSurvey(answer: () => Promise<unknown>): void;
  /** Passes new connections to this server, which does not listen itself. */
  serve(http: HttpServer): void;
  /** Reports why this process cannot serve, and resolves when that is sent. */
  fail(why: string): Promise<void>;
  /** Requests no more connections, because this process is exiting. */
  leave(): void;
};

/** Thrown if the primary is gone. This process is about to exit. */
export class PrimaryGone extends Error {
  override readonly name = 'PrimaryGone';
}

/** Callbacks for messages from the primary. */
type PrimaryCommands = {
  /** The service is about to stop. */
  onStopping: () => void;
  /** Finish the requests and exit, because the primary requested it or is gone. Called once. */
  onEnd: () => void;
};

/**
 * Returns the link to the primary if it started this process, else undefined. Signals are ignored: Ctrl-C and
 * service managers signal every process of the group, but web processes end only when the primary tells them.
 */
export function joinPrimary(argv: readonly string[], orders: PrimaryCommands): PrimaryLink | undefined {
  if (argv[2] !== webProcessArgument || process.send === undefined) return undefined;
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGUSR2'] as const) process.on(signal, () => {});

  const pending = new Map<number, PromiseWithResolvers<unknown>>();
  let lastId = 0;
  let http: HttpServer | undefined;
  let hasEnded = false;
  let surveyed: () => Promise<unknown> = async () => undefined;
  const end = (): void => {
    if (hasEnded) return;
    hasEnded = true;
    orders.onEnd();
  };
  const onMessage = (message: ToWebProcess, socket?: Socket): void => {
    if (message.kind === 'connection') {
      void sendToPrimary({ kind: 'taken', id: message.id });
      acceptSocket(http!, socket);
    } else if (message.kind === 'answer') {
      pending.get(message.id)?.resolve(message.answer);
      pending.delete(message.id);
    } else if (message.kind === 'survey') {
      void surveyed().then((answer) => sendToPrimary({ kind: 'surveyed', id: message.id, answer }));
    } else if (message.kind === 'ping') void sendToPrimary({ kind: 'alive' });
    else if (message.kind === 'stopping') orders.onStopping();
    else end();
  };
  process.on('message', onMessage);
  process.on('disconnect', () => {
    for (const { reject } of pending.values()) reject(new PrimaryGone());
    pending.clear();
    end();
  });

  return {
    number: Number(argv[3]),
    async ask<Answer>(question: unknown) {
      if (!process.connected) throw new PrimaryGone();
      const id = (lastId += 1);
      const answered = Promise.withResolvers<unknown>();
      pending.set(id, answered);
      void sendToPrimary({ kind: 'ask', id, question });
      return (await answered.promise) as Answer;
    },
    onSurvey(answer) {
      surveyed = answer;
    },
    serve(server) {
      http = server;
      // Node checks slow and idle connections only after a server listens, which this one never does.
      http.emit('listening');
      void sendToPrimary({ kind: 'ready' });
    },
    fail: (why) => sendToPrimary({ kind: 'failed', why }),
    leave: () => void sendToPrimary({ kind: 'leaving' }),
  };
}

/** Resolves even if the primary is gone; `disconnect` reports that. */
const sendToPrimary = (message: FromWebProcess): Promise<void> =>
  new Promise((resolve) => {
    if (!process.connected) return resolve();
    process.send!(message, undefined, undefined, () => resolve());
  });

/** @param socket undefined if the client disconnected before it was passed on. */
function acceptSocket(http: HttpServer, socket: Socket | undefined): void {
  if (socket) http.emit('connection', socket);
}
