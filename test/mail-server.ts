import { once } from 'node:events';
import type { Server, Socket } from 'node:net';
import { after } from 'node:test';
import { callbackify } from 'node:util';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer, type SMTPServerOptions, type SMTPServerSession } from 'smtp-server';
import { certificate } from './receiver.ts';
import { noteSecretsOfText } from './secrets.ts';
import { until } from './service.ts';

/** A message that the mail server accepted. */
export type TakenMail = {
  from: string;
  to: string[];
  /** The message as received, headers first. */
  raw: string;
  mail: Email;
};

/**
 * How the server treats a message: accepts it, rejects it permanently (550) or temporarily (451), after the
 * recipient or the data, or drops the connection. It drops it during the data, or after all data but before
 * its response.
 */
export type Treatment =
  | 'take'
  | 'refuse recipient'
  | 'put off recipient'
  | 'refuse message'
  | 'cut in data'
  | 'take and cut';

export type MailServer = {
  port: number;
  /** The value for SMTP_URL. */
  url: string;
  taken: TakenMail[];
  /** Sets how the next messages to an address are treated, in order. Later messages are accepted. */
  treat(address: string, ...treatments: Treatment[]): void;
  /** Resolves with all messages to this address once this many were accepted. */
  waitFor(address: string, count: number): Promise<TakenMail[]>;
  /** Resolves with the latest message to this address once there are more than `known`. */
  waitForOne(address: string, known?: number): Promise<TakenMail>;
  /** Stops listening on its port until `comeBack`. */
  goAway(): Promise<void>;
  comeBack(): Promise<void>;
  close(): Promise<void>;
};

type Options = {
  tls?: 'implicit' | 'starttls';
  /** A certificate of test/certs. `receiver` is the valid one. */
  certificate?: Parameters<typeof certificate>[0];
  login?: { user: string; password: string };
  /** Whether the server offers SMTPUTF8. Default: true. */
  smtpUtf8?: boolean;
};

class Refusal extends Error {
  readonly responseCode: number;
  constructor(responseCode: number, message: string) {
    super(message);
    this.responseCode = responseCode;
  }
}

/** Opens a real SMTP server for a test file and closes it after the file. */
export async function openMailServer(options: Options = {}): Promise<MailServer> {
  const taken: TakenMail[] = [];
  const plans = new Map<string, Treatment[]>();
  /** The connections by remote port. */
  const sockets = new Map<number, Socket>();
  const planOf = (address: string): Treatment | undefined => plans.get(address)?.[0];
  const next = (address: string): Treatment => plans.get(address)?.shift() ?? 'take';

  const takeData = async (stream: AsyncIterable<Buffer>, session: SMTPServerSession): Promise<string> => {
    const { mailFrom, rcptTo } = session.envelope;
    const plan = next(rcptTo[0]!.address);
    if (plan === 'cut in data') {
      sockets.get(session.remotePort)?.destroy();
      return 'Nobody hears this';
    }
    const raw = await collect(stream);
    if (plan === 'refuse message') throw new Refusal(554, '5.6.0 Message refused');
    const from = mailFrom ? mailFrom.address : '';
    const mail = await PostalMime.parse(raw);
    noteSecretsOfText(mail.text ?? '');
    taken.push({ from, to: rcptTo.map(({ address }) => address), raw, mail });
    if (plan === 'take and cut') sockets.get(session.remotePort)?.destroy();
    return 'Accepted';
  };

  const settings: SMTPServerOptions = {
    authOptional: options.login === undefined,
    disableReverseLookup: true,
    hideSMTPUTF8: options.smtpUtf8 === false,
    ...(options.tls ? certificate(options.certificate ?? 'receiver') : { disabledCommands: ['STARTTLS'] }),
    secure: options.tls === 'implicit',
    onAuth(auth, _session, callback) {
      const { user, password } = options.login ?? {};
      if (auth.username === user && auth.password === password) callback(null, { user: auth.username });
      else callback(new Refusal(535, 'Authentication failed'));
    },
    onRcptTo({ address }, _session, callback) {
      const plan = planOf(address);
      if (plan === 'refuse recipient')
        callback(new Refusal(550, `5.1.1 No such user: ${next(address) && address}`));
      else if (plan === 'put off recipient')
        callback(new Refusal(451, `4.7.1 Come back later${next(address) && ''}`));
      else callback();
    },
    onData: callbackify(takeData),
  };
  let server = new SMTPServer(settings);
  let port = 0;
  const open = async (): Promise<void> => {
    server = new SMTPServer(settings);
    server.on('error', () => undefined);
    const listening: Server = server.listen(port, '127.0.0.1');
    listening.on('connection', (socket: Socket) => {
      const far = socket.remotePort!;
      sockets.set(far, socket);
      socket.once('close', () => sockets.delete(far));
    });
    await once(listening, 'listening');
    port = (listening.address() as { port: number }).port;
  };
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      for (const socket of sockets.values()) socket.destroy();
      server.close(resolve);
    });
  await open();
  after(close);
  const waitFor = (address: string, count: number): Promise<TakenMail[]> =>
    until(`${count} mails to ${address}`, async () => {
      const found = taken.filter(({ to }) => to.includes(address));
      return found.length >= count && found;
    });
  const login = options.login ? `${options.login.user}:${encodeURIComponent(options.login.password)}@` : '';
  return {
    port,
    url: `${options.tls === 'implicit' ? 'smtps' : 'smtp'}://${login}127.0.0.1:${port}`,
    taken,
    treat: (address, ...treatments) => void plans.set(address, treatments),
    waitFor,
    waitForOne: async (address, known = 0) => (await waitFor(address, known + 1)).at(-1)!,
    goAway: close,
    comeBack: open,
    close,
  };
}

async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}
