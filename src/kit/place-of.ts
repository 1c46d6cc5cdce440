import type { FastifyRequest } from 'fastify';
import { uuidPattern } from './clock.ts';

/**
 * Where a request went, as logs and lists may say it: the pattern of its route, with the ids that are in it. What else
 * stands in an address may be somebody's secret: the token of a link, an answer, a key that was pasted into it.
 */
export function placeOf(request: FastifyRequest): string {
  const given = request.params as Readonly<Record<string, string>>;
  const pattern = request.routeOptions.url ?? '(a path that does not exist)';
  return pattern.replace(/:(\w+)/g, (parameter, name: string) => {
    const value = given[name] ?? '';
    return uuidPattern.test(value) ? value : parameter;
  });
}
