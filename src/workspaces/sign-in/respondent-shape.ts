import { type Static, Type } from 'typebox';
import { nameSchema } from '#kit/pagination.ts';

/** The person who signed in with the identity provider to answer a form. */
export const Respondent = nameSchema(
  'Respondent',
  Type.Object(
    {
      email: Type.String({ description: 'Confirmed by the provider, in an allowed domain.' }),
      name: Type.String(),
      subject: Type.String({ description: 'The `sub` claim: it stays the same if the email changes.' }),
    },
    {
      description:
        'The person who signed in to respond. Present if `access` was `organisation` and the answers came from the page.',
    },
  ),
);
export type Respondent = Static<typeof Respondent>;
