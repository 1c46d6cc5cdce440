import assert from 'node:assert/strict';
import { test } from 'node:test';
import { storageUnavailable } from '#kit/storage.ts';
import { explainError } from './explain.ts';

const failure = (message: string, more: object): Error => Object.assign(new Error(message), more);

const explained: readonly [why: string, error: unknown, words: string | RegExp][] = [
  [
    'a wrong password',
    failure('password authentication failed for user "forms"', { code: '28P01', severity: 'FATAL' }),
    'The database refuses the connection: password authentication failed for user "forms". Correct the user name or password in DATABASE_URL.',
  ],
  [
    'a database that does not exist',
    failure('database "forms" does not exist', { code: '3D000', severity: 'FATAL' }),
    'The database refuses the connection: database "forms" does not exist. Create this database (`createdb`), or correct its name in DATABASE_URL.',
  ],
  [
    'a role without privileges in its database',
    failure('permission denied for schema public', { code: '42501', severity: 'ERROR' }),
    /^The database role lacks privileges: permission denied for schema public\. Make the role .*alter database .* owner to/,
  ],
  [
    'a database that is away',
    failure('connect ECONNREFUSED 127.0.0.1:5432', { code: 'ECONNREFUSED', syscall: 'connect' }),
    'The database does not respond: connect ECONNREFUSED 127.0.0.1:5432. Start PostgreSQL there, or correct the host and port in DATABASE_URL.',
  ],
  [
    'a port that is taken',
    failure('listen EADDRINUSE', { code: 'EADDRINUSE', syscall: 'listen', address: '127.0.0.1', port: 3000 }),
    /^127\.0\.0\.1:3000: This port is in use\./,
  ],
  [
    'a directory of another user',
    failure("EACCES: permission denied, open '/data/secret.key'", {
      code: 'EACCES',
      path: '/data/secret.key',
    }),
    /secret\.key'\. Give the user that runs Formloom access to the path/,
  ],
  [
    'a low open file limit, and not the folder of the next file',
    failure("EMFILE: too many open files, open '/app/db/migrations/0001.sql'", {
      code: 'EMFILE',
      path: '/app/db/migrations/0001.sql',
    }),
    /0001\.sql'\. The open file limit of a process is too low: raise it/,
  ],
  [
    'an unreachable bucket, with its name, which callers do not see',
    storageUnavailable('The bucket at s3.example.com/forms does not respond', new Error('ECONNREFUSED')),
    'Files cannot be stored or read right now. Try again later. The bucket at s3.example.com/forms does not respond.',
  ],
  ['an unknown error', new TypeError('x is not a function'), /^TypeError: x is not a function\n {4}at /],
];
for (const [why, error, words] of explained) {
  test(`explain describes ${why} in a sentence, or with its stack trace if the cause is unknown`, () => {
    if (typeof words === 'string') assert.equal(explainError(error), words);
    else assert.match(explainError(error), words);
  });
}
