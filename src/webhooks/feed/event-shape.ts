import { Type } from 'typebox';
import { FileUpload, Responses } from '#forms/payload.ts';
import { named } from '#kit/named.ts';
import { eventKinds } from '../event.ts';

const uuid = Type.String({ format: 'uuid' });

const EventFile = named(
  'EventFile',
  Type.Object({
    ...FileUpload.properties,
    row: Type.Optional(Type.Integer({ description: 'In a group that repeats: which row, from 0.' })),
  }),
);

/** What webhooks send and the feed lists. Specification, "Request body". */
export const Event = named(
  'Event',
  Type.Object({
    event: Type.Enum([...eventKinds]),
    timestamp: Type.String({ format: 'date-time' }),
    delivery_id: Type.String({
      format: 'uuid',
      description: 'The same in every repetition: what was seen before is skipped.',
    }),
    form: Type.Object({ id: uuid, name: Type.String(), workspace_id: uuid }),
    submission: Type.Object({
      id: uuid,
      submitted_at: Type.Union([Type.String({ format: 'date-time' }), Type.Null()]),
      status: Type.Enum(['completed', 'incomplete']),
      reference_data: Type.Record(Type.String(), Type.String()),
      responses: Responses,
      file_uploads: Type.Record(Type.String(), Type.Array(EventFile), {
        description: 'Element id -> files.',
      }),
    }),
  }),
);
