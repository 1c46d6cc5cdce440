import { type BareContext, flag, machineCommand, type Option } from './command.ts';
import { UsageError, type Value } from './values.ts';

const ownDatabase = 'embedded';

/** Another database: the address of a PostgreSQL, or the one that comes along. */
const place: Value<string> = {
  shows: `<url|${ownDatabase}>`,
  mustBe: `postgres://user:password@host/database, or "${ownDatabase}" for the one in DATA_DIR`,
  read: (given) => (given === ownDatabase || /^postgres(ql)?:\/\/./.test(given) ? given : undefined),
};

const to: Option<string | undefined> = {
  value: place,
  isRequired: true,
  unless: 'stay',
  about: 'Where to: an empty database, or the one that this instance was moved away from.',
};

export const moveCommand = machineCommand({
  name: 'move',
  summary:
    'Brings the database of this instance into another one, from the PostgreSQL that comes along to one of your own and back.',
  about:
    'The service does not run meanwhile. Files and the key stay where they are. Killed at any moment it may be run again: what is there by then is used by nobody before this database says that it was moved. Afterwards nothing starts on this database any more: let DATABASE_URL lead to the other.',
  note: 'Let DATABASE_URL lead to where the instance is now (none for the embedded one), and start the service.',
  options: {
    to,
    stay: { ...flag, about: 'Takes back that this database was moved: the service starts on it again.' },
  },
  async run(context, input) {
    const { stayInPlace } = await import('#backup/move-instance.ts');
    if (!input.stay) return move(context, input.to!);
    if (input.to !== undefined) throw new UsageError('--stay goes nowhere: leave --to out.');
    const here = await openHere(context);
    try {
      return await stayInPlace(here.database);
    } finally {
      await here.close();
    }
  },
});

async function openHere({ config, log }: BareContext) {
  const { openExistingDatabase } = await import('../open-database.ts');
  return openExistingDatabase(config, log);
}

async function move(context: BareContext, given: string): Promise<object> {
  const { config, log, tell } = context;
  const databaseUrl = given === ownDatabase ? undefined : given;
  if (config.databaseUrl === undefined && databaseUrl === undefined)
    throw new UsageError('The database is the embedded one already: DATABASE_URL names no other.');
  const { moveInstance } = await import('#backup/move-instance.ts');
  const { openEmptyDatabase } = await import('../open-database.ts');
  const { refuseUnfit } = await import('../checks/database-checks.ts');
  const from = await openHere(context);
  try {
    const other = await openEmptyDatabase({ ...config, databaseUrl }, log);
    try {
      await refuseUnfit({ config: { ...config, databaseUrl }, database: other.database });
      return await moveInstance({ from: from.database, to: other.database, place: other.description, tell });
    } finally {
      await other.close();
    }
  } finally {
    await from.close();
  }
}
