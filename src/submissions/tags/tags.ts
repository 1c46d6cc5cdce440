import { Type } from 'typebox';
import { isCleanText, trimText } from '#ast/text.ts';
import { ApiError } from '#kit/errors.ts';

/** So many tags a submission has at most, of so many characters. */
export const mostTags = 20;
export const longestTag = 50;

/** Tags as they are sent. */
export const Tags = Type.Array(Type.String({ minLength: 1, maxLength: longestTag }), { maxItems: mostTags });

/**
 * Tags as they are stored: without invisible characters around them, each once whatever its case, in the order that they came in.
 * @throws ApiError validation_error, by the index of each tag that is none.
 */
export function readTags(given: readonly string[]): string[] {
  const tags = given.map((tag) => trimText(tag.replaceAll(/\s+/g, ' ')));
  const errors = tags.flatMap((tag, index) =>
    tag === '' || !isCleanText(tag) || /\p{Cc}/u.test(tag)
      ? [{ field: `tags[${index}]`, message: 'A tag is a line of text.' }]
      : [],
  );
  if (errors.length > 0) throw new ApiError('validation_error', undefined, { errors });
  const byName = Map.groupBy(tags, (tag) => tag.toLowerCase());
  return [...byName.values()].map(([first]) => first!);
}
