import type { Socket } from 'node:net';
import { after } from 'node:test';
import { dial, standBefore } from './relay.ts';

/** Reads messages of PostgreSQL's protocol: one byte of type, four of length, its body. */
function eachMessage(socket: Socket, take: (type: string, message: Buffer) => void): void {
  let rest = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    while (rest.length >= 5 && rest.length > rest.readUInt32BE(1)) {
      const end = 1 + rest.readUInt32BE(1);
      take(String.fromCharCode(rest[0]!), rest.subarray(0, end));
      rest = rest.subarray(end);
    }
  });
}

type Session = { socket: Socket; lentTo: Socket | undefined };

/**
 * Stands before the server at `url` as a pooler of transactions does: a session is lent to a client for one transaction,
 * and the one that was used last is lent next. It knows clients that need no password.
 * @returns its address.
 */
export async function startTransactionPooler(url: string): Promise<string> {
  const sessions: Session[] = [];
  /** One more session, and what it said until it took statements. */
  const open = async (startup: Buffer): Promise<{ session: Session; greeting: Buffer }> => {
    const session: Session = { socket: dial(url), lentTo: undefined };
    const isReady = Promise.withResolvers<void>();
    let greeting = Buffer.alloc(0);
    eachMessage(session.socket, (type, message) => {
      if (session.lentTo) session.lentTo.write(message);
      else greeting = Buffer.concat([greeting, message]);
      // Its body is `I` outside of a transaction.
      if (type === 'Z' && message[5] === 'I'.charCodeAt(0)) {
        session.lentTo = undefined;
        isReady.resolve();
      }
    });
    session.socket.on('error', isReady.reject).write(startup);
    await isReady.promise;
    sessions.push(session);
    return { session, greeting };
  };
  let first: ReturnType<typeof open> | undefined;
  after(() => sessions.forEach(({ socket }) => socket.destroy()));
  return standBefore(url, (client) => {
    const greet = async (startup: Buffer): Promise<void> => {
      first ??= open(startup);
      client.write((await first).greeting);
    };
    const pass = async (before: Promise<void>, sent: Buffer, startup: Buffer): Promise<void> => {
      await before;
      const mine = sessions.find(({ lentTo }) => lentTo === client);
      const lent = mine ?? sessions.find(({ lentTo }) => !lentTo) ?? (await open(startup)).session;
      lent.lentTo = client;
      lent.socket.write(sent);
    };
    client.once('data', (startup: Buffer) => {
      let turn = greet(startup);
      client.on('data', (sent: Buffer) => {
        // The end of a client is not the end of a session.
        if (sent[0] !== 'X'.charCodeAt(0)) turn = pass(turn, sent, startup);
      });
    });
  });
}
