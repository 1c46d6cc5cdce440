import type { Command, Input } from './command.ts';
import { id, UsageError } from './values.ts';

/** Another spelling of a generated command. */
type Alias = {
  /** The generated command that it runs. */
  readonly of: string;
  /** The parameter of the generated command that its one parameter, `<id>`, fills. */
  readonly id?: string;
  /** Its options, with the option or parameter of the generated command that each fills. */
  readonly options?: Readonly<Record<string, string>>;
  /** Flags, with the options that each stands for. */
  readonly flags?: Readonly<Record<string, Input>>;
  /** Options that it always passes. */
  readonly always?: Input;
  /** The properties of the answer that it prints, or of each item of a list. */
  readonly prints: readonly string[];
  readonly note?: string;
};

/** Scripts depend on these names, their options and their answers (docs/rules.md 18). */
const aliases: Readonly<Record<string, Alias>> = {
  'webhook create': {
    of: 'webhooks create',
    options: {
      form: 'form',
      url: 'url',
      events: 'events',
      secret: 'secret',
      filter: 'filter',
      'no-pause-on-failure': 'no-pauses-on-failure',
    },
    flags: { 'generate-secret': { secret: 'generate' } },
    prints: ['id', 'secret'],
    note: 'A secret is shown only this once.',
  },
  'webhook list': { of: 'webhooks list', options: { form: 'form' }, prints: ['data'] },
  'webhook delete': { of: 'webhooks delete', id: 'webhook', always: { yes: true }, prints: ['id'] },
  'delivery list': {
    of: 'deliveries list',
    options: { webhook: 'webhook' },
    always: { all: true, most: 1_000 },
    prints: [
      'id',
      'event',
      'status',
      'created_at',
      'attempts',
      'response_status',
      'response_ms',
      'next_attempt_at',
    ],
  },
  'delivery retry': { of: 'deliveries retry', id: 'delivery', prints: ['id'] },
  'key create': {
    of: 'keys create',
    options: { name: 'name', permissions: 'permissions', forms: 'form-ids', expires: 'expires-at' },
    prints: ['id', 'key'],
    note: 'The key is shown only this once.',
  },
  'key revoke': { of: 'keys revoke', id: 'key', always: { yes: true }, prints: ['id'] },
};

/** Returns every alias as a command that runs a generated one. */
export function aliasCommands(generated: readonly Command[]): readonly Command[] {
  const byName = new Map(generated.map((command) => [command.name, command]));
  return Object.entries(aliases).map(([name, alias]) => aliasCommand(name, alias, byName.get(alias.of)!));
}

function aliasCommand(name: string, alias: Alias, target: Command): Command {
  const { of, id: parameter, options = {}, flags = {}, always = {}, prints, note } = alias;
  if (target.at !== 'api') throw new TypeError(`${of} is no operation.`);
  const spellings = Object.entries(options).map(([own, filled]) => {
    const value = target.parameters[filled];
    return [own, value ? { value, isRequired: true } : target.options[filled]!] as const;
  });
  return {
    at: 'api',
    name,
    summary: target.summary,
    about: `Runs \`${of}\`.`,
    ...(note !== undefined && { note }),
    parameters: parameter === undefined ? {} : { id },
    options: {
      ...Object.fromEntries(spellings),
      ...Object.fromEntries(
        Object.keys(flags).map((flag) => [flag, { value: undefined, isRequired: false }]),
      ),
    },
    async run(context, given) {
      const input: Record<string, unknown> = { ...always };
      for (const [own, filled] of Object.entries(options)) input[filled] = given[own];
      for (const [flag, fields] of Object.entries(flags)) {
        if (given[flag] !== true) continue;
        refuseBoth(flag, fields, input);
        Object.assign(input, fields);
      }
      if (parameter !== undefined) input[parameter] = given['id'];
      const answer = { id: given['id'], ...(await target.run(context, input)) };
      return 'data' in answer && !prints.includes('data')
        ? { data: (answer.data as object[]).map((item) => pick(item, prints)) }
        : pick(answer, prints, { skipsNull: true });
    },
  };
}

/** @throws UsageError for a flag beside an option that it stands for. */
function refuseBoth(flag: string, fields: Input, input: Input): void {
  const given = Object.keys(fields).find((field) => input[field] !== undefined);
  if (given !== undefined) throw new UsageError(`--${given} and --${flag} exclude each other.`);
}

const pick = (from: object, names: readonly string[], { skipsNull = false } = {}): object =>
  Object.fromEntries(
    names
      .map((name) => [name, (from as Readonly<Record<string, unknown>>)[name]])
      .filter(([, value]) => !skipsNull || (value !== null && value !== undefined)),
  );
