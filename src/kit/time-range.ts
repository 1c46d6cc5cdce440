import { Type } from 'typebox';

/** A time, or a day, which means its start in UTC. validation.ts converts both to times. */
const moment = (description: string) =>
  Type.Optional(Type.String({ format: 'date-time', description: `${description} A date or a timestamp.` }));
const deprecatedTime = (name: string) =>
  Type.Optional(
    Type.String({ format: 'date-time', deprecated: true, description: `The previous name of \`${name}\`.` }),
  );

/** A range of days or times, with the standard parameter names. */
const range = {
  created_from: moment('From this time, inclusive.'),
  created_to: moment('Until this time, exclusive.'),
};

/** The range of a list, with the standard parameter names and the previous ones. */
export const timeRangeParameters = {
  ...range,
  from: deprecatedTime('created_from'),
  to: deprecatedTime('created_to'),
} as const;

/** A range of days. With the previous names, the last day is included. */
export const dayRangeParameters = {
  ...range,
  from: Type.Optional(
    Type.String({ format: 'date', deprecated: true, description: 'The previous name of `created_from`.' }),
  ),
  to: Type.Optional(
    Type.String({
      format: 'date',
      deprecated: true,
      description: 'The last day, inclusive. Use `created_to` instead.',
    }),
  ),
} as const;

/** Returns the first and last requested day in UTC. A time means its day. */
export const readDayRange = (sent: Range): { from: string | null; to: string | null } => ({
  from: sent.created_from === undefined ? (sent.from ?? null) : dayOf(Date.parse(sent.created_from)),
  to: sent.created_to === undefined ? (sent.to ?? null) : dayOf(Date.parse(sent.created_to) - 1),
});

const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

export const replayRangeParameters = {
  ...range,
  since: deprecatedTime('created_from'),
  until: deprecatedTime('created_to'),
} as const;

type Range = {
  readonly created_from?: string;
  readonly created_to?: string;
  readonly from?: string;
  readonly to?: string;
  readonly since?: string;
  readonly until?: string;
};

/** Returns the requested range, from the standard or the previous names. */
export const readTimeRange = (sent: Range): { from: string | undefined; to: string | undefined } => ({
  from: sent.created_from ?? sent.from ?? sent.since,
  to: sent.created_to ?? sent.to ?? sent.until,
});
