import { Type } from 'typebox';
import { publicUrlOf } from '#forms/present.ts';
import { ApiError } from '#kit/errors.ts';
import { only } from '#kit/statement.ts';
import { type ConsoleRoute, personEndpoint } from '../endpoint.ts';
import type { ConsoleServices } from '../services.ts';
import { locateForm } from './queries.ts';

/** In which workspace of theirs a form is that a person has the address of: whoever knows that asks the API. */
export function locateRoutes({ database, config }: ConsoleServices): readonly ConsoleRoute[] {
  const locate = personEndpoint({
    params: Type.Object({ form: Type.String({ format: 'uuid' }) }),
    async run({ user, params }) {
      const found = only(await locateForm(database, { id: params.form, user_id: user.id }));
      if (!found) throw new ApiError('not_found');
      return { status: 200, body: { ...found, public_url: publicUrlOf(config, found.id) } };
    },
  });
  return [['GET', '/forms/:form/locate', locate]];
}
