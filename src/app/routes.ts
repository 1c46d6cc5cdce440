import { formEndpoints } from '#forms/endpoints.ts';
import { invitationEndpoints } from '#invitations/endpoints.ts';
import type { Endpoint } from '#kit/endpoint.ts';
import { searchEndpoints } from '#search/endpoints.ts';
import { submissionEndpoints } from '#submissions/endpoints.ts';
import { feedEndpoints } from '#webhooks/feed/endpoints.ts';
import { payloadEndpoints } from '#webhooks/payload/endpoints.ts';
import type { Permission } from '#workspaces/permissions.ts';
import type { Services } from './services.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';
export type ApiRoute = readonly [method: Method, path: string, endpoint: Endpoint<Permission>];

/** Every operation of the API, below /api/v1. Specification, "Endpoints"; ours are the schema and the feed. */
export function apiRoutes(services: Services): readonly ApiRoute[] {
  const forms = formEndpoints({ ...services, addresses: services.config });
  const submissions = submissionEndpoints(services);
  const search = searchEndpoints(services);
  const invitations = invitationEndpoints(services);
  const payloads = payloadEndpoints(services);
  const feed = feedEndpoints(services);
  return [
    ['GET', '/forms', forms.list],
    ['POST', '/forms', forms.create],
    ['GET', '/forms/:id', forms.get],
    ['PUT', '/forms/:id', forms.update],
    ['DELETE', '/forms/:id', forms.remove],
    ['GET', '/forms/:id/schema.json', payloads.schema],
    ['GET', '/forms/:id/submissions', submissions.listOfForm],
    ['GET', '/forms/:id/invitations', invitations.list],
    ['POST', '/forms/:id/invitations', invitations.create],
    ['POST', '/forms/:id/invitations/reminders', invitations.remind],
    ['GET', '/forms/:id/invitations/:invitation', invitations.get],
    ['POST', '/forms/:id/invitations/:invitation/resend', invitations.resend],
    ['POST', '/forms/:id/invitations/:invitation/revoke', invitations.revoke],
    ['GET', '/submissions/search', search.search],
    ['GET', '/submissions/:id', submissions.get],
    ['GET', '/events', feed.list],
  ];
}
