import { timeOfId } from '../../clock.ts';
import { findInstance } from '../../instance-key/queries.ts';
import { only, type Queryable } from '../../statement.ts';
import { selectBegun } from './queries.ts';

/** A cell on another server that a command was about to make, and has not said that it did. */
type HalfMade = { name: string; place: string; begun_at: Date; remedy: string };

/** Those that a `cell create` is making now, or that one which was killed may have left. Those of the time before names were noted are not among them. */
export async function findHalfMade(db: Queryable): Promise<HalfMade[]> {
  if (!only(await findInstance(db, {}))!.is_there) return [];
  return (await selectBegun(db, {})).flatMap(({ id, name, place }) =>
    name === null || place === null
      ? []
      : [
          {
            name,
            place,
            begun_at: timeOfId(id),
            remedy: `\`cell create ${name} --server <its address>\` again makes it`,
          },
        ],
  );
}
