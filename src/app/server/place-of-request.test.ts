import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import { test } from 'node:test';
import { sessionRoutes } from '../operations/routes.ts';
import { cellKeyOfRequest } from './assemble.ts';

const id = crypto.randomUUID();
const placeOf = (url: string, headersDistinct: IncomingMessage['headersDistinct'] = {}) =>
  cellKeyOfRequest({ url, headersDistinct } as IncomingMessage);

test('each console route with an id leads to the cell of that id, except routes of a person', () => {
  const paths = new Set(Object.values(sessionRoutes).map((route) => route.split(' ')[1]!));
  const ofThings = [...paths].filter((path) => path.includes('/:id') && !path.startsWith('/person/'));
  assert.ok(ofThings.length >= 5);
  for (const path of ofThings) assert.equal(placeOf(`/app/api${path.replace(':id', id)}`), id, path);
  assert.equal(placeOf(`/app/api/person/sessions/${id}`), undefined);
});

test('pages, files and API requests of a session lead to the cell of the workspace or form that they name', () => {
  for (const path of ['', '?a=1', '/submitted', '/edit/token', '/images/other']) {
    assert.equal(placeOf(`/f/${id}${path}`), id);
    assert.equal(placeOf(`/f/${id.toUpperCase()}${path}`), id);
  }
  assert.equal(placeOf('/f/Spring-Fair/submitted?a=1'), 'spring-fair');
  assert.equal(placeOf('/api/v1/f/spring-fair'), 'spring-fair');
  assert.equal(placeOf(`/files/${id}/${crypto.randomUUID()}?signature=a`), id);
  assert.equal(placeOf('/api/v1/forms', { 'x-workspace-id': [id.toUpperCase()] }), id);
  assert.equal(placeOf(`/api/v1/forms?workspace_id=${id}`), id);
  for (const url of ['/', '/f/assets/a.js', '/app/api/session', '/api/v1/forms'])
    assert.equal(placeOf(url), undefined);
});
