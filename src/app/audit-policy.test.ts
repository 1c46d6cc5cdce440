import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Noted, notedOf, notedOwn } from './noted.ts';
import { type OperationName, ownRoutes, routes } from './routes.ts';

const names = Object.keys(routes) as OperationName[];

test('every operation that writes says what the audit log has of it, or why nothing', () => {
  const own: Readonly<Record<string, Noted>> = notedOwn;
  const said = (table: Readonly<Record<string, string>>, of: (name: string) => Noted | undefined) =>
    Object.entries(table).flatMap(([name, route]) => {
      const noted = of(name);
      if (route.startsWith('GET ')) return [];
      return noted && (noted.line || noted.why.length > 10) ? [] : [name];
    });
  assert.deepEqual(
    said(routes, (name) => notedOf(name as OperationName)),
    [],
  );
  assert.deepEqual(
    said(ownRoutes, (name) => own[name]),
    [],
  );
});

test('whatever takes data out of a workspace is noted, and of a single submission that a person reads it', () => {
  const takesOut = names.filter((name) => /^GET .*\/(export|package)$/.test(routes[name]));
  assert.ok(takesOut.length >= 5);
  assert.deepEqual(
    takesOut.filter((name) => !notedOf(name)?.line),
    [],
  );
  assert.deepEqual(
    names.filter((name) => /^GET \/submissions\/:id(\/view)?$/.test(routes[name]) && !notedOf(name)?.line),
    [],
  );
  assert.deepEqual(
    names.filter((name) => routes[name].startsWith('DELETE ') && !notedOf(name)?.line),
    [],
  );
});
