import { formEndpoints } from '#forms/endpoints.ts';
import type { Endpoint } from '#kit/endpoint.ts';
import { searchEndpoints } from '#search/endpoints.ts';
import { submissionEndpoints } from '#submissions/endpoints.ts';
import type { Permission } from '#workspaces/permissions.ts';
import type { Services } from './services.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
export type ApiRoute = readonly [method: Method, path: string, endpoint: Endpoint<Permission>];

/** Every operation of the API, below /api/v1. Specification, "Endpoints". */
export function apiRoutes(services: Services): readonly ApiRoute[] {
  const forms = formEndpoints({ ...services, addresses: services.config });
  const submissions = submissionEndpoints(services);
  const search = searchEndpoints(services);
  return [
    ['GET', '/forms', forms.list],
    ['POST', '/forms', forms.create],
    ['GET', '/forms/:id', forms.get],
    ['PUT', '/forms/:id', forms.update],
    ['DELETE', '/forms/:id', forms.remove],
    ['GET', '/forms/:id/submissions', submissions.listOfForm],
    ['GET', '/submissions/search', search.search],
    ['GET', '/submissions/:id', submissions.get],
  ];
}
