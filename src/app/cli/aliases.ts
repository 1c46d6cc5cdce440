import { type Command, type CommandInput, flagOption } from './command.ts';
import { idValue, UsageError } from './values.ts';

/**
 * Another name for a generated command. Option names are separated by spaces; `own=other` passes the option
 * `own` to `other` of the generated command.
 */
type Alias = {
  /** The generated command that it runs. */
  readonly of: string;
  /** The generated command that it runs instead if the option `form` is missing. */
  readonly withoutForm?: string;
  /** The parameter of the generated command that `<id>` fills. */
  readonly id?: string;
  /** Options of the alias, each with the option or parameter of the generated command that it fills. */
  readonly options?: string;
  /** Flags, and the options that each of them sets. */
  readonly flags?: Readonly<Record<string, CommandInput>>;
  /** Options that the alias always passes. */
  readonly always?: CommandInput;
  /** The properties that it prints, of the response or of each item in the response's list. */
  readonly prints: string;
  readonly note?: string;
};

/** Scripts depend on these names, their options and their output (docs/rules.md 18). */
const aliases: Readonly<Record<string, Alias>> = {
  'webhook create': {
    of: 'webhooks create',
    withoutForm: 'workspace-webhooks create',
    options: 'form url events format template secret filter no-pause-on-failure=no-pauses-on-failure',
    flags: { 'generate-secret': { secret: 'generate' } },
    prints: 'id secret',
    note: 'The secret will not be shown again.',
  },
  'webhook list': {
    of: 'webhooks list',
    withoutForm: 'workspace-webhooks list',
    options: 'form',
    prints: 'data',
  },
  'webhook delete': { of: 'webhooks delete', id: 'webhook', always: { yes: true }, prints: 'id' },
  'delivery list': {
    of: 'deliveries list',
    options: 'webhook',
    always: { all: true, most: 1_000 },
    prints: 'id event status created_at attempts response_status response_ms next_attempt_at',
  },
  'delivery retry': { of: 'deliveries retry', id: 'delivery', prints: 'id' },
  'key create': {
    of: 'keys create',
    options: 'name permissions forms=form-ids expires=expires-at',
    prints: 'id key',
    note: 'The key will not be shown again.',
  },
  'key revoke': { of: 'keys revoke', id: 'key', always: { yes: true }, prints: 'id' },
};

/** Returns the aliases as commands that run generated ones. */
export function aliasCommands(generated: readonly Command[]): readonly Command[] {
  const byName = new Map(generated.map((command) => [command.name, command]));
  return Object.entries(aliases).map(([name, alias]) =>
    aliasCommand(name, alias, byName.get(alias.of)!, byName.get(alias.withoutForm ?? '')),
  );
}

function aliasCommand(name: string, alias: Alias, target: Command, other: Command | undefined): Command {
  const { of, withoutForm, id: parameter, flags = {}, always = {}, prints, note } = alias;
  if (target.at !== 'api' || (other && other.at !== 'api')) throw new TypeError(`${of} is not an operation.`);
  const spellings = (alias.options?.split(' ') ?? []).map((each) => {
    const [own, filled = own] = each.split('=') as [string, string?];
    const value = target.parameters[filled];
    const isRequired = withoutForm === undefined;
    return { own, filled, option: value ? { value, isRequired } : target.options[filled]! };
  });
  return {
    at: 'api',
    name,
    summary: target.summary,
    about: `Runs \`${of}\`${other ? `, or \`${withoutForm}\` without \`--form\`` : ''}.`,
    ...(note !== undefined && { note }),
    parameters: parameter === undefined ? {} : { id: idValue },
    options: {
      ...Object.fromEntries(spellings.map(({ own, option }) => [own, option])),
      ...Object.fromEntries(Object.keys(flags).map((each) => [each, flagOption])),
    },
    async run(context, given) {
      const input: Record<string, unknown> = { ...always };
      const run = other && given['form'] === undefined ? other.run : target.run;
      for (const { own, filled } of spellings) input[filled] = given[own];
      for (const [each, fields] of Object.entries(flags).filter(([name]) => given[name] === true)) {
        const both = Object.keys(fields).find((field) => input[field] !== undefined);
        if (both !== undefined) throw new UsageError(`--${both} and --${each} cannot be combined.`);
        Object.assign(input, fields);
      }
      if (parameter !== undefined) input[parameter] = given['id'];
      const answer: object = { id: given['id'], ...(await run(context, input)) };
      const names = prints.split(' ');
      if ('data' in answer && !names.includes('data'))
        return { data: (answer.data as object[]).map((item) => pick(item, names)) };
      // For a webhook without a secret, no secret is printed.
      return pick(answer, names, (value) => value !== null && value !== undefined);
    },
  };
}

const pick = (from: object, names: readonly string[], isKept = (_value: unknown): boolean => true): object =>
  Object.fromEntries(
    names
      .map((name) => [name, (from as Readonly<Record<string, unknown>>)[name]] as const)
      .filter(([, value]) => isKept(value)),
  );
