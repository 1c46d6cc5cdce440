import type { Socket } from 'node:net';
import { after } from 'node:test';
import { dial, standBefore } from './relay.ts';

/** Reads messages of PostgreSQL's protocol: one byte of type, four of length, then the body. */
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
 * Starts a transaction pooler in front of the server at `url`. It lends a session to a client for one
 * transaction, the last used one first. Clients must need no password.
 * @returns its URL.
 */
export async function startTransactionPooler(url: string): Promise<string> {
  const sessions: Session[] = [];
  /** Opens another session. Returns it with its greeting, up to the point where it accepts statements. */
  const open = async (startup: Buffer): Promise<{ session: Session; greeting: Buffer }> => {
    const session: Session = { socket: dial(url), lentTo: undefined };
    const isReady = Promise.withResolvers<void>();
    let greeting = Buffer.alloc(0);
    eachMessage(session.socket, (type, message) => {
      if (session.lentTo) session.lentTo.write(message);
      else greeting = Buffer.concat([greeting, message]);
      // The body is `I` outside of a transaction.
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
        // A client's Terminate message must not end the session.
        if (sent[0] !== 'X'.charCodeAt(0)) turn = pass(turn, sent, startup);
      });
    });
  });
}
