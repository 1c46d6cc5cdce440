import type { Request } from '../load.ts';
import type { Asked } from './peer.ts';
import { type Rows, scarceWord } from './rows.ts';

const pageSize = 20;

async function textOf(port: number, { method, path, headers }: Request): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    method,
    signal: AbortSignal.timeout(60_000),
    ...(headers && { headers }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text.slice(0, 600)}`);
  return text;
}

/** Returns the email addresses in a response; each belongs to one row. */
const emailsIn = (text: string): string[] =>
  [...text.matchAll(/person\d+@example\.com/g)].map(([email]) => email);

const expectEqual = (what: string, found: readonly unknown[], expected: readonly unknown[]): void => {
  if (found.join() !== expected.join())
    throw new Error(`${what}: ${found.join(', ')} instead of ${expected.join(', ')}`);
};

/**
 * Checks one response of each case before anything is inserted, because a figure for a wrong response is
 * worthless.
 * @throws with the fault of the response.
 */
export async function verifyAnswers(port: number, { list, get, search }: Asked, rows: Rows): Promise<void> {
  const emailAt = (place: number): string => String(rows.at(place).answers['email']);
  const listed = await textOf(port, list[0]!);
  const newest = Array.from({ length: pageSize }, (_, index) => emailAt(rows.count - 1 - index));
  expectEqual('the newest', emailsIn(listed), newest);
  if (!new RegExp(`:\\s*"?${rows.count}\\b`).test(listed)) throw new Error('a list without the total');
  expectEqual('one', emailsIn(await textOf(port, get[0]!)), [emailAt(0)]);
  const found = emailsIn(await textOf(port, search[0]!));
  const having = new Set(
    Array.from({ length: rows.count }, (_, place) => rows.at(place).answers)
      .filter(({ subject, message }) => `${subject} ${message}`.includes(scarceWord))
      .map(({ email }) => email as string),
  );
  const wrong = found.filter((email) => !having.has(email));
  if (wrong.length > 0 || new Set(found).size !== Math.min(pageSize, having.size))
    throw new Error(`a search found ${found.length}, of which ${wrong.length} do not have the word`);
}
