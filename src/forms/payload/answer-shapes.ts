import { Type } from 'typebox';
import { named } from '#kit/named.ts';

/** A file as the API shows it (docs/rules.md 10). */
export const FileUpload = named(
  'FileUpload',
  Type.Object({
    id: Type.String({ format: 'uuid' }),
    filename: Type.String(),
    size: Type.Integer({ description: 'Bytes.' }),
    content_type: Type.String(),
    url: Type.String({ format: 'uri', description: 'A signed address, good for one hour.' }),
  }),
);

const record = Type.Record;
const chosen = Type.Array(Type.String());
const rowsOfMatrix = record(Type.String(), Type.Union([Type.String(), chosen]));
const consent = Type.Object({
  agreed: Type.Literal(true),
  text: Type.String({ description: 'What was agreed to, as it was read.' }),
  version: Type.Integer({ description: 'The version of the form that it was in.' }),
  at: Type.String({ format: 'date-time' }),
});
const plain = [Type.String(), Type.Number(), Type.Boolean(), chosen, consent, rowsOfMatrix] as const;
const files = Type.Array(FileUpload);

/** The answers of a submission by element id (docs/rules.md 10); their type is that of the question. */
export const Answers = named(
  'Answers',
  record(
    Type.String(),
    Type.Union([...plain, files, Type.Array(record(Type.String(), Type.Union([...plain, files])))]),
    {
      description:
        'Element id -> answer: a text, a number, yes or no, the options that were chosen, of a matrix by the ids of its rows, what was agreed to and when, files, or the rows of a group that repeats. A question that was not answered is absent.',
    },
  ),
);

/** The answers of an event, whose files are beside them. */
export const Responses = named(
  'Responses',
  record(Type.String(), Type.Union([...plain, Type.Array(record(Type.String(), Type.Union([...plain])))]), {
    description: 'Element id -> answer, without files.',
  }),
);
