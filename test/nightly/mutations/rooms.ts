/** The sources to mutate, and the tests that should catch the mutants. */
export type Room = { sources: string[]; tests: string[] };

/** Tests of every statement, and of every operation with keys that lack its permission. */
const everywhere = [
  'test/statements.test.ts',
  'src/workspaces/key-endpoints.test.ts',
  'src/app/operations/api.test.ts',
];

/** The rooms with guards to test, by the names in the command. */
export const rooms: Readonly<Record<string, Room>> = {
  queue: {
    sources: ['src/kit/queue.ts', 'src/kit/queue/*.ts'],
    tests: ['src/kit/queue.test.ts', 'src/kit/queue/*.test.ts', 'src/webhooks/sending/*.test.ts'],
  },
  'exactly-once': {
    sources: ['src/submissions/{repeat,response-limit,submission-keys,submit}.ts'],
    tests: [...everywhere, 'src/submissions/**/*.test.ts', 'src/page/*.test.ts'],
  },
  sending: {
    sources: ['src/webhooks/sending/*.ts'],
    tests: [...everywhere, 'src/webhooks/**/*.test.ts', 'test/faults/*.test.ts'],
  },
  workspaces: {
    sources: ['src/workspaces/**/*.ts'],
    tests: [
      ...everywhere,
      'src/workspaces/**/*.test.ts',
      'src/console/*.test.ts',
      'src/app/{operations,server}/*.test.ts',
    ],
  },
  page: {
    sources: ['src/page/*.ts', 'src/page/visit/*.ts'],
    tests: ['src/page/*.test.ts', 'src/page/{post,visit}/*.test.ts', 'src/forms/password.test.ts'],
  },
  post: {
    sources: ['src/page/post/*.ts'],
    tests: ['src/page/*.test.ts', 'src/page/post/*.test.ts', 'src/files/*.test.ts'],
  },
  ast: {
    sources: ['src/ast/**/*.ts'],
    tests: [
      'src/ast/**/*.test.ts',
      'src/forms/*.test.ts',
      'src/page/{piping,theme/*,render/*}.test.ts',
      'src/submissions/summary/*.test.ts',
      'test/form-language.test.ts',
    ],
  },
  api: {
    sources: [
      'src/app/operations/{api,run-operation}.ts',
      'src/app/server/{background,server,setup-page}.ts',
      'src/kit/{conditional,pagination}.ts',
    ],
    tests: [
      'src/app/{operations,server}/*.test.ts',
      'src/kit/pagination.test.ts',
      'src/workspaces/{,audit/}*.test.ts',
      'src/{console,workspaces/sign-in}/*.test.ts',
      'src/forms/*.test.ts',
      'src/submissions/{,changes/}*.test.ts',
      'src/search/*.test.ts',
    ],
  },
  many: {
    sources: [
      'src/submissions/{tags,changes/bulk,changes/bulk-works,changes/notes}.ts',
      'src/search/filter/*.ts',
    ],
    tests: [...everywhere, 'src/submissions/**/*.test.ts', 'src/search/**/*.test.ts'],
  },
  submissions: {
    sources: ['src/submissions/{,changes/,erase/,retention/}*.ts'],
    tests: [...everywhere, 'src/submissions/**/*.test.ts', 'src/page/*.test.ts'],
  },
  backup: {
    sources: ['src/backup/**/*.ts', 'src/app/database/restore.ts'],
    tests: [...everywhere, 'src/backup/**/*.test.ts', 'src/app/cli/backup-commands.test.ts'],
  },
  forms: {
    sources: ['src/forms/**/*.ts'],
    tests: [
      ...everywhere,
      'src/forms/**/*.test.ts',
      'src/page/{visits,visit/admission}.test.ts',
      'src/app/operations/conventions.test.ts',
    ],
  },
  accounts: {
    sources: ['src/console/*.ts', 'src/workspaces/sign-in/*.ts'],
    tests: [
      ...everywhere,
      'src/console/**/*.test.ts',
      'src/workspaces/**/*.test.ts',
      'src/app/operations/conventions.test.ts',
    ],
  },
  files: {
    sources: ['src/files/*.ts'],
    tests: [...everywhere, 'src/files/*.test.ts', 'src/page/{upload-route,repeats,visit/limits}.test.ts'],
  },
  checks: {
    sources: ['src/app/checks/*.ts'],
    tests: [...everywhere, 'src/app/checks/*.test.ts', 'src/app/metrics/*.test.ts'],
  },
};
